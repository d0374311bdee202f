/* SPDX-License-Identifier: MIT */
/* Changes of the lifetimes of IPv6 routes, also of those that no answer names: behind a rule that suppresses them, or
 * behind a throw. */
#include <errno.h>
#include <poll.h>

#include "soak/change_kind.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The route is added, or its lifetime becomes shorter, longer or unlimited. */
static int set_expiry(change bits, struct world *world, struct change_made *ret)
{
    static const char *const expiring[] = { "2001:db8:9::/64", "2001:db8:1::/48", "::/0" };
    struct writer_route route = { .prefix = expiring[random_take(&bits, COUNT(expiring))], .metric = 10 };

    route.expires = random_take(&bits, 5);
    route.gateway = "2001:db8::1";
    route.index = world_index("a");
    snprintf(ret->prefix, sizeof ret->prefix, "%s", route.prefix);
    text_add(&ret->text, "route replace %s via %s dev a metric 10 expires %u", route.prefix, route.gateway,
             route.expires);
    return writer_route(&world->writer, WRITER_REPLACE, &route);
}

static int advertise_router(change bits, struct world *world, struct change_made *ret)
{
    static const unsigned lifetimes[] = { 0, 1, 2, 3, 1800 };
    const struct router_advertisement advertisement = {
        .router_lifetime = lifetimes[random_take(&bits, COUNT(lifetimes))],
        .prefix = random_take(&bits, 2) == 0 ? "2001:db8:5::" : NULL,
        .prefix_lifetime = lifetimes[random_take(&bits, COUNT(lifetimes))],
        .route = random_take(&bits, 2) == 0 ? "2001:db8:9::" : NULL,
        .route_lifetime = lifetimes[random_take(&bits, COUNT(lifetimes))]
    };

    text_add(&ret->text, "# a router advertisement on b: lifetime %u", advertisement.router_lifetime);
    if (advertisement.prefix != NULL)
        text_add(&ret->text, ", prefix %s for %u s", advertisement.prefix, advertisement.prefix_lifetime);
    if (advertisement.route != NULL)
        text_add(&ret->text, ", route %s for %u s", advertisement.route, advertisement.route_lifetime);
    return router_send(&world->router, &advertisement);
}

/* All that the router gives: it is silent until that has ended, or is back. The kernel keeps the routes that have ended
 * for up to 31 s, and other changes come meanwhile. */
static int advertise_all(struct world *world, struct change_made *ret, unsigned lifetime, unsigned preference)
{
    const struct router_advertisement advertisement = {
        .router_lifetime = lifetime, .route = "2001:db8:9::", .route_lifetime = lifetime, .route_preference = preference
    };

    snprintf(ret->prefix, sizeof ret->prefix, "::/0");
    text_add(&ret->text, "# a router advertisement on b: lifetime %u, route %s", lifetime, advertisement.route);
    return router_send(&world->router, &advertisement);
}

#define SILENCE 1150 /* milliseconds: a lifetime of a second has ended */

static int fall_silent(change bits, struct world *world, struct change_made *ret)
{
    const bool returns = random_take(&bits, 2) == 0;
    const unsigned preference = random_take(&bits, 2) == 0 ? ROUTER_HIGH : ROUTER_LOW;
    int error;

    if (random_take(&bits, 4) != 0 && world_run("-6 route flush exact default", &ret->text)) /* what would hide it */
        text_add(&ret->text, "; ");
    error = advertise_all(world, ret, 1, ROUTER_MEDIUM);
    (void)poll(NULL, 0, SILENCE); /* there is no event to wait for */
    text_add(&ret->text, "; # 1.15 s pass; ");
    return error == 0 && returns ? advertise_all(world, ret, 1800, preference) : error;
}

static int return_router(change bits, struct world *world, struct change_made *ret)
{
    return advertise_all(world, ret, random_take(&bits, 2) == 0 ? 1800 : 4, ROUTER_MEDIUM);
}

/* Without an end, or with one again; more or less preferred. The kernel says nothing. */
static int change_advertised_route(change bits, struct world *world, struct change_made *ret)
{
    static const unsigned lifetimes[] = { ROUTER_FOREVER, 1, 3, 1800 };
    static const unsigned preferences[] = { ROUTER_LOW, ROUTER_MEDIUM, ROUTER_HIGH };
    const struct router_advertisement advertisement = {
        .route = "2001:db8:9::",
        .route_lifetime = lifetimes[random_take(&bits, COUNT(lifetimes))],
        .route_preference = preferences[random_take(&bits, COUNT(preferences))]
    };

    snprintf(ret->prefix, sizeof ret->prefix, "%s/64", advertisement.route);
    text_add(&ret->text, "# a router advertisement on b: route %s for %u s, preference %u", advertisement.route,
             advertisement.route_lifetime, advertisement.route_preference);
    return router_send(&world->router, &advertisement);
}

