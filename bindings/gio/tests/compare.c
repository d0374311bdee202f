/* SPDX-License-Identifier: MIT */
/*
 * GLib's netlink monitor and this one, over the same changes: a table. For each, the answer afterwards, how often
 * network-changed was emitted, how long the first took, and how much the resident memory grew. Ours must be right.
 *
 * Each row and each monitor has a process and a network namespace of its own.
 */
#include <errno.h>
#include <linux/fib_rules.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scene.h"

#define FLOOD  20000 /* route messages, more than a socket holds */
#define ROUTES 100000
#define STARTS 7
#define HOST   "203.0.113.7"

struct result {
    gboolean answer;
    guint events;
    gint64 microseconds; /* until the first event; of a start: its time; -1: there was no event */
    gssize kilobytes;
};

struct run {
    struct scene scene;
    const char *monitor;
    struct result *result;
    gint64 changed_at;
};

struct row {
    const char *name;
    void (*run)(struct run *run);
    gboolean answer; /* the right one, and the right number of events */
    guint events, or_events;
};

static gssize resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1)
        g_error("no /proc/self/statm");
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* ---- What happens ----------------------------------------------------------------------------------------------- */

/* The change was just made: waits for what the monitor emits. */
static void watch(struct run *run)
{
    struct scene *scene = &run->scene;
    gint64 until;

    run->changed_at = g_get_monotonic_time();
    until = run->changed_at + 500 * 1000;
    while (scene->changed == 0 && g_get_monotonic_time() < until)
        if (!g_main_context_iteration(NULL, FALSE))
            g_thread_yield();
    run->result->microseconds = scene->changed != 0 ? g_get_monotonic_time() - run->changed_at : -1;
    scene_settle();
    run->result->events = scene->changed;
}

static void watch_available(struct run *run)
{
    watch(run);
    run->result->answer = g_network_monitor_get_network_available(run->scene.monitor);
}

static void watch_host(struct run *run)
{
    watch(run);
    run->result->answer = scene_can_reach(&run->scene, HOST);
}

static void start_over(struct run *run)
{
    scene_settle();
    run->scene.changed = 0;
}

static void link_down(struct run *run)
{
    scene_up(&run->scene, run->scene.e0, FALSE);
    watch_available(run);
}

static void link_up(struct run *run)
{
    scene_up(&run->scene, run->scene.e0, FALSE);
    start_over(run);
    scene_up(&run->scene, run->scene.e0, TRUE);
    scene_default(&run->scene, WRITER_ADD);
    watch_available(run);
}

static void carrier_lost(struct run *run)
{
    scene_up(&run->scene, run->scene.p0, FALSE);
    watch_available(run);
}

static void carrier_back(struct run *run)
{
    scene_up(&run->scene, run->scene.p0, FALSE);
    start_over(run);
    scene_up(&run->scene, run->scene.p0, TRUE);
    watch_available(run);
}

static void halves(struct run *run)
{
    scene_route(&run->scene, WRITER_ADD, "0.0.0.0/1", 0);
    scene_route(&run->scene, WRITER_ADD, "128.0.0.0/1", 0);
    scene_default(&run->scene, WRITER_DELETE);
    watch_available(run);
}

static void blackhole(struct run *run)
{
    scene_can_reach(&run->scene, HOST);
    scene_route(&run->scene, WRITER_ADD, HOST "/32", RTN_BLACKHOLE);
    watch_host(run);
}

static void prohibit_rule(struct run *run)
{
    const struct writer_rule rule = { .prefix = HOST "/32", .priority = 100, .action = FR_ACT_PROHIBIT };

    scene_can_reach(&run->scene, HOST);
    g_assert_cmpint(writer_rule(&run->scene.writer, WRITER_ADD, &rule), ==, 0);
    watch_host(run);
}

