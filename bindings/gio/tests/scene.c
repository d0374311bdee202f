/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "scene.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define TIME_LIMIT 30 /* seconds */

/* ---- Programs and tests ----------------------------------------------------------------------------------------- */

void scene_enter(const char *program)
{
    char *folder;

    /* A test's own subprocess is in a namespace, and may not make another one without root. */
    if (!g_test_subprocess() && unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
        g_print("SKIP: no network namespace can be made here\n");
        exit(77);
    }
    folder = g_path_get_dirname(program);
    g_setenv("GIO_MODULE_DIR", folder, TRUE);
    g_setenv("GIO_USE_PROXY_RESOLVER", "dummy", TRUE);
    g_setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent", FALSE);
    g_free(folder);
}

void scene_init(int *argc, char ***argv)
{
    char *program = g_strdup((*argv)[0]);

    g_test_init(argc, argv, NULL);
    scene_enter(program);
    g_free(program);
}

/* No link-local IPv6 addresses: their messages come when they are checked, seconds later. */
static void quieten_links(void)
{
    FILE *file = fopen("/proc/sys/net/ipv6/conf/default/addr_gen_mode", "w");

    g_assert_nonnull(file);
    fputs("1", file);
    g_assert_cmpint(fclose(file), ==, 0);
}

void scene_prepare(struct scene *scene)
{
    g_assert_cmpint(unshare(CLONE_NEWNET), ==, 0);
    quieten_links();
    g_assert_cmpint(writer_open(&scene->writer), ==, 0);
    g_assert_cmpint(writer_link_add_pair(&scene->writer, "e0", "p0"), ==, 0);
    scene->e0 = writer_index("e0");
    scene->p0 = writer_index("p0");
    scene_up(scene, writer_index("lo"), TRUE);
    scene_up(scene, scene->e0, TRUE);
    scene_up(scene, scene->p0, TRUE);
    g_assert_cmpint(writer_address(&scene->writer, WRITER_ADD, scene->e0, "192.0.2.2/24"), ==, 0);
    scene_default(scene, WRITER_ADD);
}

static void open_scene(struct scene *scene)
{
    scene_prepare(scene);
    scene->monitor = scene_monitor(scene);
    scene_settle();
    g_assert_true(g_network_monitor_get_network_available(scene->monitor));
    scene->changed = scene->available = scene->metered = scene->connectivity = 0;
}

static void run_test(gconstpointer data)
{
    const scene_function *test = data;
    struct scene scene = { 0 };

    open_scene(&scene);
    (*test)(&scene);
    g_clear_object(&scene.monitor);
    scene_drain();
    writer_close(&scene.writer);
}

void scene_test(const char *name, scene_function test)
{
    scene_function *data = g_new(scene_function, 1);

    *data = test;
    g_test_add_data_func_full(name, data, run_test, g_free);
}

/* ---- Monitors --------------------------------------------------------------------------------------------------- */

static void on_changed(GNetworkMonitor *monitor, gboolean available, gpointer data)
{
    struct scene *scene = data;

    scene->changed++;
    scene->last = available;
    scene->thread = g_thread_self();
    g_assert_cmpint(available, ==, g_network_monitor_get_network_available(monitor));
}

static void on_notify(GObject *monitor, GParamSpec *property, gpointer data)
{
    struct scene *scene = data;

    (void)monitor;
    if (strcmp(property->name, "network-available") == 0)
        scene->available++;
    else if (strcmp(property->name, "network-metered") == 0)
        scene->metered++;
    else if (strcmp(property->name, "connectivity") == 0)
        scene->connectivity++;
}

void scene_listen(struct scene *scene, GNetworkMonitor *monitor)
{
    g_signal_connect(monitor, "network-changed", G_CALLBACK(on_changed), scene);
    g_signal_connect(monitor, "notify", G_CALLBACK(on_notify), scene);
}

