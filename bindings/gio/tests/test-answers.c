/* SPDX-License-Identifier: MIT */
/* can_reach: the answers, the errors, and the destinations that stay. */
#define _GNU_SOURCE
#include <gio/gunixsocketaddress.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "../destination.h"
#include "scene.h"

/* ---- A resolver whose names have the addresses that the test wants ----------------------------------------------- */

typedef struct {
    GResolver parent;
} TestResolver;
typedef struct {
    GResolverClass parent;
} TestResolverClass;
GType test_resolver_get_type(void);
G_DEFINE_TYPE(TestResolver, test_resolver, G_TYPE_RESOLVER)

static const char *resolved[4]; /* NULL: the look-up fails */
static guint lookups;
static GCancellable *cancelled_meanwhile; /* by the look-up */

static GList *lookup(GError **error)
{
    GList *addresses = NULL;

    lookups++;
    if (cancelled_meanwhile != NULL)
        g_cancellable_cancel(cancelled_meanwhile);
    for (guint i = 0; resolved[i] != NULL; i++)
        addresses = g_list_append(addresses, g_inet_address_new_from_string(resolved[i]));
    if (addresses == NULL)
        g_set_error_literal(error, G_RESOLVER_ERROR, G_RESOLVER_ERROR_TEMPORARY_FAILURE, "no server");
    return addresses;
}

static GList *lookup_now(GResolver *resolver, const char *name, GCancellable *cancellable, GError **error)
{
    (void)resolver, (void)name, (void)cancellable;
    return lookup(error);
}

static GList *lookup_flags(GResolver *resolver, const char *name, GResolverNameLookupFlags flags,
                           GCancellable *cancellable, GError **error)
{
    (void)resolver, (void)name, (void)flags, (void)cancellable;
    return lookup(error);
}

static void free_addresses(gpointer addresses)
{
    g_resolver_free_addresses(addresses);
}

static void lookup_async(GResolver *resolver, const char *name, GResolverNameLookupFlags flags,
                         GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data)
{
    GTask *task = g_task_new(resolver, cancellable, callback, data);
    GError *error = NULL;
    GList *addresses = NULL;

    (void)name;
    if (flags == G_RESOLVER_NAME_LOOKUP_FLAGS_IPV6_ONLY)
        g_set_error_literal(&error, G_RESOLVER_ERROR, G_RESOLVER_ERROR_TEMPORARY_FAILURE, "no IPv6");
    else
        addresses = lookup(&error);
    if (error != NULL)
        g_task_return_error(task, error);
    else
        g_task_return_pointer(task, addresses, free_addresses);
    g_object_unref(task);
}

static GList *lookup_finish(GResolver *resolver, GAsyncResult *result, GError **error)
{
    (void)resolver;
    return g_task_propagate_pointer(G_TASK(result), error);
}

static void test_resolver_class_init(TestResolverClass *class)
{
    GResolverClass *resolver = G_RESOLVER_CLASS(class);

    resolver->lookup_by_name = lookup_now;
    resolver->lookup_by_name_with_flags = lookup_flags;
    resolver->lookup_by_name_with_flags_async = lookup_async;
    resolver->lookup_by_name_with_flags_finish = lookup_finish;
}

static void test_resolver_init(TestResolver *resolver)
{
    (void)resolver;
}

