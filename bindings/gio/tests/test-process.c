/* SPDX-License-Identifier: MIT */
/* The process around the monitor: programs that ask for none, fork and exec, refused sockets. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scene.h"

/* Runs a function in a child, which fails as the test would. */
static void in_child(void (*run)(struct scene *), struct scene *scene)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        alarm(60);
        run(scene);
        _exit(0);
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_cmpint(status, ==, 0);
}

/* ---- Programs that ask for no monitor ---------------------------------------------------------------------------- */

static void loaded_module_is_inert(void)
{
    if (g_test_subprocess()) {
        const guint descriptors = scene_count_descriptors(), threads = scene_count_threads();
        GIOExtension *extension;

        g_proxy_resolver_get_default(); /* without giomodule.cache, GIO loads all modules */
        extension = g_io_extension_point_get_extension_by_name(
            g_io_extension_point_lookup(G_NETWORK_MONITOR_EXTENSION_POINT_NAME), "reachability");
        g_assert_nonnull(extension);
        g_assert_cmpint(g_io_extension_get_priority(extension), ==, 22);
        g_assert_cmpuint(scene_count_descriptors(), ==, descriptors);
        g_assert_cmpuint(scene_count_threads(), ==, threads);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_passed();
    g_test_trap_assert_stderr("");
}

static void module_prints_nothing(void)
{
    if (g_test_subprocess()) {
        struct scene scene = { 0 };

        scene.monitor = scene_monitor(&scene);
        scene_can_reach(&scene, "127.0.0.1");
        g_object_unref(scene.monitor);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_passed();
    g_test_trap_assert_stderr("");
}

static void monitor_has_one_thread_and_few_descriptors(struct scene *scene)
{
    const guint threads = scene_count_threads();
    guint before = scene_count_descriptors(), glib, ours;
    GNetworkMonitor *monitor = scene_monitor_named("netlink", NULL);

    (void)scene;
    glib = scene_count_descriptors() - before;
    g_object_unref(monitor);
    monitor = scene_monitor(NULL);
    ours = scene_count_descriptors() - before;
    g_test_message("descriptors: netlink %u, reachability %u", glib, ours);
    g_assert_cmpuint(ours, <=, glib + 8);
    g_assert_cmpuint(scene_count_threads(), <=, threads + 1);
    g_object_unref(monitor);
}

/* ---- fork and exec ---------------------------------------------------------------------------------------------- */

static void expect_events_in_child(struct scene *scene)
{
    scene->changed = 0;
    g_assert_true(scene_can_reach(scene, "203.0.113.7"));
    scene_default(scene, WRITER_DELETE);
    g_assert_false(g_network_monitor_get_network_available(scene->monitor));
    g_assert_false(scene_can_reach(scene, "203.0.113.7"));
    scene_await(scene, 1);
    scene_default(scene, WRITER_ADD);
    scene_await(scene, 2);
    g_object_unref(scene->monitor);
}

static void child_has_events_and_answers_and_the_parent_too(struct scene *scene)
{
    g_assert_true(scene_can_reach(scene, "203.0.113.7"));
    in_child(expect_events_in_child, scene);
    scene_settle();
    scene->changed = 0;
    scene_default(scene, WRITER_DELETE);
    scene_await(scene, 1);
    g_assert_false(scene->last);
    g_assert_false(scene_can_reach(scene, "203.0.113.7"));
}

static void idle_child_does_not_spin(struct scene *scene)
{
    struct rusage before, after;

    getrusage(RUSAGE_SELF, &before);
    scene_settle();
    getrusage(RUSAGE_SELF, &after);
    g_assert_cmpint(after.ru_utime.tv_sec * G_USEC_PER_SEC + after.ru_utime.tv_usec, <,
                    before.ru_utime.tv_sec * G_USEC_PER_SEC + before.ru_utime.tv_usec + 30000);
    (void)scene;
}

static void child_that_only_runs_its_context_is_quiet(struct scene *scene)
{
    in_child(idle_child_does_not_spin, scene);
}

static guint count_inherited(void)
{
    guint count = 0;

    for (int fd = 0; fd < 256; fd++) {
        const int flags = fcntl(fd, F_GETFD);

        if (flags >= 0 && (flags & FD_CLOEXEC) == 0)
            count++;
    }
    return count;
}

static void all_descriptors_close_on_exec(struct scene *scene)
{
    const guint before = count_inherited();
    GNetworkMonitor *monitor = scene_monitor(NULL);

    g_assert_true(scene_can_reach(scene, "203.0.113.7"));
    g_assert_cmpuint(count_inherited(), ==, before);
    g_object_unref(monitor);
}

/* ---- Refused sockets -------------------------------------------------------------------------------------------- */

/* From now on socket(2) fails with EPERM: of this family, or -1 for all. */
static gboolean deny_sockets(int family)
{
    const guint32 value = family < 0 ? 0 : (guint32)family;
    const struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | (family < 0 ? BPF_JGE : BPF_JEQ) | BPF_K, value, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { .len = G_N_ELEMENTS(code), .filter = (struct sock_filter *)code };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void expect_decline(void)
{
    GError *error = NULL;

    g_assert_null(scene_monitor_named("reachability", &error));
    g_assert_nonnull(error);
    g_assert_true(error->domain == G_IO_ERROR);
    g_clear_error(&error);
}

static void without_any_socket_glib_takes_the_next(void)
{
    if (g_test_subprocess()) {
        g_setenv("GIO_USE_NETWORK_MONITOR", "reachability", TRUE);
        g_assert_true(deny_sockets(-1));
        g_assert_cmpstr(G_OBJECT_TYPE_NAME(g_network_monitor_get_default()), ==, "GNetworkMonitorBase");
        expect_decline();
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_passed();
    g_test_trap_assert_stderr("");
}

static void use_up_descriptors(void)
{
    struct rlimit limit;

    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &limit), ==, 0);
    limit.rlim_cur = 0;
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &limit), ==, 0);
}

