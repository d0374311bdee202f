/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LINKINFO_H
#define REACHABILITY_LINKINFO_H

/* What IFLA_LINKINFO says of a link: its kind, and a few things that some kinds publish. Pure. */

#include "pure/attribute.h"

/* The way that a tunnel's own packets take. */
struct tunnel {
    struct address local, remote; /* remote AF_UNSPEC: the kind publishes none, or there are many */
    uint32_t       oif, mark;     /* 0: any, none */
};

struct linkinfo {
    bool          has_kind;
    char          kind[16];
    uint32_t      active; /* the port that a bond uses; 0: several, or none */
    struct tunnel tunnel;
};

/* Of a link that has no kind, nothing. */
void linkinfo_parse(const struct attribute *nest, struct linkinfo *ret);

#endif
