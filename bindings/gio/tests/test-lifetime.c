/* SPDX-License-Identifier: MIT */
/* Contexts, threads, and the end of monitors. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scene.h"

#define MADE_AND_DROPPED 10000

/* ---- Contexts --------------------------------------------------------------------------------------------------- */

struct worker {
    struct scene scene; /* its own monitor and counts */
    GMutex lock;
    GCond changed;
    gboolean ready;
    GThread *thread;
    GNetworkMonitor *monitor;
};

static void report(struct worker *worker)
{
    g_mutex_lock(&worker->lock);
    worker->ready = TRUE;
    g_cond_signal(&worker->changed);
    g_mutex_unlock(&worker->lock);
}

static void await_worker(struct worker *worker)
{
    g_mutex_lock(&worker->lock);
    while (!worker->ready)
        g_cond_wait(&worker->changed, &worker->lock);
    g_mutex_unlock(&worker->lock);
}

static gpointer watch_in_thread(gpointer data)
{
    struct worker *worker = data;
    GMainContext *context = g_main_context_new();

    g_main_context_push_thread_default(context);
    worker->scene.monitor = scene_monitor(&worker->scene);
    report(worker);
    scene_await(&worker->scene, 1);
    g_assert_true(worker->scene.thread == g_thread_self());
    g_object_unref(worker->scene.monitor);
    g_main_context_pop_thread_default(context);
    g_main_context_unref(context);
    return NULL;
}

static void events_come_in_the_context_of_construction(struct scene *scene)
{
    struct worker workers[4] = { 0 };

    for (guint i = 0; i < G_N_ELEMENTS(workers); i++) {
        workers[i].thread = g_thread_new("watch", watch_in_thread, &workers[i]);
        await_worker(&workers[i]);
    }
    scene_default(scene, WRITER_DELETE);
    for (guint i = 0; i < G_N_ELEMENTS(workers); i++)
        g_thread_join(workers[i].thread);
    scene_await(scene, 1);
    g_assert_true(scene->thread == g_thread_self());
}

static gpointer make_and_end(gpointer data)
{
    GMainContext *context = g_main_context_new();

    g_main_context_push_thread_default(context);
    *(GNetworkMonitor **)data = scene_monitor(NULL);
    g_main_context_pop_thread_default(context);
    g_main_context_unref(context);
    return NULL;
}

static void monitor_outlives_its_thread(struct scene *scene)
{
    GNetworkMonitor *monitor = NULL;

    g_thread_join(g_thread_new("make", make_and_end, &monitor));
    scene_default(scene, WRITER_DELETE);
    g_assert_false(g_network_monitor_get_network_available(monitor));
    scene_default(scene, WRITER_ADD);
    g_assert_true(g_network_monitor_get_network_available(monitor));
    g_object_unref(monitor);
}

static void program_that_never_runs_its_context_gets_current_answers(struct scene *scene)
{
    const guint descriptors = scene_count_descriptors();

    g_assert_true(scene_can_reach(scene, "203.0.113.7"));
    for (int i = 0; i < 5000; i++) { /* more than the socket holds */
        scene_route(scene, WRITER_ADD, "203.0.113.7/32", RTN_BLACKHOLE);
        scene_route(scene, WRITER_DELETE, "203.0.113.7/32", RTN_BLACKHOLE);
    }
    scene_route(scene, WRITER_ADD, "203.0.113.7/32", RTN_BLACKHOLE);
    g_assert_false(scene_can_reach(scene, "203.0.113.7"));
    scene_up(scene, scene->e0, FALSE);
    g_assert_false(g_network_monitor_get_network_available(scene->monitor));
    scene_up(scene, scene->e0, TRUE);
    scene_default(scene, WRITER_ADD);
    g_assert_true(g_network_monitor_get_network_available(scene->monitor));
    g_assert_cmpuint(scene->changed, ==, 0);
    g_assert_cmpuint(scene_count_descriptors(), ==, descriptors);
}

/* ---- The kernel's lock ------------------------------------------------------------------------------------------ */

static GMutex kernel_lock;
static gint is_held, waits; /* atomic */

/* The library calls this instead of the C library's. The kernel answers RTM_GETSTATS when its RTNL lock is free. */
G_MODULE_EXPORT ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    if (g_atomic_int_get(&is_held) && ((const struct nlmsghdr *)bytes)->nlmsg_type == RTM_GETSTATS) {
        g_assert_cmpint(gettid(), !=, getpid());
        g_atomic_int_set(&waits, 1);
        g_mutex_lock(&kernel_lock);
        g_mutex_unlock(&kernel_lock);
    }
    return syscall(SYS_sendto, fd, bytes, length, flags, NULL, 0);
}

