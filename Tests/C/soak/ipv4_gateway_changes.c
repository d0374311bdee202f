/* SPDX-License-Identifier: MIT */
/*
 * Changes of IPv4 gateways. The kernel looks at them among equal default routes, and among the legs of a route with
 * fib_multipath_use_neigh. While none of the equal ones is known to respond, each look-up takes another one: at least
 * one always is.
 */
#include <errno.h>
#include <net/if.h>

#include "soak/change_kind.h"
#include "support/namespace.h"

#define VALID " lladdr 02:00:00:00:00:01 nud reachable"

struct gateways {
    char links[2][IF_NAMESIZE];
};

static const char *const addresses[2] = { "192.0.2.1", "203.0.113.1" };

static bool find_links(struct gateways *ret)
{
    return if_indextoname(world_index("a"), ret->links[0]) != NULL &&
           if_indextoname(world_index("c"), ret->links[1]) != NULL;
}

/* `format` has the address and the link. */
__attribute__((format(printf, 4, 0))) static bool run_for(const struct gateways *gateways, unsigned which,
                                                          struct text *text, const char *format)
{
    char command[160];

    snprintf(command, sizeof command, format, addresses[which], gateways->links[which]);
    return world_run(command, text);
}

/* The gateways respond, except the failed one; 2: all do. */
static bool set_states(const struct gateways *gateways, unsigned failed, struct text *text)
{
    bool done = true;

    for (unsigned i = 0; i < 2; i++)
        done = run_for(gateways, i, text, "neigh replace %s dev %s" VALID) && done;
    if (failed < 2)
        done = run_for(gateways, failed, text, "neigh change %s dev %s nud failed") && done;
    return done;
}

/* The library notices that a leg's gateway returns, or the sysctl, with the next change of the path's interface. */
static void change_addresses(const struct gateways *gateways, struct text *text)
{
    char command[160];

    for (unsigned i = 0; i < 2; i++) {
        snprintf(command, sizeof command, "addr replace 10.99.0.%u/32 dev %s", 2 + i, gateways->links[i]);
        (void)world_run(command, text);
    }
}

/* Two default routes with one metric. */
static int set_equal_routes(change bits, struct world *world, struct change_made *ret)
{
    const unsigned failed = random_take(&bits, 3);
    struct gateways gateways;

    (void)world;
    if (!find_links(&gateways))
        return ENODEV;
    snprintf(ret->prefix, sizeof ret->prefix, "0.0.0.0/0");
    if (random_take(&bits, 2) == 0) /* the one that hides them */
        (void)world_run("route delete default", &ret->text);
    bool done = set_states(&gateways, 2, &ret->text) &&
                run_for(&gateways, 0, &ret->text, "route replace default via %s dev %s metric 5");
    (void)run_for(&gateways, 1, &ret->text, "route append default via %s dev %s metric 5");
    done = set_states(&gateways, failed, &ret->text) && done;
    change_addresses(&gateways, &ret->text);
    return done ? 0 : EINVAL;
}

static int delete_equal_route(change bits, struct world *world, struct change_made *ret)
{
    (void)bits, (void)world;
    snprintf(ret->prefix, sizeof ret->prefix, "0.0.0.0/0");
    return world_run("route delete default metric 5", &ret->text) ? 0 : ESRCH;
}

/* One gateway fails, and the other one returns. */
static int change_gateways(change bits, struct world *world, struct change_made *ret)
{
    struct gateways gateways;

    (void)world;
    if (!find_links(&gateways))
        return ENODEV;
    bool done = set_states(&gateways, random_take(&bits, 3), &ret->text);
    change_addresses(&gateways, &ret->text);
    snprintf(ret->prefix, sizeof ret->prefix, "0.0.0.0/0");
    return done ? 0 : EINVAL;
}

/* The same, if only the messages about neighbours can show it: equal default routes in the table "main". */
static int swap_gateways(change bits, struct world *world, struct change_made *ret)
{
    struct gateways gateways;

    (void)world;
    if (!find_links(&gateways))
        return ENODEV;
    (void)namespace_try_sysctl("net.ipv4.fib_multipath_use_neigh", "0");
    text_add(&ret->text, "sysctl net.ipv4.fib_multipath_use_neigh=0");
    change_addresses(&gateways, &ret->text);
    snprintf(ret->prefix, sizeof ret->prefix, "0.0.0.0/0");
    return set_states(&gateways, random_take(&bits, 2), &ret->text) ? 0 : EINVAL;
}

