/* SPDX-License-Identifier: MIT */
/*
 * The calls that drive an SCRunLoop. Each makes passes until it has a result: a pass waits, runs the sources that are
 * due, then the jobs.
 *
 * What this file must never do: start a thread, hold the lock while a source or a job runs, or read a source's
 * descriptor. SCRunLoopWakeUp and SCRunLoopStop are called in signal handlers, so they only set an atomic and write to
 * the eventfd.
 */
#ifdef __linux__
#include <errno.h>
#include <math.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/error.h"
#include "loop/runloop.h"

/* One call that drives a loop. */
struct run {
    SCRunLoopRef loop;
    int64_t until;
    bool performs;   /* SCRunLoopPerform; else SCRunLoopRunInMode or SCRunLoopRun */
    bool one_source; /* ends after a callback */
    int callbacks;
    bool woken;
    int error;  /* of the last pass that failed */
    int result; /* what the call returns */
};

/* False in a child that user code forked. Such a loop must not be locked: at the time of the fork another thread of
 * the parent may have held the lock. */
static bool is_ours(const struct run *run)
{
    return process_is_in_era(run->loop->era);
}

/* ---- A pass ----------------------------------------------------------------------------------------------------- */

static bool has_work_locked(SCRunLoopRef loop)
{
    return !list_is_empty(&loop->jobs) || !list_is_empty(&loop->due) || !list_is_empty(&loop->ready);
}

/* Whether changes end SCRunLoopPerform. Before the first SCRunLoopCopyNextChange, each change ends it only once: a
 * program that never fetches must not spin. */
static bool has_news_locked(SCRunLoopRef loop)
{
    return !list_is_empty(&loop->changes) && (loop->fetches || loop->news);
}

/* Another thread may have removed the source of an event. */
static void note_event_locked(SCRunLoopRef loop, uint64_t key)
{
    struct source *source;
    uint64_t value;

    if (key == (uintptr_t)&loop->wake) {
        loop->signalled = false;
        (void)!read(loop->wake.fd, &value, sizeof value);
    } else if (key == (uintptr_t)&loop->timer) {
        (void)!read(loop->timer.fd, &value, sizeof value);
        loop->armed = NEVER;
    } else if ((source = reach_runloop_find_source_locked(loop, key)) != NULL) {
        source->readable = true;
        reach_runloop_source_due_locked(loop, source);
    }
}

/* Makes the sources ready that run in this pass. A nested pass also runs those that are left of the outer one. */
static void choose_sources_locked(SCRunLoopRef loop, bool all)
{
    const int64_t now = clock_now();
    struct list *queued;

    while (reach_heap_nearest(&loop->deadlines) <= now) {
        struct source *source = container_of(reach_heap_first(&loop->deadlines), struct source, timer);

        reach_runloop_set_deadline_locked(loop, source, NEVER);
        reach_runloop_source_due_locked(loop, source);
    }
    if (all)
        list_for_each(node, &loop->sources)
            reach_runloop_source_due_locked(loop, container_of(node, struct source, node));
    while ((queued = list_pop(&loop->due)) != NULL)
        list_append(&loop->ready, queued);
}

/* Waits, and makes the sources ready that will run in this pass: all, if the process has another user. If that changes
 * during the wait, the C library interrupts the wait. */
static void wait_for_work(struct run *run)
{
    SCRunLoopRef loop = run->loop;
    const uid_t user = process_user();
    struct epoll_event events[16];
    int64_t until = run->until;
    int timeout = -1, count;
    bool all;

    runloop_lock(loop);
    all = user != loop->user;
    loop->user = user;
    /* A nested pass, or one of SCRunLoopRun, may have read the eventfd before Perform has returned for a wake-up. */
    if (all || has_work_locked(loop) || (run->performs && atomic_load(&loop->woken)))
        until = 0;
    until = clock_earlier(until, reach_runloop_arm_timer_locked(loop));
    runloop_unlock(loop);
    if (until != NEVER) { /* rounded up, so that no pass runs before a deadline */
        const int64_t left = until - clock_now();

        timeout = left <= 0 ? 0 : left > 60 * SECOND ? 60000 : (int)((left + MILLISECOND - 1) / MILLISECOND);
    }
    count = epoll_wait(loop->epoll.fd, events, 16, timeout);
    if (count < 0 && errno != EINTR)
        run->error = errno;
    runloop_lock(loop);
    for (int i = 0; i < count; i++)
        note_event_locked(loop, events[i].data.u64);
    choose_sources_locked(loop, all);
    runloop_unlock(loop);
}

