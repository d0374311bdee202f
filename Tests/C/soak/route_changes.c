/* SPDX-License-Identifier: MIT */
/* Changes of routes and nexthop objects; floods of messages. */
#include <linux/rtnetlink.h>
#include <string.h>

#include "soak/change_kind.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define FLOOD 6000 /* messages: more than a socket's buffer has room for */

static const char *const gateways[2][3] = { { "192.0.2.1", "203.0.113.1", "10.9.0.2" },
                                            { "2001:db8::1", "2001:db8:c::1", "fe80::1" } };
static const char *const gateway_links[2][3] = { { "a", "c", "p" }, { "a", "c", "a" } };

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

static void choose_hops(change *bits, unsigned family, struct writer_route *route, struct text *text)
{
    const unsigned which = random_take(bits, 3), second = (which + 1) % 2;
    const char *link = gateway_links[family][which];
    const unsigned kind = random_take(bits, 9);

    switch (kind) {
    case 0:
        link = random_take(bits, 4) == 0 ? "lo" : link;
        text_add(text, " dev %s", link);
        route->index = world_index(link);
        break;
    case 1:
    case 2:
        text_add(text, " nhid %u", which == 2 ? 10 : which + 1);
        route->nexthop = which == 2 ? 10 : which + 1;
        break;
    case 3:
    case 7:
    case 8:
        if (family == 0 && random_take(bits, 4) == 0) { /* a leg without a gateway; IPv6 refuses it */
            route->legs[0] = (struct writer_leg){ world_index(link), gateways[0][which] };
            route->legs[1] = (struct writer_leg){ .index = world_index(gateway_links[0][second]) };
            text_add(text, " nexthop via %s dev %s nexthop dev %s", gateways[0][which], link, gateway_links[0][second]);
            break;
        }
        route->legs[0] = (struct writer_leg){ world_index(link), gateways[family][which] };
        route->legs[1] = (struct writer_leg){ world_index(gateway_links[family][second]), gateways[family][second] };
        text_add(text, " nexthop via %s dev %s nexthop via %s dev %s", gateways[family][which], link,
                 gateways[family][second], gateway_links[family][second]);
        if (kind != 3) {
            route->leg_count = WRITER_LEGS;
            text_add(text, " # these two %u times", WRITER_LEGS / 2);
        }
        break;
    case 4:
        if (family == 0 && random_take(bits, 2) == 0) {
            text_add(text, " via inet6 fe80::1 dev %s", link);
            route->gateway = "fe80::1";
            route->index = world_index(link);
            break;
        }
        /* fallthrough */
    default:
        text_add(text, " via %s dev %s", gateways[family][which], link);
        route->gateway = gateways[family][which];
        route->index = world_index(link);
    }
}

/* Among IPv4 default routes with the same metric, the kernel takes turns if it does not know their gateways. (Among
 * IPv6 routes only without CONFIG_IPV6_ROUTER_PREF, which most kernels have.) */
static enum writer_action choose_action(change *bits, const char *prefix)
{
    const enum writer_action action = random_take(bits, 4);

    return action == WRITER_APPEND && strcmp(prefix, "0.0.0.0/0") == 0 ? WRITER_REPLACE : action;
}

static const char *choose_from(change *bits, unsigned family)
{
    static const char *const sources[] = { "2001:db8::/64", "2001:db8:c::2/128" };

    return family == 1 && random_take(bits, 8) == 0 ? sources[random_take(bits, COUNT(sources))] : NULL;
}

