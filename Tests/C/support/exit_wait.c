/* SPDX-License-Identifier: MIT */
/*
 * Waits at the end of a program, under Valgrind, for the threads of the library. Valgrind counts the descriptors that
 * are still open then, and these threads close theirs when they end. It counts the memory of a thread that has not
 * ended as a leak.
 */
#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIME_LIMIT 2 /* seconds: some programs end with a scheduled target */

/* A thread of the library has no name of its own yet when it starts, so all threads count. */
static unsigned count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    unsigned count = 0;

    if (tasks == NULL)
        return 1;
    while ((task = readdir(tasks)) != NULL)
        count += task->d_name[0] != '.';
    closedir(tasks);
    return count;
}

__attribute__((destructor)) static void await_end(void)
{
    const char *under = getenv("TEST_UNDER");
    const time_t end = time(NULL) + TIME_LIMIT;

    if (under == NULL || strcmp(under, "valgrind") != 0)
        return;
    while (count_threads() > 1 && time(NULL) < end)
        sched_yield();
}
