/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_CHANGE_KIND_H
#define TESTS_SOAK_CHANGE_KIND_H

/* The kinds of changes, for the files that make them: ..._changes.c, each with a table. */

#include "soak/change.h"

struct change_kind {
    /* Makes the change that the bits decide, and adds its text. Returns 0 or an errno. */
    int (*make)(change bits, struct world *world, struct change_made *ret);
    unsigned weight;
    bool is_about_links; /* see change_is_about_links; those of link_changes all are */
    bool is_flood;
};

/* Tables. The last entry has the weight 0. */
extern const struct change_kind command_changes[], expiry_changes[], ipv4_gateway_changes[], link_changes[],
    neighbour_changes[], route_changes[], rule_changes[], silent_changes[];

/* Prefixes of IPv4 and of IPv6. */
#define CHANGE_PREFIXES 12
extern const char *const change_prefixes[2][CHANGE_PREFIXES];

/* The words of ip(8) for each enum writer_action. */
extern const char *const change_actions[];

#endif
