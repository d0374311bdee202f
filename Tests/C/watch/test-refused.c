/* SPDX-License-Identifier: MIT */
/*
 * What the kernel or a sandbox refuses for a time. The monitor does without meanwhile, and tries anew with growing
 * pauses. The clock is that of the test, as in test-clock.c. The calls are wrapped at link time.
 */
#include <linux/filter.h>

#include "base/clock.h"
#include "support/test.h"

#define START (1000 * SECOND)

/* The calls that are refused, if `on`. Each field but `error`: 0 for none. */
struct refusal {
    const char *name;
    int error;
    bool socket, bind, groups; /* netlink(7) */
    bool generic;              /* its protocol; links have no kind then, as hardware has none */
    int group;                 /* one of `groups` alone */
    int option;                /* of SOL_SOCKET */
    uint16_t request;          /* sent in a message of this type */
    bool dump;                 /* only as a dump, or only not as one */
    bool is_polled;            /* the sandbox keeps changes away, too */
    const char *address;
    uint32_t notify;
};

static struct refusal refusal;
static unsigned attempts; /* such calls of a pass, also while they are not refused */
static bool on, passes;
static unsigned left;    /* after so many of them, they are not refused any more; 0: no limit */
static unsigned sockets; /* of netlink, that were opened */
static int64_t now_is;

static struct watcher watcher; /* stopped at the end of each test */

static bool is_refused(bool matches)
{
    attempts += matches && passes;
    if (!matches || !on)
        return false;
    if (left > 0 && --left == 0)
        on = false;
    errno = refusal.error;
    return true;
}

WRAP(int, clock_gettime, clockid_t clock, struct timespec *now)
{
    (void)clock;
    now->tv_sec = now_is / SECOND;
    now->tv_nsec = now_is % SECOND;
    return 0;
}

WRAP(int, timerfd_settime, int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
    const struct itimerspec at_once = { .it_value = { .tv_nsec = 1 } };
    const bool is_set = value->it_value.tv_sec != 0 || value->it_value.tv_nsec != 0;

    return __real_timerfd_settime(fd, flags, is_set ? &at_once : value, old);
}

WRAP(int, socket, int family, int type, int protocol)
{
    if (is_refused(family == AF_NETLINK && (refusal.socket || (refusal.generic && protocol == NETLINK_GENERIC))))
        return -1;
    sockets += family == AF_NETLINK;
    return __real_socket(family, type, protocol);
}

WRAP(int, bind, int fd, const struct sockaddr *address, socklen_t length)
{
    return is_refused(refusal.bind && address->sa_family == AF_NETLINK) ? -1 : __real_bind(fd, address, length);
}

WRAP(int, setsockopt, int fd, int level, int option, const void *value, socklen_t length)
{
    const bool joins = level == SOL_NETLINK && option == NETLINK_ADD_MEMBERSHIP && refusal.groups &&
                       (refusal.group == 0 || *(const int *)value == refusal.group);
    const bool sets = level == SOL_SOCKET && refusal.option != 0 && option == refusal.option;

    return is_refused(joins || sets) ? -1 : __real_setsockopt(fd, level, option, value, length);
}

