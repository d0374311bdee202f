/* SPDX-License-Identifier: MIT */
/* What is emitted after a change of the network: one event, for what changed. */
#include <linux/fib_rules.h>

#include "scene.h"

static void link_down_and_up_is_one_event_each(struct scene *scene)
{
    scene_up(scene, scene->e0, FALSE);
    scene_await(scene, 1);
    g_assert_false(scene->last);
    g_assert_false(g_network_monitor_get_network_available(scene->monitor));
    g_assert_cmpint(g_network_monitor_get_connectivity(scene->monitor), ==, G_NETWORK_CONNECTIVITY_LOCAL);
    g_assert_false(g_network_monitor_get_network_metered(scene->monitor));

    scene_up(scene, scene->e0, TRUE);
    scene_default(scene, WRITER_ADD);
    scene_await(scene, 2);
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 2);
    g_assert_true(scene->last);
    g_assert_cmpint(g_network_monitor_get_connectivity(scene->monitor), ==, G_NETWORK_CONNECTIVITY_FULL);
    g_assert_cmpuint(scene->available, ==, 2);
    g_assert_cmpuint(scene->connectivity, ==, 2);
    g_assert_cmpuint(scene->metered, ==, 0);
}

static void lost_carrier_is_one_event(struct scene *scene)
{
    scene_up(scene, scene->p0, FALSE);
    scene_await(scene, 1);
    g_assert_false(scene->last);
    scene_up(scene, scene->p0, TRUE);
    scene_await(scene, 2);
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 2);
    g_assert_true(scene->last);
}

static void one_event_also_with_remembered_destinations(struct scene *scene)
{
    for (int i = 1; i <= 64; i++) {
        char *address = g_strdup_printf("203.0.113.%d", i);

        g_assert_true(scene_can_reach(scene, address));
        g_free(address);
    }
    scene_up(scene, scene->p0, FALSE);
    scene_await(scene, 1);
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 1);
}

static void halves_of_a_default_route_are_available(struct scene *scene)
{
    scene_route(scene, WRITER_ADD, "0.0.0.0/1", 0);
    scene_route(scene, WRITER_ADD, "128.0.0.0/1", 0);
    scene_default(scene, WRITER_DELETE);
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 0);
    g_assert_true(g_network_monitor_get_network_available(scene->monitor));
}

static void blackholed_host_changes_only_its_answer(struct scene *scene)
{
    g_assert_true(scene_can_reach(scene, "203.0.113.7"));
    scene_route(scene, WRITER_ADD, "203.0.113.7/32", RTN_BLACKHOLE);
    scene_await(scene, 1);
    g_assert_true(scene->last);
    g_assert_false(scene_can_reach(scene, "203.0.113.7"));
    scene_route(scene, WRITER_DELETE, "203.0.113.7/32", RTN_BLACKHOLE);
    scene_await(scene, 2);
    g_assert_true(scene_can_reach(scene, "203.0.113.7"));
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 2);
    g_assert_cmpuint(scene->available + scene->connectivity + scene->metered, ==, 0);
}

static void host_that_nobody_asked_for_is_no_event(struct scene *scene)
{
    scene_route(scene, WRITER_ADD, "203.0.113.7/32", RTN_BLACKHOLE);
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 0);
}

static void prohibit_rule_is_an_event(struct scene *scene)
{
    const struct writer_rule rule = { .prefix = "203.0.113.0/24", .priority = 100, .action = FR_ACT_PROHIBIT };

    g_assert_true(scene_can_reach(scene, "203.0.113.7"));
    g_assert_cmpint(writer_rule(&scene->writer, WRITER_ADD, &rule), ==, 0);
    scene_await(scene, 1);
    g_assert_false(scene_can_reach(scene, "203.0.113.7"));
}