static int set_route(change bits, struct world *world, struct change_made *ret)
{
    static const struct {
        unsigned type;
        const char *name;
    } types[] = { { RTN_BLACKHOLE, "blackhole " },
                  { RTN_UNREACHABLE, "unreachable " },
                  { RTN_PROHIBIT, "prohibit " },
                  { RTN_THROW, "throw " },
                  { RTN_LOCAL, "local " } };
    static const unsigned metrics[] = { 0, 10, 20 }, tables[] = { 0, 0, 0, 0, 100, 101 };
    const unsigned family = random_take(&bits, 2), type = random_take(&bits, 12);
    struct writer_route route = { .prefix = change_prefixes[family][random_take(&bits, CHANGE_PREFIXES)] };
    const enum writer_action action = choose_action(&bits, route.prefix);

    route.from = choose_from(&bits, family);
    snprintf(ret->prefix, sizeof ret->prefix, "%s", route.prefix);
    text_add(&ret->text, "route %s %s%s", change_actions[action], type < COUNT(types) ? types[type].name : "",
             route.prefix);
    if (route.from != NULL)
        text_add(&ret->text, " from %s", route.from);
    route.table = tables[random_take(&bits, COUNT(tables))];
    /* Only what the local table calls local may be a source. */
    if (route.table != 0 && type < COUNT(types) && types[type].type == RTN_LOCAL)
        route.table = RT_TABLE_LOCAL;
    if (route.table != 0)
        text_add(&ret->text, " table %u", route.table);
    route.metric = metrics[random_take(&bits, COUNT(metrics))];
    if (route.metric != 0)
        text_add(&ret->text, " metric %u", route.metric);
    if (type < COUNT(types)) {
        route.type = types[type].type;
        if (route.type == RTN_LOCAL) {
            route.index = writer_index("lo");
            text_add(&ret->text, " dev lo");
        }
    } else if (action != WRITER_DELETE) {
        choose_hops(&bits, family, &route, &ret->text);
    }
    return writer_route(&world->writer, action, &route);
}

static int set_nexthop(change bits, struct world *world, struct change_made *ret)
{
    const unsigned id = random_take(&bits, 3), members[] = { 1, 2 };
    const enum writer_action action = random_take(&bits, 3) == 0 ? WRITER_DELETE : WRITER_REPLACE;
    const unsigned family = random_take(&bits, 2), which = random_take(&bits, 2);
    const struct writer_leg leg = { world_index(gateway_links[family][which]), gateways[family][which] };

    if (id == 2) {
        text_add(&ret->text, "nexthop %s id 10 group 1/2", change_actions[action]);
        return action == WRITER_DELETE ? writer_nexthop(&world->writer, action, 10, NULL)
                                       : writer_nexthop_group(&world->writer, action, 10, members, 2);
    }
    text_add(&ret->text, "nexthop %s id %u via %s dev %s", change_actions[action], id + 1, leg.gateway,
             gateway_links[family][which]);
    return writer_nexthop(&world->writer, action, id + 1, &leg);
}

/* ---- Floods ----------------------------------------------------------------------------------------------------- */

/* Replaces one route again and again. Its type changes each time, because the kernel sends no message if nothing
 * changes. Targets depend on the route, so that the library's filter does not drop the messages. */
static int flood_routes(change bits, struct world *world, struct change_made *ret)
{
    struct writer_route route = { .prefix = "198.51.100.200/32" };
    const unsigned count = FLOOD + random_take(&bits, FLOOD);

    snprintf(ret->prefix, sizeof ret->prefix, "%s", route.prefix);
    text_add(&ret->text, "route replace blackhole %s; route replace prohibit %s; # %u times", route.prefix,
             route.prefix, count / 2);
    int error = writer_batch(&world->writer);
    for (unsigned i = 0; i < count && error == 0; i++) {
        route.type = i % 2 == 0 ? RTN_BLACKHOLE : RTN_PROHIBIT;
        error = writer_route(&world->writer, WRITER_REPLACE, &route);
    }
    return error == 0 ? writer_flush(&world->writer) : error;
}

const struct change_kind route_changes[] = { { .make = set_route, .weight = 90 },
                                             { .make = set_nexthop, .weight = 25, .is_about_links = true },
                                             { .make = flood_routes, .weight = 1, .is_flood = true },
                                             { .weight = 0 } };
