/* SPDX-License-Identifier: MIT */
/* Changes of IPv6 gateways, which respond or not, and of forwarding: a machine that forwards packets uses gateways that
 * do not respond, too. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>

#include "soak/change_kind.h"
#include "soak/stack.h"
#include "support/namespace.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define VALID " lladdr 02:00:00:00:00:01 nud reachable"

static const struct {
    const char *address, *link;
} gateways[] = { { "2001:db8::1", "a" },    { "2001:db8:c::1", "c" }, { "fe80::1", "a" },
                 { "fe80::1", "c" },        { "2001:db8::1a", "a" },  { "2001:db8:c::1a", "c" },
                 { "2001:db8:c::1b", "c" }, { "2001:db8:c::1c", "c" } };

static int change_an_address(struct world *world, struct text *text)
{
    text_add(text, "; addr replace 10.99.0.1/32 dev lo");
    return writer_address(&world->writer, WRITER_REPLACE, writer_index("lo"), "10.99.0.1/32");
}

static bool find_link(unsigned gateway, char ret[IF_NAMESIZE])
{
    return if_indextoname(world_index(gateways[gateway].link), ret) != NULL;
}

/* Makes the entry valid first: the kernel sends no message if ip(8) adds an entry that has failed. */
static bool set_failed(struct text *text, const char *address, const char *link)
{
    char replace[128], fail[128];

    snprintf(replace, sizeof replace, "neigh replace %s dev %s" VALID, address, link);
    snprintf(fail, sizeof fail, "neigh change %s dev %s nud failed", address, link);
    return world_run(replace, text) && world_run(fail, text);
}

/* The library notices a change of a tunnel's gateway with the next change of an address: see docs/reliability.md. */
static int finish_failure(struct world *world, struct change_made *ret)
{
    snprintf(ret->prefix, sizeof ret->prefix, "::/0"); /* routes to any prefix can have the gateway */
    return stack_has_tunnel_over_ipv6() ? change_an_address(world, &ret->text) : 0;
}

static int fail_gateway(change bits, struct world *world, struct change_made *ret)
{
    const unsigned which = random_take(&bits, COUNT(gateways));
    char link[IF_NAMESIZE];

    if (!find_link(which, link))
        return ENODEV;
    return set_failed(&ret->text, gateways[which].address, link) ? finish_failure(world, ret) : EINVAL;
}

/* While another route matches, the kernel does not use a route whose gateway has failed. */
static int hide_route(change bits, struct world *world, struct change_made *ret)
{
    const unsigned which = random_take(&bits, COUNT(gateways)), prefix = random_take(&bits, CHANGE_PREFIXES);
    struct writer_route route = { .prefix = change_prefixes[1][prefix],
                                  .gateway = gateways[which].address,
                                  .index = world_index(gateways[which].link),
                                  .metric = 10 * random_take(&bits, 2) };
    char link[IF_NAMESIZE];

    if (!find_link(which, link))
        return ENODEV;
    if (!set_failed(&ret->text, route.gateway, link))
        return EINVAL;
    text_add(&ret->text, "; route replace %s via %s dev %s metric %u", route.prefix, route.gateway, link, route.metric);
    int error = writer_route(&world->writer, WRITER_REPLACE, &route);
    int after = finish_failure(world, ret);
    return error != 0 ? error : after;
}

/* The library notices the return of a gateway that no path has had with the next change of an address. */
static int return_gateway(change bits, struct world *world, struct change_made *ret)
{
    const unsigned which = random_take(&bits, COUNT(gateways));
    const bool is_forgotten = random_take(&bits, 2) == 0;
    char link[IF_NAMESIZE], command[128];

    if (!find_link(which, link))
        return ENODEV;
    snprintf(command, sizeof command, is_forgotten ? "neigh del %s dev %s" : "neigh replace %s dev %s" VALID,
             gateways[which].address, link);
    if (!world_run(command, &ret->text))
        return EINVAL;
    snprintf(ret->prefix, sizeof ret->prefix, "::/0"); /* routes to any prefix can return */
    return change_an_address(world, &ret->text);
}

