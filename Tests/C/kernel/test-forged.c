/* SPDX-License-Identifier: MIT */
/* Forged messages: any process of root in the namespace can send to our sockets. The library ignores all of them. */
#include <net/if_arp.h>

#include "support/test.h"

#define PORTS 64

/* A socket that sends, and the addresses of all other rtnetlink sockets of this namespace, which are the library's. */
static struct {
    int fd;
    size_t count;
    uint32_t ports[PORTS];
} forger;

static struct watcher watcher;
static SCNetworkReachabilityRef unscheduled; /* a target */

static void open_forger(void)
{
    FILE *file = fopen("/proc/thread-self/net/netlink", "re");
    char line[256];
    unsigned protocol, port;

    assert_non_null(file);
    forger.count = 0;
    while (forger.count < PORTS && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%*s %u %u", &protocol, &port) == 2 && protocol == NETLINK_ROUTE && port != 0)
            forger.ports[forger.count++] = port;
    fclose(file);
    assert_true(forger.count >= 2);
    forger.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    assert_true(forger.fd >= 0);
}

static bool send_to_port(int fd, const void *bytes, size_t length, uint32_t port, uint32_t groups)
{
    const struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_pid = port, .nl_groups = groups };

    return sendto(fd, bytes, length, 0, (const struct sockaddr *)&to, sizeof to) >= 0;
}

/* Forged messages: a link is gone or down, the default route is gone, an error, the end of a dump, nonsense. */
struct forgery {
    struct nlmsghdr header;
    union {
        struct ifinfomsg link;
        struct rtmsg route;
        struct nlmsgerr error;
    } payload;
};

static struct forgery forge(uint16_t type, unsigned index)
{
    struct forgery forgery = { .header = { .nlmsg_len = sizeof forgery, .nlmsg_type = type, .nlmsg_seq = 1 } };

    if (type == RTM_DELROUTE)
        forgery.payload.route = (struct rtmsg){ .rtm_family = AF_INET,
                                                .rtm_table = RT_TABLE_MAIN,
                                                .rtm_type = RTN_UNICAST };
    else if (type == NLMSG_ERROR || type == NLMSG_DONE)
        forgery.payload.error.error = -ENETUNREACH;
    else
        forgery.payload.link = (struct ifinfomsg){ .ifi_index = (int)index, .ifi_type = ARPHRD_ETHER };
    return forgery;
}

static const uint16_t types[] = {
    RTM_DELLINK, RTM_NEWLINK, RTM_DELROUTE, RTM_NEWROUTE, NLMSG_ERROR, NLMSG_DONE, 0xffff
};

/* Returns how many forgeries a socket accepted. A connected socket refuses them. */
static size_t send_forgeries(int fd, uint32_t port, uint32_t groups, unsigned index)
{
    size_t taken = 0;

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (uint32_t sequence = 0; sequence < 4; sequence++) {
            struct forgery forgery = forge(types[i], index);

            forgery.header.nlmsg_seq = sequence;
            taken += send_to_port(fd, &forgery, sizeof forgery, port, groups);
        }
    }
    /* A truncated and an empty message. */
    taken += send_to_port(fd, types, 3, port, groups);
    return taken + send_to_port(fd, NULL, 0, port, groups);
}

static void begin(void)
{
    namespace_require_pair();
    namespace_ip("route add default via 192.0.2.1");
    watcher_start(&watcher, expect_target("198.51.100.7"));
    EXPECT_QUIET(&watcher);
    unscheduled = expect_target("198.51.100.8");
    EXPECT(unscheduled, R, None);
    open_forger();
}

static void end(void)
{
    close(forger.fd);
    SCNetworkReachabilityRelease(unscheduled);
}

UNIT(.setup = begin, .teardown = end)

static void expect_toggle(void)
{
    AFTER("route delete default", EXPECT_CHANGE(&watcher, 0));
    AFTER("route add default via 192.0.2.1", EXPECT_CHANGE(&watcher, R));
}

static void expect_untouched(void)
{
    EXPECT_QUIET(&watcher);
    assert_int_equal(watcher.calls, 0);
    EXPECT_EACH(R, None, watcher.target, unscheduled);
    EXPECT_INTERFACE(watcher.target, "a");
    AFTER("route delete default", EXPECT_CHANGE(&watcher, 0));
    EXPECT(unscheduled, 0, NoRoute);
    AFTER("route add default via 192.0.2.1", EXPECT_CHANGE(&watcher, R));
}

TEST(forged_messages_to_our_sockets_are_ignored)
{
    size_t taken = 0;

    for (size_t i = 0; i < forger.count; i++)
        taken += send_forgeries(forger.fd, forger.ports[i], 0, if_nametoindex("a"));
    assert_true(taken > 0); /* otherwise nothing is proven */
    expect_untouched();
}

TEST(forged_messages_to_our_groups_are_ignored)
{
    assert_true(send_forgeries(forger.fd, 0, RTMGRP_LINK, if_nametoindex("a")) > 0);
    assert_true(send_forgeries(forger.fd, 0, RTMGRP_IPV4_ROUTE, if_nametoindex("a")) > 0);
    expect_untouched();
}

TEST(request_sockets_accept_only_the_kernel)
{
    const struct forgery forgery = forge(NLMSG_ERROR, 0);
    size_t refused = 0;

    for (size_t i = 0; i < forger.count; i++)
        refused += !send_to_port(forger.fd, &forgery, sizeof forgery, forger.ports[i], 0) && errno == ECONNREFUSED;
    assert_true(refused > 0);
}

