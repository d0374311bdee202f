/* SPDX-License-Identifier: MIT */
/*
 * Waits at the end of a program, under Valgrind, for the threads of the library. Valgrind counts the descriptors that
 * are still open then, and these threads close theirs when they end.
 */
#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE 2 /* seconds: some programs end with a scheduled target */

static bool is_the_librarys(const char *task)
{
    char  path[300], name[32] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    (void)!fgets(name, sizeof name, file);
    fclose(file);
    return strcmp(name, "reachability\n") == 0 || strcmp(name, "reach-closer\n") == 0;
}

static bool is_there(void)
{
    DIR                 *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    bool                 found = false;

    if (tasks == NULL)
        return false;
    while (!found && (task = readdir(tasks)) != NULL)
        found = is_the_librarys(task->d_name);
    closedir(tasks);
    return found;
}

__attribute__((destructor)) static void await_end(void)
{
    const char  *under = getenv("TEST_UNDER");
    const time_t end = time(NULL) + PATIENCE;

    if (under == NULL || strcmp(under, "valgrind") != 0)
        return;
    while (is_there() && time(NULL) < end)
        sched_yield();
}
