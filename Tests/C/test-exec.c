/* SPDX-License-Identifier: MIT */
/* What a process that uses the library hands on to the programs that it starts: nothing. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"
#include "descriptors.h"
#include "namespace.h"
#include "program.h"
#include "unit.h"

extern char **environ;

#define STARTS 100

/* ---- Parts ------------------------------------------------------------------------------------------------------ */

/* Prints the descriptors that it was given. */
static int list(void)
{
    DIR *folder = opendir("/proc/self/fd");

    MUST(folder != NULL);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const int fd = atoi(entry->d_name);
        char      what[256];
        ssize_t   length;

        if (fd <= 2 || fd == dirfd(folder))
            continue;
        length = readlinkat(dirfd(folder), entry->d_name, what, sizeof what - 1);
        printf("%d: %.*s\n", fd, (int)length, what);
    }
    closedir(folder);
    return 0;
}

/* Of all descriptors that are open now, the new program gets this one, so that it is known to look. */
#define HANDED_ON "100: /dev/null\n"

static void hand_on(void)
{
    MUST(close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0);
    MUST(dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 100) == 100);
}

static int become_a_list(void)
{
    struct descriptors before, after;
    int                opened = 0;

    hand_on();
    descriptors_read(&before);
    busy_begin();
    descriptors_read(&after);
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (after.open[fd] && !before.open[fd]) {
            MUST((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
            opened++;
        }
    /* Two loops of three descriptors, two shared views, three monitors with two sockets each, a namespace each. */
    MUST(opened >= 2 * 3 + 2 + 3 * 2 + 2);
    execl(program_path(), program_path(), "list", NULL);
    return 1;
}

static atomic_bool done;

/* Opens and closes all kinds of descriptor; every other thing is in another namespace, for which there is a thread. */
static void *come_and_go(void *home)
{
    const int away = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

    MUST(away >= 0);
    while (!done) {
        SCNetworkReachabilityRef target;
        SCRunLoopRef             loop = SCRunLoopCreate();

        MUST(unshare(CLONE_NEWNET) == 0);
        target = SCNetworkReachabilityCreateWithName(NULL, "127.0.0.1");
        MUST(setns(away, CLONE_NEWNET) == 0);
        MUST(target != NULL && loop != NULL);
        MUST(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
        MUST(SCRunLoopPerform(loop, 0) == 0);
        MUST(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
        SCNetworkReachabilityRelease(target);
        SCRunLoopRelease(loop);
    }
    close(away);
    return home;
}

static int start_lists(void)
{
    char *const arguments[] = { (char *)(uintptr_t)program_path(), "list", NULL };
    pthread_t   thread;

    hand_on();
    MUST(pthread_create(&thread, NULL, come_and_go, NULL) == 0);
    for (int i = 0; i < STARTS; i++) {
        pid_t child;
        int   status;

        MUST(posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ) == 0);
        MUST(waitpid(child, &status, 0) == child && status == 0);
    }
    done = true;
    MUST(pthread_join(thread, NULL) == 0);
    return 0;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------ */

static void begin(void)
{
    namespace_require();
    namespace_ip("link set dev lo up");
}

static void a_program_that_is_started_gets_no_descriptor_of_ours(void **state)
{
    (void)state;
    begin();
    EXPECT_PROGRAM("become a list", 0, HANDED_ON);
}

static void none_even_when_it_is_started_while_they_are_being_opened(void **state)
{
    char expected[STARTS * sizeof HANDED_ON] = "";

    (void)state;
    begin();
    for (int i = 0; i < STARTS; i++)
        strcat(expected, HANDED_ON);
    EXPECT_PROGRAM("start lists", 0, expected);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_that_is_started_gets_no_descriptor_of_ours),
        cmocka_unit_test(none_even_when_it_is_started_while_they_are_being_opened),
    };

    if (count > 1) {
        if (strcmp(arguments[1], "list") == 0)
            return list();
        if (strcmp(arguments[1], "become a list") == 0)
            return become_a_list();
        return start_lists();
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
