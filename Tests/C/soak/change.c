/* SPDX-License-Identifier: MIT */
#include "soak/change.h"

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "soak/stack.h"
#include "support/namespace.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define FLOOD 6000 /* messages: more than a socket's buffer has room for */

static const char *const links[] = { "a", "c", "lo", "p" };
static const char *const pairs[2][2] = { { "a", "b" }, { "c", "d" } };
static const char *const renamed[2] = { "e", "f" };
static const struct {
    const char *link, *prefix;
} addresses[] = { { "a", "192.0.2.2/24" },     { "a", "192.0.2.3/24" }, { "c", "203.0.113.2/24" },
                  { "c", "192.0.2.2/32" },     { "p", "10.9.0.1/24" },  { "a", "2001:db8::2/64" },
                  { "c", "2001:db8:c::2/64" }, { "a", "fe80::2/64" },   { "c", "fe80::3/64" },
                  { "a", "fd00:2::2/64" } };
static const char *const prefixes[2][12] = {
    { "0.0.0.0/0", "0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1", "198.51.100.0/24", "198.51.100.7/32", "0.0.0.0/8",
      "192.0.2.2/32", "198.51.100.0/25", "198.51.100.128/26", "198.51.100.8/30", "192.0.2.128/25" },
    { "::/0", "::/0", "::/1", "8000::/1", "2001:db8:1::/48", "2001:db8:1::7/128", "4000::/3", "2001:db8::2/128",
      "2001:db8:1::80/121", "2001:db8:1::/124", "2001:db8:9::/64", "fd00::/8" },
};
static const char *const gateways[2][3] = { { "192.0.2.1", "203.0.113.1", "10.9.0.2" },
                                            { "2001:db8::1", "2001:db8:c::1", "fe80::1" } };
static const char *const gateway_links[2][3] = { { "a", "c", "p" }, { "a", "c", "a" } };
static const char *const action_names[] = { "add", "del", "replace" };

/* ---- Links ------------------------------------------------------------------------------------------------------ */

static int set_link(change bits, struct world *world, struct change_made *ret)
{
    const char *name = links[random_take(&bits, COUNT(links))];
    const bool  up = random_take(&bits, 3) != 0; /* up more often than down: more targets are reachable */

    text_add(&ret->text, "link set %s %s", name, up ? "up" : "down");
    return writer_link_up(&world->writer, world_index(name), up);
}

static int set_peer(change bits, struct world *world, struct change_made *ret)
{
    const char *name = pairs[random_take(&bits, 2)][1];
    const bool  up = random_take(&bits, 3) != 0;

    text_add(&ret->text, "link set %s %s", name, up ? "up" : "down");
    return writer_link_up(&world->writer, world_index(name), up);
}

/* Otherwise little would stay reachable. */
static int restore_link(change bits, struct world *world, struct change_made *ret)
{
    static const char *const restored[] = { "a", "c", "p" };
    const char              *link = restored[random_take(&bits, COUNT(restored))];

    text_add(&ret->text, "%s", world_restore_text(link));
    world_restore(world, link);
    return 0;
}

static int replace_pair(change bits, struct world *world, struct change_made *ret)
{
    const char *const *pair = pairs[random_take(&bits, 2)];
    const unsigned     index = world_index(pair[0]);

    const unsigned new_index = random_take(&bits, 2) == 0 ? index : 0; /* 0: the kernel chooses */

    text_add(&ret->text, "link del index %u; link add %s index %u up type veth peer name %s; link set %s up", index,
             pair[0], new_index, pair[1], pair[1]);
    if (index != 0)
        writer_link_delete(&world->writer, index);
    writer_link_add_pair_at(&world->writer, new_index, pair[0], pair[1]);
    writer_link_up(&world->writer, writer_index(pair[1]), true);
    return writer_link_up(&world->writer, writer_index(pair[0]), true);
}

