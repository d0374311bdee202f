/* SPDX-License-Identifier: MIT */
/*
 * GLib's GNetworkMonitor (the netlink implementation) for comparison. GLib is loaded at run time, so the benchmark
 * builds without it.
 *
 * It is not the same work: GNetworkMonitor reads the routing table and reports whether there is a default route. It
 * does not query the kernel about an address.
 */
#include <dlfcn.h>
#include <reachability/reachability.h>
#include <stdio.h>
#include <stdlib.h>

#include "toggle.h"

#define BLOCKS       21
#define BLOCKS_SHORT 5
#define ROUTES       1000000
#define FEWEST       10
#define ROUTES_SHORT 10000

/* The part of GLib that is used, declared as in its headers. */
static struct {
    void *(*network_monitor_get_default)(void);
    int (*network_monitor_get_network_available)(void *monitor);
    void *(*initable_new)(size_t type, void *cancellable, void **error, const char *first_property, ...);
    unsigned long (*signal_connect_data)(void *instance, const char *signal, void (*handler)(void), void *data,
                                         void (*destroy)(void), int flags);
    void (*signal_handler_disconnect)(void *instance, unsigned long handler);
    int (*main_context_iteration)(void *context, int may_block);
    void (*object_unref)(void *object);
} glib;

static bool load(void **ret, void *library, const char *name)
{
    *ret = dlsym(library, name);
    return *ret != NULL;
}

static bool load_glib(void)
{
    void *gio = dlopen("libgio-2.0.so.0", RTLD_NOW | RTLD_GLOBAL);

    return gio != NULL && load((void **)&glib.network_monitor_get_default, gio, "g_network_monitor_get_default") &&
           load((void **)&glib.network_monitor_get_network_available, gio, "g_network_monitor_get_network_available") &&
           load((void **)&glib.initable_new, gio, "g_initable_new") &&
           load((void **)&glib.signal_connect_data, gio, "g_signal_connect_data") &&
           load((void **)&glib.signal_handler_disconnect, gio, "g_signal_handler_disconnect") &&
           load((void **)&glib.main_context_iteration, gio, "g_main_context_iteration") &&
           load((void **)&glib.object_unref, gio, "g_object_unref");
}

/* The default monitor is never freed; other monitors of its type can be created. */
static size_t monitor_type(void)
{
    /* GTypeInstance: a pointer to the class, whose first word is the type. */
    return **(size_t **)glib.network_monitor_get_default();
}

static void *make_monitor(void)
{
    void *monitor = glib.initable_new(monitor_type(), NULL, NULL, NULL);

    if (monitor == NULL)
        bench_fail("GNetworkMonitor could not be made");
    return monitor;
}

/* ---- The toggle ------------------------------------------------------------------------------------------------- */

static void *monitor;
static unsigned long handler;
static bool changed;

/* GNetworkMonitor::network-changed: monitor, available, data. */
static void network_changed(void)
{
    toggle_noticed();
    changed = true;
}

static void start_glib(const char *name)
{
    (void)name;
    monitor = make_monitor();
    handler = glib.signal_connect_data(monitor, "network-changed", network_changed, NULL, NULL, 0);
    while (glib.main_context_iteration(NULL, 0))
        continue;
}

static void wait_glib(bool present)
{
    changed = false;
    while (!changed || (glib.network_monitor_get_network_available(monitor) != 0) != present)
        glib.main_context_iteration(NULL, 1);
}

static void stop_glib(void)
{
    glib.signal_handler_disconnect(monitor, handler);
    glib.object_unref(monitor);
    while (glib.main_context_iteration(NULL, 0))
        continue;
}

static const struct listener glib_listener = { start_glib, wait_glib, stop_glib };

static bool compare_toggles(size_t blocks, struct writer *writer)
{
    double mine[BLOCKS], theirs[BLOCKS];

    for (size_t i = 0; i < blocks; i++) {
        theirs[i] = toggle_measure(&glib_listener, NULL, writer);
        mine[i] = toggle_measure(&toggle_ours, "0.0.0.0", writer);
    }
    return bench_report("toggle, default path", "GNetworkMonitor's network-changed", mine, theirs, blocks, 1.0);
}

/* ---- The start -------------------------------------------------------------------------------------------------- */

static void start_ours(void)
{
    SCRunLoopRef loop = SCRunLoopCreate();
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "0.0.0.0");

    if (!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode) ||
        SCRunLoopPerform(loop, 0) < 0 ||
        !SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode))
        bench_fail("the target could not be watched: %s", SCErrorString(SCError()));
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
}

static void start_theirs(void)
{
    void *fresh = make_monitor();

    while (glib.main_context_iteration(NULL, 0))
        continue;
    glib.object_unref(fresh);
}

static double time_of(void (*body)(void))
{
    const int64_t start = bench_now();

    body();
    return (double)(bench_now() - start);
}

/* In a namespace of its own: the default monitor would not survive so many messages. */
static void compare_starts(size_t blocks, unsigned routes)
{
    double mine[BLOCKS], theirs[BLOCKS];
    char title[64];
    struct writer writer;
    const unsigned index = bench_enter_namespace(&writer);

    bench_add_routes(&writer, index, routes);
    for (size_t i = 0; i < blocks; i++) {
        theirs[i] = time_of(start_theirs);
        mine[i] = time_of(start_ours);
    }
    snprintf(title, sizeof title, "start, %u routes", routes);
    bench_report(title, "GNetworkMonitor's", mine, theirs, blocks, 0);
    bench_point("start of GNetworkMonitor", routes, bench_median(theirs, blocks));
    writer_close(&writer);
}

int main(int argc, char **argv)
{
    const bool is_short = bench_is_short(argc, argv);
    const size_t blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    const unsigned routes = is_short ? ROUTES_SHORT : ROUTES;
    struct writer writer;
    bool within;

    setenv("GIO_USE_NETWORK_MONITOR", "netlink", 1);
    if (!load_glib()) {
        printf("SKIP: no GNetworkMonitor to compare with (libglib2.0-0 is not here)\n");
        return 0;
    }
    bench_pin(0);
    bench_enter_namespace(&writer);
    bench_check(writer_route(&writer, WRITER_ADD, &bench_default_route), "default route");
    /* The first monitor loads types and modules. */
    start_theirs();
    within = compare_toggles(blocks, &writer);
    writer_close(&writer);
    for (unsigned count = FEWEST; count <= routes; count *= 10)
        compare_starts(BLOCKS_SHORT, count);
    return within || is_short ? 0 : 1;
}
