/* SPDX-License-Identifier: MIT */
#include "soak/shrink.h"

#include <string.h>

#define TRIES 150

static size_t play_silently(const struct episode *episode)
{
    static struct tally unused = { .is_silent = true };

    return episode_play(episode, false, &unused);
}

/* Removes groups of `step` changes without which the episode still fails. */
static void leave_out(struct episode *episode, size_t step, unsigned *tries)
{
    for (size_t from = 0; from + step <= episode->count && episode->count > step && *tries > 0; (*tries)--) {
        struct episode without = *episode;

        without.count -= step;
        memmove(without.changes + from, without.changes + from + step, (without.count - from) * sizeof(change));
        size_t failed = play_silently(&without);
        if (failed != 0) {
            *episode = without;
            episode->count = failed;
        } else {
            from += step;
        }
    }
}

/* Fewer targets. */
static void shrink_targets(struct episode *episode, unsigned *tries)
{
    for (size_t targets = episode->targets / 2; targets > 0 && *tries > 0; targets /= 2, (*tries)--) {
        struct episode fewer = *episode;

        fewer.targets = targets;
        if (play_silently(&fewer) == 0)
            return;
        *episode = fewer;
    }
}

/* Removes halves first and single changes last, until each remaining change is needed. */
void shrink_episode(struct episode *episode)
{
    unsigned tries = TRIES;
    size_t before;

    shrink_targets(episode, &tries);
    for (size_t step = episode->count / 2; step > 1; step /= 2)
        leave_out(episode, step, &tries);
    do {
        before = episode->count;
        leave_out(episode, 1, &tries);
    } while (episode->count < before && tries > 0);
}
