/* SPDX-License-Identifier: MIT */
#include "soak/short_lived.h"

#include "support/unit.h"

#define PLACES  24 /* targets of a thread */
#define RENEWED 4  /* targets that a turn replaces */

static void renew(struct short_lived *short_lived, struct watched *place, uint64_t *random)
{
    struct spec spec;
    SCNetworkReachabilityFlags flags;

    if (place->target != NULL) {
        unit_complain_if(!SCNetworkReachabilityGetFlags(place->target, &flags), "GetFlags failed");
        if (random_next(random) % 4 == 0)
            unit_complain_if(!SCNetworkReachabilitySetCallback(place->target, NULL, NULL), "SetCallback failed");
        watched_close(place, short_lived->executors);
        atomic_fetch_add(&short_lived->ended, 1);
    }
    spec_draw(random, &spec);
    watched_open(place, &spec, EXECUTOR_DRIVEN + (enum executor)(random_next(random) % (EXECUTORS - 1)),
                 short_lived->executors);
}

static void *live(void *argument)
{
    struct short_lived *short_lived = argument;
    struct watched places[PLACES];
    uint64_t random = short_lived->seed + atomic_fetch_add(&short_lived->started, 1);

    memset(places, 0, sizeof places);
    while (sem_wait(&short_lived->turns) != 0 || !atomic_load(&short_lived->over))
        for (unsigned i = 0; i < RENEWED; i++)
            renew(short_lived, &places[random_next(&random) % PLACES], &random);
    for (unsigned i = 0; i < PLACES; i++)
        if (places[i].target != NULL)
            watched_close(&places[i], short_lived->executors);
    return NULL;
}

void short_lived_open(struct short_lived *ret, struct executors *executors, uint64_t seed)
{
    memset(ret, 0, sizeof *ret);
    ret->executors = executors;
    ret->seed = seed;
    assert_int_equal(sem_init(&ret->turns, 0, 0), 0);
    for (unsigned i = 0; i < SHORT_LIVED_THREADS; i++)
        assert_int_equal(pthread_create(&ret->threads[i], NULL, live, ret), 0);
}

void short_lived_renew(struct short_lived *short_lived)
{
    sem_post(&short_lived->turns);
}

void short_lived_close(struct short_lived *short_lived)
{
    atomic_store(&short_lived->over, true);
    for (unsigned i = 0; i < SHORT_LIVED_THREADS; i++)
        sem_post(&short_lived->turns);
    for (unsigned i = 0; i < SHORT_LIVED_THREADS; i++)
        pthread_join(short_lived->threads[i], NULL);
    sem_destroy(&short_lived->turns);
}