static int rename_link(change bits, struct world *world, struct change_made *ret)
{
    const unsigned which = random_take(&bits, 2);
    const char    *from = writer_index(pairs[which][0]) != 0 ? pairs[which][0] : renamed[which];
    const char    *to = from == renamed[which] ? pairs[which][0] : renamed[which];

    text_add(&ret->text, "link set %s name %s", from, to);
    return writer_link_rename(&world->writer, writer_index(from), to);
}

static int move_link(change bits, struct world *world, struct change_made *ret)
{
    const unsigned which = random_take(&bits, 2), index = world_index(pairs[which][0]);

    if (index != 0) {
        text_add(&ret->text, "link set index %u netns other", index);
        return writer_link_move(&world->writer, index, world->other.pid);
    }
    for (unsigned i = 0; i < 2; i++) {
        struct text command = { .length = 0 };

        text_add(&command, "link set dev %s netns %d", i == 0 ? pairs[which][0] : renamed[which], (int)getpid());
        text_add(&ret->text, "%s-netns other %s", i == 0 ? "" : "; ", command.bytes);
        if (namespace_other_try_ip(&world->other, command.bytes))
            return 0;
    }
    return ENODEV;
}

static int change_stack(change bits, struct world *world, struct change_made *ret)
{
    const unsigned number = random_take(&bits, STACK_LINKS);

    (void)world;
    return stack_change(number, random_take(&bits, 3), &ret->text);
}

static int set_tentative(change bits, struct world *world, struct change_made *ret)
{
    const char    *prefix = random_take(&bits, 2) == 0 ? "2001:db8::2/64" : "2001:db8::3/64";
    const unsigned index = world_index("a");

    (void)namespace_try_sysctl("net.ipv6.conf.a.accept_dad", "1");
    text_add(&ret->text, "sysctl net.ipv6.conf.a.accept_dad=1; addr del %s dev a; addr add %s dev a", prefix, prefix);
    writer_address(&world->writer, WRITER_DELETE, index, prefix);
    return writer_address_tentative(&world->writer, index, prefix);
}