static void other_metric_gateway_or_interface_is_no_event(struct scene *scene)
{
    struct writer_route route = { .prefix = "0.0.0.0/0", .index = scene->e0, .gateway = "192.0.2.1", .metric = 50 };

    g_assert_true(scene_can_reach(scene, "203.0.113.7"));
    g_assert_cmpint(writer_route(&scene->writer, WRITER_ADD, &route), ==, 0);
    scene_default(scene, WRITER_DELETE);
    route.gateway = "192.0.2.254";
    g_assert_cmpint(writer_route(&scene->writer, WRITER_REPLACE, &route), ==, 0);
    g_assert_cmpint(writer_link_add_pair(&scene->writer, "e1", "p1"), ==, 0);
    scene_up(scene, writer_index("e1"), TRUE);
    scene_up(scene, writer_index("p1"), TRUE);
    g_assert_cmpint(writer_address(&scene->writer, WRITER_ADD, writer_index("e1"), "198.51.100.2/24"), ==, 0);
    scene_settle();
    route = (struct writer_route){
        .prefix = "0.0.0.0/0", .index = writer_index("e1"), .gateway = "198.51.100.1", .metric = 10
    };
    g_assert_cmpint(writer_route(&scene->writer, WRITER_ADD, &route), ==, 0);
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 0);
    g_assert_true(scene_can_reach(scene, "203.0.113.7"));
}

static void ipv6_alone_is_available(struct scene *scene)
{
    const struct writer_route route = { .prefix = "::/0", .index = scene->e0, .gateway = "2001:db8::1" };

    scene_default(scene, WRITER_DELETE);
    scene_await(scene, 1);
    g_assert_false(scene->last);
    g_assert_cmpint(writer_address(&scene->writer, WRITER_ADD, scene->e0, "2001:db8::2/64"), ==, 0);
    g_assert_cmpint(writer_route(&scene->writer, WRITER_ADD, &route), ==, 0);
    scene_await(scene, 2);
    g_assert_true(scene->last);
    g_assert_true(scene_can_reach(scene, "2001:db8:1::7"));
    g_assert_false(scene_can_reach(scene, "203.0.113.7"));
}

static void fifty_changes_while_busy_are_at_most_three_events(struct scene *scene)
{
    for (int i = 0; i < 51; i++)
        scene_default(scene, i % 2 == 0 ? WRITER_DELETE : WRITER_ADD);
    g_assert_cmpuint(scene->changed, ==, 0);
    scene_await(scene, 1);
    scene_settle();
    g_assert_cmpuint(scene->changed, <=, 3);
    g_assert_false(scene->last);
    g_assert_false(g_network_monitor_get_network_available(scene->monitor));
}

static void change_that_nobody_saw_and_that_is_gone_is_no_event(struct scene *scene)
{
    scene_default(scene, WRITER_DELETE);
    scene_default(scene, WRITER_ADD);
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 0);
}

/* Otherwise whoever read "offline" would wait for ever. */
static void change_that_somebody_read_is_an_event_also_when_it_is_gone(struct scene *scene)
{
    scene_default(scene, WRITER_DELETE);
    g_assert_false(g_network_monitor_get_network_available(scene->monitor));
    scene_default(scene, WRITER_ADD);
    scene_await(scene, 1);
    g_assert_true(scene->last);

    g_assert_true(scene_can_reach(scene, "203.0.113.7"));
    scene_route(scene, WRITER_ADD, "203.0.113.7/32", RTN_BLACKHOLE);
    g_assert_false(scene_can_reach(scene, "203.0.113.7"));
    scene_route(scene, WRITER_DELETE, "203.0.113.7/32", RTN_BLACKHOLE);
    scene_await(scene, 2);
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 2);
    g_assert_cmpuint(scene->available, ==, 1);
}

