/* SPDX-License-Identifier: MIT */
#include "soak/episode.h"

#include "soak/network_watch.h"
#include "soak/oracle.h"
#include "soak/short_lived.h"
#include "support/time_limit.h"
#include "support/unit.h"

#define QUIET 0.007 /* seconds: the library evaluates again after 5 ms */
#define STEP  0.001 /* seconds between two comparisons of GetNetwork */
#define LASTS 8.0   /* seconds for which it must be wrong */
#define BURST 8     /* changes without a check, at most */
#define SWEEP 24    /* checks, of which one compares all targets */
#define RENEW 4     /* checks, of which one renews a target */

struct play {
    const struct episode *episode;
    struct tally *tally;
    struct world world;
    struct targets targets;
    struct short_lived short_lived;
    struct network_targets networks;
    unsigned burst; /* changes since the last check */
    unsigned checks;
    bool is_unsettled; /* the library may evaluate everything a second time */
    bool verbose;
};

static void print_wrong(const struct watched *wrong)
{
    const struct results results = results_query(wrong);

    results_print(wrong, &results);
}

/* Returns whether the results of GetNetwork agree before the time for that is over. */
static bool check_networks(struct play *play)
{
    const long long end = watched_now() + (long long)(time_limit_of(LASTS) * 1e9);
    struct text wrong;
    bool agree = network_targets_agree(&play->networks, &wrong);

    play->tally->networks++;
    for (; !agree && watched_now() < end; agree = network_targets_agree(&play->networks, &wrong))
        targets_drive(&play->targets, STEP);
    if (!agree && !play->tally->is_silent)
        print_message("%s\n", wrong.bytes);
    return agree;
}

/* Returns whether all results agree. */
static bool check(struct play *play, long long acknowledged, bool all)
{
    executors_resume(&play->targets.executors);
    play->burst = 0;
    play->tally->checks++;
    short_lived_renew(&play->short_lived);
    if (all || ++play->checks % SWEEP == 0)
        targets_suspect_all(&play->targets);
    const struct watched *wrong = targets_check(&play->targets, acknowledged);
    if (wrong != NULL && !play->tally->is_silent)
        print_wrong(wrong);
    if (wrong == NULL && play->checks % RENEW == 0)
        targets_renew(&play->targets);
    return wrong == NULL && check_networks(play) && unit_complaint() == NULL;
}

/* After some changes the library evaluates everything a second time. That must not hide a missed message of the next
 * change. So often only changes of links follow one another at once. Other changes wait until the library is quiet. */
static void wait_until_settled(struct play *play, change next)
{
    if (play->is_unsettled && play->burst == 0 && change_has_pause(next) && !change_is_about_links(next)) {
        targets_drive(&play->targets, QUIET);
        play->is_unsettled = false;
    }
    play->is_unsettled = play->is_unsettled || change_is_about_links(next);
}

static void make_flood(struct play *play, change bits, struct change_made *ret)
{
    const unsigned long before = world_drops();

    executors_stop(&play->targets.executors);
    change_make(bits, &play->world, ret);
    play->tally->floods++;
    play->tally->overruns += world_drops() > before;
}

/* The message of a change after a flood must be lost, too: otherwise the flood has proven little. */
static void make_change(struct play *play, change bits, struct change_made *ret)
{
    const unsigned long before = play->targets.executors.stopped ? world_drops() : 0;

    change_make(bits, &play->world, ret);
    if (play->targets.executors.stopped)
        play->tally->lost += world_drops() > before;
}

/* Makes a change, and the check that follows it. Returns whether all results agree. */
static bool step(struct play *play, change bits)
{
    struct change_made made;
    long long acknowledged;

    wait_until_settled(play, bits);
    if (change_is_flood(bits))
        make_flood(play, bits, &made);
    else
        make_change(play, bits, &made);
    acknowledged = watched_now();
    play->tally->changes++;
    play->burst++;
    if (play->verbose)
        print_message("%s\n", made.text.bytes);
    if (made.prefix[0] != '\0')
        targets_suspect_prefix(&play->targets, made.prefix);
    return (change_has_successor(bits) && play->burst < BURST) || check(play, acknowledged, false);
}

static size_t make_changes(struct play *play)
{
    const struct episode *episode = play->episode;

    for (size_t i = 0; i < episode->count; i++)
        if (!step(play, episode->changes[i]))
            return i + 1;
    return check(play, watched_now(), true) ? 0 : episode->count;
}

size_t episode_play(const struct episode *episode, bool verbose, struct tally *tally)
{
    struct play play = { .episode = episode, .tally = tally, .verbose = verbose };

    world_open(&play.world);
    oracle_open();
    targets_open(&play.targets, episode->targets, episode->seed, &tally->healing);
    play.targets.is_silent = tally->is_silent;
    short_lived_open(&play.short_lived, &play.targets.executors, episode->seed);
    network_targets_open(&play.networks, &play.targets.executors);
    size_t failed = make_changes(&play);
    network_targets_close(&play.networks, &play.targets.executors);
    short_lived_close(&play.short_lived);
    tally->short_lived += atomic_load(&play.short_lived.ended);
    targets_close(&play.targets);
    tally->comparisons += play.targets.comparisons;
    oracle_close();
    world_close(&play.world);
    return failed;
}