/* The queue is full of forgeries: real messages are lost, and the library recovers. */
TEST(a_flood_of_forged_messages_hides_no_change)
{
    const struct forgery forgery = forge(RTM_DELLINK, 0x7fffffff);
    size_t full = 0;

    for (size_t i = 0; i < forger.count; i++) {
        while (send_to_port(forger.fd, &forgery, sizeof forgery, forger.ports[i], 0))
            continue;
        full += errno == EAGAIN;
    }
    assert_true(full > 0);
    expect_toggle(); /* there is no room for its messages */
}

/* Datagrams that a careless reader would follow for ever, or behind their ends. */
static size_t send_malformed(int fd, uint32_t port, uint32_t groups)
{
    static const uint32_t lengths[] = { 0, 1, 15, 0x7fffffff, 0x80000000, 0xfffff0f0, 0xffffffff };
    static unsigned char large[96 * 1024]; /* three times the buffer of a receive */
    struct forgery forgery = forge(RTM_DELLINK, if_nametoindex("a"));
    size_t taken = 0;

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        forgery.header.nlmsg_len = lengths[i];
        taken += send_to_port(fd, &forgery, sizeof forgery, port, groups);
    }
    forgery = forge(RTM_DELLINK, if_nametoindex("a"));
    for (size_t at = 0; at + sizeof forgery <= sizeof large; at += sizeof forgery)
        memcpy(large + at, &forgery, sizeof forgery);
    taken += send_to_port(fd, large, sizeof large, port, groups);
    memset(large, 0, sizeof large); /* messages and attributes of length 0 */
    return taken + send_to_port(fd, large, sizeof large, port, groups);
}

TEST(malformed_and_oversized_forgeries_are_ignored)
{
    size_t taken = 0;

    for (size_t i = 0; i < forger.count; i++)
        taken += send_malformed(forger.fd, forger.ports[i], 0);
    taken += send_malformed(forger.fd, 0, RTMGRP_LINK);
    assert_true(taken > 9);
    expect_untouched();
}

/* A socket with groups, after it has lost a message: processes fill its queue faster than the library reads. */
static struct {
    atomic_bool armed;
    int fd; /* less than 0: the next read of that socket begins it */
    unsigned reads;
    uint32_t port;
} endless;

static struct sockaddr_nl own_address(int fd)
{
    struct sockaddr_nl own = { 0 };
    socklen_t length = sizeof own;

    return getsockname(fd, (struct sockaddr *)&own, &length) == 0 ? own : (struct sockaddr_nl){ 0 };
}

WRAP(ssize_t, recvfrom, int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
    const struct sockaddr_nl process = { .nl_family = AF_NETLINK, .nl_pid = 1 };
    const struct forgery forgery = forge(RTM_DELLINK, 1);

    if (!atomic_load(&endless.armed) || (endless.fd >= 0 ? fd != endless.fd : own_address(fd).nl_groups == 0))
        return __real_recvfrom(fd, bytes, size, flags, from, length);
    if (endless.fd < 0) {
        endless.fd = fd;
        endless.port = own_address(fd).nl_pid;
        errno = ENOBUFS;
        return -1;
    }
    if (++endless.reads > 1000 * 1000)
        fail_msg("the library reads for ever");
    memcpy(from, &process, sizeof process);
    *length = sizeof process;
    memcpy(bytes, &forgery, sizeof forgery);
    return sizeof forgery;
}

static void begin_endless(void)
{
    endless.fd = -1;
    endless.reads = 0;
    atomic_store(&endless.armed, true);
}

TEST(a_queue_that_never_ends_is_replaced)
{
    begin_endless();
    AFTER("route delete default", EXPECT_CHANGE(&watcher, 0));
    atomic_store(&endless.armed, false);
    assert_true(endless.reads > 0);
    assert_int_not_equal(own_address(endless.fd).nl_pid, endless.port); /* closed, or another socket has its number */
    AFTER("route add default via 192.0.2.1", EXPECT_CHANGE(&watcher, R));
}

TEST(without_a_schedule_a_queue_that_never_ends_is_an_error)
{
    watcher_stop(&watcher);
    begin_endless();
    expect_failure(unscheduled, ENOBUFS);
    atomic_store(&endless.armed, false);
    assert_true(endless.reads > 0);
    EXPECT(unscheduled, R, None);
}

static atomic_bool flood_is_over;

/* Keeps the queues full. */
static void *forge_without_pause(void *unused)
{
    const struct forgery forgery = forge(RTM_DELLINK, 0x7fffffff);

    while (!atomic_load(&flood_is_over))
        for (size_t i = 0; i < forger.count; i++)
            (void)send_to_port(forger.fd, &forgery, sizeof forgery, forger.ports[i], 0);
    return unused;
}

TEST(a_flood_that_never_ends_hides_no_change)
{
    /* More than the library's one thread can read. Valgrind runs one thread at a time, so there one is enough. */
    const size_t count = unit_is_under("valgrind") ? 1 : 2;
    pthread_t threads[2];

    atomic_store(&flood_is_over, false);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, forge_without_pause, NULL), 0);
    for (size_t i = 0; i < 5; i++)
        expect_toggle();
    atomic_store(&flood_is_over, true);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}
