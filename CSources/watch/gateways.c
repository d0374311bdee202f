/* SPDX-License-Identifier: MIT */
/*
 * The gateways of a monitor's paths.
 *
 * What this file must never do: ignore that a gateway fails again. The kernel probes one that has failed, without a
 * message. Meanwhile it uses it, and a path can have it again.
 */
#ifdef __linux__
#include "watch/gateways.h"

#include <linux/neighbour.h>

static unsigned find_gateway(const struct gateways *gateways, uint32_t index, const struct address *address)
{
    for (unsigned i = 0; i < gateways->count; i++)
        if (gateways->items[i].index == index && address_equal(&gateways->items[i].address, address))
            return i;
    return GATEWAYS_NOWHERE;
}

/* Returns a place for another gateway. If the list is full, the new gateway replaces one that no path has, first one
 * that has not failed: a path can return to a gateway that has failed. */
static unsigned find_place(const struct gateways *gateways)
{
    unsigned place = GATEWAYS_NOWHERE;

    if (gateways->count < ROUTE_FILTER_GATEWAYS)
        return gateways->count;
    for (unsigned i = 0; i < gateways->count; i++)
        if (gateways->users[i] == 0 && !gateways->states[i].held &&
            (place == GATEWAYS_NOWHERE || gateways->states[i].state != GATEWAY_FAILED))
            place = i;
    return place;
}

/* Whether IPv4 chooses by the state of the gateway. An IPv6 one can be that of IPv4 routes, too. */
static bool is_choice(const struct gateways *gateways, unsigned place)
{
    const struct gateway *gateway = &gateways->states[place];

    return gateways->items[place].address.family == AF_INET ? gateway->held : gateway->ranked;
}

/* IPv4 chooses by all states; IPv6 only avoids gateways that have failed. */
static bool needs_every_message(const struct gateways *gateways, unsigned place)
{
    const enum gateway_state state = gateways->states[place].state;

    return is_choice(gateways, place) ||
           (gateways->items[place].address.family == AF_INET6 && (state == GATEWAY_UNREAD || state == GATEWAY_FAILED));
}

static void update_filter(struct gateways *gateways, unsigned place)
{
    struct route_filter_gateway *item = &gateways->items[place];
    const bool passed = item->every;

    item->every = needs_every_message(gateways, place);
    gateways->edits += item->every != passed;
    gateways->version += item->every && !passed;
}

static void set_state(struct gateways *gateways, unsigned place, enum gateway_state state)
{
    gateways->unread += (unsigned)(state == GATEWAY_UNREAD) - (gateways->states[place].state == GATEWAY_UNREAD);
    gateways->states[place].state = state;
    gateways->states[place].used = false;
    update_filter(gateways, place);
}

static unsigned add(struct gateways *gateways, uint32_t index, const struct address *address)
{
    unsigned place = find_gateway(gateways, index, address);

    if (place != GATEWAYS_NOWHERE)
        return place;
    place = find_place(gateways);
    if (place == GATEWAYS_NOWHERE)
        return place;
    if (place == gateways->count) {
        gateways->count++;
        gateways->states[place].state = GATEWAY_NONE;
    }
    gateways->items[place] = (struct route_filter_gateway){ .address = *address, .index = index };
    gateways->states[place].held = gateways->states[place].ranked = false;
    set_state(gateways, place, GATEWAY_UNREAD);
    return place;
}

/* An IPv4 gateway matters only if the kernel has a choice: see gateways_hold. */
unsigned gateways_add(struct gateways *gateways, const struct path *path)
{
    unsigned place;

    if (path->gateway.family == AF_UNSPEC)
        return GATEWAYS_NOWHERE;
    if (path->gateway.family == AF_INET)
        return find_gateway(gateways, path->index, &path->gateway);
    place = add(gateways, path->index, &path->gateway);
    if (place != GATEWAYS_NOWHERE)
        gateways->states[place].used = true;
    return place;
}

