/* SPDX-License-Identifier: MIT */
/*
 * Random changes of the network, under thousands of targets on run loops, schedulers and queues. At each quiet point
 * all results must agree: the last callback, GetFlags and GetLastPath of the scheduled target, GetFlags and GetPath of
 * a new target, and an oracle that shares no code with the library (oracle.h).
 *
 * The kernel finishes some changes after it has acknowledged them (IPv6 addresses, carriers): a disagreement counts
 * only if it lasts.
 *
 * An episode is a number of changes in one namespace, drawn from one seed. If one fails, it is repeated with fewer
 * targets and changes, and the necessary changes are printed as commands of ip(8).
 *
 * `make soak SEED= STEPS= MINUTES= TARGETS=` runs it for longer. SOAK_SEED: the seed of the first episode (default: the
 * clock). SOAK_STEPS: changes. SOAK_MINUTES: ends after that time, if not 0. SOAK_TARGETS: targets of the largest
 * episodes. SOAK_FLOODS: ends after this many floods whose messages the kernel has dropped (the Drops column of
 * /proc/net/netlink grows), instead of after SOAK_STEPS. SOAK_VERBOSE: not 0 prints all changes.
 */
#include "soak/shrink.h"
#include "soak/stack.h"
#include "support/unit.h"

#define STEPS   1200
#define TARGETS 400

static unsigned long from_environment(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text != NULL && *text != '\0' ? strtoul(text, NULL, 0) : otherwise;
}

/* The usual count: smaller under a tool that makes the test slow. */
static unsigned long usual(unsigned long count)
{
    if (!unit_is_under(NULL) || unit_is_under("clang"))
        return count;
    return unit_is_under("valgrind") ? count / 20 : count / 4;
}

/* With SOAK_FLOODS, at least one of this many changes is a flood. */
#define FLOOD_EVERY 4

/* A flood, after which other changes come before the check. */
static change draw_flood(uint64_t *random)
{
    change bits;

    do
        bits = random_next(random);
    while (!change_is_flood(bits) || !change_has_successor(bits));
    return bits;
}

/* Half of the episodes have a theme: two of three of their changes are of kinds in one table. */
static change draw_change(uint64_t *random, unsigned theme)
{
    change bits = random_next(random);

    if (theme < CHANGE_TABLES && random_next(random) % 3 != 0)
        while (!change_is_in_table(bits, theme))
            bits = random_next(random);
    return bits;
}

/* Most episodes have few targets, and take little time. */
static void draw_episode(uint64_t seed, unsigned long most_targets, bool floods, struct episode *ret)
{
    uint64_t random = seed;
    const unsigned theme = random_next(&random) % (2 * CHANGE_TABLES);

    ret->seed = random_next(&random);
    ret->targets = most_targets >> random_next(&random) % 5;
    ret->targets += ret->targets == 0;
    ret->count = EPISODE_CHANGES;
    for (size_t i = 0; i < ret->count; i++)
        ret->changes[i] = floods && i % FLOOD_EVERY == 0 ? draw_flood(&random) : draw_change(&random, theme);
}

static void expect_right(unsigned long seed, struct episode *episode, struct tally *tally)
{
    const size_t failed = episode_play(episode, from_environment("SOAK_VERBOSE", 0) != 0, tally);
    static struct tally unused;

    unit_expect_no_complaint();
    if (failed == 0)
        return;
    print_message("SOAK_SEED=%lu fails at change %zu, with %zu targets; the necessary changes are:\n", seed, failed,
                  episode->targets);
    episode->count = failed;
    shrink_episode(episode);
    world_print();
    episode_play(episode, true, &unused);
    fail();
}

/* Prints a line whenever another hundredth of the changes has been made. */
static void print_progress(const struct tally *tally, unsigned long before, unsigned long steps, unsigned long seed)
{
    const unsigned long hundredth = steps / 100;

    if (hundredth != 0 && tally->changes / hundredth != before / hundredth)
        print_message("| %lu of %lu changes, seed %lu\n", tally->changes, steps, seed);
}

static void print_tally(const struct tally *tally, long long began)
{
    const double seconds = (double)(watched_now() - began) / 1e9;

    print_message("%lu changes (%.0f a second), %lu checks, %lu comparisons, %lu of GetNetwork, %lu targets of other "
                  "threads, %lu of %lu floods with lost messages, %lu lost changes: 0 wrong\n",
                  tally->changes, (double)tally->changes / seconds, tally->checks, tally->comparisons, tally->networks,
                  tally->short_lived, tally->overruns, tally->floods, tally->lost);
    healing_print(&tally->healing);
}

TEST(all_results_agree_after_random_changes)
{
    const unsigned long steps = from_environment("SOAK_STEPS", usual(STEPS));
    const unsigned long floods = from_environment("SOAK_FLOODS", 0);
    const unsigned long targets = from_environment("SOAK_TARGETS", usual(TARGETS));
    const long long limit = (long long)from_environment("SOAK_MINUTES", 0) * 60 * 1000000000LL;
    const long long began = watched_now();
    unsigned long seed = from_environment("SOAK_SEED", (unsigned long)time(NULL));
    static struct tally tally;

    print_message("SOAK_SEED=%lu SOAK_STEPS=%lu SOAK_TARGETS=%lu\n", seed, steps, targets);
    for (; (floods == 0 ? tally.changes < steps : tally.overruns < floods) &&
           (limit == 0 || watched_now() - began < limit);
         seed++) {
        const unsigned long before = tally.changes;
        struct episode episode;

        draw_episode(seed, targets, floods != 0, &episode);
        if (floods == 0 && episode.count > steps - tally.changes)
            episode.count = steps - tally.changes;
        expect_right(seed, &episode, &tally);
        if (steps > usual(STEPS))
            print_progress(&tally, before, steps, seed);
    }
    print_tally(&tally, began);
    stack_print_refused();
}
