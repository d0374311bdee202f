/* SPDX-License-Identifier: MIT */
/*
 * The calls that drive an SCRunLoop: each makes passes (runloop_pass.c) until it has a result.
 *
 * What this file must never do: start a thread, or hold the lock during a pass. SCRunLoopWakeUp and SCRunLoopStop are
 * called in signal handlers, so they only set an atomic and write to the eventfd.
 */
#ifdef __linux__
#include <math.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/list.h"
#include "loop/runloop.h"
#include "loop/runloop_state.h"

/* One call that drives a loop. */
struct run {
    SCRunLoopRef loop;
    int64_t until;
    bool performs;   /* SCRunLoopPerform; else SCRunLoopRunInMode or SCRunLoopRun */
    bool one_source; /* ends after a callback */
    int result;      /* what the call returns */
};

/* Makes the calling thread the one that runs the loop. Returns false, and sets SCError(), if another thread does. The
 * run keeps the loop: a callback may release the last reference. */
static bool begin_run(SCRunLoopRef loop)
{
    bool begun;

    runloop_lock(loop);
    begun = !loop->running || pthread_equal(loop->runner, pthread_self());
    if (begun) {
        loop->running = true;
        loop->runner = pthread_self();
        loop->depth++;
        loop->run_number++;
        counted_retain(&loop->counted);
    }
    runloop_unlock(loop);
    if (!begun)
        error_set(EBUSY);
    return begun;
}

/* Whether changes end SCRunLoopPerform. Before the first SCRunLoopCopyNextChange, each change ends it only once: a
 * program that never fetches must not spin. */
static bool has_news_locked(SCRunLoopRef loop)
{
    return !list_is_empty(&loop->changes) && (loop->fetches_changes || loop->change_is_new);
}

static bool has_news(SCRunLoopRef loop)
{
    bool result;

    runloop_lock(loop);
    result = has_news_locked(loop);
    runloop_unlock(loop);
    return result;
}

/* Whether the descriptor must be readable after a run because of changes. Before the first SCRunLoopCopyNextChange,
 * only after the run in which a change came: a program that polls, runs and never fetches must not spin either. */
static bool must_announce_changes_locked(SCRunLoopRef loop)
{
    const bool must_announce = has_news_locked(loop) && (loop->fetches_changes || !loop->change_is_announced);

    loop->change_is_announced = true;
    return must_announce;
}

/* While work is left, the loop's descriptor must stay readable for a program that polls it. */
static void announce_work_locked(SCRunLoopRef loop)
{
    if (runloop_has_work_locked(loop) || must_announce_changes_locked(loop) || atomic_load(&loop->woken))
        runloop_signal_locked(loop);
}

void runloop_begin_polling(SCRunLoopRef loop)
{
    runloop_lock(loop);
    if (!loop->polled) {
        loop->polled = true;
        loop->change_is_announced = false;
        announce_work_locked(loop);
    }
    runloop_unlock(loop);
}

/* Also if a callback has ended the thread. */
static void end_run(void *argument)
{
    const struct run *run = argument;
    const SCRunLoopRef loop = run->loop;

    if (runloop_is_ours(loop)) {
        runloop_lock(loop);
        if (run->performs && run->result >= 0)
            loop->change_is_new = false;
        if (--loop->depth == 0) {
            loop->running = false;
            announce_work_locked(loop);
        }
        runloop_unlock(loop);
    }
    counted_release(&loop->counted);
}

/* Seconds from now, not NaN. Less than 0, or more than the clock can hold: NEVER. */
static int64_t deadline_after(double seconds)
{
    if (seconds < 0 || seconds > 1e9)
        return NEVER;
    return seconds == 0 ? 0 : clock_now() + (int64_t)(seconds * (double)SECOND);
}

