/* SPDX-License-Identifier: MIT */
/* A program with a main loop of GLib, and a source as it is written for macOS: it schedules a target on
 * CFRunLoopGetCurrent(), which GLib does not run. The lines of docs/apple-sources.md make GLib's loop serve it. It
 * prints the flags of 192.0.2.1, waits for their change, and prints them again. */
#include <CoreFoundation/CoreFoundation.h>
#include <SystemConfiguration/SystemConfiguration.h>
#include <glib-unix.h>
#include <stdio.h>
#include <unistd.h>

static void changed(__unused SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    printf("after %#x\n", flags);
    g_main_loop_quit(info);
}

/* What the page says, from here ... */
static gboolean serve(__unused int fd, __unused GIOCondition condition, gpointer loop)
{
    return SCRunLoopPerform(loop, 0) < 0 ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

static void serve_current_run_loop(void)
{
    SCRunLoopRef loop = SCRunLoopGetCurrent();

    g_unix_fd_add(SCRunLoopGetFileDescriptor(loop), G_IO_IN, serve, loop);
}
/* ... to here. */

int main(void)
{
    GMainLoop *main_loop = g_main_loop_new(NULL, FALSE);
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, "192.0.2.1");
    SCNetworkReachabilityContext context = { 0, main_loop, NULL, NULL, NULL };
    SCNetworkReachabilityFlags flags;

    alarm(60); /* it ends if GLib's loop serves no target */
    serve_current_run_loop();
    if (!SCNetworkReachabilitySetCallback(target, changed, &context) ||
        !SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode) ||
        !SCNetworkReachabilityGetFlags(target, &flags))
        return 1;
    printf("before %#x\n", flags);
    fflush(stdout);
    g_main_loop_run(main_loop);
    CFRelease(target);
    g_main_loop_unref(main_loop);
    return 0;
}
