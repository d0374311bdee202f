/* SPDX-License-Identifier: MIT */
#include "support/denial.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/namespace.h"

static enum denial imposed; /* of netlink or a part of it */

/* ---- Filters ---------------------------------------------------------------------------------------------------- */

/* A system call is refused when one of its arguments has a value. A filter sees numbers alone: a descriptor's family is
 * told by the level of an option or the length of an address. */
struct rule {
    int      call;
    unsigned argument; /* counting from 0 */
    uint32_t value;
    int      error;
};

#define RULES 2 /* at most, to a denial */

#define NO_SOCKET(family, error) \
    { \
        SYS_socket, 0, family, error \
    }
#define NO_BIND(structure, error) \
    { \
        SYS_bind, 2, sizeof(structure), error \
    }
#define NO_OPTION(error) \
    { \
        SYS_setsockopt, 1, SOL_NETLINK, error \
    }

static const struct {
    const char *name;
    struct rule rules[RULES];
} denials[DENIALS] = {
    [DENIAL_NONE] = { "none", { { 0 } } },
    [DENIAL_SOCKET_EPERM] = { "socket-eperm", { NO_SOCKET(AF_NETLINK, EPERM) } },
    [DENIAL_SOCKET_EACCES] = { "socket-eacces", { NO_SOCKET(AF_NETLINK, EACCES) } },
    [DENIAL_SOCKET_EAFNOSUPPORT] = { "socket-eafnosupport", { NO_SOCKET(AF_NETLINK, EAFNOSUPPORT) } },
    [DENIAL_SOCKET_ENOSYS] = { "socket-enosys", { NO_SOCKET(AF_NETLINK, ENOSYS) } },
    [DENIAL_CONNECT] = { "connect", { { SYS_connect, 2, sizeof(struct sockaddr_nl), EACCES } } },
    [DENIAL_BIND] = { "bind", { NO_BIND(struct sockaddr_nl, EACCES) } },
    [DENIAL_OPTIONS_EPERM] = { "options-eperm", { NO_OPTION(EPERM) } },
    [DENIAL_OPTIONS_ENOPROTOOPT] = { "options-enoprotoopt", { NO_OPTION(ENOPROTOOPT) } },
    [DENIAL_BIND_AND_OPTIONS] = { "bind-and-options", { NO_BIND(struct sockaddr_nl, EACCES), NO_OPTION(EPERM) } },
    [DENIAL_UDP_BIND] = { "udp-bind", { NO_BIND(struct sockaddr_in, EACCES), NO_BIND(struct sockaddr_in6, EACCES) } },
    [DENIAL_IPV6] = { "ipv6", { NO_SOCKET(AF_INET6, EAFNOSUPPORT) } },
    [DENIAL_INTERNET] = { "internet", { NO_SOCKET(AF_INET, EPERM), NO_SOCKET(AF_INET6, EPERM) } },
    [DENIAL_DEVICE_GONE] = { "device-gone", { { SYS_setsockopt, 2, SO_BINDTODEVICE, ENODEV } } },
    [DENIAL_DEVICE] = { "device", { { SYS_setsockopt, 2, SO_BINDTODEVICE, EPERM } } },
};

/* Where a filter finds the half of an argument that says something. */
static uint32_t argument_offset(unsigned argument)
{
    const size_t half = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0;

    return (uint32_t)(offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t) + half);
}

#define INSTRUCTIONS 5 /* of a rule */

/* A call that is another one, or has another argument, goes on behind them. */
static void put_rule(struct sock_filter *filter, const struct rule *rule)
{
    const struct sock_filter instructions[INSTRUCTIONS] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rule->call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument_offset(rule->argument)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule->value, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)rule->error),
    };

    memcpy(filter, instructions, sizeof instructions);
}

