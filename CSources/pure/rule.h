/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RULE_H
#define REACHABILITY_RULE_H

/* Policy rules, see ip-rule(8). */

#include <linux/netlink.h>
#include <stdbool.h>

#include "pure/route.h"

/* Whether an RTM_NEWRULE is about a rule that the kernel itself installs: all packets use the table "local", then
 * "main", then "default". */
bool rule_is_standard(const struct nlmsghdr *message);

/* Whether the rule of an RTM_NEWRULE does no more than choose a table, or refuse, by the destination or by what is the
 * same for all plain questions: the user, the mark 0, no interface. So it suppresses no routes of the table. */
bool rule_chooses_table(const struct nlmsghdr *message);

/* By what the rule of an RTM_NEWRULE selects packets of this machine: bits. */
unsigned rule_selectors(const struct nlmsghdr *message);

#endif