static void other_metric(struct run *run)
{
    const struct writer_route route = {
        .prefix = "0.0.0.0/0", .index = run->scene.e0, .gateway = "192.0.2.1", .metric = 50
    };

    g_assert_cmpint(writer_route(&run->scene.writer, WRITER_ADD, &route), ==, 0);
    scene_default(&run->scene, WRITER_DELETE);
    watch_available(run);
}

static void ipv6_only(struct run *run)
{
    const struct writer_route route = { .prefix = "::/0", .index = run->scene.e0, .gateway = "2001:db8::1" };

    scene_default(&run->scene, WRITER_DELETE);
    start_over(run);
    g_assert_cmpint(writer_address(&run->scene.writer, WRITER_ADD, run->scene.e0, "2001:db8::2/64"), ==, 0);
    g_assert_cmpint(writer_route(&run->scene.writer, WRITER_ADD, &route), ==, 0);
    watch_available(run);
}

static void add_routes(struct writer *writer, unsigned index, int count)
{
    char prefix[32];

    g_assert_cmpint(writer_batch(writer), ==, 0);
    for (int i = 0; i < count; i++) {
        const struct writer_route route = { .prefix = prefix, .index = index };

        g_snprintf(prefix, sizeof prefix, "10.%d.%d.%d/32", i >> 16, i >> 8 & 255, i & 255);
        writer_route(writer, WRITER_ADD, &route);
    }
    g_assert_cmpint(writer_flush(writer), ==, 0);
}

/* Messages are lost while the program is busy. Later changes must arrive. */
static void overrun(struct run *run)
{
    add_routes(&run->scene.writer, run->scene.e0, FLOOD);
    scene_default(&run->scene, WRITER_DELETE);
    start_over(run);
    scene_default(&run->scene, WRITER_ADD);
    watch_available(run);
}

static void wait_stopped(struct run *run)
{
    struct result *result = run->result;
    const pid_t program = fork();
    int status;

    if (program == 0) { /* a program with the monitor, stopped by its shell */
        run->scene.monitor = scene_monitor_named(run->monitor, NULL);
        scene_listen(&run->scene, run->scene.monitor);
        raise(SIGSTOP);
        watch_available(run);
        _exit(0);
    }
    g_assert_cmpint(waitpid(program, &status, WUNTRACED), ==, program);
    g_assert_true(WIFSTOPPED(status));
    add_routes(&run->scene.writer, run->scene.e0, FLOOD);
    scene_up(&run->scene, run->scene.e0, FALSE);
    kill(program, SIGCONT);
    g_assert_cmpint(waitpid(program, &status, 0), ==, program);
    g_assert_cmpint(status, ==, 0);
    result->kilobytes = 0;
}

/* The shortest of some starts: the machine does other things, too. */
static void start(struct run *run, int routes)
{
    gint64 best = G_MAXINT64;

    add_routes(&run->scene.writer, run->scene.e0, routes);
    g_clear_object(&run->scene.monitor);
    for (int i = 0; i < STARTS; i++) {
        const gint64 before = g_get_monotonic_time();
        GNetworkMonitor *monitor = scene_monitor_named(run->monitor, NULL);

        best = MIN(best, g_get_monotonic_time() - before);
        run->result->answer = g_network_monitor_get_network_available(monitor);
        g_object_unref(monitor);
    }
    run->result->microseconds = best;
}

static void start_with_10(struct run *run)
{
    start(run, 10);
}

static void start_with_100000(struct run *run)
{
    start(run, ROUTES);
}

static void thousand_properties(struct run *run)
{
    const gint64 before = g_get_monotonic_time();

    for (int i = 0; i < 1000; i++)
        run->result->answer = g_network_monitor_get_network_available(run->scene.monitor);
    run->result->microseconds = g_get_monotonic_time() - before;
}

static void thousand_questions(struct run *run)
{
    GSocketAddress *address = g_inet_socket_address_new_from_string(HOST, 80);
    GSocketConnectable *connectable = G_SOCKET_CONNECTABLE(address);
    const gint64 before = g_get_monotonic_time();

    for (int i = 0; i < 1000; i++)
        run->result->answer = g_network_monitor_can_reach(run->scene.monitor, connectable, NULL, NULL);
    run->result->microseconds = g_get_monotonic_time() - before;
    g_object_unref(address);
}

