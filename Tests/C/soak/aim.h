/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_AIM_H
#define TESTS_SOAK_AIM_H

/* What a target of the soak is about: a destination, perhaps a source address, an interface, a mark, options. */

#include <reachability/reachability.h>
#include <stdbool.h>

#include "soak/random.h"
#include "soak/text.h"

struct aim_address {
    int family; /* 0: none */
    uint8_t bytes[16];
    unsigned scope; /* the index of the interface of a link-local address */
};

struct aim {
    struct aim_address local, remote;
    char interface[16]; /* "": any */
    uint32_t mark, options;
};

/* Draws an aim. Many have destinations that match the same route. */
void aim_draw(uint64_t *random, struct aim *ret);

/* A new target for the aim. */
SCNetworkReachabilityRef aim_create_target(const struct aim *aim);

void aim_describe(const struct aim *aim, struct text *ret);

/* Whether a prefix ("198.51.100.0/24") covers the destination or the source, or whether the aim is the default path. */
bool aim_is_covered(const struct aim *aim, const char *prefix);

bool aim_is_default_path(const struct aim *aim);

/* The loopback addresses of both families. */
bool aim_is_loopback(const struct aim *aim);

#endif