static void resolve(const char *first, const char *second)
{
    resolved[0] = first;
    resolved[1] = second;
    lookups = 0;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

/* Takes the connectable. Expects it to be reachable, if there is no error. */
static void expect(struct scene *scene, gpointer connectable, GQuark domain, int code)
{
    GError *error = NULL;
    gboolean reachable = g_network_monitor_can_reach(scene->monitor, connectable, NULL, &error);

    if (domain == 0)
        g_assert_no_error(error);
    else
        g_assert_error(error, domain, code);
    g_assert_cmpint(reachable, ==, domain == 0);
    g_clear_error(&error);
    g_object_unref(connectable);
}

static void on_answer(GObject *monitor, GAsyncResult *result, gpointer data)
{
    (void)monitor;
    *(GAsyncResult **)data = g_object_ref(result);
}

/* The same, asynchronously. */
static void expect_async(struct scene *scene, gpointer connectable, GCancellable *cancellable, GQuark domain, int code)
{
    GAsyncResult *result = NULL;
    GError *error = NULL;
    gboolean reachable;

    g_network_monitor_can_reach_async(scene->monitor, connectable, cancellable, on_answer, &result);
    g_assert_null(result);
    while (result == NULL)
        g_main_context_iteration(NULL, TRUE);
    reachable = g_network_monitor_can_reach_finish(scene->monitor, result, &error);
    if (domain == 0)
        g_assert_no_error(error);
    else
        g_assert_error(error, domain, code);
    g_assert_cmpint(reachable, ==, domain == 0);
    g_clear_error(&error);
    g_object_unref(result);
    g_object_unref(connectable);
    scene_drain();
}

static gpointer address(const char *text)
{
    return g_inet_socket_address_new_from_string(text, 80);
}

static gpointer name(void)
{
    return g_network_address_new("host.test", 80);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------ */

/* As connect(2) has it. There is no route. */
static void unspecified_address_is_this_machine(struct scene *scene)
{
    static const char *const addresses[] = { "0.0.0.0", "::", "::ffff:0.0.0.0" };

    scene_default(scene, WRITER_DELETE);
    for (gsize i = 0; i < G_N_ELEMENTS(addresses); i++) {
        resolve(addresses[i], NULL);
        expect(scene, name(), 0, 0);
        expect(scene, address(addresses[i]), 0, 0);
    }
}

static void refused_host_is_unreachable(struct scene *scene)
{
    static const unsigned types[] = { RTN_BLACKHOLE, RTN_UNREACHABLE, RTN_PROHIBIT };

    expect(scene, address("203.0.113.7"), 0, 0);
    expect(scene, address("127.0.0.1"), 0, 0);
    expect(scene, address("2001:db8::7"), G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE);
    for (guint i = 0; i < G_N_ELEMENTS(types); i++) {
        scene_route(scene, WRITER_ADD, "203.0.113.7/32", types[i]);
        expect(scene, address("203.0.113.7"), G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE);
        expect_async(scene, address("203.0.113.7"), NULL, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE);
        scene_route(scene, WRITER_DELETE, "203.0.113.7/32", types[i]);
    }
    expect_async(scene, address("203.0.113.7"), NULL, 0, 0);
}

static void without_a_network_the_network_is_unreachable(struct scene *scene)
{
    resolve(NULL, NULL);
    scene_default(scene, WRITER_DELETE);
    expect(scene, address("203.0.113.7"), G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE);
    expect_async(scene, address("203.0.113.7"), NULL, G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE);
    expect(scene, name(), G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE);
    expect_async(scene, name(), NULL, G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE);
    expect(scene, address("192.0.2.7"), 0, 0); /* on the cable */
}

static void names_are_looked_up_by_the_resolver(struct scene *scene)
{
    resolve("203.0.113.7", NULL);
    expect(scene, name(), 0, 0);
    expect_async(scene, name(), NULL, 0, 0);
    g_assert_cmpuint(lookups, ==, 2);
    resolve(NULL, NULL);
    expect(scene, name(), G_RESOLVER_ERROR, G_RESOLVER_ERROR_TEMPORARY_FAILURE);
    expect_async(scene, name(), NULL, G_RESOLVER_ERROR, G_RESOLVER_ERROR_TEMPORARY_FAILURE);
}

typedef void (*question)(struct scene *scene, gpointer connectable);

static void ask(struct scene *scene, gpointer connectable)
{
    expect(scene, connectable, 0, 0);
}

static void ask_async(struct scene *scene, gpointer connectable)
{
    expect_async(scene, connectable, NULL, 0, 0);
}

/* Also when the answer came before the other address was known. */
static void expect_any_address(struct scene *scene, question pose)
{
    resolve("203.0.113.7", "198.51.100.7");
    pose(scene, name());
    scene_route(scene, WRITER_ADD, "203.0.113.7/32", RTN_BLACKHOLE);
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 0);
    pose(scene, name());
    scene_route(scene, WRITER_ADD, "198.51.100.7/32", RTN_BLACKHOLE);
    scene_await(scene, 1);
    expect(scene, name(), G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE);
}

static void one_reachable_address_is_enough(struct scene *scene)
{
    expect_any_address(scene, ask);
}

static void one_reachable_address_is_enough_asynchronously(struct scene *scene)
{
    expect_any_address(scene, ask_async);
}

static void other_addresses_of_a_name_with_another_answer_are_an_event(struct scene *scene)
{
    scene_route(scene, WRITER_ADD, "198.51.100.7/32", RTN_BLACKHOLE);
    scene_settle();
    resolve("203.0.113.7", NULL);
    expect(scene, name(), 0, 0);
    resolve("198.51.100.7", NULL);
    expect(scene, name(), G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE);
    scene_await(scene, 1);
}

static void cancelled_question_is_cancelled(struct scene *scene)
{
    GCancellable *cancellable = g_cancellable_new();
    gpointer host = address("203.0.113.7");
    GError *error = NULL;

    g_cancellable_cancel(cancellable);
    g_assert_false(g_network_monitor_can_reach(scene->monitor, G_SOCKET_CONNECTABLE(host), cancellable, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    g_clear_error(&error);
    expect_async(scene, host, cancellable, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    expect_async(scene, name(), cancellable, G_IO_ERROR, G_IO_ERROR_CANCELLED);

    cancelled_meanwhile = cancellable;
    resolve("203.0.113.7", NULL);
    g_cancellable_reset(cancellable);
    host = name();
    g_assert_false(g_network_monitor_can_reach(scene->monitor, G_SOCKET_CONNECTABLE(host), cancellable, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    g_clear_error(&error);
    g_cancellable_reset(cancellable);
    expect_async(scene, name(), cancellable, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    cancelled_meanwhile = NULL;
    g_object_unref(host);
    g_object_unref(cancellable);
}

static void other_family_gets_the_error_that_glib_has_for_it(struct scene *scene)
{
    GError *error = NULL, *expected = NULL;
    GNetworkMonitor *netlink = scene_monitor_named("netlink", &expected);
    GSocketAddress *local = g_unix_socket_address_new("/nonexistent");

    g_assert_no_error(expected);
    g_assert_false(g_network_monitor_can_reach(netlink, G_SOCKET_CONNECTABLE(local), NULL, &expected));
    g_assert_false(g_network_monitor_can_reach(scene->monitor, G_SOCKET_CONNECTABLE(local), NULL, &error));
    g_assert_error(error, expected->domain, expected->code);
    g_assert_cmpstr(error->message, ==, expected->message);
    g_clear_error(&error);
    g_clear_error(&expected);
    expect_async(scene, g_object_ref(local), NULL, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE);
    g_object_unref(local);
    g_object_unref(netlink);
}

/* The program's /etc/hosts, in a mount namespace that lasts until the program ends. First before a monitor has a
 * thread, which would stay in the other namespace. */
static void write_hosts(const char *text)
{
    static char *file;

    if (file == NULL) {
        const int fd = g_file_open_tmp("hosts-XXXXXX", &file, NULL);

        close(fd);
        g_assert_cmpint(unshare(CLONE_NEWNS), ==, 0);
        g_assert_cmpint(mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL), ==, 0);
        g_assert_cmpint(mount(file, "/etc/hosts", "none", MS_BIND, NULL), ==, 0);
        unlink(file);
    }
    g_assert_true(g_file_set_contents_full("/etc/hosts", text, -1, G_FILE_SET_CONTENTS_NONE, 0644, NULL));
}

/* The module of a VPN, or its name server, was not there when the program asked. */
static void failed_name_that_can_be_looked_up_later_is_an_event(struct scene *scene)
{
    resolve(NULL, NULL);
    write_hosts("");
    expect(scene, name(), G_RESOLVER_ERROR, G_RESOLVER_ERROR_TEMPORARY_FAILURE);
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 0);
    write_hosts("203.0.113.7 host.test\n");
    scene_await(scene, 1);
    g_assert_true(scene->last);
    g_assert_cmpuint(scene->available, ==, 0);
}

static void last_64_destinations_stay(struct scene *scene)
{
    char host[32];

    for (int i = 0; i < DESTINATIONS_MAX + 1; i++) {
        g_snprintf(host, sizeof host, "203.0.113.%d", i);
        g_assert_true(scene_can_reach(scene, host));
        if (i == DESTINATIONS_MAX - 1)
            g_assert_true(scene_can_reach(scene, "203.0.113.0")); /* asked again: .1 is the oldest now */
    }
    scene_route(scene, WRITER_ADD, "203.0.113.1/32", RTN_BLACKHOLE);
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 0);
    scene_route(scene, WRITER_ADD, "203.0.113.0/32", RTN_BLACKHOLE);
    scene_await(scene, 1);
    scene_route(scene, WRITER_ADD, "203.0.113.2/32", RTN_BLACKHOLE);
    scene_await(scene, 2);
}

static struct destination *destination(const char *text)
{
    GSocketAddress *host = address(text);
    struct destination *result = destination_new(G_SOCKET_CONNECTABLE(host), NULL);

    destination_add(result, host, NULL);
    g_object_unref(host);
    return result;
}

static void destination_is_dropped_after_ten_minutes(struct scene *scene)
{
    const gint64 minute = 60 * G_USEC_PER_SEC;
    GQueue destinations = G_QUEUE_INIT;

    (void)scene;
    destinations_remember(&destinations, destination("203.0.113.1"), 0);
    destinations_remember(&destinations, destination("203.0.113.2"), 1 * minute);
    destinations_remember(&destinations, destination("203.0.113.1"), 2 * minute);
    g_assert_cmpuint(destinations.length, ==, 2);
    g_assert_cmpint(destinations_expire(&destinations, 11 * minute - 1), ==, 11 * minute);
    g_assert_cmpint(destinations_expire(&destinations, 11 * minute), ==, 12 * minute);
    g_assert_cmpuint(destinations.length, ==, 1);
    g_assert_cmpint(destinations_expire(&destinations, 12 * minute), ==, -1);
    g_assert_cmpuint(destinations.length, ==, 0);
}

static void busy_program_gets_the_current_answer(struct scene *scene)
{
    for (int i = 0; i < 20; i++) {
        scene_route(scene, WRITER_ADD, "203.0.113.7/32", RTN_BLACKHOLE);
        g_assert_false(scene_can_reach(scene, "203.0.113.7"));
        scene_route(scene, WRITER_DELETE, "203.0.113.7/32", RTN_BLACKHOLE);
        g_assert_true(scene_can_reach(scene, "203.0.113.7"));
    }
    g_assert_cmpuint(scene->changed, ==, 0);
}

int main(int argc, char **argv)
{
    GResolver *resolver;

    scene_init(&argc, &argv);
    write_hosts("");
    resolver = g_object_new(test_resolver_get_type(), NULL);
    g_resolver_set_default(resolver);
    scene_test("/answers/refused_host_is_unreachable", refused_host_is_unreachable);
    scene_test("/answers/unspecified_address_is_this_machine", unspecified_address_is_this_machine);
    scene_test("/answers/without_a_network_the_network_is_unreachable", without_a_network_the_network_is_unreachable);
    scene_test("/answers/names_are_looked_up_by_the_resolver", names_are_looked_up_by_the_resolver);
    scene_test("/answers/one_reachable_address_is_enough", one_reachable_address_is_enough);
    scene_test("/answers/cancelled_question_is_cancelled", cancelled_question_is_cancelled);
    scene_test("/answers/other_family_gets_the_error_that_glib_has_for_it",
               other_family_gets_the_error_that_glib_has_for_it);
    scene_test("/answers/failed_name_that_can_be_looked_up_later_is_an_event",
               failed_name_that_can_be_looked_up_later_is_an_event);
    scene_test("/answers/one_reachable_address_is_enough_asynchronously",
               one_reachable_address_is_enough_asynchronously);
    scene_test("/answers/other_addresses_of_a_name_with_another_answer_are_an_event",
               other_addresses_of_a_name_with_another_answer_are_an_event);
    scene_test("/answers/last_64_destinations_stay", last_64_destinations_stay);
    scene_test("/answers/destination_is_dropped_after_ten_minutes", destination_is_dropped_after_ten_minutes);
    scene_test("/answers/busy_program_gets_the_current_answer", busy_program_gets_the_current_answer);
    return g_test_run();
}
