/* SPDX-License-Identifier: MIT */
/*
 * One pass of an SCRunLoop: waits, runs the sources that are due, then the queued jobs.
 *
 * What this file must never do: start a thread, hold the lock while a source or a job runs, or read a source's
 * descriptor.
 */
#ifdef __linux__
#include <errno.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/counted.h"
#include "base/list.h"
#include "loop/runloop.h"
#include "loop/runloop_state.h"

bool runloop_has_work_locked(SCRunLoopRef loop)
{
    if (!list_is_empty(&loop->jobs))
        return true;
    list_for_each(node, &loop->sources)
        if (container_of(node, struct source, node)->due)
            return true;
    return false;
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
        (void)loop_descriptors_arm_timer_locked(loop); /* if it fails, see end_of_wait */
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
    return node == NULL ? NULL : container_of(node, struct member, queued);
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

/* It is looked up in the list: another thread may have removed it. */
static void make_source_due_locked(SCRunLoopRef loop, const void *pointer)
{
    list_for_each(node, &loop->sources) {
        struct source *source = container_of(node, struct source, node);

        if (pointer == source)
            source->due = source->readable = true;
    }
}

/* Makes the sources that epoll reported due. */
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
            make_source_due_locked(loop, pointer);
        }
    }
    runloop_unlock(loop);
}

void runloop_read_signal(SCRunLoopRef loop)
{
    runloop_lock(loop);
    loop->signalled = false;
    loop_descriptors_read_counter(&loop->wake);
    runloop_unlock(loop);
}

/* When a pass stops waiting. */
static int64_t end_of_wait(SCRunLoopRef loop, int64_t until, bool performs)
{
    int64_t nearest;

    runloop_lock(loop);
    /* A nested pass, or one of SCRunLoopRun, may have read the eventfd before Perform has returned for a wake-up. */
    if (runloop_has_work_locked(loop) || (performs && atomic_load(&loop->woken)))
        until = 0;
    nearest = runloop_deadline_locked(loop);
    if (nearest < loop->armed && nearest < until)
        until = nearest; /* setting the timer failed, so it does not end the wait */
    runloop_unlock(loop);
    return until;
}

bool runloop_await_work(SCRunLoopRef loop)
{
    struct epoll_event event;
    int count;

    runloop_begin_polling(loop);
    if (!runloop_is_whole(loop))
        return false;
    count = epoll_wait(loop->epoll.fd, &event, 1, wait_milliseconds(end_of_wait(loop, NEVER, true)));
    if (count > 0) { /* the event stays, unless it is an edge */
        runloop_lock(loop);
        make_source_due_locked(loop, event.data.ptr);
        runloop_unlock(loop);
    }
    return count >= 0 || errno == EINTR;
}

/* Returns 0 or an errno. */
static int wait_for_events(SCRunLoopRef loop, int64_t until)
{
    struct epoll_event events[16];
    const int count = epoll_wait(loop->epoll.fd, events, 16, wait_milliseconds(until));
    const int error = count < 0 && errno != EINTR ? errno : 0;

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
        source->readable = false;
        if (!source->is_partial)
            end_work(loop, source);
        if (error != 0)
            *ret_error = error;
        counted_release(&source->counted);
        if (!runloop_is_ours(loop)) /* releasing a source can call a user's function, which may fork */
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
        if (!runloop_is_ours(loop))
            return false;
    }
    return true;
}

struct pass_result runloop_pass(SCRunLoopRef loop, int64_t until, bool performs)
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
#endif
