/* SPDX-License-Identifier: MIT */
/* The IPv6 gateways of a monitor's paths. */
#include "watch/gateways.h"

static struct route_filter_gateway *find_gateway(struct gateways *gateways, uint32_t index,
                                                 const struct address *address)
{
    for (unsigned i = 0; i < gateways->count; i++)
        if (gateways->items[i].index == index && address_equal(&gateways->items[i].address, address))
            return &gateways->items[i];
    return NULL;
}

/* Returns a place for another gateway; ROUTE_FILTER_GATEWAYS: there is none. If the list is full, the new gateway
 * replaces an unused one, first one that has not failed: a path can return to a gateway that has failed. */
static unsigned find_place(const struct gateways *gateways)
{
    unsigned place = ROUTE_FILTER_GATEWAYS;

    if (gateways->count < ROUTE_FILTER_GATEWAYS)
        return gateways->count;
    for (unsigned i = 0; i < gateways->count; i++)
        if (gateways->unused[i] && (place == ROUTE_FILTER_GATEWAYS || !gateways->items[i].failed))
            place = i;
    return place;
}

void gateways_add(struct gateways *gateways, const struct path *path)
{
    const struct route_filter_gateway *known;
    unsigned                           place;

    if (path->gateway.family != AF_INET6)
        return;
    known = find_gateway(gateways, path->index, &path->gateway);
    place = known != NULL ? (unsigned)(known - gateways->items) : find_place(gateways);
    if (place == ROUTE_FILTER_GATEWAYS)
        return;
    gateways->unused[place] = false;
    if (known != NULL)
        return;
    gateways->unsure[place] = false;
    gateways->items[place] = (struct route_filter_gateway){ .address = path->gateway, .index = path->index };
    gateways->count += place == gateways->count;
    gateways->version++;
}

void gateways_age(struct gateways *gateways, uint32_t index)
{
    for (unsigned i = 0; i < gateways->count; i++)
        if (index == 0 || gateways->items[i].index == index)
            gateways->unused[i] = true;
}

void gateways_distrust(struct gateways *gateways)
{
    for (unsigned i = 0; i < gateways->count; i++)
        gateways->unsure[i] = gateways->items[i].failed = true; /* the filter passes all messages about it */
    gateways->version += gateways->count > 0;
}

bool gateways_update(struct gateways *gateways, const struct message_neighbour *neighbour)
{
    struct route_filter_gateway *gateway = find_gateway(gateways, neighbour->index, &neighbour->address);

    if (gateway == NULL || (!gateways->unsure[gateway - gateways->items] && gateway->failed == neighbour->failed))
        return false;
    gateway->failed = neighbour->failed;
    gateways->unsure[gateway - gateways->items] = false;
    gateways->version++;
    return true;
}