/* Runs the jobs that are queued now. Jobs that these queue wait for the next pass: a callback that always schedules
 * again must not keep this pass from ending. Returns false in a child that was forked here. */
static bool run_jobs(struct run *run)
{
    SCRunLoopRef loop = run->loop;
    size_t left = 0;

    runloop_lock(loop);
    list_for_each(node, &loop->jobs)
        left++;
    for (; left > 0 && !list_is_empty(&loop->jobs); left--) {
        struct member *member = container_of(list_pop(&loop->jobs), struct member, queued);

        runloop_unlock(loop);
        run->callbacks += member->type->run(member) ? 1 : 0;
        if (!is_ours(run))
            return false;
        runloop_lock(loop);
    }
    runloop_unlock(loop);
    return true;
}

/* Returns the next source that is ready, with a reference. */
static struct source *next_source(SCRunLoopRef loop)
{
    struct list *queued;

    runloop_lock(loop);
    queued = list_pop(&loop->ready);
    if (queued != NULL)
        counted_retain(&container_of(queued, struct source, queued)->counted);
    runloop_unlock(loop);
    return queued == NULL ? NULL : container_of(queued, struct source, queued);
}

/* Runs a source until all its work is done, with the jobs between its parts. After a callback that ends the run, it is
 * due in the next one. Returns false in a child. */
static bool run_source(struct run *run, struct source *source)
{
    SCRunLoopRef loop = run->loop;
    bool goes_on = true;

    while (goes_on) {
        const int error = source->run(source);

        if (error > 0)
            run->error = error;
        if (error != RUNLOOP_MORE)
            return true;
        runloop_lock(loop);
        reach_runloop_source_due_locked(loop, source);
        runloop_unlock(loop);
        if (!run_jobs(run))
            return false;
        runloop_lock(loop);
        goes_on = !list_is_empty(&source->queued) && /* a nested run may have finished it, or it was removed */
                  !(run->one_source && run->callbacks > 0);
        if (goes_on)
            list_remove(&source->queued);
        runloop_unlock(loop);
    }
    return true;
}

/* Returns false in a child. Releasing a source can call a user's function, which may fork. */
static bool run_sources(struct run *run)
{
    struct source *source;

    while ((source = next_source(run->loop)) != NULL) {
        const bool ours = run_source(run, source);

        source->readable = false;
        counted_release(&source->counted);
        if (!ours || !is_ours(run))
            return false;
    }
    return true;
}

/* Returns false in a child. */
static bool make_pass(struct run *run)
{
    run->error = 0;
    wait_for_work(run);
    if (!run_sources(run) || !run_jobs(run))
        return false;
    run->woken = run->performs && atomic_exchange(&run->loop->woken, false);
    return true;
}

/* ---- A run ------------------------------------------------------------------------------------------------------ */

/* Makes the calling thread the one that drives the loop. Returns false, and sets SCError(), if another thread does. The
 * run keeps the loop: a callback may release the last reference. */
static bool begin_run(const struct run *run)
{
    SCRunLoopRef loop = run->loop;
    bool begun;

    runloop_lock(loop);
    begun = loop->depth == 0 || pthread_equal(loop->driver, pthread_self());
    if (begun) {
        loop->driver = pthread_self();
        loop->depth++;
        counted_retain(&loop->counted);
    }
    runloop_unlock(loop);
    if (!begun)
        reach_error_set(EBUSY);
    return begun;
}

/* While work is left, the descriptor must be readable for a program that polls it. Before the first fetch, a change
 * makes it readable only once. */