static void context_runs_while_the_kernel_holds_its_lock(struct scene *scene)
{
    g_mutex_lock(&kernel_lock);
    g_atomic_int_set(&is_held, 1);
    scene_default(scene, WRITER_DELETE);
    while (!g_atomic_int_get(&waits))
        scene_drain();
    g_assert_true(g_network_monitor_get_network_available(scene->monitor)); /* the newest that is known */
    g_assert_false(scene_can_reach(scene, "203.0.113.7"));
    scene_drain();
    g_assert_cmpuint(scene->changed, ==, 0);
    g_atomic_int_set(&is_held, 0);
    g_mutex_unlock(&kernel_lock);
    scene_await(scene, 1);
    g_assert_false(scene->last);
}

/* ---- A manager that changes while a monitor is made ------------------------------------------------------------- */

static gboolean manager_changes_at_once;

/* The module calls these two instead of GLib's. */
G_MODULE_EXPORT GDBusProxy *g_dbus_proxy_new_for_bus_sync(GBusType type, GDBusProxyFlags flags,
                                                          GDBusInterfaceInfo *info, const char *name, const char *path,
                                                          const char *interface, GCancellable *cancellable,
                                                          GError **error)
{
    (void)type, (void)flags, (void)info, (void)name, (void)path, (void)interface, (void)cancellable, (void)error;
    return manager_changes_at_once ? g_object_new(G_TYPE_DBUS_PROXY, NULL) : NULL;
}

static gpointer report_change(gpointer proxy)
{
    g_object_notify(proxy, "g-name-owner");
    return NULL;
}

/* As soon as the monitor listens, another thread reports a change: one that runs the context. */
G_MODULE_EXPORT gulong g_signal_connect_data(gpointer object, const char *signal, GCallback handler, gpointer data,
                                             GClosureNotify destroy, GConnectFlags flags)
{
    gulong (*connect)(gpointer, const char *, GCallback, gpointer, GClosureNotify, GConnectFlags);
    gulong id;

    *(void **)&connect = dlsym(RTLD_NEXT, "g_signal_connect_data");
    id = connect(object, signal, handler, data, destroy, flags);
    if (g_str_equal(signal, "notify::g-name-owner"))
        g_thread_join(g_thread_new("report", report_change, object));
    return id;
}

static void manager_may_change_while_a_monitor_is_made(struct scene *scene)
{
    struct scene other = { 0 };
    GNetworkMonitor *monitor;

    manager_changes_at_once = TRUE;
    monitor = scene_monitor(&other);
    manager_changes_at_once = FALSE;
    scene_settle();
    g_assert_cmpuint(other.changed, ==, 0); /* it has told nothing yet that can differ */
    scene_default(scene, WRITER_DELETE);
    scene_await(&other, 1);
    g_object_unref(monitor);
}

/* ---- The end of monitors ---------------------------------------------------------------------------------------- */

static gpointer drop(gpointer monitor)
{
    g_object_unref(monitor);
    return NULL;
}

/* The change is under way in the context while another thread drops the monitor. */
static void any_thread_may_drop_a_monitor(struct scene *scene)
{
    for (int i = 0; i < 200; i++) {
        struct scene other = { 0 };
        GNetworkMonitor *monitor = scene_monitor(NULL);
        GThread *thread;

        scene_route(scene, i % 2 == 0 ? WRITER_DELETE : WRITER_ADD, "0.0.0.0/0", 0);
        scene_listen(&other, monitor);
        thread = g_thread_new("drop", drop, monitor);
        scene_drain();
        g_thread_join(thread);
        g_assert_cmpuint(other.changed, <=, 1);
    }
}

static void handler_may_drop_the_monitor(struct scene *scene)
{
    GNetworkMonitor *monitor = scene_monitor(NULL);
    gpointer weak = monitor;

    g_object_add_weak_pointer(G_OBJECT(monitor), &weak);
    g_signal_connect(monitor, "network-changed", G_CALLBACK(g_object_unref), NULL);
    scene_default(scene, WRITER_DELETE);
    scene_await(scene, 1);
    scene_settle();
    g_assert_null(weak);
}

static void on_answer(GObject *monitor, GAsyncResult *result, gpointer data)
{
    g_assert_true(g_network_monitor_can_reach_finish(G_NETWORK_MONITOR(monitor), result, NULL));
    (*(guint *)data)++;
}

static void dropped_monitor_still_answers_what_was_asked(struct scene *scene)
{
    GNetworkMonitor *monitor = scene_monitor(NULL);
    GSocketAddress *address = g_inet_socket_address_new_from_string("203.0.113.7", 80);
    guint answers = 0;

    (void)scene;
    g_network_monitor_can_reach_async(monitor, G_SOCKET_CONNECTABLE(address), NULL, on_answer, &answers);
    g_object_unref(monitor);
    while (answers == 0)
        g_main_context_iteration(NULL, TRUE);
    g_object_unref(address);
}

