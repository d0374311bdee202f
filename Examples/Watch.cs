// SPDX-License-Identifier: MIT
// C#: Watch.exe HOST [CHANGES] prints the flags of a host, and those after each change. No callback, so no thread of
// the library enters the virtual machine.

using System;
using System.Runtime.InteropServices;

/// <summary>The calls of libreachability that this program uses. Its header is the manual.</summary>
internal static class Native
{
    private const string Library = "libreachability.so.0";
    internal const string DefaultMode = "kSCRunLoopDefaultMode";

    [DllImport(Library)]
    internal static extern int SCError();

    [DllImport(Library)]
    internal static extern IntPtr SCErrorString(int status);

    [DllImport(Library, CharSet = CharSet.Ansi)]
    internal static extern Target SCNetworkReachabilityCreateWithName(IntPtr allocator, string name);

    [DllImport(Library)]
    internal static extern void SCNetworkReachabilityRelease(IntPtr target);

    [DllImport(Library)]
    internal static extern byte SCNetworkReachabilityGetFlags(Target target, out uint flags);

    [DllImport(Library, CharSet = CharSet.Ansi)]
    internal static extern byte SCNetworkReachabilityScheduleWithRunLoop(Target target, RunLoop loop, string mode);

    [DllImport(Library, CharSet = CharSet.Ansi)]
    internal static extern byte SCNetworkReachabilityUnscheduleFromRunLoop(Target target, RunLoop loop, string mode);

    [DllImport(Library)]
    internal static extern RunLoop SCRunLoopCreate();

    [DllImport(Library)]
    internal static extern void SCRunLoopRelease(IntPtr loop);

    [DllImport(Library)]
    internal static extern int SCRunLoopPerform(RunLoop loop, double seconds);

    [DllImport(Library)]
    internal static extern IntPtr SCRunLoopCopyNextChange(RunLoop loop, out uint flags);
}

/// <summary>A reference to a target.</summary>
internal sealed class Target : SafeHandle
{
    private Target() : base(IntPtr.Zero, true) { }

    public override bool IsInvalid => handle == IntPtr.Zero;

    protected override bool ReleaseHandle()
    {
        Native.SCNetworkReachabilityRelease(handle);
        return true;
    }
}

/// <summary>A reference to a run loop.</summary>
internal sealed class RunLoop : SafeHandle
{
    private RunLoop() : base(IntPtr.Zero, true) { }

    public override bool IsInvalid => handle == IntPtr.Zero;

    protected override bool ReleaseHandle()
    {
        Native.SCRunLoopRelease(handle);
        return true;
    }
}

/// <summary>This thread's last call failed. The code is an errno below 1000, or a kSCStatus... constant.</summary>
internal sealed class ReachabilityException : ExternalException
{
    internal ReachabilityException(int code)
        : base(Marshal.PtrToStringAnsi(Native.SCErrorString(code)), code) { }
}

internal static class Program
{
    private static void Succeed(bool succeeded)
    {
        if (!succeeded)
            throw new ReachabilityException(Native.SCError());
    }

    private static void Watch(string host, int changes)
    {
        using (var target = Native.SCNetworkReachabilityCreateWithName(IntPtr.Zero, host))
        {
            Succeed(!target.IsInvalid);
            using (var loop = Native.SCRunLoopCreate())
            {
                Succeed(!loop.IsInvalid);
                Succeed(Native.SCNetworkReachabilityScheduleWithRunLoop(target, loop, Native.DefaultMode) != 0);
                Succeed(Native.SCNetworkReachabilityGetFlags(target, out var flags) != 0);
                Console.WriteLine("{0}: 0x{1:x8}", host, flags);
                while (changes > 0)
                {
                    var changed = Native.SCRunLoopCopyNextChange(loop, out flags);
                    if (changed == IntPtr.Zero)
                    {
                        Succeed(Native.SCRunLoopPerform(loop, -1) >= 0);
                        continue;
                    }
                    Native.SCNetworkReachabilityRelease(changed);
                    Console.WriteLine("{0}: 0x{1:x8}", host, flags);
                    changes--;
                }
                Native.SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, Native.DefaultMode);
            }
        }
    }

    private static int Main(string[] arguments)
    {
        try
        {
            Watch(arguments.Length > 0 ? arguments[0] : "192.0.2.1",
                  arguments.Length > 1 ? int.Parse(arguments[1]) : int.MaxValue);
            return 0;
        }
        catch (ReachabilityException error)
        {
            Console.Error.WriteLine(error.Message);
            return 1;
        }
    }
}
