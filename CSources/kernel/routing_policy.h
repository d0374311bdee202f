/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUTING_POLICY_H
#define REACHABILITY_ROUTING_POLICY_H

/* The part of policy routing that decides whether a route leads to all addresses of its prefix. Only the thread that
 * handles events calls these: they wait for RTNL. */

#include "kernel/rtnetlink.h"

/* Sets *ret to whether all packets of both families use the tables "local", "main" and "default", in this order: there
 * are no other rules. Returns 0 or an errno. */
int routing_policy_is_standard(struct rtnetlink *rtnetlink, bool *ret);

/* The same for one family. */
int routing_policy_family_is_standard(struct rtnetlink *rtnetlink, uint8_t family, bool *ret);

/* Whether the rules of a family do no more than choose tables: see rule_chooses_table. False also if that is not known.
 */
bool routing_policy_chooses_tables(struct rtnetlink *rtnetlink, uint8_t family);

/* Reads what rules select by into rtnetlink->rules, unless it is known. A sandbox that hides the rules: by nothing.
 * Over a socket that has joined groups, their messages are lost: not with RTNETLINK_LINKS. Returns 0 or an errno. */
int routing_policy_find_selectors(struct rtnetlink *rtnetlink);

/* The same over a socket of its own, in the calling thread's network namespace. */
int routing_policy_read_selectors(unsigned ret_selectors[2]);

/* Whether the IPv4 table "default" has no route. False also if that is not known. */
bool routing_policy_default_table_is_empty(struct rtnetlink *rtnetlink);

#endif
