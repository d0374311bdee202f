/* SPDX-License-Identifier: MIT */
#include "soak/churn.h"

#include <string.h>

#include "support/unit.h"

#define PLACES 24 /* targets of a thread */
#define LIVES  4  /* targets that a turn replaces */

static void renew(struct churn *churn, struct watched *place, uint64_t *random)
{
    struct aim aim;
    SCNetworkReachabilityFlags flags;

    if (place->target != NULL) {
        unit_complain_if(!SCNetworkReachabilityGetFlags(place->target, &flags), "GetFlags failed");
        if (random_next(random) % 4 == 0)
            unit_complain_if(!SCNetworkReachabilitySetCallback(place->target, NULL, NULL), "SetCallback failed");
        watched_close(place, churn->venues);
        atomic_fetch_add(&churn->lives, 1);
    }
    aim_draw(random, &aim);
    watched_open(place, &aim, VENUE_DRIVEN + (enum venue)(random_next(random) % (VENUES - 1)), churn->venues);
}

static void *live(void *argument)
{
    struct churn *churn = argument;
    struct watched places[PLACES];
    uint64_t random = churn->seed + atomic_fetch_add(&churn->started, 1);

    memset(places, 0, sizeof places);
    while (sem_wait(&churn->turns) != 0 || !atomic_load(&churn->over))
        for (unsigned i = 0; i < LIVES; i++)
            renew(churn, &places[random_next(&random) % PLACES], &random);
    for (unsigned i = 0; i < PLACES; i++)
        if (places[i].target != NULL)
            watched_close(&places[i], churn->venues);
    return NULL;
}

void churn_open(struct churn *ret, struct venues *venues, uint64_t seed)
{
    memset(ret, 0, sizeof *ret);
    ret->venues = venues;
    ret->seed = seed;
    assert_int_equal(sem_init(&ret->turns, 0, 0), 0);
    for (unsigned i = 0; i < CHURN_THREADS; i++)
        assert_int_equal(pthread_create(&ret->threads[i], NULL, live, ret), 0);
}

void churn_turn(struct churn *churn)
{
    sem_post(&churn->turns);
}

void churn_close(struct churn *churn)
{
    atomic_store(&churn->over, true);
    for (unsigned i = 0; i < CHURN_THREADS; i++)
        sem_post(&churn->turns);
    for (unsigned i = 0; i < CHURN_THREADS; i++)
        pthread_join(churn->threads[i], NULL);
    sem_destroy(&churn->turns);
}