/* The kernel sends probes, and nobody responds. */
static int probe_gateway(change bits, struct world *world, struct change_made *ret)
{
    const unsigned which = random_take(&bits, COUNT(gateways));
    char link[IF_NAMESIZE], command[128];

    (void)world;
    if (!find_link(which, link))
        return ENODEV;
    snprintf(command, sizeof command, "neigh replace %s dev %s lladdr 02:00:00:00:00:01 nud probe",
             gateways[which].address, link);
    if (!world_run(command, &ret->text))
        return EINVAL;
    return finish_failure(world, ret);
}

/* ---- Many gateways ---------------------------------------------------------------------------------------------- */

#define MANY 100

static void name_of_many(unsigned i, char ret[64])
{
    snprintf(ret, 64, "2001:db8::%x", 0x1000 + i);
}

static int route_over_one_of_many(change bits, struct world *world, struct change_made *ret)
{
    const unsigned prefix = random_take(&bits, CHANGE_PREFIXES);
    char link[IF_NAMESIZE], address[64], command[192];

    name_of_many(random_take(&bits, MANY), address);
    if (!find_link(0, link))
        return ENODEV;
    snprintf(command, sizeof command, "neigh replace %s dev %s" VALID, address, link);
    if (!world_run(command, &ret->text))
        return EINVAL;
    snprintf(ret->prefix, sizeof ret->prefix, "%s", change_prefixes[1][prefix]);
    snprintf(command, sizeof command, "-6 route replace %s via %s dev %s metric 7", ret->prefix, address, link);
    (void)world;
    return world_run(command, &ret->text) ? 0 : EINVAL;
}

/* Those at the same time that have a route. */
static int fail_some_of_many(change bits, struct world *world, struct change_made *ret)
{
    const unsigned first = random_take(&bits, MANY);
    char link[IF_NAMESIZE], address[64];

    if (!find_link(0, link))
        return ENODEV;
    for (unsigned i = 0; i < 8; i++) {
        name_of_many((first + i * 12) % MANY, address);
        if (!set_failed(&ret->text, address, link))
            return EINVAL;
    }
    return finish_failure(world, ret);
}

/* ---- Redirects -------------------------------------------------------------------------------------------------- */

/* The kernel announces a redirect only with the first message about the neighbour. */
static int redirect(change bits, struct world *world, struct change_made *ret)
{
    char link[IF_NAMESIZE], address[32], command[160];
    unsigned last = random_take(&bits, 255);

    if (!find_link(0, link) || world->router.fd < 0)
        return ENODEV;
    snprintf(address, sizeof address, "2001:db8:1::%x", last);
    snprintf(command, sizeof command, "neigh replace %s dev %s" VALID, address, link);
    if (!world_run(command, &ret->text))
        return EINVAL;
    snprintf(command, sizeof command, "neigh delete %s dev %s", address, link);
    (void)world_run(command, &ret->text);
    text_add(&ret->text, "; # fe80::b redirects %s to the link", address);
    int error = router_send_redirect(&world->router, "fe80::b", address);
    snprintf(command, sizeof command, "neigh replace %s dev %s" VALID, address, link);
    (void)world_run(command, &ret->text);
    snprintf(ret->prefix, sizeof ret->prefix, "%s/128", address);
    return error;
}

/* ---- Forwarding ------------------------------------------------------------------------------------------------- */

static int set_forwarding(change bits, struct world *world, struct change_made *ret)
{
    const char *value = random_take(&bits, 2) == 0 ? "0" : "1";

    (void)world;
    text_add(&ret->text, "sysctl net.ipv6.conf.all.forwarding=%s", value);
    return namespace_try_sysctl("net.ipv6.conf.all.forwarding", value) ? 0 : errno;
}

const struct change_kind neighbour_changes[] = { { .make = fail_gateway, .weight = 8 },
                                                 { .make = hide_route, .weight = 12 },
                                                 { .make = return_gateway, .weight = 16, .is_about_links = true },
                                                 { .make = probe_gateway, .weight = 8 },
                                                 { .make = route_over_one_of_many, .weight = 12 },
                                                 { .make = fail_some_of_many, .weight = 6 },
                                                 { .make = redirect, .weight = 8 },
                                                 { .make = set_forwarding, .weight = 2, .is_about_links = true },
                                                 { .weight = 0 } };
