/* SPDX-License-Identifier: MIT */
#include "support/namespace.h"

#include <linux/capability.h>
#include <linux/if_addr.h>
#include <linux/if_tun.h>
#include <linux/ipv6_route.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "support/namespace_users.h"
#include "support/outside.h"
#include "support/time_limit.h"
#include "support/watcher.h"

extern char **environ;

/* Milliseconds: an event that takes longer has failed. The kernel destroys one namespace at a time, also those of other
 * processes. One with a million routes takes seconds. */
#define TIME_LIMIT 100000
#define RECHECK    10

/* ---- Entering --------------------------------------------------------------------------------------------------- */

static bool write_file(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const ssize_t length = (ssize_t)strlen(text);

    if (fd < 0)
        return false;
    bool written = write(fd, text, (size_t)length) == length;
    close(fd);
    return written;
}

/* Without root: a user namespace in which this process is root. Only while the process has one thread. */
static bool enter_user_namespace(void)
{
    const uid_t uid = geteuid();
    const gid_t gid = getegid();
    char map[64];

    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return false;
    snprintf(map, sizeof map, "0 %u 1", (unsigned)uid);
    if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", map))
        return false;
    snprintf(map, sizeof map, "0 %u 1", (unsigned)gid);
    return write_file("/proc/self/gid_map", map);
}

bool namespace_enter(void)
{
    return unshare(CLONE_NEWNET) == 0 || enter_user_namespace();
}

void namespace_require(void)
{
    if (!namespace_enter())
        SKIP("no network namespace can be made here");
}

void namespace_require_lo(void)
{
    namespace_require();
    namespace_ip("link set dev lo up");
}

static void add_pairs(const char *commands, bool two);

#define LO "link set dev lo up; "

#define PAIR \
    "link add name a type veth peer name b; link set dev b up; link set dev a up; " \
    "address add 192.0.2.2/24 dev a; address add 2001:db8::2/64 dev a nodad"

#define SECOND_PAIR \
    "link add name c type veth peer name d; link set dev d up; link set dev c up; " \
    "address add 203.0.113.2/24 dev c; address add 2001:db8:c::2/64 dev c nodad"

void namespace_require_pair(void)
{
    namespace_require();
    add_pairs(LO PAIR, false);
}

void namespace_require_two_pairs(void)
{
    namespace_require();
    add_pairs(LO PAIR "; " SECOND_PAIR, true);
}

bool namespace_enter_mounts(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0;
}

/* ---- Aside ------------------------------------------------------------------------------------------------------ */

static struct {
    pthread_t thread;
    sem_t requested, done;
    void (*run)(void *argument); /* NULL: no more */
    void *argument;
    int netns;
} aside;

/* Belongs to the thread that uses the other one, not to that other thread or to a forked child. */
static _Thread_local bool has_aside;

static void *serve_aside(void *unused)
{
    (void)unused;
    for (;;) {
        while (sem_wait(&aside.requested) != 0)
            continue;
        if (aside.run == NULL)
            return NULL;
        if (setns(aside.netns, CLONE_NEWNET) == 0)
            aside.run(aside.argument);
        sem_post(&aside.done);
    }
}

void namespace_set_aside(void)
{
    /* Without root, while there is one thread. */
    (void)namespace_enter();
    sem_init(&aside.requested, 0, 0);
    sem_init(&aside.done, 0, 0);
    has_aside = pthread_create(&aside.thread, NULL, serve_aside, NULL) == 0;
    if (!has_aside)
        abort();
}

static void ask_aside(void (*run)(void *argument), void *argument)
{
    aside.run = run;
    aside.argument = argument;
    sem_post(&aside.requested);
}

void namespace_end_aside(void)
{
    ask_aside(NULL, NULL);
    pthread_join(aside.thread, NULL);
    has_aside = false;
}

void namespace_aside(void (*run)(void *argument), void *argument)
{
    if (!has_aside) {
        run(argument);
        return;
    }
    aside.netns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    assert_true(aside.netns >= 0);
    ask_aside(run, argument);
    while (sem_wait(&aside.done) != 0)
        continue;
    close(aside.netns);
}

