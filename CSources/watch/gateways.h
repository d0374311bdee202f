/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_GATEWAYS_H
#define REACHABILITY_GATEWAYS_H

/*
 * The gateways of a monitor's paths, as far as the kernel's choice of a route depends on whether they respond: those of
 * IPv6, of equal IPv4 default routes and of legs. Only messages about their neighbour entries announce that. The
 * kernel's filter passes the messages about them, and about no other neighbours, see route_filter.h. There are many, so
 * the socket joins their group with the first such gateway, behind a filter that passes a message if a gateway fails,
 * or if one that has failed changes; where IPv4 has a choice, each change. The state of a new one is read once after
 * that.
 *
 * At most ROUTE_FILTER_GATEWAYS; others are ignored. A gateway takes the place of one that no path has. Only the thread
 * that drives the loop uses this.
 */

#include "pure/message.h"
#include "pure/path.h"
#include "pure/route_filter.h"

/* What the kernel's choice depends on. */
enum gateway_state {
    GATEWAY_UNREAD,    /* not known */
    GATEWAY_NONE,      /* no entry, or none yet */
    GATEWAY_FAILED,    /* it does not respond */
    GATEWAY_VALID,     /* it has responded */
    GATEWAY_REACHABLE, /* it has responded a short time ago; IPv4 prefers it */
};

struct gateway {
    enum gateway_state state;
    bool used;   /* a path has had it since it failed: the kernel has tried it again */
    bool held;   /* also if no entry has it: see gateways_hold */
    bool ranked; /* it also matters whether it has responded a short time ago */
};

struct gateways {
    struct route_filter_gateway items[ROUTE_FILTER_GATEWAYS];
    struct gateway states[ROUTE_FILTER_GATEWAYS];
    const uint32_t *users;  /* how many entries have the gateway of a place: see store.h */
    unsigned count, unread; /* of all, and of those whose state was not read */
    unsigned long version;  /* counts changes after which the filter must pass more */
    unsigned long edits;    /* counts all changes of what it passes */
};

#define GATEWAYS_NOWHERE ROUTE_FILTER_GATEWAYS

/* Adds the gateway of an entry's path, if it matters. Under the loop's lock. Returns its place; GATEWAYS_NOWHERE: there
 * is none. */
unsigned gateways_add(struct gateways *gateways, const struct path *path);

/* Adds a gateway that is not that of an entry's path: of another route that the kernel can choose, or of other paths of
 * a watch. It stays until gateways_age. Under the loop's lock. `ranked`: of equal IPv4 routes, the kernel prefers the
 * one whose gateway has responded a short time ago. Of legs, it only avoids those whose gateway does not respond. */
void gateways_hold(struct gateways *gateways, uint32_t index, const struct address *address, bool ranked);

/* The paths over a link are stale. 0: all paths are. */
void gateways_age(struct gateways *gateways, uint32_t index);

/* Messages were lost: no state is known. */
void gateways_distrust(struct gateways *gateways);

/* The kernel's entry for the gateway at this place has this state (NUD_...). */
void gateways_set(struct gateways *gateways, unsigned place, uint16_t state);

/* Notes a message about a neighbour. */
enum gateways_effect {
    GATEWAYS_NOTHING,
    GATEWAYS_OTHER_ROUTE, /* of those to the same prefix, or to a shorter one */
    GATEWAYS_ANY_ROUTE    /* also one to a longer IPv6 prefix */
};
enum gateways_effect gateways_update(struct gateways *gateways, const struct message_neighbour *neighbour);

#endif
