/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_GATEWAYS_H
#define REACHABILITY_GATEWAYS_H

/*
 * The IPv6 gateways of a monitor's paths. If a gateway does not respond, IPv6 prefers other routes, as soon as the
 * gateway's neighbour entry has failed. Only the message about that entry announces it.
 *
 * At most 16. Others are ignored, and so is a gateway that failed before a path used it. A new gateway takes the place
 * of one that no path has used since all paths were last stale. Only the thread that drives the loop uses this.
 */

#include "pure/message.h"
#include "pure/path.h"
#include "pure/route_filter.h"

struct gateways {
    struct route_filter_gateway items[ROUTE_FILTER_GATEWAYS];
    bool                        unsure[ROUTE_FILTER_GATEWAYS]; /* a message may have been lost */
    bool                        unused[ROUTE_FILTER_GATEWAYS]; /* since the paths over its link were last stale */
    unsigned                    count;
    unsigned long               version; /* counts changes */
};

/* Adds the gateway of a path, if the path has one, the list does not have it yet, and there is room. */
void gateways_add(struct gateways *gateways, const struct path *path);

/* The paths over a link are stale. 0: all paths are. */
void gateways_age(struct gateways *gateways, uint32_t index);

/* Messages were lost. The next one about each gateway counts, and the filter must pass it. */
void gateways_distrust(struct gateways *gateways);

/* Notes whether a neighbour entry has failed. Returns whether the kernel may now choose other routes. */
bool gateways_update(struct gateways *gateways, const struct message_neighbour *neighbour);

#endif
