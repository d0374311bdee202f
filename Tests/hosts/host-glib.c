/* SPDX-License-Identifier: MIT */
/* GLib's main loop: a GSource on the library's descriptor. Programs with GTK, or with Qt on GLib, do the same. */
#include <glib-unix.h>

#include "scenario.h"

static GMainLoop *main_loop;

static gboolean on_readable(gint fd, GIOCondition condition, gpointer loop)
{
    (void)fd, (void)condition;
    MUST(SCRunLoopPerform((SCRunLoopRef)loop, 0) >= 0);
    if (scenario_is_over())
        g_main_loop_quit(main_loop);
    return G_SOURCE_CONTINUE;
}

int main(void)
{
    GMainContext *context;
    GSource *source;
    SCNetworkReachabilityRef target;
    SCRunLoopRef loop;
    struct host host = { .name = "GLib", .wake = SCRunLoopWakeUp };

    scenario_enter();
    context = g_main_context_new();
    main_loop = g_main_loop_new(context, FALSE);
    target = scenario_target();

    loop = host.loop = SCRunLoopCreate();
    source = g_unix_fd_source_new(SCRunLoopGetFileDescriptor(loop), G_IO_IN);
    g_source_set_callback(source, G_SOURCE_FUNC(on_readable), loop, NULL);
    g_source_attach(source, context);
    MUST(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    scenario_run(&host);
    g_main_loop_run(main_loop);
    MUST(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    g_source_destroy(source);
    g_source_unref(source);
    SCRunLoopRelease(loop);

    g_main_loop_unref(main_loop);
    g_main_context_unref(context);
    return scenario_end();
}
