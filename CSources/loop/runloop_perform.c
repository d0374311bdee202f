/* SPDX-License-Identifier: MIT */
/*
 * Driving an SCRunLoop: pass after pass of waiting, running the sources that are due, and making the calls that these
 * brought about.
 *
 * What this file must never do: start a thread, hold the lock while a source or a job runs, or read a descriptor that
 * belongs to a source. WakeUp and Stop run in signal handlers: they touch two atomics and write to the eventfd.
 */
#include <errno.h>
#include <math.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/list.h"
#include "loop/runloop.h"
#include "loop/runloop_state.h"

/* What one pass did. */
struct pass {
    int  callbacks;
    bool woken;
    int  error;
};

/* False in a child that was forked inside a callback: the loop is the parent's, and other threads of it may have had
 * its lock. */
static bool is_ours(SCRunLoopRef loop)
{
    return loop->era == process_era();
}

static bool enter(SCRunLoopRef loop)
{
    bool free_to_drive;

    runloop_lock(loop);
    free_to_drive = !loop->has_driver || pthread_equal(loop->driver, pthread_self());
    if (free_to_drive) {
        loop->has_driver = true;
        loop->driver = pthread_self();
        loop->depth++;
    }
    runloop_unlock(loop);
    if (!free_to_drive)
        error_set(EBUSY);
    return free_to_drive;
}

/* What a pass would handle. */
static bool has_work_locked(SCRunLoopRef loop)
{
    if (!list_is_empty(&loop->jobs))
        return true;
    list_for_each(node, &loop->sources)
        if (container_of(node, struct source, node)->due)
            return true;
    return false;
}

static int64_t nearest_deadline_locked(SCRunLoopRef loop)
{
    int64_t nearest = NEVER;

    list_for_each(node, &loop->sources) {
        const struct source *source = container_of(node, struct source, node);

        if (source->deadline < nearest)
            nearest = source->deadline;
    }
    return nearest;
}

/* The timerfd follows the nearest deadline. Set only when that moved: it is a system call. */
static void arm_timer_locked(SCRunLoopRef loop)
{
    struct itimerspec timer = { 0 };
    const int64_t     nearest = nearest_deadline_locked(loop);

    if (nearest == loop->armed)
        return;
    if (nearest != NEVER) {
        timer.it_value.tv_sec = nearest / SECOND;
        timer.it_value.tv_nsec = nearest % SECOND;
    }
    if (timerfd_settime(loop->timer.fd, TFD_TIMER_ABSTIME, &timer, NULL) == 0)
        loop->armed = nearest;
}

static void leave(SCRunLoopRef loop)
{
    if (!is_ours(loop))
        return;
    runloop_lock(loop);
    if (--loop->depth == 0) {
        loop->has_driver = false;
        /* What is left over must keep the descriptor readable for whoever polls it. */
        if (has_work_locked(loop) || !list_is_empty(&loop->changes) || atomic_load(&loop->woken))
            runloop_signal_locked(loop);
    }
    runloop_unlock(loop);
}

/* How long the kernel may let us wait: milliseconds, rounded up so that no pass comes too early. */
static int wait_milliseconds(int64_t until)
{
    int64_t left;

    if (until == NEVER)
        return -1;
    left = until - clock_now();
    if (left <= 0)
        return 0;
    left = (left + MILLISECOND - 1) / MILLISECOND;
    return left > 60000 ? 60000 : (int)left;
}

/* Notes which sources this pass runs, each once: those marked, and those past their deadline. */
static void choose_sources(SCRunLoopRef loop, int64_t now)
{
    runloop_lock(loop);
    list_for_each(node, &loop->sources) {
        struct source *source = container_of(node, struct source, node);

        source->ready = source->due || source->deadline <= now;
        source->due = false;
        if (source->deadline <= now)
            source->deadline = NEVER;
    }
    runloop_unlock(loop);
}

/* The next of them, retained. */
static struct source *next_source(SCRunLoopRef loop)
{
    struct source *next = NULL;

    runloop_lock(loop);
    list_for_each(node, &loop->sources) {
        struct source *source = container_of(node, struct source, node);

        if (source->ready) {
            source->ready = false;
            counted_retain(&source->counted);
            next = source;
            break;
        }
    }
    if (next == NULL)
        arm_timer_locked(loop);
    runloop_unlock(loop);
    return next;
}

static struct job *next_job(SCRunLoopRef loop)
{
    struct list *node;

    runloop_lock(loop);
    node = list_pop(&loop->jobs);
    runloop_unlock(loop);
    return node == NULL ? NULL : container_of(node, struct job, node);
}

static size_t count_jobs(SCRunLoopRef loop)
{
    size_t count = 0;

    runloop_lock(loop);
    list_for_each(node, &loop->jobs)
        count++;
    runloop_unlock(loop);
    return count;
}

/* Takes what epoll reported: notes which sources are due. Sources are found by address in the list, as one may have
 * been removed by another thread since. */
static void note_ready(SCRunLoopRef loop, const struct epoll_event *events, int count)
{
    uint64_t value;

    runloop_lock(loop);
    for (int i = 0; i < count; i++) {
        const void *pointer = events[i].data.ptr;

        if (pointer == &loop->wake) {
            loop->signalled = false;
            (void)!read(loop->wake.fd, &value, sizeof value);
        } else if (pointer == &loop->timer) {
            (void)!read(loop->timer.fd, &value, sizeof value);
            loop->armed = NEVER;
        } else {
            list_for_each(node, &loop->sources)
                if (pointer == container_of(node, struct source, node))
                    container_of(node, struct source, node)->due = true;
        }
    }
    runloop_unlock(loop);
}

