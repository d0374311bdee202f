/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUND_CACHE_H
#define REACHABILITY_ROUND_CACHE_H

/* What many evaluations of one round need. They share it, so a round with many paths reads it once, and a slice of a
 * round (see round.c) evaluates the default path once. */

#include "kernel/pppd.h"
#include "kernel/wireguard.h"
#include "pure/path.h"

struct round_cache {
    struct wireguard wireguard;
    struct pppd pppd;

    /* The default path of the slice, if it is known, and for which question. */
    bool has_default_path;
    uint8_t default_family;
    unsigned default_extras;
    struct path default_path;
};

#define ROUND_CACHE_EMPTY ((struct round_cache){ 0 })

/* Begins another round. Returns whether paths with the dependency `pppd` are stale. */
static inline bool round_cache_begin(struct round_cache *cache)
{
    return pppd_begin_round(&cache->pppd);
}

/* Begins another slice. A change during the last one may have sent a message about the default path. */
static inline void round_cache_begin_slice(struct round_cache *cache)
{
    cache->has_default_path = false;
}

/* Nothing announces that what was read has changed: the next round reads it again. */
static inline void round_cache_end(struct round_cache *cache)
{
    wireguard_clear(&cache->wireguard);
    pppd_end_round(&cache->pppd);
}

static inline void round_cache_clear(struct round_cache *cache)
{
    round_cache_begin_slice(cache);
    wireguard_clear(&cache->wireguard);
    pppd_clear(&cache->pppd);
}

#endif
