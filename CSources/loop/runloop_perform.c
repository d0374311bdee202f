/* SPDX-License-Identifier: MIT */
/*
 * Runs an SCRunLoop in passes: each waits, runs the sources that are due, then the queued jobs.
 *
 * What this file must never do: start a thread, hold the lock while a source or a job runs, or read a source's
 * descriptor. SCRunLoopWakeUp and SCRunLoopStop are called in signal handlers, so they only set an atomic and write to
 * the eventfd.
 */
#include <errno.h>
#include <math.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

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
    int64_t      until;
    bool         performs;   /* SCRunLoopPerform; else SCRunLoopRunInMode or SCRunLoopRun */
    bool         one_source; /* ends after a callback */
    int          result;     /* what the call returns */
};

struct pass_result {
    int  callbacks;
    bool woken;
    bool continues; /* a source has done a part of its work */
    int  error;
};

/* False in a child that a callback forked. Such a loop must not be locked: at the time of the fork another thread of
 * the parent may have held the lock. */
static bool loop_is_ours(SCRunLoopRef loop)
{
    return loop->era == process_era();
}

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

/* Whether a pass has sources or jobs to run. */
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

/* Sets the timerfd to the nearest deadline. Skips the system call if it is set to that already. */
static void arm_timer_locked(SCRunLoopRef loop)
{
    struct itimerspec timer = { 0 };
    const int64_t     nearest = nearest_deadline_locked(loop);

    if (nearest == loop->armed)
        return;
    if (nearest != NEVER) {
        timer.it_value.tv_sec = (time_t)(nearest / SECOND);
        timer.it_value.tv_nsec = (long)(nearest % SECOND);
    }
    if (descriptor_is_ours(&loop->timer) && timerfd_settime(loop->timer.fd, TFD_TIMER_ABSTIME, &timer, NULL) == 0)
        loop->armed = nearest;
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
    if (has_work_locked(loop) || must_announce_changes_locked(loop) || atomic_load(&loop->woken))
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
    const struct run  *run = argument;
    const SCRunLoopRef loop = run->loop;

    if (loop_is_ours(loop)) {
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

/* The timeout for epoll_wait: milliseconds, rounded up so that no pass runs before a deadline; -1: none. */
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

/* Makes the sources that are due, or past their deadline, ready for this pass. */
static void choose_sources(SCRunLoopRef loop, int64_t now)
{
    runloop_lock(loop);
    loop->continues = false;
    list_for_each(node, &loop->sources) {
        struct source *source = container_of(node, struct source, node);

        source->ready = source->due || source->deadline <= now;
        source->due = false;
        if (source->deadline <= now)
            source->deadline = NEVER;
    }
    runloop_unlock(loop);
}

/* Returns the next source that is ready, with a reference; NULL: no more, and the timer is set. */
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

/* Returns the member with the next job; NULL: no job is queued. */
static struct member *next_job(SCRunLoopRef loop)
{
    struct list *node;

    runloop_lock(loop);
    node = list_pop(&loop->jobs);
    runloop_unlock(loop);
    return node == NULL ? NULL : container_of(node, struct member, job);
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

/* Makes the sources that epoll reported due. Each is looked up in the list: another thread may have removed it. */
static void handle_epoll_events(SCRunLoopRef loop, const struct epoll_event *events, int count)
{
    runloop_lock(loop);
    for (int i = 0; i < count; i++) {
        const void *pointer = events[i].data.ptr;

        if (pointer == &loop->wake) {
            loop->signalled = false;
            loop_descriptors_read_counter(&loop->wake);
        } else if (pointer == &loop->timer) {
            loop_descriptors_read_counter(&loop->timer);
            loop->armed = NEVER;
        } else {
            list_for_each(node, &loop->sources)
                if (pointer == container_of(node, struct source, node))
                    container_of(node, struct source, node)->due = true;
        }
    }
    runloop_unlock(loop);
}

/* When a pass stops waiting. */
static int64_t end_of_wait(SCRunLoopRef loop, int64_t until, bool performs)
{
    int64_t nearest;

    runloop_lock(loop);
    /* A nested pass, or one of SCRunLoopRun, may have read the eventfd before Perform has returned for a wake-up. */
    if (has_work_locked(loop) || (performs && atomic_load(&loop->woken)))
        until = 0;
    nearest = nearest_deadline_locked(loop);
    if (nearest < loop->armed && nearest < until)
        until = nearest; /* setting the timer failed, so it does not end the wait */
    runloop_unlock(loop);
    return until;
}

bool runloop_await_work(SCRunLoopRef loop)
{
    struct epoll_event unused; /* the events stay, as they are level-triggered */

    runloop_begin_polling(loop);
    return runloop_is_whole(loop) &&
           (epoll_wait(loop->epoll.fd, &unused, 1, wait_milliseconds(end_of_wait(loop, NEVER, true))) >= 0 ||
            errno == EINTR);
}

/* Returns 0 or an errno. */
static int wait_for_events(SCRunLoopRef loop, int64_t until)
{
    struct epoll_event events[16];
    const int          count = epoll_wait(loop->epoll.fd, events, 16, wait_milliseconds(until));
    const int          error = count < 0 && errno != EINTR ? errno : 0;

    handle_epoll_events(loop, events, count);
    return error;
}

/* The source has done all its work. If an earlier run began that work, the work that was due when this run began comes
 * next, and this run waits for it. */
static void end_work(SCRunLoopRef loop, struct source *source)
{
    runloop_lock(loop);
    if (source->begun_in != loop->run_number && source->due)
        loop->continues = true;
    else
        source->done_in = loop->run_number;
    runloop_unlock(loop);
}

/* Runs each source that is due, once. *ret_error is the last errno, if any. Returns false in a child that was forked
 * here. */
static bool run_sources(SCRunLoopRef loop, int *ret_error)
{
    struct source *source;

    choose_sources(loop, clock_now());
    while ((source = next_source(loop)) != NULL) {
        int error;

        if (!source->is_partial)
            source->begun_in = loop->run_number;
        source->is_partial = false;
        error = source->run(source);
        if (!source->is_partial)
            end_work(loop, source);
        if (error != 0)
            *ret_error = error;
        counted_release(&source->counted);
        if (!loop_is_ours(loop)) /* releasing a source can call a user's function, which may fork */
            return false;
    }
    return true;
}

/* Runs the jobs that are queued now. Jobs that these queue wait for the next pass: a callback that always schedules
 * again must not keep this pass from ending. Returns false in a child that was forked here. */
static bool run_jobs(SCRunLoopRef loop, int *ret_callbacks)
{
    struct member *member;

    for (size_t left = count_jobs(loop); left > 0 && (member = next_job(loop)) != NULL; left--) {
        *ret_callbacks += member->type->run(member) ? 1 : 0;
        if (!loop_is_ours(loop))
            return false;
    }
    return true;
}

/* Waits until `until`, runs the sources that are due, then the jobs. `performs`: the pass is SCRunLoopPerform's. Only
 * that consumes a wake-up. */
static struct pass_result run_pass(SCRunLoopRef loop, int64_t until, bool performs)
{
    struct pass_result result = { .error = loop_descriptors_repair(loop) };

    if (result.error != 0)
        return result;
    loop_descriptors_check_sources(loop);
    result.error = wait_for_events(loop, end_of_wait(loop, until, performs));
    if (!run_sources(loop, &result.error) || !run_jobs(loop, &result.callbacks))
        result.error = ECHILD;
    else
        result.woken = performs && atomic_exchange(&loop->woken, false);
    result.continues = result.error == 0 && loop->continues;
    return result;
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
    struct run        *run = argument;
    const SCRunLoopRef loop = run->loop;
    const int64_t      until = has_news(loop) ? 0 : run->until;
    struct pass_result pass;
    int                callbacks = 0;
    bool               woken = false;

    do {
        pass = run_pass(loop, until, true);
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

    if (!loop_is_ours(loop)) {
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
    struct run        *run = argument;
    const SCRunLoopRef loop = run->loop;

    if (atomic_exchange(&loop->stopped, false)) {
        handle_epoll_events(loop, &(struct epoll_event){ .data = { .ptr = &loop->wake } }, 1); /* reads Stop's signal */
        run->result = kSCRunLoopRunStopped;
    } else {
        run->result = has_members(loop) ? 0 : kSCRunLoopRunFinished;
    }
    while (run->result == 0) {
        const struct pass_result pass = run_pass(loop, run->until, false);

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
