/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LINKS_H
#define REACHABILITY_LINKS_H

/* The link table of one network namespace: tens of entries, kept in step by the caller. Pure. */

#include <reachability/reachability.h>

#include "message.h"

struct link {
    uint32_t index, flags, mtu;
    uint16_t hardware;
    bool     complete; /* told by rtnetlink, so the kind is known ("" for a device without one) */
    char     name[16], kind[16];

    SCNetworkReachabilityInterfaceType type; /* follows from the above; links_put sets it */
};

struct links {
    struct link *items; /* by rising index */
    size_t       count, capacity;
};

#define LINKS_EMPTY ((struct links){ 0 })

void links_clear(struct links *links);

/* Puts a link in the place of the one with its index, and finds out its type. 0 or ENOMEM. */
int links_put(struct links *links, const struct link *link);

/* Takes over what a MESSAGE_LINK or MESSAGE_LINK_GONE says. 0 or ENOMEM. */
int links_apply(struct links *links, const struct message *message);

/* Valid until the table changes; NULL: not known. */
const struct link *links_find(const struct links *links, uint32_t index);

/* Notes the kind of a link that is known, and finds out its type. */
void links_tell_kind(struct links *links, uint32_t index, const char kind[16]);

bool link_is_up(const struct link *link);            /* administratively */
bool link_is_running(const struct link *link);       /* has a carrier, operational */
bool link_is_point_to_point(const struct link *link);

#endif
