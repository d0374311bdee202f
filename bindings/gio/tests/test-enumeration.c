/* SPDX-License-Identifier: MIT */
/* can_reach_async, whose answer comes before the last address: what happens until the enumeration ends. */
#include "scene.h"

/* ---- A host with one address. Its enumeration ends when the test says so. ---------------------------------------- */

typedef struct {
    GSocketAddressEnumerator parent;
    gboolean has_given;
} TestEnumerator;
typedef GSocketAddressEnumeratorClass TestEnumeratorClass;
GType test_enumerator_get_type(void);
G_DEFINE_TYPE(TestEnumerator, test_enumerator, G_TYPE_SOCKET_ADDRESS_ENUMERATOR)

static GTask *last_step; /* the question for a second address */

static void next_async(GSocketAddressEnumerator *enumerator, GCancellable *cancellable, GAsyncReadyCallback callback,
                       gpointer data)
{
    TestEnumerator *self = (TestEnumerator *)enumerator;
    GTask *task = g_task_new(enumerator, cancellable, callback, data);

    if (self->has_given) {
        last_step = task;
        return;
    }
    self->has_given = TRUE;
    g_task_return_pointer(task, g_inet_socket_address_new_from_string("203.0.113.7", 80), g_object_unref);
    g_object_unref(task);
}

static GSocketAddress *next_finish(GSocketAddressEnumerator *enumerator, GAsyncResult *result, GError **error)
{
    (void)enumerator;
    return g_task_propagate_pointer(G_TASK(result), error);
}

static void test_enumerator_class_init(TestEnumeratorClass *class)
{
    class->next_async = next_async;
    class->next_finish = next_finish;
}

static void test_enumerator_init(TestEnumerator *self)
{
    self->has_given = FALSE;
}

typedef struct {
    GObject parent;
} TestHost;
typedef GObjectClass TestHostClass;

static GSocketAddressEnumerator *enumerate(GSocketConnectable *host)
{
    (void)host;
    return g_object_new(test_enumerator_get_type(), NULL);
}

static char *to_string(GSocketConnectable *host)
{
    (void)host;
    return g_strdup("test host");
}

static void test_host_iface_init(GSocketConnectableIface *interface)
{
    interface->enumerate = enumerate;
    interface->proxy_enumerate = enumerate;
    interface->to_string = to_string;
}

GType test_host_get_type(void);
G_DEFINE_TYPE_WITH_CODE(TestHost, test_host, G_TYPE_OBJECT,
                        G_IMPLEMENT_INTERFACE(G_TYPE_SOCKET_CONNECTABLE, test_host_iface_init))

static void test_host_class_init(TestHostClass *class)
{
    (void)class;
}

static void test_host_init(TestHost *self)
{
    (void)self;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static void on_answer(GObject *monitor, GAsyncResult *result, gpointer data)
{
    GError *error = NULL;

    g_assert_true(g_network_monitor_can_reach_finish(G_NETWORK_MONITOR(monitor), result, &error));
    g_assert_no_error(error);
    *(gboolean *)data = TRUE;
}

/* Returns after the answer, which is TRUE. The enumeration goes on. */
static void ask(struct scene *scene, GCancellable *cancellable)
{
    GObject *host = g_object_new(test_host_get_type(), NULL);
    gboolean answered = FALSE;

    g_network_monitor_can_reach_async(scene->monitor, G_SOCKET_CONNECTABLE(host), cancellable, on_answer, &answered);
    while (!answered || last_step == NULL)
        g_main_context_iteration(NULL, TRUE);
    g_object_unref(host);
}

static void end_enumeration(void)
{
    GTask *task = g_steal_pointer(&last_step);

    g_task_return_pointer(task, NULL, NULL); /* or the error, if it was cancelled */
    g_object_unref(task);
    scene_drain();
}

/* ---- Tests ------------------------------------------------------------------------------------------------------ */

static void same_answer_at_the_end_is_no_event(struct scene *scene)
{
    ask(scene, NULL);
    end_enumeration();
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 0);
    scene_route(scene, WRITER_ADD, "203.0.113.7/32", RTN_BLACKHOLE);
    scene_await(scene, 1);
}

static void host_that_is_unreachable_at_the_end_is_an_event(struct scene *scene)
{
    ask(scene, NULL);
    scene_route(scene, WRITER_ADD, "203.0.113.7/32", RTN_BLACKHOLE);
    scene_settle();
    end_enumeration();
    scene_await(scene, 1);
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 1);
}

/* Programs cancel whatever is left when they have what they want. */
static void host_stays_if_the_program_cancels_after_the_answer(struct scene *scene)
{
    GCancellable *cancellable = g_cancellable_new();

    ask(scene, cancellable);
    g_cancellable_cancel(cancellable);
    end_enumeration();
    scene_route(scene, WRITER_ADD, "203.0.113.7/32", RTN_BLACKHOLE);
    scene_await(scene, 1);
    g_object_unref(cancellable);
}

int main(int argc, char **argv)
{
    scene_init(&argc, &argv);
    scene_test("/enumeration/same_answer_at_the_end_is_no_event", same_answer_at_the_end_is_no_event);
    scene_test("/enumeration/host_that_is_unreachable_at_the_end_is_an_event",
               host_that_is_unreachable_at_the_end_is_an_event);
    scene_test("/enumeration/host_stays_if_the_program_cancels_after_the_answer",
               host_stays_if_the_program_cancels_after_the_answer);
    return g_test_run();
}
