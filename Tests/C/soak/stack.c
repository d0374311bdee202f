/* SPDX-License-Identifier: MIT */
#include "soak/stack.h"

#include <arpa/inet.h>
#include <net/if.h>

#include "soak/world.h"
#include "support/unit.h"

/* The commands come after `link add`. */
static const struct {
    const char *name, *add, *more; /* a second command, "": none */
    const char *remote;            /* NULL: not a tunnel */
} links[STACK_LINKS] = {
    { "sv", "link c name sv type vlan id 5", "", NULL },
    { "sm", "link c name sm type macvlan", "", NULL },
    { "sb", "name sb type bridge", "link set dev d master sb", NULL },
    { "so", "name so type bond mode active-backup miimon 10", "link add name sd master so type dummy", NULL },
    { "sr", "name sr type vrf table 200", "link set dev p master sr", NULL },
    { "sg", "name sg type gre remote 198.51.100.7 ttl 8", "", "198.51.100.7" },
    { "si", "name si type ipip remote 203.0.113.77 ttl 8", "", "203.0.113.77" },
    { "sx", "name sx type vxlan id 7 dstport 4789 remote 198.51.100.8", "", "198.51.100.8" },
    { "s6", "name s6 type ip6tnl mode any remote 2001:db8:1::7", "", "2001:db8:1::7" },
    { "sw", "name sw type wireguard", "", NULL },
};

static bool refused[STACK_LINKS];

static int add_link(unsigned number, struct text *text)
{
    char command[128];

    snprintf(command, sizeof command, "link add %s", links[number].add);
    if (!world_run(command, text)) {
        refused[number] = true;
        return EOPNOTSUPP;
    }
    if (links[number].more[0] != '\0')
        world_run(links[number].more, text);
    snprintf(command, sizeof command, "link set dev %s up", links[number].name);
    world_run(command, text);
    snprintf(command, sizeof command, "addr add 10.%u.0.1/24 dev %s", 20 + number, links[number].name);
    world_run(command, text);
    return 0;
}

int stack_change(unsigned number, unsigned choice, struct text *text)
{
    char command[64];

    if (if_nametoindex(links[number].name) == 0)
        return add_link(number, text);
    if (choice % 3 == 0)
        snprintf(command, sizeof command, "link del %s", links[number].name);
    else
        snprintf(command, sizeof command, "link set dev %s %s", links[number].name, choice % 3 == 1 ? "down" : "up");
    return world_run(command, text) ? 0 : EINVAL;
}

bool stack_find_remote(const char *name, struct spec_address *ret)
{
    memset(ret, 0, sizeof *ret);
    for (unsigned i = 0; i < STACK_LINKS; i++)
        if (links[i].remote != NULL && strcmp(links[i].name, name) == 0) {
            ret->family = strchr(links[i].remote, ':') != NULL ? AF_INET6 : AF_INET;
            return inet_pton(ret->family, links[i].remote, ret->bytes) == 1;
        }
    return false;
}

bool stack_has_tunnel_over_ipv6(void)
{
    return if_nametoindex("s6") != 0;
}

bool stack_is_point_to_point_tunnel(const char *name)
{
    struct spec_address unused;

    return stack_find_remote(name, &unused) && strcmp(name, "sx") != 0;
}

bool stack_has_no_peer(const char *name)
{
    return strcmp(name, "sw") == 0;
}

bool stack_is_vrf(const char *name)
{
    return strcmp(name, "sr") == 0;
}

void stack_print_refused(void)
{
    for (unsigned i = 0; i < STACK_LINKS; i++)
        if (refused[i])
            print_message("this kernel refused: link add %s\n", links[i].add);
}
