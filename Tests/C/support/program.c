/* SPDX-License-Identifier: MIT */
#include "support/program.h"

#include <spawn.h>
#include <sys/wait.h>

#include "support/time_limit.h"
#include "support/watcher.h"

extern char **environ;

#define TIME_LIMIT 60.0 /* seconds: a program that takes longer has failed */

const char *program_argument;

const char *program_path(void)
{
    static char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    path[length < 0 ? 0 : length] = '\0';
    return path;
}

/* Reads all output. Text that does not fit is discarded. False: the program did not end in time. */
static bool read_all(int fd, char *text, size_t size)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT);
    struct pollfd poller = { .fd = fd, .events = POLLIN };
    size_t length = 0;
    ssize_t got = -1;
    char bytes[512];

    while (got != 0 && watcher_now() < end) {
        if (poll(&poller, 1, 1000) <= 0 || (got = read(fd, bytes, sizeof bytes)) < 0)
            continue;
        if ((size_t)got > size - 1 - length)
            got = (ssize_t)(size - 1 - length);
        memcpy(text + length, bytes, (size_t)got);
        length += (size_t)got;
    }
    text[length] = '\0';
    return got == 0;
}

void program_run(const char *part, struct program *ret)
{
    char *const arguments[] = { (char *)(uintptr_t)program_path(), (char *)(uintptr_t)part, NULL };
    posix_spawn_file_actions_t actions;
    pid_t child;
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    assert_int_equal(posix_spawn(&child, arguments[0], &actions, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    /* No alarm in the child: the thread that takes signals may have ended. */
    if (!read_all(ends[0], ret->output, sizeof ret->output))
        kill(child, SIGKILL);
    close(ends[0]);
    while (waitpid(child, &ret->status, 0) < 0)
        assert_int_equal(errno, EINTR);
}

void program_expect(const char *part, int status, const char *output, const char *file, int line)
{
    struct program program;

    program_run(part, &program);
    if (WIFEXITED(program.status) && WEXITSTATUS(program.status) == status && strcmp(program.output, output) == 0)
        return;
    if (WIFSIGNALED(program.status))
        print_error("%s was ended by a signal: %s\n", part, strsignal(WTERMSIG(program.status)));
    else
        print_error("%s has exited with %d, not %d\n", part, WEXITSTATUS(program.status), status);
    print_error("it printed:\n%s", program.output);
    _fail(file, line);
}

void program_fail(const char *condition, const char *file, int line)
{
    const int error = errno;

    dprintf(2, "%s:%d: not so: %s (SCError %d, errno %d)\n", file, line, condition, SCError(), error);
    _exit(99);
}