/* One pass: wait until `until` for something, run the sources that are due, then the jobs. `performs`: a wake-up ends
 * it, and is used up; a run leaves it for the next Perform. */
static struct pass pass(SCRunLoopRef loop, int64_t until, bool performs)
{
    struct epoll_event events[16];
    struct pass        done = { 0 };
    struct source     *source;
    struct job        *job;
    int64_t            nearest;
    int                count;
    size_t             due;

    runloop_lock(loop);
    /* Another pass, nested or of a run that was stopped, may have read the eventfd of a wake-up that is still due. */
    if (has_work_locked(loop) || (performs && atomic_load(&loop->woken)))
        until = 0;
    nearest = nearest_deadline_locked(loop);
    if (nearest < loop->armed && nearest < until)
        until = nearest; /* the timer could not be set: the wait has to end without it */
    runloop_unlock(loop);
    count = epoll_wait(loop->epoll.fd, events, 16, wait_milliseconds(until));
    if (count < 0) {
        if (errno != EINTR)
            done.error = errno;
        count = 0;
    }
    note_ready(loop, events, count);
    choose_sources(loop, clock_now());
    while ((source = next_source(loop)) != NULL) {
        int error = source->run(source);

        if (error != 0)
            done.error = error;
        counted_release(&source->counted);
        if (!is_ours(loop)) { /* what a source releases may run a hook of the user's, which may fork */
            done.error = ECHILD;
            return done;
        }
    }
    /* Those that are there now: what they queue is the next pass's, or a callback that schedules anew could keep
     * this one from ever ending. */
    for (due = count_jobs(loop); due > 0 && (job = next_job(loop)) != NULL; due--) {
        done.callbacks += job->run(job) ? 1 : 0;
        if (!is_ours(loop)) {
            done.error = ECHILD;
            return done;
        }
    }
    done.woken = performs && atomic_exchange(&loop->woken, false);
    return done;
}

/* NaN never gets here. Less than 0, or more than the clock can hold: without limit. */
static int64_t deadline_after(double seconds)
{
    if (seconds < 0 || seconds > 1e9)
        return NEVER;
    return seconds == 0 ? 0 : clock_now() + (int64_t)(seconds * (double)SECOND);
}

static bool has_changes(SCRunLoopRef loop)
{
    bool some;

    runloop_lock(loop);
    some = !list_is_empty(&loop->changes);
    runloop_unlock(loop);
    return some;
}

int SCRunLoopPerform(SCRunLoopRef loop, double seconds)
{
    struct pass done;
    int64_t     until;

    if (!runloop_check(loop))
        return -1;
    if (isnan(seconds)) {
        error_set(kSCStatusInvalidArgument);
        return -1;
    }
    if (!enter(loop))
        return -1;
    counted_retain(&loop->counted); /* a callback may release the last reference */
    until = has_changes(loop) ? 0 : deadline_after(seconds);
    do
        done = pass(loop, until, true);
    while (done.callbacks == 0 && done.error == 0 && !done.woken && !has_changes(loop) &&
           (until == NEVER || (until != 0 && clock_now() < until)));
    leave(loop);
    counted_release(&loop->counted);
    if (done.callbacks == 0 && done.error != 0) {
        error_set(done.error);
        return -1;
    }
    return done.callbacks;
}

static bool is_empty(SCRunLoopRef loop)
{
    bool empty;

    runloop_lock(loop);
    empty = list_is_empty(&loop->members);
    runloop_unlock(loop);
    return empty;
}

/* The result of a run after a pass, or 0: it goes on. */
static SCRunLoopRunResult run_result(SCRunLoopRef loop, const struct pass *done, int64_t until, bool one_source)
{
    if (!is_ours(loop)) {
        error_set(ECHILD);
        return -1;
    }
    if (atomic_exchange(&loop->stopped, false))
        return kSCRunLoopRunStopped;
    if (one_source && done->callbacks > 0)
        return kSCRunLoopRunHandledSource;
    if (is_empty(loop))
        return kSCRunLoopRunFinished;
    if (done->error != 0) {
        error_set(done->error);
        return -1;
    }
    return until != NEVER && clock_now() >= until ? kSCRunLoopRunTimedOut : 0;
}

static SCRunLoopRunResult run(SCRunLoopRef loop, int64_t until, bool one_source)
{
    struct pass        done = { 0 };
    SCRunLoopRunResult result;

    if (!enter(loop))
        return -1;
    counted_retain(&loop->counted);
    if (atomic_exchange(&loop->stopped, false)) {
        note_ready(loop, &(struct epoll_event){ .data = { .ptr = &loop->wake } }, 1); /* its signal is done with */
        result = kSCRunLoopRunStopped;
    } else {
        result = is_empty(loop) ? kSCRunLoopRunFinished : 0;
    }
    while (result == 0) {
        done = pass(loop, until, false);
        result = run_result(loop, &done, until, one_source);
    }
    leave(loop);
    counted_release(&loop->counted);
    return result;
}

SCRunLoopRunResult SCRunLoopRunInMode(SCRunLoopMode mode, double seconds, SCBoolean returnAfterSourceHandled)
{
    SCRunLoopRef loop;

    if (!runloop_mode_is_valid(mode) || isnan(seconds)) {
        error_set(kSCStatusInvalidArgument);
        return -1;
    }
    loop = SCRunLoopGetCurrent();
    if (loop == NULL)
        return -1;
    return run(loop, seconds <= 0 ? 0 : deadline_after(seconds), returnAfterSourceHandled != 0);
}

void SCRunLoopRun(void)
{
    SCRunLoopRef loop = SCRunLoopGetCurrent();

    if (loop != NULL)
        run(loop, NEVER, false);
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