static bool install(const struct rule rules[RULES])
{
    struct sock_filter instructions[INSTRUCTIONS * RULES + 1];
    struct sock_fprog  program = { .filter = instructions };
    size_t             count = 0;

    for (size_t i = 0; i < RULES && rules[i].error != 0; i++, count += INSTRUCTIONS)
        put_rule(&instructions[count], &rules[i]);
    instructions[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = (unsigned short)count;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Without a filter such a call fails as well, but otherwise: there is no such descriptor, nor a type of socket 0. */
static bool is_refused(const struct rule *rule)
{
    long arguments[3] = { rule->call == SYS_socket ? 0 : -1, 0, 0 };

    arguments[rule->argument] = (long)rule->value;
    return syscall(rule->call, arguments[0], arguments[1], arguments[2], NULL, 0) < 0 && errno == rule->error;
}

bool denial_impose(enum denial denial)
{
    const struct rule *rules = denials[denial].rules;

    if (!install(rules))
        return false;
    for (size_t i = 0; i < RULES && rules[i].error != 0; i++)
        if (!is_refused(&rules[i]))
            return false;
    if (denial <= DENIAL_BIND_AND_OPTIONS)
        imposed = denial;
    return true;
}

static bool is_of_netlink(enum denial denial)
{
    return denial >= DENIAL_SOCKET_EPERM && denial <= DENIAL_CONNECT;
}

bool denial_asks_sockets(void)
{
    return is_of_netlink(imposed);
}

/* ---- Running tests ---------------------------------------------------------------------------------------------- */

/* Stands in for a test: its state is the reason. */
static void skip_for_a_reason(void **state)
{
    SKIP("%s", (const char *)*state);
}

static void replace(struct CMUnitTest *test, const char *reason)
{
    test->test_func = skip_for_a_reason;
    test->initial_state = (void *)(uintptr_t)reason;
}

/* A row of a test that is gone says so, rather than stand there for ever. */
static bool replace_row(struct CMUnitTest *tests, size_t count, const struct denial_row *row)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(tests[i].name, row->test) == 0) {
            replace(&tests[i], row->reason);
            return true;
        }
    fprintf(stderr, "there is no test %s\n", row->test);
    return false;
}

static int run_denied(const char *name, enum denial denial, const struct CMUnitTest *tests, size_t count,
                      const struct denial_row *rows, size_t row_count)
{
    struct CMUnitTest *copy = calloc(count, sizeof *copy);
    bool               complete = copy != NULL;
    int                status = 1;

    for (size_t i = 0; i < count && complete; i++)
        copy[i] = tests[i];
    for (size_t i = 0; i < row_count && complete; i++)
        complete = !is_of_netlink(denial) || replace_row(copy, count, &rows[i]);
    namespace_set_aside();
    if (!denial_impose(denial))
        for (size_t i = 0; i < count && complete; i++)
            replace(&copy[i], "no seccomp filter works here");
    if (complete)
        status = _cmocka_run_group_tests(name, copy, count, NULL, NULL);
    namespace_end_aside();
    free(copy);
    return status;
}

int denial_run(const char *name, const struct CMUnitTest *tests, size_t count, const struct denial_row *rows,
               size_t row_count)
{
    const char *wanted = getenv("TEST_DENIED"), *only = getenv("TEST_ONLY");

    if (only != NULL)
        cmocka_set_test_filter(only);
    if (wanted == NULL)
        return _cmocka_run_group_tests(name, tests, count, NULL, NULL);
    for (unsigned i = 0; i < DENIALS; i++)
        if (strcmp(wanted, denials[i].name) == 0)
            return run_denied(name, i, tests, count, rows, row_count);
    fprintf(stderr, "TEST_DENIED: nothing is called %s\n", wanted);
    return 1;
}

/* ---- Groups ----------------------------------------------------------------------------------------------------- */

struct child {
    pid_t pid;
    FILE *output;
};

static bool start(const struct denial_group *group, struct child *ret)
{
    ret->output = tmpfile();
    if (ret->output == NULL)
        return false;
    fflush(NULL);
    ret->pid = fork();
    if (ret->pid == 0) {
        dup2(fileno(ret->output), STDOUT_FILENO);
        dup2(fileno(ret->output), STDERR_FILENO);
        exit(run_denied(group->name, group->denial, group->tests, group->count, NULL, 0));
    }
    return ret->pid > 0;
}

/* Passes on what it printed, and answers its exit status. */
static int finish(const struct child *child)
{
    char   text[4096];
    size_t length;
    int    status;

    while (waitpid(child->pid, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    rewind(child->output);
    while ((length = fread(text, 1, sizeof text, child->output)) > 0)
        fwrite(text, 1, length, stdout);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int denial_run_groups(const struct denial_group *groups, size_t count)
{
    struct child *children = calloc(count, sizeof *children);
    int           status = children == NULL;

    for (size_t i = 0; i < count && status == 0; i++)
        status = !start(&groups[i], &children[i]);
    for (size_t i = 0; i < count && children != NULL; i++) {
        if (children[i].pid > 0)
            status |= finish(&children[i]);
        if (children[i].output != NULL)
            fclose(children[i].output);
    }
    free(children);
    return status;
}
