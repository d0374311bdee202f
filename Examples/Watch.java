// SPDX-License-Identifier: MIT
// Java with JNA: Watch HOST [CHANGES] prints the flags of a host, and those after each change. No callback, so no
// thread of the library enters the virtual machine.

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;

/** The calls of libreachability that this program uses. Its header is the manual. */
interface Reachability extends Library {
    Reachability LIBRARY = Native.load("libreachability.so.0", Reachability.class);
    String DEFAULT_MODE = "kSCRunLoopDefaultMode";

    int SCError();

    String SCErrorString(int status);

    Pointer SCNetworkReachabilityCreateWithName(Pointer allocator, String name);

    void SCNetworkReachabilityRelease(Pointer target);

    byte SCNetworkReachabilityGetFlags(Pointer target, IntByReference flags);

    byte SCNetworkReachabilityScheduleWithRunLoop(Pointer target, Pointer loop, String mode);

    byte SCNetworkReachabilityUnscheduleFromRunLoop(Pointer target, Pointer loop, String mode);

    Pointer SCRunLoopCreate();

    void SCRunLoopRelease(Pointer loop);

    int SCRunLoopPerform(Pointer loop, double seconds);

    Pointer SCRunLoopCopyNextChange(Pointer loop, IntByReference flags);
}

/** The calling thread's last call failed. The code is an errno below 1000, or a kSCStatus... constant. */
class ReachabilityException extends RuntimeException {
    private static final long serialVersionUID = 1;
    final int code;

    ReachabilityException(int code) {
        super(Reachability.LIBRARY.SCErrorString(code) + " (" + code + ")");
        this.code = code;
    }
}

/** A target, scheduled on a run loop of its own. One thread at a time calls next(). */
final class Watch implements AutoCloseable {
    private static final Reachability LIBRARY = Reachability.LIBRARY;

    private final Pointer target;
    private final Pointer loop;
    private final IntByReference flags = new IntByReference();

    Watch(String host) {
        target = succeed(LIBRARY.SCNetworkReachabilityCreateWithName(null, host));
        loop = LIBRARY.SCRunLoopCreate();
        if (loop == null
                || LIBRARY.SCNetworkReachabilityScheduleWithRunLoop(target, loop, Reachability.DEFAULT_MODE) == 0) {
            ReachabilityException failure = new ReachabilityException(LIBRARY.SCError());
            close();
            throw failure;
        }
    }

    /** The flags now. */
    int flags() {
        succeed(LIBRARY.SCNetworkReachabilityGetFlags(target, flags));
        return flags.getValue();
    }

    /** Waits for the next change, and returns the flags. */
    int next() {
        while (true) {
            Pointer changed = LIBRARY.SCRunLoopCopyNextChange(loop, flags);
            if (changed != null) {
                LIBRARY.SCNetworkReachabilityRelease(changed);
                return flags.getValue();
            }
            if (LIBRARY.SCRunLoopPerform(loop, -1) < 0) {
                throw new ReachabilityException(LIBRARY.SCError());
            }
        }
    }

    @Override
    public void close() {
        if (loop != null) {
            LIBRARY.SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, Reachability.DEFAULT_MODE);
        }
        LIBRARY.SCRunLoopRelease(loop);
        LIBRARY.SCNetworkReachabilityRelease(target);
    }

    private static Pointer succeed(Pointer result) {
        if (result == null) {
            throw new ReachabilityException(LIBRARY.SCError());
        }
        return result;
    }

    private static void succeed(byte result) {
        if (result == 0) {
            throw new ReachabilityException(LIBRARY.SCError());
        }
    }

    public static void main(String[] arguments) {
        String host = arguments.length > 0 ? arguments[0] : "192.0.2.1";
        int changes = arguments.length > 1 ? Integer.parseInt(arguments[1]) : Integer.MAX_VALUE;
        try (Watch watch = new Watch(host)) {
            System.out.printf("%s: 0x%08x%n", host, watch.flags());
            for (int i = 0; i < changes; i++) {
                System.out.printf("%s: 0x%08x%n", host, watch.next());
            }
        }
    }
}