/* The kernel sends probes, nobody responds, and the gateway fails. Until then, each look-up takes another gateway. On a
 * link without ARP that would not end. */
static int probe_gateway(change bits, struct world *world, struct change_made *ret)
{
    const unsigned which = random_take(&bits, 2);
    struct gateways gateways;
    char command[64];

    (void)world;
    if (!find_links(&gateways))
        return ENODEV;
    snprintf(ret->prefix, sizeof ret->prefix, "0.0.0.0/0");
    snprintf(command, sizeof command, "link set dev %s arp on", gateways.links[which]);
    bool done = world_run(command, &ret->text) && set_states(&gateways, 2, &ret->text) &&
                run_for(&gateways, which, &ret->text, "neigh replace %s dev %s lladdr 02:00:00:00:00:01 nud probe");
    change_addresses(&gateways, &ret->text);
    return done ? 0 : EINVAL;
}

/* A multipath route, of which the kernel uses only legs whose gateways respond. */
static int set_legs(change bits, struct world *world, struct change_made *ret)
{
    static const char *const prefixes[] = { "0.0.0.0/0", "198.51.100.0/24", "100.64.0.0/10" };
    const char *prefix = prefixes[random_take(&bits, 3)];
    const bool tunnel = random_take(&bits, 3) == 0;
    const unsigned failed = random_take(&bits, 3);
    struct gateways gateways;
    char command[192];

    (void)world;
    if (!find_links(&gateways))
        return ENODEV;
    snprintf(ret->prefix, sizeof ret->prefix, "%s", prefix);
    (void)namespace_try_sysctl("net.ipv4.fib_multipath_use_neigh", "1");
    text_add(&ret->text, "sysctl net.ipv4.fib_multipath_use_neigh=1");
    snprintf(command, sizeof command, "route replace %s nexthop via %s dev %s nexthop %s%s%sdev %s", prefix,
             addresses[0], gateways.links[0], tunnel ? "" : "via ", tunnel ? "" : addresses[1], tunnel ? "" : " ",
             tunnel ? "p" : gateways.links[1]);
    bool done = world_run(command, &ret->text) && set_states(&gateways, failed, &ret->text);
    change_addresses(&gateways, &ret->text);
    return done ? 0 : EINVAL;
}

/* The same with a nexthop group, whatever the sysctl says. The library follows the gateways of its legs. */
static int set_group(change bits, struct world *world, struct change_made *ret)
{
    static const char *const prefixes[] = { "0.0.0.0/0", "198.51.100.0/24", "100.64.0.0/10" };
    const char *prefix = prefixes[random_take(&bits, 3)];
    const bool tunnel = random_take(&bits, 2) == 0;
    const unsigned failed = random_take(&bits, 3);
    struct gateways gateways;
    char command[96];

    (void)world;
    if (!find_links(&gateways))
        return ENODEV;
    snprintf(ret->prefix, sizeof ret->prefix, "%s", prefix);
    bool done = run_for(&gateways, 0, &ret->text, "nexthop replace id 31 via %s dev %s");
    if (tunnel)
        done = world_run("nexthop replace id 32 dev p", &ret->text) && done;
    else
        done = run_for(&gateways, 1, &ret->text, "nexthop replace id 32 via %s dev %s") && done;
    done = world_run("nexthop replace id 33 group 31/32", &ret->text) && done;
    snprintf(command, sizeof command, "route replace %s nhid 33", prefix);
    done = world_run(command, &ret->text) && done;
    return set_states(&gateways, failed, &ret->text) && done ? 0 : EINVAL;
}

const struct change_kind ipv4_gateway_changes[] = { { .make = set_equal_routes, .weight = 10, .is_about_links = true },
                                                    { .make = delete_equal_route, .weight = 6 },
                                                    { .make = change_gateways, .weight = 8, .is_about_links = true },
                                                    { .make = swap_gateways, .weight = 6, .is_about_links = true },
                                                    { .make = probe_gateway, .weight = 4, .is_about_links = true },
                                                    { .make = set_legs, .weight = 6, .is_about_links = true },
                                                    { .make = set_group, .weight = 5, .is_about_links = true },
                                                    { .weight = 0 } };
