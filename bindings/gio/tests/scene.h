/* SPDX-License-Identifier: MIT */
#ifndef GIO_TESTS_SCENE_H
#define GIO_TESTS_SCENE_H

/*
 * What the tests share: a network namespace with a default route over e0, a monitor of the module in it, and what the
 * monitor emitted. GIO loads the module from the folder of the test program.
 */

#include <gio/gio.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "support/writer.h"

struct scene {
    struct writer writer;
    unsigned e0, p0; /* the two ends of a cable */
    GNetworkMonitor *monitor;
    guint changed, available, metered, connectivity; /* how often each was emitted */
    gboolean last;                                   /* what the last network-changed said */
    GThread *thread;                                 /* where the last came */
};

/* Where the module is loaded from, and a network namespace. Skips the program if none can be made. */
void scene_enter(const char *program);

/* The same for a program of tests: the arguments of main. */
void scene_init(int *argc, char ***argv);

/* A test, each in a namespace of its own. */
typedef void (*scene_function)(struct scene *scene);
void scene_test(const char *name, scene_function test);

/* Only the namespace, without a monitor. */
void scene_prepare(struct scene *scene);

/* A monitor of the module, in the thread-default context of this call; its events are counted in the scene. */
GNetworkMonitor *scene_monitor(struct scene *scene);

/* One of this name at the extension point: "netlink" is GLib's. */
GNetworkMonitor *scene_monitor_named(const char *name, GError **error);

/* Counts the events of another monitor. */
void scene_listen(struct scene *scene, GNetworkMonitor *monitor);

/* Runs the context until network-changed has been emitted this many times, or fails. */
void scene_await(struct scene *scene, guint changed);

/* Runs the context until nothing has happened for longer than the library puts off a query, 50 ms. */
void scene_settle(void);

/* Runs what is due, as a program that is not busy any more. */
void scene_drain(void);

gboolean scene_can_reach(struct scene *scene, const char *address);

/* ---- Changes of the network */
void scene_route(struct scene *scene, enum writer_action action, const char *prefix, unsigned type);
void scene_default(struct scene *scene, enum writer_action action); /* by 192.0.2.1 */
void scene_up(struct scene *scene, unsigned index, gboolean up);

/* Memory that children of fork(2) share. */
void *scene_shared(size_t size);

guint scene_count_descriptors(void);
guint scene_count_threads(void);

#endif
