/* SPDX-License-Identifier: MIT */
/* Sources of a run loop that do their work in parts. No network. */
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
    runloop_source_due_locked(loop, source);
    runloop_unlock(loop);
    return 0;
}

static void add(struct worker *worker, unsigned parts, unsigned done)
{
    *worker = (struct worker){ .source = { .deadline = NEVER, .due = true, .run = work },
                               .parts = parts,
                               .done = done };
    list_init(&worker->source.node);
    counted_init(&worker->source.counted, free_nothing);
    runloop_lock(loop);
    unit_check(runloop_add_source_locked(loop, &worker->source), "runloop_add_source_locked");
    runloop_unlock(loop);
}

static void drop(struct worker *worker)
{
    runloop_lock(loop);
    runloop_remove_source_locked(loop, &worker->source);
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