GNetworkMonitor *scene_monitor_named(const char *name, GError **error)
{
    GIOExtensionPoint *point;
    GIOExtension *extension;

    g_proxy_resolver_get_default(); /* GIO loads its modules */
    point = g_io_extension_point_lookup(G_NETWORK_MONITOR_EXTENSION_POINT_NAME);
    extension = g_io_extension_point_get_extension_by_name(point, name);
    g_assert_nonnull(extension);
    return g_initable_new(g_io_extension_get_type(extension), NULL, error, NULL);
}

GNetworkMonitor *scene_monitor(struct scene *scene)
{
    GError *error = NULL;
    GNetworkMonitor *monitor = scene_monitor_named("reachability", &error);

    g_assert_no_error(error);
    g_assert_cmpstr(G_OBJECT_TYPE_NAME(monitor), ==, "ReachabilityNetworkMonitor");
    if (scene != NULL)
        scene_listen(scene, monitor);
    return monitor;
}

/* ---- Waiting ---------------------------------------------------------------------------------------------------- */

static gboolean set_flag(gpointer flag)
{
    *(gboolean *)flag = TRUE;
    return G_SOURCE_REMOVE;
}

static GSource *set_later(guint milliseconds, gboolean *flag)
{
    GSource *source = g_timeout_source_new(milliseconds);

    g_source_set_callback(source, set_flag, flag, NULL);
    g_source_attach(source, g_main_context_get_thread_default());
    return source;
}

static void forget(GSource *source)
{
    g_source_destroy(source);
    g_source_unref(source);
}

void scene_await(struct scene *scene, guint changed)
{
    gboolean late = FALSE;
    GSource *limit = set_later(TIME_LIMIT * 1000, &late);

    while (scene->changed < changed && !late)
        g_main_context_iteration(g_main_context_get_thread_default(), TRUE);
    forget(limit);
    g_assert_cmpuint(scene->changed, ==, changed);
}

void scene_settle(void)
{
    gboolean over = FALSE;
    GSource *limit = set_later(80, &over);

    while (!over)
        g_main_context_iteration(g_main_context_get_thread_default(), TRUE);
    forget(limit);
}

void scene_drain(void)
{
    while (g_main_context_iteration(g_main_context_get_thread_default(), FALSE))
        ;
}

gboolean scene_can_reach(struct scene *scene, const char *address)
{
    GSocketAddress *socket_address = g_inet_socket_address_new_from_string(address, 80);
    gboolean reachable = g_network_monitor_can_reach(scene->monitor, G_SOCKET_CONNECTABLE(socket_address), NULL, NULL);

    g_object_unref(socket_address);
    return reachable;
}

/* ---- Changes ---------------------------------------------------------------------------------------------------- */

void scene_route(struct scene *scene, enum writer_action action, const char *prefix, unsigned type)
{
    const struct writer_route route = {
        .prefix = prefix, .type = type, .index = type == 0 ? scene->e0 : 0, .gateway = type == 0 ? "192.0.2.1" : NULL
    };

    g_assert_cmpint(writer_route(&scene->writer, action, &route), ==, 0);
}

void scene_default(struct scene *scene, enum writer_action action)
{
    scene_route(scene, action, "0.0.0.0/0", 0);
}

void scene_up(struct scene *scene, unsigned index, gboolean up)
{
    g_assert_cmpint(writer_link_up(&scene->writer, index, up), ==, 0);
}

void *scene_shared(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    g_assert_true(memory != MAP_FAILED);
    return memory;
}

/* ---- The process ------------------------------------------------------------------------------------------------ */

static guint count_entries(const char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    guint count = 0;

    g_assert_nonnull(dir);
    while (g_dir_read_name(dir) != NULL)
        count++;
    g_dir_close(dir);
    return count;
}

guint scene_count_descriptors(void)
{
    return count_entries("/proc/self/fd");
}

guint scene_count_threads(void)
{
    return count_entries("/proc/self/task");
}