WRAP(ssize_t, send, int fd, const void *bytes, size_t length, int flags)
{
    const struct nlmsghdr *header = bytes;
    const bool dumps = length >= sizeof *header && (header->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;

    if (is_refused(length >= sizeof *header && refusal.request != 0 && header->nlmsg_type == refusal.request &&
                   dumps == refusal.dump))
        return -1;
    return __real_send(fd, bytes, length, flags);
}

static void hide_kinds(struct nlmsghdr *header, size_t size)
{
    for (; NLMSG_OK(header, size); header = NLMSG_NEXT(header, size)) {
        struct rtattr *attribute = IFLA_RTA(NLMSG_DATA(header));
        int length = (int)IFLA_PAYLOAD(header);

        if (header->nlmsg_type != RTM_NEWLINK)
            continue;
        for (; RTA_OK(attribute, length); attribute = RTA_NEXT(attribute, length))
            if (attribute->rta_type == IFLA_LINKINFO)
                attribute->rta_type = IFLA_MAX + 1000;
    }
}

WRAP(ssize_t, recvfrom, int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
    const ssize_t got = __real_recvfrom(fd, bytes, size, flags, from, length);

    if (refusal.generic && got > 0)
        hide_kinds(bytes, (size_t)got);
    return got;
}

/* Makes passes at this time, in seconds from the start, until they evaluate nothing. Returns the evaluations. */
static unsigned long evaluations_at(double seconds)
{
    const unsigned long before = expect_counters_of(watcher.target).evaluations;
    unsigned long last, now = before;

    now_is = START + (int64_t)(seconds * (double)SECOND);
    attempts = 0;
    do {
        last = now;
        passes = true;
        assert_true(SCRunLoopPerform(watcher.loop, 0) >= 0);
        passes = false;
        now_is += 5 * MILLISECOND; /* the second look at what the kernel may not have finished */
        now = expect_counters_of(watcher.target).evaluations;
    } while (now > last);
    return now - before;
}

static void begin(void)
{
    refusal = (struct refusal){ 0 };
    on = true;
    left = 0;
    now_is = START;
    namespace_require_pair();
    namespace_ip("route add default via 192.0.2.1; -6 route add default via 2001:db8::1");
    namespace_ip("link add link a name m type macvlan; link set dev m addrgenmode none"); /* no address comes later */
    namespace_ip("address add 203.0.113.2/24 dev m; link set dev m up");
}

#define FAR  "198.51.100.7"
#define PATH kSCNetworkReachabilityOptionNotifyPath
#define HOP  kSCNetworkReachabilityOptionNotifyNextHop

/* Two targets, which can share. The first pass is made. */
static void begin_with(struct refusal what)
{
    static struct watcher other;

    refusal = what;
    watcher_schedule(&watcher, expect_option(FAR, PATH));
    watcher_schedule_on(&other, expect_target("198.51.100.8"), watcher.loop);
    evaluations_at(0);
}

static const struct refusal refusals[] = {
    { "sockets", EPERM, .socket = true, .is_polled = true, .address = FAR, .notify = PATH },
    { "groups", EACCES, .bind = true, .groups = true, .is_polled = true, .address = FAR, .notify = PATH },
    { "one_group", EACCES, .bind = true, .groups = true, .group = RTNLGRP_IPV6_PREFIX, .is_polled = true,
      .address = FAR, .notify = PATH },
    { "the_group_of_neighbours", EPERM, .groups = true, .is_polled = true, .address = FAR, .notify = PATH },
    { "the_list_of_links", EACCES, .request = RTM_GETLINK, .dump = true, .is_polled = true, .address = FAR,
      .notify = PATH },
    { "queries", EACCES, .request = RTM_GETSTATS, .is_polled = true, .address = FAR, .notify = PATH },
    { "rules", EACCES, .request = RTM_GETRULE, .dump = true, .address = FAR },
    { "neighbours", EACCES, .request = RTM_GETNEIGH, .address = FAR, .notify = HOP },
    { "wifi", EACCES, .generic = true, .address = "192.0.2.9", .notify = PATH },
    { "the_kind_of_a_link", EACCES, .request = RTM_GETLINK, .address = "203.0.113.9", .notify = PATH },
};

/* It is tried after 2 s, then 4 s later. What is polled is evaluated every 2 s, until that succeeds. */
TEST_EACH(a_refusal_ends, refusals)
{
    struct watcher other;
    unsigned made;

    refusal = *row;
    watcher_schedule(&watcher, expect_option(row->address, row->notify));
    watcher_schedule_on(&other, expect_target("198.51.100.8"), watcher.loop);
    evaluations_at(0);
    assert_true(attempts > 0);
    assert_int_equal(evaluations_at(1.9), 0);
    assert_true(evaluations_at(2) > 0);
    assert_true(attempts > 0);
    on = false;
    made = sockets;
    assert_int_equal(evaluations_at(4.1) > 0, row->is_polled);
    assert_true(evaluations_at(6.1) > 0);
    assert_true(attempts > 0);
    assert_true(sockets > made);
    for (double seconds = 8.1; seconds < 200; seconds += 3.7) {
        assert_int_equal(evaluations_at(seconds), 0);
        assert_int_equal(attempts, 0);
    }
    assert_int_equal(expect_path_of(watcher.target).evidence, kSCNetworkReachabilityEvidenceKernel);
    namespace_ip("link set dev a down");
    assert_true(evaluations_at(201) > 0);
    assert_int_equal(watcher.flags, 0);
}

/* Whatever the kernel refuses, it is not asked more often. */
TEST(the_pauses_grow_to_a_minute)
{
    static const double times[] = { 2, 6, 14, 30, 62, 122, 182 };

    begin_with((struct refusal){ .error = EACCES, .request = RTM_GETRULE, .dump = true });
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        assert_int_equal(evaluations_at(times[i] - 0.1), 0);
        assert_int_equal(attempts, 0);
        assert_true(evaluations_at(times[i] + 0.01 * (double)(i + 1)) > 0);
        assert_true(attempts > 0);
    }
}

