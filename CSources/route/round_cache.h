/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUND_CACHE_H
#define REACHABILITY_ROUND_CACHE_H

/* What the evaluations of one round read besides routes and links. They share it, so a round with many paths reads it
 * once. */

#include "kernel/pppd.h"
#include "kernel/wireguard.h"

struct round_cache {
    struct wireguard wireguard;
    struct pppd      pppd;
};

#define ROUND_CACHE_EMPTY ((struct round_cache){ 0 })

/* Begins another round. Returns whether paths with the dependency `pppd` are stale. */
static inline bool round_cache_begin(struct round_cache *cache)
{
    return pppd_begin_round(&cache->pppd);
}

/* Nothing announces that what was read has changed: the next round reads it again. */
static inline void round_cache_end(struct round_cache *cache)
{
    wireguard_clear(&cache->wireguard);
    pppd_end_round(&cache->pppd);
}

static inline void round_cache_clear(struct round_cache *cache)
{
    wireguard_clear(&cache->wireguard);
    pppd_clear(&cache->pppd);
}

#endif
