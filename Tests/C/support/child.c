/* SPDX-License-Identifier: MIT */
#include "support/child.h"

#include <sys/wait.h>

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

#include "support/unit.h"

#define LIMIT 60 /* seconds */

static void flush(void)
{
    fflush(stdout);
    fflush(stderr);
}

bool child_fork(pid_t *ret)
{
    sigset_t limit;

    flush(); /* otherwise both processes write the buffered output */
    *ret = fork();
    if (*ret < 0)
        fail_msg("fork: %s", strerror(errno));
    if (*ret != 0)
        return false;
    sigemptyset(&limit);
    sigaddset(&limit, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &limit, NULL);
    alarm(LIMIT); /* before anything that takes a lock, as the next line does */
    setenv("CMOCKA_TEST_ABORT", "1", 1);
#ifdef VALGRIND_CLO_CHANGE
    VALGRIND_CLO_CHANGE(
        "--leak-check=no"); /* the memory of other threads counts as leaked. Other errors still set the status */
#endif
    return true;
}

void child_end(void)
{
    flush();
    _exit(0);
}

static int await(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            fail_msg("waitpid: %s", strerror(errno));
    return status;
}

int child_status(pid_t pid)
{
    const int status = await(pid);

    if (WIFSIGNALED(status))
        fail_msg("a child was ended by %s",
                 WTERMSIG(status) == SIGALRM ? "its time limit" : strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status);
}

void child_expect_end(pid_t pid)
{
    const int status = child_status(pid);

    if (status != 0)
        fail_msg("a child ended with status %d", status);
}

void child_expect_killed(pid_t pid)
{
    const int status = await(pid);

    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("a child was to be killed, and ended with wait status 0x%x", (unsigned)status);
}

bool child_begin(void)
{
    pid_t pid;

    if (child_fork(&pid))
        return true;
    child_expect_end(pid);
    return false;
}

void child_run(void (*body)(void))
{
    if (child_begin()) {
        body();
        child_end();
    }
}