static void decline_without_descriptors(struct scene *scene)
{
    (void)scene;
    use_up_descriptors();
    expect_decline();
}

static void without_descriptors_the_module_declines(struct scene *scene)
{
    in_child(decline_without_descriptors, scene);
}

/* The library polls every 2 seconds. */
static void follow_without_netlink(struct scene *scene)
{
    struct scene polled = { .writer = scene->writer, .e0 = scene->e0 };

    g_assert_true(deny_sockets(AF_NETLINK));
    polled.monitor = scene_monitor(&polled);
    g_assert_true(g_network_monitor_get_network_available(polled.monitor));
    g_assert_true(scene_can_reach(&polled, "203.0.113.7"));
    scene_default(&polled, WRITER_DELETE);
    scene_await(&polled, 1);
    g_assert_false(polled.last);
    g_assert_false(scene_can_reach(&polled, "203.0.113.7"));
}

static void without_netlink_the_monitor_polls(struct scene *scene)
{
    in_child(follow_without_netlink, scene);
}

static void answer_without_descriptors(struct scene *scene)
{
    use_up_descriptors();
    g_assert_true(scene_can_reach(scene, "203.0.113.7"));
    g_assert_true(g_network_monitor_get_network_available(scene->monitor));
}

/* The monitor is made in the child: it would need other descriptors there. */
static void monitor_then_no_descriptors(struct scene *scene)
{
    struct scene other = { 0 };

    (void)scene;
    other.monitor = scene_monitor(&other);
    answer_without_descriptors(&other);
}

static void monitor_needs_no_further_descriptors(struct scene *scene)
{
    in_child(monitor_then_no_descriptors, scene);
}

int main(int argc, char **argv)
{
    scene_init(&argc, &argv);
    g_test_add_func("/process/loaded_module_is_inert", loaded_module_is_inert);
    g_test_add_func("/process/module_prints_nothing", module_prints_nothing);
    scene_test("/process/monitor_has_one_thread_and_few_descriptors", monitor_has_one_thread_and_few_descriptors);
    scene_test("/process/child_has_events_and_answers_and_the_parent_too",
               child_has_events_and_answers_and_the_parent_too);
    scene_test("/process/child_that_only_runs_its_context_is_quiet", child_that_only_runs_its_context_is_quiet);
    scene_test("/process/all_descriptors_close_on_exec", all_descriptors_close_on_exec);
    g_test_add_func("/process/without_any_socket_glib_takes_the_next", without_any_socket_glib_takes_the_next);
    scene_test("/process/without_descriptors_the_module_declines", without_descriptors_the_module_declines);
    scene_test("/process/without_netlink_the_monitor_polls", without_netlink_the_monitor_polls);
    scene_test("/process/monitor_needs_no_further_descriptors", monitor_needs_no_further_descriptors);
    return g_test_run();
}
