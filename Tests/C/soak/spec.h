/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_SPEC_H
#define TESTS_SOAK_SPEC_H

/* What a target of the soak is about: a destination, perhaps a source address, an interface, a mark, options. */

#include <reachability/reachability.h>
#include <stdbool.h>

#include "soak/random.h"
#include "soak/text.h"

struct spec_address {
    int family; /* 0: none */
    uint8_t bytes[16];
    unsigned scope; /* the index of the interface of a link-local address */
};

struct spec {
    struct spec_address local, remote;
    char interface[16]; /* "": any */
    uint32_t mark, options;
};

/* Draws a spec. Many have destinations that match the same route. */
void spec_draw(uint64_t *random, struct spec *ret);

/* A new target for the spec. */
SCNetworkReachabilityRef spec_create_target(const struct spec *spec);

void spec_describe(const struct spec *spec, struct text *ret);

/* Whether a prefix ("198.51.100.0/24") covers the destination or the source, or the spec is the default path. */
bool spec_is_covered(const struct spec *spec, const char *prefix);

bool spec_is_default_path(const struct spec *spec);

/* The loopback addresses of both families. */
bool spec_is_loopback(const struct spec *spec);

#endif