static int set_address(change bits, struct world *world, struct change_made *ret)
{
    const unsigned           which = random_take(&bits, COUNT(addresses));
    const enum writer_action action = random_take(&bits, 3) == 0 ? WRITER_DELETE : WRITER_REPLACE;

    text_add(&ret->text, "addr %s %s dev %s nodad", action_names[action], addresses[which].prefix,
             addresses[which].link);
    return writer_address(&world->writer, action, world_index(addresses[which].link), addresses[which].prefix);
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

static void choose_hops(change *bits, unsigned family, struct writer_route *route, struct text *text)
{
    const unsigned which = random_take(bits, 3), second = (which + 1) % 2;
    const char    *link = gateway_links[family][which];

    switch (random_take(bits, 7)) {
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

static int set_route(change bits, struct world *world, struct change_made *ret)
{
    static const struct {
        unsigned    type;
        const char *name;
    } types[] = { { RTN_BLACKHOLE, "blackhole " },
                  { RTN_UNREACHABLE, "unreachable " },
                  { RTN_PROHIBIT, "prohibit " },
                  { RTN_THROW, "throw " },
                  { RTN_LOCAL, "local " } };
    static const unsigned metrics[] = { 0, 10, 20 }, tables[] = { 0, 0, 0, 0, 100, 101 };
    const unsigned        family = random_take(&bits, 2), action = random_take(&bits, 3);
    const unsigned        type = random_take(&bits, 12);
    struct writer_route   route = { .prefix = prefixes[family][random_take(&bits, COUNT(prefixes[0]))] };

    snprintf(ret->prefix, sizeof ret->prefix, "%s", route.prefix);
    text_add(&ret->text, "route %s %s%s", action_names[action], type < COUNT(types) ? types[type].name : "",
             route.prefix);
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
    const unsigned           id = random_take(&bits, 3), members[] = { 1, 2 };
    const enum writer_action action = random_take(&bits, 3) == 0 ? WRITER_DELETE : WRITER_REPLACE;
    const unsigned           family = random_take(&bits, 2), which = random_take(&bits, 2);
    const struct writer_leg  leg = { world_index(gateway_links[family][which]), gateways[family][which] };

    if (id == 2) {
        text_add(&ret->text, "nexthop %s id 10 group 1/2", action_names[action]);
        return action == WRITER_DELETE ? writer_nexthop(&world->writer, action, 10, NULL)
                                       : writer_nexthop_group(&world->writer, action, 10, members, 2);
    }
    text_add(&ret->text, "nexthop %s id %u via %s dev %s", action_names[action], id + 1, leg.gateway,
             gateway_links[family][which]);
    return writer_nexthop(&world->writer, action, id + 1, &leg);
}

/* The route is added, or its lifetime becomes shorter, longer or unlimited. */
static int set_expiry(change bits, struct world *world, struct change_made *ret)
{
    static const char *const expiring[] = { "2001:db8:9::/64", "2001:db8:1::/48", "::/0" };
    struct writer_route      route = { .prefix = expiring[random_take(&bits, COUNT(expiring))], .metric = 10 };

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
    static const unsigned             lifetimes[] = { 0, 1, 2, 3, 1800 };
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

/* ---- Policy ----------------------------------------------------------------------------------------------------- */

static void choose_selector(change *bits, unsigned family, struct writer_rule *rule, struct text *text)
{
    static const char *const everything[] = { "0.0.0.0/0", "::/0" };

    rule->prefix = everything[family];
    switch (random_take(bits, 7)) {
    case 0:
        rule->from = gateways[family][random_take(bits, 2)];
        rule->from = family == 0 ? "192.0.2.2" : "2001:db8::2";
        text_add(text, " from %s", rule->from);
        break;
    case 1:
        rule->iif = random_take(bits, 2) == 0 ? "lo" : "c";
        text_add(text, " iif %s", rule->iif);
        break;
    case 2:
        rule->oif = random_take(bits, 2) == 0 ? "a" : "c";
        text_add(text, " oif %s", rule->oif);
        break;
    case 3:
        rule->mark = 1 + random_take(bits, 2);
        text_add(text, " fwmark %u", rule->mark);
        break;
    default:
        rule->prefix = prefixes[family][random_take(bits, COUNT(prefixes[0]))];
        text_add(text, " to %s", rule->prefix);
        break;
    }
}

static int set_rule(change bits, struct world *world, struct change_made *ret)
{
    static const struct {
        unsigned    action, table;
        bool        suppress_default;
        const char *text;
    } actions[] = { { FR_ACT_TO_TBL, 100, false, "lookup 100" },
                    { FR_ACT_TO_TBL, 100, false, "lookup 100" },
                    { FR_ACT_TO_TBL, 101, false, "lookup 101" },
                    { FR_ACT_TO_TBL, 101, true, "lookup 101 suppress_prefixlength 0" },
                    { FR_ACT_TO_TBL, RT_TABLE_MAIN, true, "lookup main suppress_prefixlength 0" },
                    { FR_ACT_UNREACHABLE, 0, false, "unreachable" },
                    { FR_ACT_PROHIBIT, 0, false, "prohibit" },
                    { FR_ACT_BLACKHOLE, 0, false, "blackhole" } };
    const unsigned           which = random_take(&bits, COUNT(actions)), family = random_take(&bits, 2);
    const enum writer_action action = random_take(&bits, 5) < 2 ? WRITER_ADD : WRITER_DELETE; /* rules hide a lot */
    struct writer_rule       rule = { .priority = 100 + random_take(&bits, 2),
                                      .action = actions[which].action,
                                      .table = actions[which].table,
                                      .suppress_default = actions[which].suppress_default };

    text_add(&ret->text, "%srule %s priority %u", family == 1 ? "-6 " : "", action_names[action], rule.priority);
    /* A deletion needs only the priority: otherwise few would match. */
    if (action == WRITER_DELETE) {
        rule = (struct writer_rule){ .prefix = family == 1 ? "::/0" : "0.0.0.0/0", .priority = rule.priority };
        return writer_rule(&world->writer, action, &rule);
    }
    choose_selector(&bits, family, &rule, &ret->text);
    text_add(&ret->text, " %s", actions[which].text);
    return writer_rule(&world->writer, action, &rule);
}

static int set_sysctl(change bits, struct world *world, struct change_made *ret)
{
    static const char *const names[] = { "net.ipv6.conf.a.disable_ipv6", "net.ipv6.conf.c.disable_ipv6",
                                         "net.ipv4.conf.all.ignore_routes_with_linkdown",
                                         "net.ipv6.conf.all.ignore_routes_with_linkdown",
                                         "net.ipv4.nexthop_compat_mode" };
    const char              *name = names[random_take(&bits, COUNT(names))];
    const char              *value = random_take(&bits, 3) == 0 ? "1" : "0";

    (void)world;
    text_add(&ret->text, "sysctl %s=%s", name, value);
    return namespace_try_sysctl(name, value) ? 0 : ENOENT;
}

/* ---- Floods ----------------------------------------------------------------------------------------------------- */

/* Replaces one route again and again, by one of another type: otherwise the kernel sends no message. Targets depend on
 * it, so that no filter of the library drops the messages. */
static int flood_routes(change bits, struct world *world, struct change_made *ret)
{
    struct writer_route route = { .prefix = "198.51.100.200/32" };
    const unsigned      count = FLOOD + random_take(&bits, FLOOD);
    int                 error;

    snprintf(ret->prefix, sizeof ret->prefix, "%s", route.prefix);
    text_add(&ret->text, "route replace blackhole %s; route replace prohibit %s; # %u times", route.prefix,
             route.prefix, count / 2);
    error = writer_batch(&world->writer);
    for (unsigned i = 0; i < count && error == 0; i++) {
        route.type = i % 2 == 0 ? RTN_BLACKHOLE : RTN_PROHIBIT;
        error = writer_route(&world->writer, WRITER_REPLACE, &route);
    }
    return error == 0 ? writer_flush(&world->writer) : error;
}

/* ---- Kinds ------------------------------------------------------------------------------------------------------ */

typedef int (*kind)(change bits, struct world *world, struct change_made *ret);

static const struct {
    kind     make;
    unsigned weight;
} kinds[] = { { set_link, 30 },    { restore_link, 40 }, { set_peer, 30 },    { set_address, 45 },
              { set_route, 90 },   { set_nexthop, 25 },  { set_rule, 36 },    { set_sysctl, 25 },
              { replace_pair, 2 }, { rename_link, 3 },   { flood_routes, 1 }, { move_link, 2 },
              { change_stack, 6 }, { set_tentative, 2 }, { set_expiry, 4 },   { advertise_router, 5 } };

#define SUCCESSORS 3 /* of 8 changes have a check after them */

static kind take_kind(change *bits)
{
    unsigned total = 0, number, i = 0;

    random_take(bits, 64); /* the functions below use it */
    for (unsigned j = 0; j < COUNT(kinds); j++)
        total += kinds[j].weight;
    for (number = random_take(bits, total); number >= kinds[i].weight; i++)
        number -= kinds[i].weight;
    return kinds[i].make;
}

bool change_has_successor(change bits)
{
    return random_take(&bits, 8) >= SUCCESSORS;
}

bool change_has_pause(change bits)
{
    random_take(&bits, 8);
    return random_take(&bits, 2) == 0;
}

bool change_is_about_links(change bits)
{
    const kind what = take_kind(&bits);

    return what == set_link || what == set_peer || what == replace_pair || what == restore_link ||
           what == rename_link || what == set_address || what == move_link || what == change_stack ||
           what == set_tentative || what == advertise_router || what == set_nexthop;
}

bool change_is_flood(change bits)
{
    return take_kind(&bits) == flood_routes;
}

void change_make(change bits, struct world *world, struct change_made *ret)
{
    const kind what = take_kind(&bits);
    int        error;

    ret->text.length = 0;
    ret->text.bytes[0] = ret->prefix[0] = '\0';
    error = what(bits, world, ret);
    if (error != 0)
        text_add(&ret->text, " # %s", strerror(error));
}