int namespace_keep(void)
{
    const int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

void namespace_go(int fd)
{
    assert_int_equal(setns(fd, CLONE_NEWNET), 0);
}

#define OTHER_USER 65534

bool namespace_drop_privilege(bool to_other_user)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (to_other_user &&
        (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || setresuid(OTHER_USER, OTHER_USER, OTHER_USER) != 0))
        return false;
    if (syscall(SYS_capget, &header, data) != 0)
        return false;
    data[0].permitted &= ~(1u << CAP_SYS_ADMIN);
    data[0].effective = data[0].permitted;
    return syscall(SYS_capset, &header, data) == 0;
}

/* ---- ip(8) ------------------------------------------------------------------------------------------------------ */

/* Reads everything as text. Text that does not fit is discarded. */
static void read_all(int fd, char *text, size_t size)
{
    size_t length = 0;
    ssize_t got;
    char rest[256];

    for (;;) {
        const bool full = length + 1 >= size;

        got = full ? read(fd, rest, sizeof rest) : read(fd, text + length, size - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        if (!full)
            length += (size_t)got;
    }
    text[length] = '\0';
}

struct command {
    char *const *arguments;
    int input, output, error; /* input -1: none */
    pid_t child;
};

static void spawn(void *argument)
{
    struct command *command = argument;
    posix_spawn_file_actions_t actions;

    posix_spawn_file_actions_init(&actions);
    if (command->input < 0)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    else
        posix_spawn_file_actions_adddup2(&actions, command->input, 0);
    posix_spawn_file_actions_adddup2(&actions, command->output, 1);
    posix_spawn_file_actions_adddup2(&actions, command->output, 2);
    command->error = posix_spawnp(&command->child, command->arguments[0], &actions, NULL, command->arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
}

/* Runs a command. Returns its exit status and output. */
static int run(char *const arguments[], int input, char *output, size_t size)
{
    struct command command = { .arguments = arguments, .input = input, .error = EPERM };
    int ends[2], status;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    command.output = ends[1];
    const int outside = has_aside ? -1 : outside_start(arguments, input, ends[1]);
    if (outside < 0)
        namespace_aside(spawn, &command);
    else
        command.error = 0;
    close(ends[1]);
    if (command.error != 0) {
        close(ends[0]);
        fail_msg("%s: %s", arguments[0], strerror(command.error));
    }
    read_all(ends[0], output, size);
    close(ends[0]);
    if (outside >= 0)
        status = outside_status(outside);
    else
        while (waitpid(command.child, &status, 0) < 0)
            assert_int_equal(errno, EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run_ip(char *command, char *output, size_t size)
{
    char *arguments[64] = { "ip" };
    size_t count = 1;
    char *rest = NULL;

    for (char *word = strtok_r(command, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        assert_true(count < 63);
        arguments[count++] = word;
    }
    return run(arguments, -1, output, size);
}

static int run_batch(const char *lines, bool ipv6, char *output, size_t size)
{
    char *const arguments[] = { "ip", "-batch", "-", ipv6 ? "-6" : NULL, NULL };
    const int input = memfd_create("batch", MFD_CLOEXEC);

    assert_int_equal(pwrite(input, lines, strlen(lines), 0), strlen(lines));
    int status = run(arguments, input, output, size);
    close(input);
    return status;
}

/* Several commands, one after the other. One process runs as many as have the same option -6. */
static int run_ips(char *commands, char *output, size_t size)
{
    char lines[512] = "";
    bool ipv6 = false;
    char *rest = NULL;

    for (char *command = strtok_r(commands, ";", &rest); command != NULL; command = strtok_r(NULL, ";", &rest)) {
        command += strspn(command, " ");
        if ((strncmp(command, "-6 ", 3) == 0) != ipv6) {
            if (lines[0] != '\0' && run_batch(lines, ipv6, output, size) != 0)
                return -1;
            lines[0] = '\0';
            ipv6 = !ipv6;
        }
        strcat(strcat(lines, command + (ipv6 ? 3 : 0)), "\n");
    }
    return run_batch(lines, ipv6, output, size);
}

void namespace_ip(const char *format, ...)
{
    char command[512], copy[512], output[1024];
    va_list arguments;

    va_start(arguments, format);
    assert_in_range(vsnprintf(command, sizeof command, format, arguments), 0, sizeof command - 1);
    va_end(arguments);
    memcpy(copy, command, sizeof copy);
    if ((strchr(copy, ';') != NULL ? run_ips : run_ip)(copy, output, sizeof output) != 0)
        fail_msg("ip %s: %s", command, output);
}

bool namespace_try_ip(const char *format, ...)
{
    char command[512], output[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    return run_ip(command, output, sizeof output) == 0;
}

bool namespace_try_sysctl(const char *name, const char *value)
{
    char path[256];

    snprintf(path, sizeof path, "/proc/sys/%s", name);
    for (char *c = path + 10; *c != '\0'; c++)
        if (*c == '.')
            *c = '/';
    return write_file(path, value);
}

void namespace_sysctl(const char *name, const char *value)
{
    if (!namespace_try_sysctl(name, value))
        fail_msg("%s = %s: %s", name, value, strerror(errno));
}

/* ---- Waiting for the kernel ------------------------------------------------------------------------------------- */

struct listener {
    unsigned groups;
    int fd, error;
};

static void open_listener(void *argument)
{
    struct listener *listener = argument;
    const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = listener->groups };

    listener->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    listener->error = listener->fd < 0 ? -1 : bind(listener->fd, (const struct sockaddr *)&address, sizeof address);
}

static cpu_set_t processors;
static int processor;

static void stay_on(int number)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(number, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
    processor = number;
}

static void leave_processor(void *unused)
{
    (void)unused;
    sched_setaffinity(0, sizeof processors, &processors);
}

void namespace_share_nexthop(const char *gateway, const char *link, const char *prefix, const char *found)
{
    assert_int_equal(sched_getaffinity(0, sizeof processors, &processors), 0);
    stay_on(sched_getcpu());
    unit_defer(leave_processor, NULL);
    namespace_ip("-6 nexthop add id 1 via %s dev %s", gateway, link);
    namespace_ip("-6 route add %s nhid 1", prefix);
    namespace_ip("-6 route add %s nhid 1", found);
    namespace_ip("-6 route get fibmatch %.*s", (int)strcspn(found, "/"), found);
}

void namespace_change_processor(void)
{
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (i != processor && CPU_ISSET(i, &processors)) {
            stay_on(i);
            return;
        }
    SKIP("there is one processor");
}

bool namespace_kernel_is_older(int major, int minor)
{
    struct utsname system;
    int is_major, is_minor;

    assert_int_equal(uname(&system), 0);
    assert_int_equal(sscanf(system.release, "%d.%d", &is_major, &is_minor), 2);
    return is_major < major || (is_major == major && is_minor < minor);
}

int namespace_listen(unsigned groups)
{
    struct listener listener = { .groups = groups, .error = -1 };

    namespace_aside(open_listener, &listener);
    assert_int_equal(listener.error, 0);
    return listener.fd;
}

/* Waits until the kernel has completed its changes: a change can be visible before it is complete. The query names an
 * interface that cannot exist; the reply waits for the RTNL lock. */
static void await_rtnl(int fd)
{
    const struct {
        struct nlmsghdr header;
        struct ifinfomsg link;
    } request = { .header = { .nlmsg_len = sizeof request,
                              .nlmsg_type = RTM_GETLINK,
                              .nlmsg_flags = NLM_F_REQUEST,
                              .nlmsg_seq = 1 },
                  .link = { .ifi_index = 0x7fffffff } };
    struct pollfd poller = { .fd = fd, .events = POLLIN };
    union {
        struct nlmsghdr header;
        char bytes[8192];
    } reply = { .header = { 0 } };

    assert_int_equal(send(fd, &request, sizeof request, 0), sizeof request);
    while (reply.header.nlmsg_type != NLMSG_ERROR && poll(&poller, 1, time_limit_of(TIME_LIMIT)) > 0)
        (void)!recv(fd, &reply, sizeof reply, 0);
    assert_int_equal(reply.header.nlmsg_type, NLMSG_ERROR);
}

/* Waits for messages of these groups until the condition holds. The socket is open before the first check. A message
 * can come before its change is visible, and no other one after it, so the condition is checked without a message,
 * too. */
static bool await(unsigned groups, bool (*holds)(const void *), const void *argument)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT) / 1000;
    struct pollfd poller = { .fd = namespace_listen(groups), .events = POLLIN };
    char buffer[8192];
    bool held;

    while (!(held = holds(argument)) && watcher_now() < end) {
        (void)poll(&poller, 1, RECHECK);
        while (recv(poller.fd, buffer, sizeof buffer, 0) > 0)
            continue;
    }
    await_rtnl(poller.fd);
    close(poller.fd);
    return held;
}

static bool is_running(const char *interface)
{
    struct ifreq request = { 0 };
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
    bool running = ioctl(fd, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_RUNNING) != 0;
    close(fd);
    return running;
}

static bool holds_running(const void *interface)
{
    return is_running(interface);
}

static bool holds_not_running(const void *interface)
{
    return !is_running(interface);
}

void namespace_await_running(const char *interface, bool running)
{
    if (!await(RTMGRP_LINK, running ? holds_running : holds_not_running, interface))
        fail_msg("%s is still %s a carrier", interface, running ? "without" : "with");
    if (running)
        namespace_await_addresses();
}

static bool holds_gone(const void *interface)
{
    return if_nametoindex(interface) == 0;
}

void namespace_set_up(const char *interface)
{
    namespace_ip("link set dev %s up", interface);
    namespace_await_running(interface, true);
}

void namespace_set_carrier(const char *interface, const char *peer, bool running)
{
    namespace_ip("link set dev %s %s", peer, running ? "up" : "down");
    namespace_await_running(interface, running);
}

void namespace_await_gone(const char *interface)
{
    if (await(RTMGRP_LINK, holds_gone, interface))
        return;
    namespace_users_print();
    fail_msg("%s is still there", interface);
}

/* True if the table of IPv6 routes has the local route of an address (32 hexadecimal digits). */
static bool has_local_route(const char *address)
{
    FILE *file = fopen("/proc/thread-self/net/ipv6_route", "re");
    char destination[33];
    bool found = false;
    unsigned length, flags;

    assert_non_null(file);
    while (!found && fscanf(file, "%32s %x %*s %*s %*s %*s %*s %*s %x %*s", destination, &length, &flags) == 3)
        found = length == 128 && (flags & RTF_LOCAL) != 0 && strncmp(destination, address, 32) == 0;
    fclose(file);
    return found;
}

static bool holds_settled(const void *unused)
{
    FILE *file = fopen("/proc/thread-self/net/if_inet6", "re");
    char address[33];
    bool settled = true;
    unsigned flags;

    (void)unused;
    if (file == NULL)
        return true;
    while (settled && fscanf(file, "%32s %*s %*s %*s %x %*s", address, &flags) == 2)
        settled = (flags & IFA_F_TENTATIVE) == 0 && has_local_route(address);
    fclose(file);
    return settled;
}

static void print_addresses(void)
{
    FILE *file = fopen("/proc/thread-self/net/if_inet6", "re");
    char line[128];

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        print_message("%.32s%s %s", line, has_local_route(line) ? "" : ", no local route,", line + 32);
    if (file != NULL)
        fclose(file);
}

void namespace_await_addresses(void)
{
    if (await(RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE, holds_settled, NULL))
        return;
    print_addresses();
    fail_msg("an IPv6 address has not settled");
}

static bool holds_duplicate(const void *unused)
{
    FILE *file = fopen("/proc/thread-self/net/if_inet6", "re");
    bool found = false;
    unsigned flags;

    (void)unused;
    assert_non_null(file);
    while (!found && fscanf(file, "%*s %*s %*s %*s %x %*s", &flags) == 1)
        found = (flags & IFA_F_DADFAILED) != 0;
    fclose(file);
    return found;
}

void namespace_await_duplicate(void)
{
    if (!await(RTMGRP_IPV6_IFADDR, holds_duplicate, NULL))
        fail_msg("no address is a duplicate");
}

/* ---- Topologies ------------------------------------------------------------------------------------------------- */

static void add_pairs(const char *commands, bool two)
{
    /* For interfaces that are created later: link-local addresses are usable at once. */
    namespace_sysctl("net.ipv6.conf.default.accept_dad", "0");
    namespace_ip("%s", commands);
    namespace_await_running("a", true);
    namespace_await_running("b", true);
    if (two)
        namespace_await_running("c", true);
}

void namespace_add_pair(void)
{
    add_pairs(PAIR, false);
}

void namespace_add_second_pair(void)
{
    namespace_ip(SECOND_PAIR);
    namespace_await_running("c", true);
}

void namespace_add_default_routes(void)
{
    namespace_ip("route add default via 192.0.2.1; route add default via 2001:db8::1");
}

static int add_tun_or_tap(const char *name, short kind)
{
    struct ifreq request = { .ifr_flags = kind | IFF_NO_PI };
    const int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return -1;
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    if (ioctl(fd, TUNSETIFF, &request) == 0)
        return fd;
    close(fd);
    return -1;
}

int namespace_add_tun(const char *name)
{
    return add_tun_or_tap(name, IFF_TUN);
}

int namespace_add_tap(const char *name)
{
    return add_tun_or_tap(name, IFF_TAP);
}

int namespace_require_tun(const char *name)
{
    const int fd = namespace_add_tun(name);

    if (fd < 0)
        SKIP("no /dev/net/tun here");
    namespace_set_up(name);
    return fd;
}

void namespace_require_macvlan(const char *name, const char *link)
{
    if (!namespace_try_ip("link add name %s link %s type macvlan", name, link))
        SKIP("this kernel has no macvlan");
    namespace_set_up(name);
}

void namespace_require_tunnel(const char *to)
{
    if (!namespace_try_ip("link add name v type vxlan id 7 dstport 4789 %s", to))
        SKIP("this kernel has no vxlan");
    namespace_ip("address add 10.7.0.1/24 dev v");
    namespace_set_up("v");
}

/* ---- The other namespace ---------------------------------------------------------------------------------------- */

#define COMMAND_SIZE 256

/* The child runs each command and replies with one byte, until the other end is closed. */
static _Noreturn void serve(int socket)
{
    char command[COMMAND_SIZE], output[1024];
    char status = namespace_enter() ? 0 : 1;

    while (write(socket, &status, 1) == 1 && read(socket, command, sizeof command) == sizeof command)
        status = run_ip(command, output, sizeof output) == 0 ? 0 : 1;
    _exit(0);
}

static bool await_other(const struct namespace_other *other)
{
    char status = 1;
    ssize_t got;

    do
        got = read(other->socket, &status, 1);
    while (got < 0 && errno == EINTR);
    return got == 1 && status == 0;
}

struct birth {
    pid_t child;
    int ends[2];
};

static void give_birth(void *argument)
{
    struct birth *birth = argument;

    birth->child = fork();
    if (birth->child != 0)
        return;
    close(birth->ends[0]);
    serve(birth->ends[1]);
}

void namespace_other_open(struct namespace_other *ret)
{
    struct birth birth = { .child = -1 };

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, birth.ends), 0);
    namespace_aside(give_birth, &birth);
    assert_true(birth.child >= 0);
    close(birth.ends[1]);
    ret->pid = birth.child;
    ret->socket = birth.ends[0];
    if (!await_other(ret))
        fail_msg("the other namespace could not be made");
}

bool namespace_other_try_ip(const struct namespace_other *other, const char *command)
{
    char record[COMMAND_SIZE] = "";

    snprintf(record, sizeof record, "%s", command);
    assert_int_equal(write(other->socket, record, sizeof record), sizeof record);
    return await_other(other);
}

void namespace_other_ip(const struct namespace_other *other, const char *command)
{
    if (!namespace_other_try_ip(other, command))
        fail_msg("in the other namespace: %s", command);
}

void namespace_other_close(const struct namespace_other *other)
{
    close(other->socket);
    while (waitpid(other->pid, NULL, 0) < 0)
        assert_int_equal(errno, EINTR);
}