static void leave_readable_locked(SCRunLoopRef loop)
{
    (void)reach_runloop_arm_timer_locked(loop);
    if (has_work_locked(loop)) {
        reach_runloop_signal_locked(loop);
        return;
    }
    if (atomic_load(&loop->woken) || (has_news_locked(loop) && (loop->fetches || !loop->announced)))
        reach_runloop_signal_locked(loop);
    loop->announced = true;
}

int SCRunLoopGetFileDescriptor(SCRunLoopRef loop)
{
    if (!reach_runloop_check(loop))
        return -1;
    runloop_lock(loop);
    if (!loop->polled) {
        loop->polled = true;
        leave_readable_locked(loop);
    }
    runloop_unlock(loop);
    return loop->epoll.fd;
}

static void end_run(const struct run *run)
{
    SCRunLoopRef loop = run->loop;

    if (is_ours(run)) {
        runloop_lock(loop);
        if (run->performs && run->result >= 0)
            loop->news = false;
        if (--loop->depth == 0 && loop->polled)
            leave_readable_locked(loop);
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

static bool has_news(SCRunLoopRef loop)
{
    bool result;

    runloop_lock(loop);
    result = has_news_locked(loop);
    runloop_unlock(loop);
    return result;
}

int SCRunLoopPerform(SCRunLoopRef loop, double seconds)
{
    struct run run = { .loop = loop, .performs = true, .result = -1 };
    bool ours;

    if (!reach_runloop_check(loop))
        return -1;
    if (isnan(seconds)) {
        reach_error_set(reach_error_invalid("seconds: not a number"));
        return -1;
    }
    run.until = deadline_after(seconds);
    if (!begin_run(&run))
        return -1;
    if (has_news(loop))
        run.until = 0;
    do
        ours = make_pass(&run);
    while (ours && run.callbacks == 0 && run.error == 0 && !run.woken && !has_news(loop) &&
           (run.until == NEVER || (run.until != 0 && clock_now() < run.until)));
    if (run.callbacks > 0 || (ours && run.error == 0))
        run.result = run.callbacks;
    else
        reach_error_set(ours ? run.error : ECHILD);
    end_run(&run);
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
static SCRunLoopRunResult result_after_pass(struct run *run, bool ours)
{
    if (!ours || run->error != 0)
        reach_error_set(ours ? run->error : ECHILD);
    if (!ours)
        return -1;
    if (atomic_exchange(&run->loop->stopped, false))
        return kSCRunLoopRunStopped;
    if (run->one_source && run->callbacks > 0)
        return kSCRunLoopRunHandledSource;
    if (!has_members(run->loop))
        return kSCRunLoopRunFinished;
    if (run->error != 0)
        return -1;
    return run->until != NEVER && clock_now() >= run->until ? kSCRunLoopRunTimedOut : 0;
}

static SCRunLoopRunResult run_own_loop(int64_t until, bool one_source)
{
    SCRunLoopRef loop = SCRunLoopGetCurrent();
    struct run run = { .loop = loop, .until = until, .one_source = one_source };

    if (loop == NULL || !begin_run(&run))
        return -1;
    run.result = has_members(loop) ? 0 : kSCRunLoopRunFinished;
    if (atomic_exchange(&loop->stopped, false)) {
        runloop_lock(loop);
        note_event_locked(loop, (uintptr_t)&loop->wake); /* Stop's signal */
        runloop_unlock(loop);
        run.result = kSCRunLoopRunStopped;
    }
    while (run.result == 0)
        run.result = result_after_pass(&run, make_pass(&run));
    end_run(&run);
    return run.result;
}

SCRunLoopRunResult SCRunLoopRunInMode(SCRunLoopMode mode, double seconds, SCBoolean returnAfterSourceHandled)
{
    if (!reach_runloop_mode_is_valid(mode) || isnan(seconds)) {
        reach_error_set(reach_error_invalid(isnan(seconds) ? "seconds: not a number" : RUNLOOP_NO_MODE));
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
    if (!reach_runloop_check(loop))
        return;
    atomic_store(&loop->stopped, true);
    reach_runloop_signal(loop);
}

void SCRunLoopWakeUp(SCRunLoopRef loop)
{
    if (!reach_runloop_check(loop))
        return;
    atomic_store(&loop->woken, true);
    reach_runloop_signal(loop);
}
#endif
