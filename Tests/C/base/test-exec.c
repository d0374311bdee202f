/* SPDX-License-Identifier: MIT */
/* A process that uses the library passes no descriptor to the programs that it starts. */
#include <dirent.h>

#include "support/busy.h"
#include "support/test.h"

#define LOOKS 100000

/* ---- Parts ------------------------------------------------------------------------------------------------------ */

/* Prints the descriptors that the program inherited. */
PART(list)
{
    DIR *folder = opendir("/proc/self/fd");

    MUST(folder != NULL);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const int fd = atoi(entry->d_name);
        char what[256];

        if (fd <= 2 || fd == dirfd(folder))
            continue;
        ssize_t length = readlinkat(dirfd(folder), entry->d_name, what, sizeof what - 1);
        printf("%d: %.*s\n", fd, (int)length, what);
    }
    closedir(folder);
    return 0;
}

/* The new program inherits this descriptor alone. It proves that the program lists its descriptors. */
#define HANDED_ON "100: /dev/null\n"

static void hand_on(void)
{
    for (int fd = 3; fd < DESCRIPTORS; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    MUST(dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 100) == 100);
}

PART(become_a_list)
{
    struct descriptors before, after;
    int opened = 0;

    hand_on();
    descriptors_read(&before);
    busy_begin();
    descriptors_read(&after);
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (after.open[fd] && !before.open[fd]) {
            MUST((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
            opened++;
        }
    /* Three loops with two descriptors each; two namespaces with two descriptors each; four monitors with two sockets
     * each. */
    MUST(opened >= 3 * 2 + 2 + 2 + 4 * 2);
    execl(program_path(), program_path(), "list", NULL);
    return 1;
}

static atomic_bool done;

/* Each opens and closes one kind of descriptor and does little else, so that it is often open when the test looks. */
static void *make_loops(void *unused)
{
    while (!done) {
        SCOPED_LOOP loop = SCRunLoopCreate();

        MUST(loop != NULL);
    }
    return unused;
}

static void *make_targets(void *unused)
{
    MUST(unshare(CLONE_NEWNET) == 0); /* a new namespace: each target opens all that it needs */
    while (!done) {
        SCOPED_TARGET target = SCNetworkReachabilityCreateWithName(NULL, "127.0.0.1");

        MUST(target != NULL);
    }
    return unused;
}

static void *make_schedules(void *away)
{
    SCOPED_LOOP loop = SCRunLoopCreate();

    MUST(unshare(CLONE_NEWNET) == 0);
    SCOPED_TARGET far = SCNetworkReachabilityCreateWithName(NULL, "127.0.0.1");
    MUST(setns(*(const int *)away, CLONE_NEWNET) == 0);
    SCOPED_TARGET near = SCNetworkReachabilityCreateWithName(NULL, "127.0.0.1");
    MUST(near != NULL && far != NULL && loop != NULL);
    for (int i = 0; !done; i++) {
        const SCNetworkReachabilityRef target = i % 8 == 0 ? far : near; /* the other namespace needs a thread */

        MUST(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
        MUST(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    }
    return away;
}

/* The descriptors that a program would inherit if it were started at any moment. */
PART(look_meanwhile)
{
    static void *(*const bodies[])(void *) = { make_loops, make_targets, make_schedules };
    pthread_t threads[3];

    hand_on();
    int away = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < 3; i++)
        MUST(pthread_create(&threads[i], NULL, bodies[i], &away) == 0);
    for (int i = 0; i < LOOKS; i++)
        for (int fd = 3; fd < 30; fd++) {
            const int flags = fcntl(fd, F_GETFD);

            MUST(flags < 0 || (flags & FD_CLOEXEC) != 0);
        }
    done = true;
    for (size_t i = 0; i < 3; i++)
        MUST(pthread_join(threads[i], NULL) == 0);
    return 0;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------ */

TEST(a_started_program_inherits_no_descriptor)
{
    EXPECT_PROGRAM(become_a_list, 0, HANDED_ON);
}

TEST(descriptors_are_never_inheritable_for_a_moment)
{
    EXPECT_PROGRAM(look_meanwhile, 0, "");
}

UNIT(.setup = namespace_require_lo)
