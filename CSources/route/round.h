/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUND_H
#define REACHABILITY_ROUND_H

/* What the evaluations of one round read besides routes and links. They share it, so a round with many paths reads it
 * once. */

#include "kernel/pppd.h"
#include "kernel/wireguard.h"

struct round {
    struct wireguard wireguard;
    struct pppd      pppd;
};

#define ROUND_EMPTY ((struct round){ 0 })

/* Begins another round. Returns whether paths with the dependency `pppd` are stale. */
static inline bool round_begin(struct round *round)
{
    return pppd_begin_round(&round->pppd);
}

/* Nothing announces that what was read has changed: the next round reads it again. */
static inline void round_end(struct round *round)
{
    wireguard_clear(&round->wireguard);
    pppd_end_round(&round->pppd);
}

static inline void round_clear(struct round *round)
{
    wireguard_clear(&round->wireguard);
    pppd_clear(&round->pppd);
}

#endif
