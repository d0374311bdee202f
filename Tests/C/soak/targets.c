/* SPDX-License-Identifier: MIT */
#include "soak/targets.h"

#include "support/time_limit.h"
#include "support/unit.h"

#define TIME_LIMIT   8.0   /* seconds for which a disagreement must last */
#define SLOW         2e8   /* nanoseconds after which a disagreement is printed */
#define SLOW_POLLING 3e9   /* the same in a sandbox, where the library evaluates every 2 seconds */
#define STEP         0.001 /* seconds between two comparisons */
#define MOST_COVERED 128   /* targets in a prefix that are compared, chosen at random */
#define OTHERS       100   /* the random sample has one target for each hundred */
#define LEAST        12    /* and this many more */

struct suspicion {
    bool is_suspect, is_settled; /* to be compared; compared, and right */
    unsigned calls;              /* when it was last right */
};

/* ---- Making ----------------------------------------------------------------------------------------------------- */

static void open_random(struct targets *targets, size_t i)
{
    struct spec spec;

    spec_draw(&targets->random, &spec);
    watched_open(&targets->items[i], &spec, (enum executor)(random_next(&targets->random) % EXECUTORS),
                 &targets->executors);
    targets->suspicions[i] = (struct suspicion){ .is_suspect = true };
}

void targets_open(struct targets *ret, size_t count, uint64_t seed, struct healing *healing)
{
    *ret = (struct targets){ .count = count, .random = seed, .healing = healing };
    ret->items = calloc(count, sizeof *ret->items);
    ret->suspicions = calloc(count, sizeof *ret->suspicions);
    if (ret->items == NULL || ret->suspicions == NULL)
        abort();
    executors_open(&ret->executors);
    for (size_t i = 0; i < count; i++)
        open_random(ret, i);
}

void targets_close(struct targets *targets)
{
    for (size_t i = 0; i < targets->count; i++)
        watched_close(&targets->items[i], &targets->executors);
    executors_close(&targets->executors);
    free(targets->items);
    free(targets->suspicions);
}

void targets_renew(struct targets *targets)
{
    const size_t i = random_next(&targets->random) % targets->count;

    watched_close(&targets->items[i], &targets->executors);
    open_random(targets, i);
}

/* ---- Driving ---------------------------------------------------------------------------------------------------- */

static void note_fetched(struct targets *targets, SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags)
{
    for (size_t i = 0; i < targets->count; i++)
        if (targets->items[i].target == target) {
            watched_note_change(&targets->items[i], flags);
            return;
        }
    fail_msg("SCRunLoopCopyNextChange returned a foreign target");
}

/* Returns the number of changes that it has seen. */
static int drive_once(struct targets *targets, double seconds)
{
    int changes = SCRunLoopPerform(targets->executors.driven, seconds);
    SCNetworkReachabilityFlags flags;
    SCNetworkReachabilityRef target;

    if (changes < 0)
        fail_msg("SCRunLoopPerform: %s", SCErrorString(SCError()));
    for (; (target = SCRunLoopCopyNextChange(targets->executors.driven, &flags)) != NULL; changes++) {
        note_fetched(targets, target, flags);
        SCNetworkReachabilityRelease(target);
    }
    return changes;
}

void targets_drive(struct targets *targets, double seconds)
{
    while (drive_once(targets, seconds) > 0)
        continue;
}

/* ---- Suspicion -------------------------------------------------------------------------------------------------- */

void targets_suspect_all(struct targets *targets)
{
    for (size_t i = 0; i < targets->count; i++)
        targets->suspicions[i].is_suspect = true;
}

void targets_suspect_prefix(struct targets *targets, const char *prefix)
{
    const size_t first = random_next(&targets->random) % targets->count;

    for (size_t i = 0, covered = 0; i < targets->count && covered < MOST_COVERED; i++) {
        const size_t which = (first + i) % targets->count;

        if (spec_is_covered(&targets->items[which].spec, prefix)) {
            targets->suspicions[which].is_suspect = true;
            covered++;
        }
    }
}