void gateways_hold(struct gateways *gateways, uint32_t index, const struct address *address, bool ranked)
{
    const unsigned place = add(gateways, index, address);
    struct gateway *gateway;
    bool was_choice;

    if (place == GATEWAYS_NOWHERE)
        return;
    gateway = &gateways->states[place];
    was_choice = is_choice(gateways, place);
    gateway->held = true;
    gateway->ranked = gateway->ranked || ranked;
    if (is_choice(gateways, place) && !was_choice)
        set_state(gateways, place, GATEWAY_UNREAD); /* the filter may have dropped messages about it */
    gateway->used = true;
    update_filter(gateways, place);
}

void gateways_age(struct gateways *gateways, uint32_t index)
{
    for (unsigned i = 0; i < gateways->count; i++)
        if (index == 0 || gateways->items[i].index == index) {
            gateways->states[i].held = gateways->states[i].ranked = false;
            update_filter(gateways, i);
        }
}

void gateways_distrust(struct gateways *gateways)
{
    for (unsigned i = 0; i < gateways->count; i++)
        set_state(gateways, i, GATEWAY_UNREAD);
}

static enum gateway_state state_of(uint16_t state)
{
    if ((state & NUD_FAILED) != 0)
        return GATEWAY_FAILED;
    if (state == NUD_REACHABLE)
        return GATEWAY_REACHABLE;
    return (state & (NUD_PERMANENT | NUD_NOARP | NUD_PROBE | NUD_STALE | NUD_DELAY)) != 0 ? GATEWAY_VALID
                                                                                          : GATEWAY_NONE;
}

void gateways_set(struct gateways *gateways, unsigned place, uint16_t state)
{
    set_state(gateways, place, state_of(state));
}

static bool another_may_have_failed(const struct gateways *gateways, unsigned place)
{
    for (unsigned i = 0; i < gateways->count; i++)
        if (i != place && gateways->items[i].address.family == AF_INET6 &&
            (gateways->states[i].state == GATEWAY_FAILED || gateways->states[i].state == GATEWAY_UNREAD))
            return true;
    return false;
}

/* Once no gateway responds, IPv6 takes the longest prefix as if all did. So if one fails, those that had failed count
 * again. A gateway whose routes were usable a moment ago hides none to a longer prefix. */
static enum gateways_effect find_effect_ipv6(const struct gateways *gateways, unsigned place, enum gateway_state now)
{
    const struct gateway *gateway = &gateways->states[place];
    const bool had_failed = gateway->state == GATEWAY_FAILED, fails = now == GATEWAY_FAILED;

    if (had_failed && fails && gateway->used)
        return another_may_have_failed(gateways, place) ? GATEWAYS_ANY_ROUTE : GATEWAYS_OTHER_ROUTE;
    return gateway->state == GATEWAY_UNREAD || had_failed != fails ? GATEWAYS_ANY_ROUTE : GATEWAYS_NOTHING;
}

/* Entries for neighbours change between these two all the time. */
static enum gateway_state rank(const struct gateway *gateway, enum gateway_state state)
{
    return state == GATEWAY_REACHABLE && !gateway->ranked ? GATEWAY_VALID : state;
}

static enum gateways_effect find_effect_ipv4(const struct gateways *gateways, unsigned place, enum gateway_state now)
{
    const struct gateway *gateway = &gateways->states[place];

    if (!is_choice(gateways, place) || rank(gateway, gateway->state) == rank(gateway, now))
        return GATEWAYS_NOTHING;
    return GATEWAYS_OTHER_ROUTE;
}

enum gateways_effect gateways_update(struct gateways *gateways, const struct message_neighbour *neighbour)
{
    const unsigned place = find_gateway(gateways, neighbour->index, &neighbour->address);
    const enum gateway_state now = state_of(neighbour->state);
    const unsigned long edits = gateways->edits;
    enum gateways_effect effect = GATEWAYS_NOTHING;

    if (place == GATEWAYS_NOWHERE)
        return GATEWAYS_NOTHING;
    if (neighbour->address.family == AF_INET6)
        effect = find_effect_ipv6(gateways, place, now);
    if (effect == GATEWAYS_NOTHING)
        effect = find_effect_ipv4(gateways, place, now);
    set_state(gateways, place, now);
    gateways->version += gateways->edits != edits; /* paths are evaluated anyway: the filter may as well pass less */
    return effect;
}
#endif