TEST(one_failure_to_join_a_group_ends)
{
    left = 1;
    begin_with((struct refusal){ .error = ENOMEM, .groups = true, .group = RTNLGRP_NEIGH });
    assert_false(on);
    assert_true(evaluations_at(2.1) > 0);
    assert_int_equal(evaluations_at(4.2), 0);
    assert_int_equal(evaluations_at(100), 0);
}

/* The process has entered the sandbox since. */
TEST(sockets_stay_if_others_are_refused)
{
    begin_with((struct refusal){ .error = EPERM, .groups = true, .group = RTNLGRP_NEIGH });
    refusal.socket = true;
    assert_true(evaluations_at(2) > 0);
    assert_true(attempts > 0);
    namespace_ip("route delete default");
    assert_true(evaluations_at(2.1) > 0); /* by a message, not by a poll */
    assert_int_equal(watcher.flags, 0);
    assert_true(evaluations_at(4.2) > 0);
}

/* The one that targets share which are not scheduled. Until then each call reads again what messages would tell. */
TEST(the_shared_socket_is_replaced_by_one_with_all_messages)
{
    unsigned before;

    refusal = (struct refusal){ .error = EPERM, .bind = true, .groups = true };
    SCOPED_TARGET target = expect_target(FAR);
    EXPECT(target, R, None);
    before = sockets;
    now_is += SECOND;
    assert_int_equal(expect_flags_of(target), R);
    assert_int_equal(sockets, before);
    on = false;
    now_is += SECOND;
    assert_int_equal(expect_flags_of(target), R);
    assert_int_equal(sockets, before + 2); /* the first shows that nothing is refused any more */
    now_is += 100 * SECOND;
    assert_int_equal(expect_flags_of(target), R);
    assert_int_equal(sockets, before + 2);
}

/* Each call tries to open one. */
TEST(a_call_queries_the_kernel_as_soon_as_it_may)
{
    refusal = (struct refusal){ .error = EPERM, .socket = true };
    SCOPED_TARGET target = expect_target(FAR);
    assert_int_equal(expect_path_of(target).evidence, kSCNetworkReachabilityEvidenceSocket);
    on = false;
    assert_int_equal(expect_path_of(target).evidence, kSCNetworkReachabilityEvidenceKernel);
}

/* Without it, each message about a route wakes the loop. */
TEST(a_filter_is_tried_again_after_a_minute)
{
    begin_with((struct refusal){ .error = EPERM, .option = SO_ATTACH_FILTER });
    namespace_ip("route add 10.1.0.0/16 via 192.0.2.1");
    evaluations_at(1);
    assert_true(attempts > 0);
    on = false;
    namespace_ip("route add 10.2.0.0/16 via 192.0.2.1");
    evaluations_at(59);
    assert_int_equal(attempts, 0);
    namespace_ip("route add 10.3.0.0/16 via 192.0.2.1");
    evaluations_at(61.1);
    assert_true(attempts > 0);
    namespace_ip("route add 10.4.0.0/16 via 192.0.2.1");
    evaluations_at(200);
    assert_int_equal(attempts, 0);
}

UNIT(.setup = begin)