/* Routes that no change above touches: each kind can end, and `append` shortens what is there. */
static int set_ending_route(change bits, struct world *world, struct change_made *ret)
{
    static const char *const kinds[] = {
        "", "local ", "anycast ", "unreachable ", "prohibit ", "blackhole ", "throw "
    };
    static const char *const prefixes[] = { "2001:db8:9::/64", "2001:db8:1::/48", "fd00:1::/64", "::/0" };
    static const char *const tables[] = { "main", "100", "101" };
    const unsigned kind = random_take(&bits, COUNT(kinds) + 1), prefix = random_take(&bits, COUNT(prefixes));
    const unsigned table = random_take(&bits, COUNT(tables)), expires = 1 + random_take(&bits, 3);
    const char *action = random_take(&bits, 4) == 0 ? "append" : "replace";
    char command[256];

    (void)world;
    snprintf(ret->prefix, sizeof ret->prefix, "%s", prefixes[prefix]);
    if (kind == COUNT(kinds))
        snprintf(command, sizeof command,
                 "-6 route %s %s table %s metric 11 expires %u nexthop via 2001:db8::1 dev a nexthop via "
                 "2001:db8:c::1 dev c",
                 action, ret->prefix, tables[table], expires);
    else
        snprintf(command, sizeof command, "-6 route %s %s%s%s table %s metric 11 expires %u", action, kinds[kind],
                 ret->prefix,
                 kind == 0  ? " via 2001:db8::1 dev a"
                 : kind < 3 ? " dev lo"
                            : "",
                 kind == 1 || kind == 2 ? "local" : tables[table], expires);
    return world_run(command, &ret->text) ? 0 : EINVAL;
}

/* While the route lives, its rule suppresses it or throws, and another table answers. Then what is behind it counts. */
static int set_hidden_ending(change bits, struct world *world, struct change_made *ret)
{
    static const char *const refusals[] = { "unreachable", "prohibit", "blackhole" };
    static const char *const endings[] = { "default via 2001:db8::1 dev a",
                                           "default via 2001:db8:c::1 dev c",
                                           "default dev c",
                                           "throw default",
                                           "throw 2001:db8:1::/48",
                                           "2001:db8:9::/64 dev a" };
    static const char *const lengths[] = { " suppress_prefixlength 0", " suppress_prefixlength 8",
                                           " suppress_prefixlength 64", "" };
    const char *table = random_take(&bits, 4) == 0 ? "main" : random_take(&bits, 2) == 0 ? "100" : "101";
    const char *refusal = refusals[random_take(&bits, COUNT(refusals))];
    const unsigned priority = 100 + random_take(&bits, 2), expires = 1 + random_take(&bits, 3);
    const char *ending = endings[random_take(&bits, COUNT(endings))];
    const char *length = lengths[random_take(&bits, COUNT(lengths))];
    char command[160];

    (void)world;
    snprintf(ret->prefix, sizeof ret->prefix, "::/0");
    snprintf(command, sizeof command, "-6 route replace %s default table %s metric 2048", refusal, table);
    if (!world_run(command, &ret->text))
        return EINVAL;
    snprintf(command, sizeof command, "-6 route replace %s table %s metric 5 expires %u", ending, table, expires);
    (void)world_run(command, &ret->text);
    snprintf(command, sizeof command, "-6 rule add priority %u lookup %s%s", priority, table, length);
    return world_run(command, &ret->text) ? 0 : EEXIST;
}

/* The routes above hide a lot. */
static int end_hiding(change bits, struct world *world, struct change_made *ret)
{
    static const char *const commands[] = { "-6 rule delete priority 100", "-6 rule delete priority 101",
                                            "-6 route delete unreachable default metric 2048",
                                            "-6 route delete prohibit default metric 2048",
                                            "-6 route delete blackhole default metric 2048" };

    (void)world;
    snprintf(ret->prefix, sizeof ret->prefix, "::/0");
    return world_run(commands[random_take(&bits, COUNT(commands))], &ret->text) ? 0 : ESRCH;
}

const struct change_kind expiry_changes[] = { { .make = set_expiry, .weight = 4 },
                                              { .make = advertise_router, .weight = 5, .is_about_links = true },
                                              { .make = fall_silent, .weight = 3 },
                                              { .make = return_router, .weight = 4 },
                                              { .make = set_ending_route, .weight = 8 },
                                              { .make = change_advertised_route, .weight = 4 },
                                              { .make = end_hiding, .weight = 10 },
                                              { .make = set_hidden_ending, .weight = 4 },
                                              { .weight = 0 } };