static const struct row rows[] = {
    { "link down", link_down, FALSE, 1, 1 },
    { "link up", link_up, TRUE, 1, 1 },
    { "carrier lost", carrier_lost, FALSE, 1, 1 },
    { "carrier back", carrier_back, TRUE, 1, 1 },
    { "default route in halves", halves, TRUE, 0, 0 },
    { "host blackholed", blackhole, FALSE, 1, 1 },
    { "prohibit rule for a host", prohibit_rule, FALSE, 1, 1 },
    { "other metric", other_metric, TRUE, 0, 0 },
    { "IPv6 only", ipv6_only, TRUE, 1, 1 },
    { "change after lost messages", overrun, TRUE, 1, 1 },
    { "stopped, link down, resumed", wait_stopped, FALSE, 1, 1 },
    { "start, 10 routes", start_with_10, TRUE, 0, 0 },
    { "start, 100,000 routes", start_with_100000, TRUE, 0, 0 },
    { "1,000 x network-available", thousand_properties, TRUE, 0, 0 },
    { "1,000 x can_reach", thousand_questions, TRUE, 0, 0 },
};

/* ---- The table -------------------------------------------------------------------------------------------------- */

static void measure(const struct row *row, const char *monitor, struct result *result)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        struct run run = { .monitor = monitor, .result = result };
        gssize before = 0;

        scene_prepare(&run.scene);
        if (row->run != wait_stopped) {
            run.scene.monitor = scene_monitor_named(monitor, NULL); /* so that all code is loaded */
            g_clear_object(&run.scene.monitor);
            before = resident();
            run.scene.monitor = scene_monitor_named(monitor, NULL);
            scene_listen(&run.scene, run.scene.monitor);
            scene_settle();
        }
        run.scene.changed = 0;
        row->run(&run);
        if (row->run != wait_stopped)
            result->kilobytes = resident() - before;
        _exit(0);
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    if (status != 0)
        g_error("%s, %s: status %d", row->name, monitor, status);
}

static void describe(const struct row *row, const struct result *result, char *text, size_t size)
{
    char time[32] = "-";

    if (result->microseconds >= 0)
        g_snprintf(time, sizeof time, "%.2f ms", (double)result->microseconds / 1000);
    g_snprintf(text, size, "%-3s %u events %9s %6zd kB%s", result->answer ? "yes" : "no", result->events, time,
               result->kilobytes, result->answer == row->answer ? "" : " WRONG");
}

int main(int argc, char **argv)
{
    struct result *glib = scene_shared(sizeof *glib), *ours = scene_shared(sizeof *ours);
    gint64 few = 0;
    int status = 0;

    (void)argc;
    scene_enter(argv[0]);
    g_print("| %-28s| %-38s | %-38s |\n", "change", "GLib's netlink monitor", "reachability");
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const struct row *row = &rows[i];
        char texts[2][64];

        *glib = *ours = (struct result){ 0 };
        measure(row, "netlink", glib);
        measure(row, "reachability", ours);
        describe(row, glib, texts[0], sizeof texts[0]);
        describe(row, ours, texts[1], sizeof texts[1]);
        g_print("| %-28s| %-38s | %-38s |\n", row->name, texts[0], texts[1]);
        if (ours->answer != row->answer || ours->events < row->events || ours->events > row->or_events) {
            g_print("%s: expected %s, %u events\n", row->name, row->answer ? "yes" : "no", row->events);
            status = 1;
        }
        if (row->run == start_with_10)
            few = ours->microseconds;
        if (row->run == start_with_100000 &&
            (ours->microseconds > 3 * few || 10 * ours->microseconds > glib->microseconds)) {
            g_print("the start with 100,000 routes takes too long\n");
            status = 1;
        }
    }
    return status;
}
