/* SPDX-License-Identifier: MIT */
/* Changes of IPv6 gateways, which respond or not, and of what depends on it: whether the machine forwards packets. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>

#include "soak/change_kind.h"
#include "soak/stack.h"
#include "support/namespace.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct {
    const char *address, *link;
} gateways[] = { { "2001:db8::1", "a" },    { "2001:db8:c::1", "c" }, { "fe80::1", "a" },
                 { "fe80::1", "c" },        { "2001:db8::1a", "a" },  { "2001:db8:c::1a", "c" },
                 { "2001:db8:c::1b", "c" }, { "2001:db8:c::1c", "c" } };

static bool run(struct text *text, const char *command)
{
    text_add(text, "%s%s", text->length > 0 ? "; " : "", command);
    return namespace_try_ip("%s", command);
}

/* The library promises to notice the return of a gateway that no path has had, and any change of a tunnel's gateway,
 * with the next change of an address (docs/reliability.md). */
static int change_an_address(struct world *world, struct text *text)
{
    text_add(text, "; addr replace 10.99.0.1/32 dev lo");
    return writer_address(&world->writer, WRITER_REPLACE, writer_index("lo"), "10.99.0.1/32");
}

enum state { GONE, VALID, FAILED, STATES };

/* The kernel announces that an entry has failed only if it was valid before. */
static bool set_entry(struct text *text, const char *address, const char *link, enum state state)
{
    char remove[128], replace[128], fail[128];

    snprintf(remove, sizeof remove, "neigh del %s dev %s", address, link);
    snprintf(replace, sizeof replace, "neigh replace %s dev %s lladdr 02:00:00:00:00:01 nud reachable", address, link);
    snprintf(fail, sizeof fail, "neigh change %s dev %s nud failed", address, link);
    if (state == GONE)
        return run(text, remove);
    return run(text, replace) && (state == VALID || run(text, fail));
}

static int set_gateway(change bits, struct world *world, struct change_made *ret)
{
    const unsigned   which = random_take(&bits, COUNT(gateways));
    const enum state state = random_take(&bits, STATES);
    char             link[IF_NAMESIZE];

    if (if_indextoname(world_index(gateways[which].link), link) == NULL)
        return ENODEV;
    if (!set_entry(&ret->text, gateways[which].address, link, state))
        return EINVAL;
    snprintf(ret->prefix, sizeof ret->prefix, "::/0"); /* a hidden route to any prefix can return */
    return state == FAILED && !stack_has_tunnel_over_ipv6() ? 0 : change_an_address(world, &ret->text);
}

/* While another route matches, the kernel does not use a route whose gateway has failed. */
static int hide_route(change bits, struct world *world, struct change_made *ret)
{
    const unsigned      which = random_take(&bits, COUNT(gateways));
    struct writer_route route = { .prefix = change_prefixes[1][random_take(&bits, CHANGE_PREFIXES)],
                                  .gateway = gateways[which].address,
                                  .index = world_index(gateways[which].link),
                                  .metric = 10 * random_take(&bits, 2) };
    char                link[IF_NAMESIZE];

    if (if_indextoname(route.index, link) == NULL || !set_entry(&ret->text, route.gateway, link, FAILED))
        return ENODEV;
    snprintf(ret->prefix, sizeof ret->prefix, "%s", route.prefix);
    text_add(&ret->text, "; route replace %s via %s dev %s metric %u", route.prefix, route.gateway, link, route.metric);
    return writer_route(&world->writer, WRITER_REPLACE, &route);
}

static int set_forwarding(change bits, struct world *world, struct change_made *ret)
{
    const char *value = random_take(&bits, 2) == 0 ? "0" : "1";

    (void)world;
    text_add(&ret->text, "sysctl net.ipv6.conf.all.forwarding=%s", value);
    return namespace_try_sysctl("net.ipv6.conf.all.forwarding", value) ? 0 : errno;
}

const struct change_kind neighbour_changes[] = { { .make = set_gateway, .weight = 24, .is_about_links = true },
                                                 { .make = hide_route, .weight = 12, .is_about_links = true },
                                                 { .make = set_forwarding, .weight = 2, .is_about_links = true },
                                                 { .weight = 0 } };
