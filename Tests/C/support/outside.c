/* SPDX-License-Identifier: MIT */
#include "support/outside.h"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "support/program.h"
#include "support/unit.h"

extern char **environ;

/* What the calling thread passes with a request. */
enum passed { USER_NAMESPACE, NETWORK_NAMESPACE, MOUNT_NAMESPACE, INPUT, OUTPUT, STATUS, PASSED };

#define COUNT 64 /* words of a command, and NULL */

/* The words of a command, each with a zero byte at its end. `processors` are those of the calling thread: the kernel
 * keeps some routes per processor, and tests use that. */
struct request {
    cpu_set_t processors;
    char words[1024];
};

static int outside = -1;
static pid_t server;

union control {
    char bytes[CMSG_SPACE(PASSED * sizeof(int))];
    struct cmsghdr align;
};

/* ---- The process outside ---------------------------------------------------------------------------------------- */

/* setns(2) refuses a user namespace in which this process already is: that does not matter. */
static _Noreturn void become_command(struct request *request, size_t length, const int fds[PASSED])
{
    char *arguments[COUNT] = { NULL };
    size_t count = 0;

    for (char *word = request->words; word < (char *)request + length && count < COUNT - 1; word += strlen(word) + 1)
        arguments[count++] = word;
    if (sched_setaffinity(0, sizeof request->processors, &request->processors) != 0)
        _exit(126);
    (void)!setns(fds[USER_NAMESPACE], CLONE_NEWUSER);
    if (setns(fds[NETWORK_NAMESPACE], CLONE_NEWNET) != 0)
        _exit(126);
    (void)!setns(fds[MOUNT_NAMESPACE], CLONE_NEWNS);
    dup2(fds[INPUT], 0);
    dup2(fds[OUTPUT], 1);
    dup2(fds[OUTPUT], 2);
    execvp(arguments[0], arguments);
    _exit(127);
}

static void close_passed(const int fds[PASSED], int but)
{
    for (int i = 0; i < PASSED; i++)
        if (i != but)
            close(fds[i]);
}

/* A child waits for the command, so that commands of several threads run at the same time. */
static void serve_command(struct request *request, size_t length, const int fds[PASSED])
{
    if (fork() != 0)
        return;
    signal(SIGCHLD, SIG_DFL);
    const pid_t child = fork();
    if (child == 0)
        become_command(request, length, fds);
    close_passed(fds, STATUS);
    int status = -1;
    (void)!waitpid(child, &status, 0);
    (void)!write(fds[STATUS], &status, sizeof status);
    _exit(0);
}

/* Serves until no process has the other end. */
PART(commands)
{
    struct request request;
    union control control;
    struct iovec bytes = { &request, sizeof request };
    ssize_t length;

    signal(SIGCHLD, SIG_IGN); /* no child has to be waited for */
    for (;;) {
        struct msghdr message = {
            .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
        };
        int fds[PASSED];

        length = recvmsg(0, &message, MSG_CMSG_CLOEXEC);
        if (length <= 0 || CMSG_FIRSTHDR(&message) == NULL)
            return 0;
        memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fds);
        serve_command(&request, (size_t)length, fds);
        close_passed(fds, -1);
    }
}

/* ---- The tests -------------------------------------------------------------------------------------------------- */

void outside_open(void)
{
    char *const arguments[] = { (char *)(uintptr_t)program_path(), "commands", NULL };
    posix_spawn_file_actions_t actions;
    int ends[2];

    if (!unit_is_under("valgrind") && !unit_is_under("helgrind"))
        return;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        abort();
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    if (posix_spawn(&server, arguments[0], &actions, NULL, arguments, environ) != 0)
        abort();
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    outside = ends[0];
}

void outside_close(void)
{
    if (outside < 0)
        return;
    close(outside);
    while (waitpid(server, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static bool send_command(char *const arguments[], const int fds[PASSED])
{
    struct request request;
    union control control = { { 0 } };
    struct iovec bytes = { &request, offsetof(struct request, words) };
    const struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };

    assert_int_equal(sched_getaffinity(0, sizeof request.processors, &request.processors), 0);
    for (size_t i = 0; arguments[i] != NULL; i++) {
        const size_t size = strlen(arguments[i]) + 1;

        assert_true(i < COUNT - 1 && bytes.iov_len + size <= sizeof request);
        memcpy((char *)&request + bytes.iov_len, arguments[i], size);
        bytes.iov_len += size;
    }
    control.align = (struct cmsghdr){ .cmsg_len = CMSG_LEN(PASSED * sizeof(int)),
                                      .cmsg_level = SOL_SOCKET,
                                      .cmsg_type = SCM_RIGHTS };
    memcpy(CMSG_DATA(&control.align), fds, PASSED * sizeof(int));
    return sendmsg(outside, &message, MSG_NOSIGNAL) > 0;
}

/* Not open(2): some tests count its calls. */
static int open_read(const char *path)
{
    return openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
}

int outside_start(char *const arguments[], int input, int output)
{
    int ends[2];

    if (outside < 0)
        return -1;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const int fds[PASSED] = { [USER_NAMESPACE] = open_read("/proc/thread-self/ns/user"),
                              [NETWORK_NAMESPACE] = open_read("/proc/thread-self/ns/net"),
                              [MOUNT_NAMESPACE] = open_read("/proc/thread-self/ns/mnt"),
                              [INPUT] = input < 0 ? open_read("/dev/null") : dup(input),
                              [OUTPUT] = dup(output),
                              [STATUS] = ends[1] };
    const bool sent = send_command(arguments, fds);
    close_passed(fds, -1);
    if (sent)
        return ends[0];
    close(ends[0]);
    return -1;
}

int outside_status(int fd)
{
    int status = -1;
    ssize_t got;

    do
        got = read(fd, &status, sizeof status);
    while (got < 0 && errno == EINTR);
    close(fd);
    return status;
}