/* Sets run->result. */
static void drive_for_perform(void *argument)
{
    struct run *run = argument;
    const SCRunLoopRef loop = run->loop;
    const int64_t until = has_news(loop) ? 0 : run->until;
    struct pass_result pass;
    int callbacks = 0;
    bool woken = false;

    do {
        pass = runloop_pass(loop, until, true);
        callbacks += pass.callbacks;
        woken = woken || pass.woken;
    } while (pass.continues || (callbacks == 0 && pass.error == 0 && !woken && !has_news(loop) &&
                                (until == NEVER || (until != 0 && clock_now() < until))));
    if (callbacks == 0 && pass.error != 0)
        error_set(pass.error);
    else
        run->result = callbacks;
}

int SCRunLoopPerform(SCRunLoopRef loop, double seconds)
{
    struct run run = { .loop = loop, .performs = true, .result = -1 };

    if (!runloop_check(loop))
        return -1;
    if (isnan(seconds)) {
        error_set(error_invalid("seconds: not a number"));
        return -1;
    }
    run.until = deadline_after(seconds);
    if (begin_run(loop))
        cleanup_run(drive_for_perform, end_run, &run);
    return run.result;
}

static bool has_members(SCRunLoopRef loop)
{
    bool result;

    runloop_lock(loop);
    result = !list_is_empty(&loop->members);
    runloop_unlock(loop);
    return result;
}

/* The result of a run after a pass; 0: the run continues. */
static SCRunLoopRunResult run_result(const struct run *run, const struct pass_result *pass)
{
    const SCRunLoopRef loop = run->loop;

    if (!runloop_is_ours(loop)) {
        error_set(ECHILD);
        return -1;
    }
    if (atomic_exchange(&loop->stopped, false))
        return kSCRunLoopRunStopped;
    if (run->one_source && pass->callbacks > 0)
        return kSCRunLoopRunHandledSource;
    if (!has_members(loop))
        return kSCRunLoopRunFinished;
    if (pass->error != 0) {
        error_set(pass->error);
        return -1;
    }
    return !pass->continues && run->until != NEVER && clock_now() >= run->until ? kSCRunLoopRunTimedOut : 0;
}

/* Sets run->result. */
static void drive_for_run(void *argument)
{
    struct run *run = argument;
    const SCRunLoopRef loop = run->loop;

    if (atomic_exchange(&loop->stopped, false)) {
        runloop_read_signal(loop); /* Stop's */
        run->result = kSCRunLoopRunStopped;
    } else {
        run->result = has_members(loop) ? 0 : kSCRunLoopRunFinished;
    }
    while (run->result == 0) {
        const struct pass_result pass = runloop_pass(loop, run->until, false);

        run->result = run_result(run, &pass);
    }
}

static SCRunLoopRunResult run_own_loop(int64_t until, bool one_source)
{
    struct run run = { .loop = SCRunLoopGetCurrent(), .until = until, .one_source = one_source, .result = -1 };

    if (run.loop != NULL && begin_run(run.loop))
        cleanup_run(drive_for_run, end_run, &run);
    return run.result;
}

SCRunLoopRunResult SCRunLoopRunInMode(SCRunLoopMode mode, double seconds, SCBoolean returnAfterSourceHandled)
{
    if (!runloop_mode_is_valid(mode) || isnan(seconds)) {
        error_set(error_invalid(isnan(seconds) ? "seconds: not a number" : RUNLOOP_NO_MODE));
        return -1;
    }
    return run_own_loop(seconds <= 0 ? 0 : deadline_after(seconds), returnAfterSourceHandled != 0);
}

void SCRunLoopRun(void)
{
    run_own_loop(NEVER, false);
}

void SCRunLoopStop(SCRunLoopRef loop)
{
    if (!runloop_check(loop))
        return;
    atomic_store(&loop->stopped, true);
    runloop_signal(loop);
}

void SCRunLoopWakeUp(SCRunLoopRef loop)
{
    if (!runloop_check(loop))
        return;
    atomic_store(&loop->woken, true);
    runloop_signal(loop);
}
#endif
