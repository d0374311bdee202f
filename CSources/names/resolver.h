/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RESOLVER_H
#define REACHABILITY_RESOLVER_H

/* One call of the system's resolver, and its result. */

#include <stdbool.h>

#include "pure/address.h"

#define RESOLVER_ADDRESSES_LIMIT 64 /* addresses of one name; any further ones are ignored */

enum lookup_outcome {
    LOOKUP_FOUND,
    LOOKUP_NO_SUCH_NAME,
    LOOKUP_FAILED /* it is not known whether the name exists */
};

struct found_address {
    struct address address;
    uint32_t scope;
};

struct lookup_result {
    enum lookup_outcome outcome;
    size_t count;                /* not 0 if the outcome is LOOKUP_FOUND */
    struct found_address *items; /* in the resolver's order */
    bool slow;                   /* it took more than half a second */
    bool outdated;               /* something changed after the look-up had begun: repeat it */
    bool in_pause;               /* the same, but the repetition comes later: see network_service.c */
};

/* Resolves a name in the calling thread's namespace, to addresses of one family, or of both (AF_UNSPEC). Can take half
 * a minute. Sets outcome and count, and fills `items`, which has room for RESOLVER_ADDRESSES_LIMIT. */
void reach_resolver_resolve(const char *name, int family, struct lookup_result *ret);

/* Prepares a thread of the library that is going to call reach_resolver_resolve. */
void reach_resolver_prepare_thread(void);

#endif
