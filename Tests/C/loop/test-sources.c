/* SPDX-License-Identifier: MIT */
/* Sources of a run loop: work in parts, deadlines, removal. No network. */
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "loop/runloop.h"
#include "support/unit.h"

/* A source whose work has several parts, and which always has new work. */
struct worker {
    struct source source;
    unsigned parts, done; /* of the current work */
    unsigned runs;
};

static SCRunLoopRef loop;

static void free_nothing(struct counted *counted)
{
    (void)counted;
}

static int work(struct source *source)
{
    struct worker *worker = container_of(source, struct worker, source);

    worker->runs++;
    if (++worker->done < worker->parts)
        return RUNLOOP_MORE;
    worker->done = 0;
    runloop_lock(loop);
    reach_runloop_source_due_locked(loop, source);
    runloop_unlock(loop);
    return 0;
}

static int count(struct source *source)
{
    container_of(source, struct worker, source)->runs++;
    return 0;
}

/* Adds a source that has nothing to do. */
static void add_idle(struct worker *worker, const struct descriptor *descriptor)
{
    *worker = (struct worker){ .source = { .run = count, .descriptor = descriptor } };
    reach_source_init(&worker->source, (uintptr_t)worker);
    counted_init(&worker->source.counted, free_nothing);
    runloop_lock(loop);
    unit_check(reach_runloop_add_source_locked(loop, &worker->source), "reach_runloop_add_source_locked");
    runloop_unlock(loop);
}

static void set_due(struct worker *worker)
{
    runloop_lock(loop);
    reach_runloop_source_due_locked(loop, &worker->source);
    runloop_unlock(loop);
}

static void set_deadline(struct worker *worker, int64_t deadline)
{
    runloop_lock(loop);
    reach_runloop_set_deadline_locked(loop, &worker->source, deadline);
    runloop_unlock(loop);
}

static void add(struct worker *worker, unsigned parts, unsigned done)
{
    add_idle(worker, NULL);
    worker->source.run = work;
    worker->parts = parts;
    worker->done = done;
    set_due(worker);
}

static void drop(struct worker *worker)
{
    runloop_lock(loop);
    reach_runloop_remove_source_locked(loop, &worker->source);
    runloop_unlock(loop);
}

static void begin(void)
{
    loop = SCRunLoopCreate();
}

static void end(void)
{
    SCRunLoopRelease(loop);
}

UNIT(.setup = begin, .teardown = end)

TEST(a_run_waits_until_all_parts_are_done)
{
    struct worker worker;

    add(&worker, 5, 0);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    assert_int_equal(worker.runs, 5);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    assert_int_equal(worker.runs, 10);
    drop(&worker);
}

/* Each source does the rest of its current work, and no work that came since. */
TEST(a_run_ends_although_sources_always_have_new_work)
{
    struct worker first, second;

    add(&first, 4, 0);
    add(&second, 5, 3);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    assert_int_equal(first.runs, 4);
    assert_int_equal(second.runs, 2);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    assert_int_equal(first.runs, 4 + 4);
    assert_int_equal(second.runs, 2 + 5);
    drop(&first);
    drop(&second);
}

static void perform(void)
{
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
}

TEST(a_source_runs_once_at_its_deadline)
{
    struct worker first, second;

    add_idle(&first, NULL);
    add_idle(&second, NULL);
    perform(); /* the first pass runs all: the loop knew no user */
    set_deadline(&first, clock_now());
    set_deadline(&second, clock_now() + 1000 * SECOND);
    perform();
    perform();
    assert_int_equal(first.runs, 2);
    assert_int_equal(second.runs, 1);
    drop(&first);
    drop(&second);
}

TEST(a_source_that_was_removed_does_not_run)
{
    struct worker worker;

    add_idle(&worker, NULL);
    set_due(&worker);
    set_deadline(&worker, clock_now());
    drop(&worker);
    perform();
    set_due(&worker);
    set_deadline(&worker, clock_now());
    perform();
    assert_int_equal(worker.runs, 0);
}

/* The program has closed the descriptor, and another process has the file. */
TEST(an_event_of_a_source_that_was_removed_does_nothing)
{
    struct descriptor descriptor = { .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    const int other = dup(descriptor.fd);
    struct worker worker;

    add_idle(&worker, &descriptor);
    close(descriptor.fd);
    drop(&worker);
    assert_int_equal(eventfd_write(other, 1), 0);
    perform();
    assert_int_equal(worker.runs, 0);
    assert_false(worker.source.readable);
    close(other);
}

TEST(a_pass_does_not_look_at_idle_sources)
{
    const size_t size = 64 * sizeof(struct worker);
    struct worker *idle = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), worker;

    assert_ptr_not_equal(idle, MAP_FAILED);
    for (size_t i = 0; i < 64; i++)
        add_idle(&idle[i], NULL);
    add_idle(&worker, NULL);
    perform();
    assert_int_equal(mprotect(idle, size, PROT_NONE), 0);
    set_due(&worker);
    perform();
    set_deadline(&worker, clock_now());
    perform();
    assert_int_equal(mprotect(idle, size, PROT_READ | PROT_WRITE), 0);
    assert_int_equal(worker.runs, 3);
    assert_int_equal(idle[63].runs, 1);
    drop(&worker);
    for (size_t i = 0; i < 64; i++)
        drop(&idle[i]);
    munmap(idle, size);
}

/* A job that drives the loop, as a callback can. */
static bool drive(struct member *member)
{
    (void)member;
    perform();
    return false;
}

static void free_no_member(struct counted *counted)
{
    (void)counted;
}

TEST(a_nested_run_runs_the_sources_that_are_left_of_the_outer_one)
{
    static const struct member_type type = { .run = drive };
    struct worker first, second;
    struct member member;

    reach_member_init(&member, &type);
    counted_init(&member.counted, free_no_member);
    add(&first, 2, 0);
    add_idle(&second, NULL);
    perform();
    set_deadline(&second, clock_now());
    assert_true(reach_runloop_add_job(loop, &member));
    perform();
    assert_int_equal(second.runs, 2);
    drop(&first);
    drop(&second);
}