static gsize resident(void)
{
    char *text;
    gulong pages;

    g_assert_true(g_file_get_contents("/proc/self/statm", &text, NULL, NULL));
    g_assert_cmpint(sscanf(text, "%*u %lu", &pages), ==, 1);
    g_free(text);
    return pages * 4096;
}

static void make_and_drop(int count)
{
    GSocketAddress *address = g_inet_socket_address_new_from_string("203.0.113.7", 80);

    for (int i = 0; i < count; i++) {
        GNetworkMonitor *monitor = scene_monitor(NULL);

        if (i % 10 == 0)
            g_assert_true(g_network_monitor_can_reach(monitor, G_SOCKET_CONNECTABLE(address), NULL, NULL));
        g_object_unref(monitor);
    }
    g_object_unref(address);
}

static void ten_thousand_monitors_leave_nothing(struct scene *scene)
{
    const guint descriptors = scene_count_descriptors(), threads = scene_count_threads();
    const int count = g_getenv("TEST_UNDER") != NULL ? MADE_AND_DROPPED / 100 : MADE_AND_DROPPED;
    gsize before;
    gint64 end;

    (void)scene;
    make_and_drop(count / 10);
    before = resident();
    make_and_drop(count);
    end = g_get_monotonic_time() + 30 * G_TIME_SPAN_SECOND;
    /* The thread of a monitor ends after the monitor. */
    while ((scene_count_descriptors() > descriptors || scene_count_threads() > threads) && g_get_monotonic_time() < end)
        g_thread_yield();
    g_assert_cmpuint(scene_count_descriptors(), ==, descriptors);
    g_assert_cmpuint(scene_count_threads(), ==, threads);
    if (g_getenv("TEST_UNDER") == NULL)
        g_assert_cmpuint(resident(), <, before + 1024 * 1024);
}

/* ---- Many threads ----------------------------------------------------------------------------------------------- */

struct readers {
    GNetworkMonitor *monitor;
    gint over; /* atomic */
};

static gpointer read_all_the_time(gpointer data)
{
    struct readers *readers = data;
    GSocketAddress *address = g_inet_socket_address_new_from_string("203.0.113.7", 80);

    while (!g_atomic_int_get(&readers->over)) {
        g_network_monitor_get_network_available(readers->monitor);
        g_network_monitor_can_reach(readers->monitor, G_SOCKET_CONNECTABLE(address), NULL, NULL);
    }
    g_object_unref(address);
    return NULL;
}

static void threads_may_read_while_the_network_changes(struct scene *scene)
{
    struct readers readers = { .monitor = scene->monitor };
    GThread *threads[3];

    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        threads[i] = g_thread_new("read", read_all_the_time, &readers);
    for (int i = 0; i < 100; i++) {
        scene_default(scene, i % 2 == 0 ? WRITER_DELETE : WRITER_ADD);
        scene_drain();
    }
    scene_default(scene, WRITER_DELETE);
    g_atomic_int_set(&readers.over, 1);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        g_thread_join(threads[i]);
    scene_settle();
    g_assert_false(scene->last);
    g_assert_false(g_network_monitor_get_network_available(scene->monitor));
}

int main(int argc, char **argv)
{
    scene_init(&argc, &argv);
    scene_test("/lifetime/events_come_in_the_context_of_construction", events_come_in_the_context_of_construction);
    scene_test("/lifetime/monitor_outlives_its_thread", monitor_outlives_its_thread);
    scene_test("/lifetime/program_that_never_runs_its_context_gets_current_answers",
               program_that_never_runs_its_context_gets_current_answers);
    scene_test("/lifetime/context_runs_while_the_kernel_holds_its_lock", context_runs_while_the_kernel_holds_its_lock);
    scene_test("/lifetime/manager_may_change_while_a_monitor_is_made", manager_may_change_while_a_monitor_is_made);
    scene_test("/lifetime/any_thread_may_drop_a_monitor", any_thread_may_drop_a_monitor);
    scene_test("/lifetime/handler_may_drop_the_monitor", handler_may_drop_the_monitor);
    scene_test("/lifetime/dropped_monitor_still_answers_what_was_asked", dropped_monitor_still_answers_what_was_asked);
    scene_test("/lifetime/ten_thousand_monitors_leave_nothing", ten_thousand_monitors_leave_nothing);
    scene_test("/lifetime/threads_may_read_while_the_network_changes", threads_may_read_while_the_network_changes);
    return g_test_run();
}
