/* SPDX-License-Identifier: MIT */
/* The IPv6 gateways of a monitor's paths. */
#include "route/gateways.h"

static struct route_filter_gateway *find_gateway(struct gateways *gateways, uint32_t index,
                                                 const struct address *address)
{
    for (unsigned i = 0; i < gateways->count; i++)
        if (gateways->items[i].index == index && address_equal(&gateways->items[i].address, address))
            return &gateways->items[i];
    return NULL;
}

void gateways_add(struct gateways *gateways, const struct path *path)
{
    const unsigned next = gateways->count;

    if (path->gateway.family != AF_INET6 || next == ROUTE_FILTER_GATEWAYS ||
        find_gateway(gateways, path->index, &path->gateway) != NULL)
        return;
    gateways->unsure[next] = false;
    gateways->items[next] = (struct route_filter_gateway){ .address = path->gateway, .index = path->index };
    gateways->count++;
    gateways->version++;
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
