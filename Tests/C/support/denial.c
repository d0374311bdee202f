/* SPDX-License-Identifier: MIT */
#include "support/denial.h"

#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static enum denial imposed; /* of netlink or a part of it */

/* ---- Filters ---------------------------------------------------------------------------------------------------- */

/* A filter refuses a system call if one argument has a given value. It sees only numbers, so the level of an option or
 * the length of an address shows the family of a descriptor. */
struct rule {
    int call;
    unsigned argument; /* counting from 0 */
    uint32_t value;
    int error;
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
    [DENIAL_MARKS] = { "marks", { { SYS_fcntl, 1, F_SETSIG, EPERM } } },
    [DENIAL_DEVICE_GONE] = { "device-gone", { { SYS_setsockopt, 2, SO_BINDTODEVICE, ENODEV } } },
    [DENIAL_DEVICE] = { "device",
                        { { SYS_setsockopt, 2, SO_BINDTODEVICE, EPERM },
                          { SYS_setsockopt, 2, SO_BINDTOIFINDEX, EPERM } } },
};

/* The offset of the low half of an argument. */
static uint32_t argument_offset(unsigned argument)
{
    const size_t half = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0;

    return (uint32_t)(offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t) + half);
}

#define INSTRUCTIONS 5 /* of a rule */

/* Other calls, and other arguments, skip these instructions. */
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
    struct sock_fprog program = { .filter = instructions };
    size_t count = 0;

    for (size_t i = 0; i < RULES && rules[i].error != 0; i++, count += INSTRUCTIONS)
        put_rule(&instructions[count], &rules[i]);
    instructions[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = (unsigned short)count;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Without a filter such a call fails with another error: no such descriptor, and no socket type 0. */
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

bool denial_uses_sockets(void)
{
    return is_of_netlink(imposed);
}

void denial_require_netlink(const char *reason)
{
    if (denial_uses_sockets())
        SKIP("%s", reason);
}

bool denial_find(const char *name, enum denial *ret)
{
    for (unsigned i = 0; i < DENIALS; i++)
        if (strcmp(name, denials[i].name) == 0) {
            *ret = i;
            return true;
        }
    return false;
}
