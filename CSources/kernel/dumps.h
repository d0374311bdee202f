/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_DUMPS_H
#define REACHABILITY_DUMPS_H

/*
 * What a route query does not say of a network namespace: policy rules, settings of links, neighbours, the first
 * routes of a table. Each is read when it is needed. Unless a comment says otherwise, only the thread that handles
 * events calls these: they wait for RTNL. They return 0, NETLINK_DENIED or an errno.
 */

#include "kernel/rtnetlink.h"

/* ---- Rules */

/* The part of policy routing that decides whether a route leads to all addresses of its prefix. */
struct rules {
    bool is_standard;    /* all packets use the tables "local", "main" and "default", in this order */
    bool chooses_tables; /* the rules do no more than choose tables: see reach_rule_chooses_table */
};
int reach_rules_read(struct rtnetlink *rtnetlink, uint8_t family, struct rules *ret); /* after a failure: neither */

/* Reads what rules select by into rtnetlink->rules, unless it is known. A sandbox that hides the rules: by nothing.
 * Over a socket that has joined groups, their messages are lost: not with RTNETLINK_LINKS. */
int reach_rules_find_selectors(struct rtnetlink *rtnetlink);

/* The same over a socket of its own. From any thread. */
int reach_rules_read_selectors(const struct netns_handle *netns, unsigned ret_selectors[2]);

/* ---- Settings of links: see ip-netconf(8) */

struct netconf {
    /* The kernel ignores the routes over a link without a carrier, for one link or family at least. Such a route comes
     * back with the carrier, without a message. */
    bool ignores_linkdown;
};
int reach_netconf_read(struct rtnetlink *rtnetlink, struct netconf *ret);

/* ---- Neighbours */

/* Reads the state of the kernel's entry for a neighbour; NUD_NONE: there is none. No packet is sent. EOPNOTSUPP: a
 * kernel before 5.0. The second one has a socket of its own: from any thread. */
int reach_neighbours_query(struct rtnetlink *rtnetlink, uint32_t index, const struct address *address,
                           uint16_t *ret_state);
int reach_neighbours_query_in(const struct netns_handle *netns, uint32_t index, const struct address *address,
                              uint16_t *ret_state);

/* Whether an IPv6 neighbour does not respond: its entry has failed, or the kernel probes it. True also if that is not
 * known. */
bool reach_neighbours_any_failed(struct rtnetlink *rtnetlink);

/* Calls `handle` for each nexthop object. */
int reach_nexthops_read(struct rtnetlink *rtnetlink, void (*handle)(void *info, const struct nlmsghdr *message),
                        void *info);

/* ---- Routes */

enum first_routes_end {
    FIRST_ROUTES_ALL,    /* there are no more */
    FIRST_ROUTES_MORE,   /* the rest was not read */
    FIRST_ROUTES_CHANGED /* a route has changed meanwhile, so some may be missing */
};

/* What to read: at most so many datagrams, of about 250 routes each. */
struct first_routes {
    uint8_t family;
    uint32_t table; /* RT_TABLE_UNSPEC: all */
    unsigned datagrams;
};

/* Reads the first routes of a table, over a socket of its own. Calls `visit` for each, until it returns false. */
int reach_first_routes_read(struct rtnetlink *rtnetlink, const struct first_routes *what,
                            bool (*visit)(void *info, const struct route *route), void *info,
                            enum first_routes_end *ret);

/* Whether the IPv4 table "default" has no route. False also if that is not known. */
bool reach_default_table_is_empty(struct rtnetlink *rtnetlink);

/*
 * Source-specific IPv6 routes: those for packets from a prefix only. The route says so itself ("ip -6 route add default
 * from 2001:db8::/64 ..."), or a rule does ("ip -6 rule add from 2001:db8::/64 table 100"). A query without a source
 * address does not find such a route. A packet can take it: if no other route leads to the destination, the kernel
 * chooses a source address, and searches again with it.
 *
 * Reads whether there are such routes if that is not known. With RTNETLINK_LINKS, it is never known, and nothing is
 * read.
 */
enum source_routes reach_source_routes_find(struct rtnetlink *rtnetlink);

#endif