static void no_event_comes_inside_a_call(struct scene *scene)
{
    g_assert_true(scene_can_reach(scene, "203.0.113.7"));
    scene_up(scene, scene->e0, FALSE);
    g_assert_false(g_network_monitor_get_network_available(scene->monitor));
    g_assert_cmpint(g_network_monitor_get_connectivity(scene->monitor), ==, G_NETWORK_CONNECTIVITY_LOCAL);
    g_assert_false(scene_can_reach(scene, "203.0.113.7"));
    g_assert_cmpuint(scene->changed + scene->available + scene->connectivity, ==, 0);
    scene_await(scene, 1);
    scene_settle();
    g_assert_cmpuint(scene->changed, ==, 1);
    g_assert_cmpuint(scene->available, ==, 1);
}

/* The call has handled all messages, so nothing else wakes the context. */
static void event_comes_after_calls_that_left_nothing_to_do(struct scene *scene)
{
    const gint64 until = g_get_monotonic_time() + 80 * 1000; /* the library repeats queries within 50 ms */

    scene_default(scene, WRITER_DELETE);
    while (g_get_monotonic_time() < until)
        g_assert_false(g_network_monitor_get_network_available(scene->monitor));
    scene_await(scene, 1);
}

static void wait_in_handler(GNetworkMonitor *monitor, gboolean available, gpointer data)
{
    struct scene *scene = data;

    (void)monitor;
    if (available)
        return;
    scene_default(scene, WRITER_ADD);
    scene_await(scene, 2);
}

/* A dialog in the handler runs the context. */
static void events_come_while_a_handler_runs_the_context(struct scene *scene)
{
    g_signal_connect(scene->monitor, "network-changed", G_CALLBACK(wait_in_handler), scene);
    scene_default(scene, WRITER_DELETE);
    scene_await(scene, 2);
    g_assert_true(scene->last);
}

static void reading_in_a_handler_makes_no_further_event(struct scene *scene)
{
    for (guint i = 1; i <= 10; i++) {
        scene_default(scene, i % 2 == 1 ? WRITER_DELETE : WRITER_ADD); /* on_changed reads */
        scene_await(scene, i);
        scene_settle();
        g_assert_cmpuint(scene->changed, ==, i);
    }
}

int main(int argc, char **argv)
{
    scene_init(&argc, &argv);
    scene_test("/events/link_down_and_up_is_one_event_each", link_down_and_up_is_one_event_each);
    scene_test("/events/lost_carrier_is_one_event", lost_carrier_is_one_event);
    scene_test("/events/one_event_also_with_remembered_destinations", one_event_also_with_remembered_destinations);
    scene_test("/events/halves_of_a_default_route_are_available", halves_of_a_default_route_are_available);
    scene_test("/events/blackholed_host_changes_only_its_answer", blackholed_host_changes_only_its_answer);
    scene_test("/events/host_that_nobody_asked_for_is_no_event", host_that_nobody_asked_for_is_no_event);
    scene_test("/events/prohibit_rule_is_an_event", prohibit_rule_is_an_event);
    scene_test("/events/other_metric_gateway_or_interface_is_no_event", other_metric_gateway_or_interface_is_no_event);
    scene_test("/events/ipv6_alone_is_available", ipv6_alone_is_available);
    scene_test("/events/fifty_changes_while_busy_are_at_most_three_events",
               fifty_changes_while_busy_are_at_most_three_events);
    scene_test("/events/change_that_nobody_saw_and_that_is_gone_is_no_event",
               change_that_nobody_saw_and_that_is_gone_is_no_event);
    scene_test("/events/change_that_somebody_read_is_an_event_also_when_it_is_gone",
               change_that_somebody_read_is_an_event_also_when_it_is_gone);
    scene_test("/events/no_event_comes_inside_a_call", no_event_comes_inside_a_call);
    scene_test("/events/event_comes_after_calls_that_left_nothing_to_do",
               event_comes_after_calls_that_left_nothing_to_do);
    scene_test("/events/events_come_while_a_handler_runs_the_context", events_come_while_a_handler_runs_the_context);
    scene_test("/events/reading_in_a_handler_makes_no_further_event", reading_in_a_handler_makes_no_further_event);
    return g_test_run();
}
