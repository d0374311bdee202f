/* Inside GLib's main loop, as in GTK programs. Ends on Ctrl-C. */
#include <glib-unix.h>
#include <reachability/reachability.h>
#include <signal.h>

static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *name)
{
    (void)target;
    g_print("%s: %s\n", (char *)name, flags & kSCNetworkReachabilityFlagsReachable ? "reachable" : "not reachable");
}

/* g_free takes a pointer to what is not const, so its type does not fit `release`. */
static void free_name(const void *name)
{
    g_free((gpointer)name);
}

static gboolean perform(gint fd, GIOCondition condition, gpointer loop)
{
    (void)fd;
    (void)condition;
    SCRunLoopPerform(loop, 0);
    return G_SOURCE_CONTINUE;
}

static gboolean quit(gpointer main_loop)
{
    g_main_loop_quit(main_loop);
    return G_SOURCE_CONTINUE;
}

int main(int argc, char **argv)
{
    GMainLoop *main_loop = g_main_loop_new(NULL, FALSE);
    SCRunLoopRef loop = SCRunLoopCreate();
    const char *name = argc > 1 ? argv[1] : "localhost";
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, name);
    SCNetworkReachabilityContext context = kSCNetworkReachabilityContextInitializer;

    context.info = g_strdup(name);
    context.release = free_name;
    SCNetworkReachabilitySetCallback(target, changed, &context);
    if (!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode))
        g_error("%s %s", SCErrorString(SCError()), SCErrorDetail());
    const guint source = g_unix_fd_add(SCRunLoopGetFileDescriptor(loop), G_IO_IN, perform, loop);
    const guint signals = g_unix_signal_add(SIGINT, quit, main_loop);
    g_main_loop_run(main_loop);

    /* The reverse order: the event loop gives up the descriptor before the library closes it. */
    g_source_remove(signals);
    g_source_remove(source);
    SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
    g_main_loop_unref(main_loop);
    return 0;
}
