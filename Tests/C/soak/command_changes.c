/* SPDX-License-Identifier: MIT */
/* Changes without parameters: commands of ip(8), and sysctls. */
#include <errno.h>

#include "soak/change_kind.h"
#include "support/namespace.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Rules have the priorities of those in rule_changes.c, which deletes them. */
static const char *const commands[] = {
    /* Addresses that end by themselves, are not preferred, or add no route. */
    "addr replace 192.0.2.7/24 dev a valid_lft 2 preferred_lft 1",
    "addr replace 2001:db8::7/64 dev a valid_lft 2 preferred_lft 1",
    "addr replace 2001:db8:c::2/64 dev c nodad valid_lft 2 preferred_lft 1",
    "addr replace 2001:db8::2/64 dev a nodad preferred_lft 0",
    "addr replace 2001:db8::2/64 dev a nodad noprefixroute",
    "addr replace 203.0.113.2/24 dev c noprefixroute",
    "addr replace 10.8.0.1 peer 198.51.100.7 dev c",
    "addr del 10.8.0.1 peer 198.51.100.7 dev c",
    "addr flush dev a scope global",
    "addr replace 2001:db8::2/64 dev lo nodad",
    /* Routes */
    "nexthop replace id 1 blackhole",
    "-6 nexthop replace id 2 blackhole",
    "nexthop replace id 2 dev a",
    "nexthop replace id 10 group 1,3/2,1",
    "route replace 198.51.100.0/24 via 192.0.2.1 dev a src 203.0.113.2",
    "-6 route replace 2001:db8:9::/64 via 2001:db8::1 dev a src 2001:db8:c::2",
    "route replace 198.51.100.128/26 via 172.16.0.1 dev c onlink",
    "-6 route replace 2001:db8:9::/64 via 2001:db8:77::1 dev c onlink",
    "-6 route replace default via 2001:db8:c::1 dev c pref high",
    "route replace default via 192.0.2.1 dev a mtu lock 1200",
    "route flush table 100",
    "-6 route flush table 100",
    "route flush dev c",
    "-6 route flush dev c",
    /* Of a VRF: over its port, and over an interface outside */
    "route replace default via 10.9.0.2 dev p table 200 metric 15",
    "route replace default via 203.0.113.1 dev c table 200 metric 25",
    "-6 route replace default dev p table 200 metric 15",
    "-6 route replace default via 2001:db8:c::1 dev c table 200 metric 25",
    "route flush table 200",
    "-6 route flush table 200",
    /* Rules */
    "rule add priority 100 not fwmark 1 lookup 100",
    "-6 rule add priority 100 not fwmark 1 lookup 100",
    "rule add priority 101 not to 198.51.100.0/24 lookup 101",
    "-6 rule add priority 101 not to 2001:db8:1::/48 prohibit",
    "-6 rule add priority 101 not from 2001:db8::/64 unreachable",
    "rule add priority 100 to 198.51.100.0/24 goto 32767",
    "-6 rule add priority 100 to 2001:db8::/32 goto 32767",
    "rule add priority 100 uidrange 0-0 lookup 100",
    "-6 rule add priority 101 uidrange 1-1000 prohibit",
    "rule add priority 101 to 198.51.100.0/24 dsfield 0x10 prohibit",
    "rule add priority 101 ipproto tcp prohibit",
    "-6 rule add priority 101 sport 1 prohibit",
    "rule add priority 100 nop",
    /* Links */
    "link set dev c mtu 1200",
    "link set dev c mtu 1500",
    "link set dev a arp off",
    "link set dev a arp on",
    "link set dev a mode dormant",
    "link set dev a mode default",
    "link set dev p alias other",
};

static const char *const sysctls[] = {
    "net.ipv4.conf.a.ignore_routes_with_linkdown",
    "net.ipv6.conf.a.ignore_routes_with_linkdown",
    "net.ipv4.conf.c.forwarding",
    "net.ipv6.conf.a.forwarding",
    "net.ipv4.conf.all.forwarding",
    "net.ipv6.conf.all.forwarding",
    "net.ipv6.conf.all.disable_ipv6",
    "net.ipv6.conf.lo.disable_ipv6",
    "net.ipv4.conf.a.promote_secondaries",
    "net.ipv6.conf.a.keep_addr_on_down",
};

static int run_command(change bits, struct world *world, struct change_made *ret)
{
    (void)world;
    return world_run(commands[random_take(&bits, COUNT(commands))], &ret->text) ? 0 : EINVAL;
}

static int write_sysctl(change bits, struct world *world, struct change_made *ret)
{
    const char *name = sysctls[random_take(&bits, COUNT(sysctls))];
    const char *value = random_take(&bits, 3) == 0 ? "1" : "0";

    (void)world;
    text_add(&ret->text, "sysctl %s=%s", name, value);
    return namespace_try_sysctl(name, value) ? 0 : ENOENT;
}

const struct change_kind command_changes[] = { { .make = run_command, .weight = 40, .is_about_links = true },
                                               { .make = write_sysctl, .weight = 10, .is_about_links = true },
                                               { .weight = 0 } };
