/* SPDX-License-Identifier: MIT */
#include "support/idle.h"

#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "loop/runloop.h"
#include "support/time_limit.h"
#include "support/watcher.h"

#define TIME_LIMIT 20.0                /* seconds */
#define NEAR       (100 * MILLISECOND) /* a later deadline has no earlier change as its cause: a poll, a refresh */

int64_t idle_next_deadline(SCRunLoopRef loop)
{
    int64_t next = NEVER;

    runloop_lock(loop);
    if (!list_is_empty(&loop->jobs))
        next = 0;
    list_for_each(node, &loop->sources) {
        const struct source *source = container_of(node, struct source, node);

        if (!list_is_empty(&source->queued))
            next = 0;
        else if (source->timer.deadline < next)
            next = source->timer.deadline;
    }
    runloop_unlock(loop);
    return next;
}

bool idle_loop_is_readable(SCRunLoopRef loop)
{
    struct pollfd poller = { .fd = SCRunLoopGetFileDescriptor(loop), .events = POLLIN };
    const struct timespec now = { 0 };

    return ppoll(&poller, 1, &now, NULL) > 0; /* some programs wrap poll(2) */
}

/* True if the descriptor is readable for another reason than changes that must be fetched. */
static bool has_work(SCRunLoopRef loop)
{
    runloop_lock(loop);
    bool has_changes = !list_is_empty(&loop->changes);
    runloop_unlock(loop);
    return !has_changes && idle_loop_is_readable(loop);
}

int idle_perform(SCRunLoopRef loop)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT);
    int64_t left = 0;
    int calls;

    do {
        if (watcher_now() > end)
            return -1;
        calls = SCRunLoopPerform(loop, left <= 0 || left >= NEAR ? 0 : (double)left / (double)SECOND);
        left = idle_next_deadline(loop) - clock_now();
    } while (calls == 0 && (left < NEAR || has_work(loop)));
    return calls;
}

bool idle_await(SCRunLoopRef loop)
{
    const int64_t end = clock_now() + (int64_t)(time_limit_of(TIME_LIMIT) * (double)SECOND);

    while (idle_next_deadline(loop) - clock_now() < NEAR) {
        if (clock_now() > end)
            return false;
        sched_yield();
    }
    return true;
}

bool idle_thread_waits(pid_t thread)
{
    char path[64];
    long call = -1;

    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)thread);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    if (fscanf(file, "%ld", &call) != 1) /* "running" */
        call = -1;
    fclose(file);
#ifdef SYS_epoll_wait
    if (call == SYS_epoll_wait)
        return true;
#endif
    return call == SYS_epoll_pwait;
}

static unsigned count_waiting_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    unsigned waiting = 0;

    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        const pid_t thread = (pid_t)atoi(entry->d_name);

        waiting += thread > 0 && thread != getpid() && idle_thread_waits(thread);
    }
    if (tasks != NULL)
        closedir(tasks);
    return waiting;
}

bool idle_await_threads(unsigned count)
{
    const int64_t end = clock_now() + (int64_t)(time_limit_of(TIME_LIMIT) * (double)SECOND);

    while (count_waiting_threads() != count) {
        if (clock_now() > end)
            return false;
        sched_yield();
    }
    return true;
}
