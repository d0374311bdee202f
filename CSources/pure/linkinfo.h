/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LINKINFO_H
#define REACHABILITY_LINKINFO_H

/* IFLA_LINKINFO: the kind of a link, and the attributes of a few kinds. */

#include "pure/attribute.h"

/* Addresses and route of a tunnel's own packets. */
struct tunnel {
    struct address local, remote; /* remote AF_UNSPEC: there is none, or there are many */
    uint32_t oif, mark;           /* 0: any interface, no mark */
};

struct linkinfo {
    bool has_kind;
    char kind[16];
    uint32_t active;    /* the port that a bond uses; 0: several, or none */
    uint32_t vrf_table; /* the routing table of a VRF; 0: not a VRF */
    struct tunnel tunnel;
};

/* Parses IFLA_LINKINFO. `ret` stays all zero if the link has no kind. */
void linkinfo_parse(const struct attribute *nest, struct linkinfo *ret);

#endif