static void suspect_some(struct targets *targets)
{
    const size_t count = targets->count / OTHERS + LEAST;

    for (size_t i = 0; i < count; i++)
        targets->suspicions[random_next(&targets->random) % targets->count].is_suspect = true;
}

/* ---- The check -------------------------------------------------------------------------------------------------- */

/* Whether the last callback is GetFlags and, of a suspect, whether all results agree. */
static bool is_right(struct targets *targets, size_t i)
{
    const struct watched *watched = &targets->items[i];
    struct suspicion *suspicion = &targets->suspicions[i];
    const unsigned calls = watched_calls(watched);
    const SCNetworkReachabilityFlags reported = watched_reported(watched);
    SCNetworkReachabilityFlags flags = ~reported;
    struct results results;

    if (!SCNetworkReachabilityGetFlags(watched->target, &flags) || flags != reported)
        return false;
    if (suspicion->is_settled && suspicion->calls == calls)
        return true;
    if (!suspicion->is_suspect && suspicion->calls == calls)
        return true;
    results = results_query(watched);
    targets->comparisons++;
    suspicion->is_settled = results_agree(&results);
    suspicion->is_suspect = true;
    if (suspicion->is_settled)
        suspicion->calls = calls;
    return suspicion->is_settled;
}

/* Returns NULL or a target that is not right. */
static const struct watched *find_wrong(struct targets *targets)
{
    const struct watched *wrong = NULL;

    for (size_t i = 0; i < targets->count; i++)
        if (!is_right(targets, i))
            wrong = &targets->items[i];
    return wrong;
}

static bool has_thread(enum executor executor)
{
    return executor != EXECUTOR_FETCHED && executor != EXECUTOR_DRIVEN;
}

static void measure_healing(struct targets *targets, const unsigned *calls, long long acknowledged)
{
    for (size_t i = 0; i < targets->count; i++)
        if (has_thread(targets->items[i].executor) && watched_calls(&targets->items[i]) != calls[i])
            healing_add(targets->healing, atomic_load(&targets->items[i].report->time) - acknowledged);
}

static unsigned *copy_calls(const struct targets *targets)
{
    unsigned *calls = malloc(targets->count * sizeof *calls);

    if (calls == NULL)
        abort();
    for (size_t i = 0; i < targets->count; i++)
        calls[i] = targets->suspicions[i].calls;
    return calls;
}

/* Once for a check: a disagreement that lasts for long, but may end. */
static void print_slow(struct targets *targets, const struct watched *wrong)
{
    const struct results results = results_query(wrong);

    print_message("still wrong: ");
    results_print(wrong, &results);
    targets->is_slow = true;
}

const struct watched *targets_check(struct targets *targets, long long acknowledged)
{
    const long long begin = watched_now(), end = begin + (long long)(time_limit_of(TIME_LIMIT) * 1e9);
    const double slow = getenv("TEST_DENIED") != NULL ? SLOW_POLLING : SLOW;
    unsigned *calls = copy_calls(targets);
    const struct watched *wrong;
    double wait = 0;

    targets->is_slow = targets->is_silent;
    suspect_some(targets);
    do {
        drive_once(targets, wait);
        wrong = find_wrong(targets);
        wait = STEP;
        if (wrong != NULL && watched_now() - begin > slow && !targets->is_slow)
            print_slow(targets, wrong);
    } while (wrong != NULL && watched_now() < end);
    if (targets->is_slow && !targets->is_silent)
        print_message("  this lasted %.0f ms\n", (double)(watched_now() - begin) / 1e6);
    measure_healing(targets, calls, acknowledged);
    free(calls);
    for (size_t i = 0; i < targets->count; i++)
        targets->suspicions[i].is_suspect = targets->suspicions[i].is_settled = false;
    return wrong;
}
