/* SPDX-License-Identifier: MIT */
/*
 * A storm of route changes that affect no target: how often it wakes the loop, the processor time of the loop's thread,
 * and how much slower the writer of the routes is. The references are a bare listener for routes, and no listener.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "bare.h"
#include "watched.h"

#define BLOCKS        10
#define BLOCKS_SHORT  2
#define CHANGES       100000 /* in each block */
#define CHANGES_SHORT 10000
#define TARGETS       1000

enum listening { NOBODY, BARE, OURS };

struct listening_thread {
    enum listening kind;
    struct watched *watched; /* OURS */
    int stop;                /* an eventfd */
    atomic_bool ready;
    unsigned wakes;
    double processor; /* nanoseconds */
};

static double processor_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void handle(const struct listening_thread *listening, int fd)
{
    if (listening->kind == OURS)
        (void)watched_perform(listening->watched, 0);
    else
        bare_receive(fd);
}

static void *listen_to_storm(void *argument)
{
    struct listening_thread *listening = argument;
    const int fd = listening->kind == OURS ? SCRunLoopGetFileDescriptor(listening->watched->loop) : bare_listen();
    struct pollfd events[2] = { { .fd = fd, .events = POLLIN }, { .fd = listening->stop, .events = POLLIN } };
    double start;

    bench_pin(1);
    start = processor_time();
    listening->ready = true;
    while (poll(events, 2, -1) > 0 && (events[1].revents & POLLIN) == 0) {
        listening->wakes++;
        handle(listening, fd);
    }
    listening->processor = processor_time() - start;
    if (listening->kind == BARE)
        close(fd);
    return NULL;
}

/* Routes that no target has. Half of the changes add, the others delete. */
static double write_storm(struct writer *writer, unsigned changes)
{
    const int64_t start = bench_now();
    char prefix[32];

    bench_check(writer_batch(writer), "batch");
    for (unsigned i = 0; i < changes; i++) {
        const unsigned number = i % (changes / 2);
        const struct writer_route route = { .prefix = prefix, .type = RTN_BLACKHOLE };

        snprintf(prefix, sizeof prefix, "172.%u.%u.%u/32", 16 + (number >> 16), number >> 8 & 255, number & 255);
        bench_check(writer_route(writer, i < changes / 2 ? WRITER_ADD : WRITER_DELETE, &route), prefix);
    }
    bench_check(writer_flush(writer), "storm");
    return (double)(bench_now() - start);
}

/* Returns the writer's time for a change. */
static double measure_listening(struct writer *writer, struct listening_thread *listening, unsigned changes)
{
    pthread_t thread;
    double time;

    if (listening->kind == NOBODY)
        return write_storm(writer, changes) / changes;
    listening->stop = eventfd(0, EFD_CLOEXEC);
    bench_check(pthread_create(&thread, NULL, listen_to_storm, listening), "thread");
    while (!listening->ready)
        continue;
    time = write_storm(writer, changes) / changes;
    eventfd_write(listening->stop, 1);
    pthread_join(thread, NULL);
    close(listening->stop);
    return time;
}

/* The loop has sockets only while it is measured. After the first message that affects no target, it has a filter. */
static double measure_ours(struct writer *writer, struct listening_thread *listening, unsigned changes)
{
    struct watched watched = watched_create(TARGETS);
    double time;

    *listening = (struct listening_thread){ .kind = OURS, .watched = &watched };
    watched_schedule(&watched, true);
    for (unsigned i = 0; i < 2; i++) {
        watched_change_elsewhere(writer, i);
        (void)watched_perform(&watched, 0);
    }
    time = measure_listening(writer, listening, changes);
    watched_unschedule(&watched);
    watched_release(&watched);
    return time;
}

static bool measure_all(struct writer *writer, bool is_short)
{
    const size_t blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    const unsigned changes = is_short ? CHANGES_SHORT : CHANGES;
    double nobody[BLOCKS], ours[BLOCKS], our_processor = 0, bare_processor = 0;
    unsigned wakes = 0;
    char title[80];
    bool within;

    watched_toggle(writer, true);
    for (size_t i = 0; i < blocks; i++) {
        struct listening_thread listening = { .kind = NOBODY };

        nobody[i] = measure_listening(writer, &listening, changes);
        listening = (struct listening_thread){ .kind = BARE };
        (void)measure_listening(writer, &listening, changes);
        bare_processor += listening.processor;
        ours[i] = measure_ours(writer, &listening, changes);
        our_processor += listening.processor;
        wakes += listening.wakes;
    }
    snprintf(title, sizeof title, "storm of %u changes, wake-ups", (unsigned)blocks * changes);
    within = bench_report_number(title, wakes, "wake-ups", 0);
    within = bench_report_number("storm, processor / a bare listener's", 100 * our_processor / bare_processor, "%",
                                 0.5) &&
             within;
    within = bench_report("storm, a change, for the writer", "without a listener", ours, nobody, blocks, 1.1) && within;
    return within;
}

int main(int argc, char **argv)
{
    return bench_run(argc, argv, measure_all);
}
