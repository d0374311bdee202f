/* SPDX-License-Identifier: MIT */
/* Single failures of the kernel: a failure is never a result, and no result stays wrong. test-fault-sweep.c makes every
 * call fail in turn. */
#include "base/file.h"
#include "kernel/device.h"
#include "kernel/rtnetlink.h"
#include "kernel/sock_diag.h"
#include "support/faults.h"
#include "support/names.h"
#include "support/test.h"

/* A kernel without IPv6 treats IPv6 like any unsupported family, so the query is sent with an unsupported family. */
static ssize_t send_without_ipv6(int fd, const void *bytes, size_t length, int flags)
{
    _Alignas(struct nlmsghdr) char copy[1024];
    size_t left = length;

    assert_true(length <= sizeof copy);
    memcpy(copy, bytes, length);
    for (char *next = copy; left >= sizeof(struct nlmsghdr);) {
        struct nlmsghdr *header = (struct nlmsghdr *)next;
        struct rtmsg *route = NLMSG_DATA(header);

        if (header->nlmsg_type == RTM_GETROUTE && route->rtm_family == AF_INET6)
            route->rtm_family = AF_APPLETALK;
        left -= NLMSG_ALIGN(header->nlmsg_len);
        next += NLMSG_ALIGN(header->nlmsg_len);
    }
    return send(fd, copy, length, flags);
}

static void begin(void)
{
    faults_disarm(); /* a failed test may have left a fault */
    faults_send = NULL;
    namespace_require();
    namespace_add_pair();
    namespace_ip("route add default via 192.0.2.1");
}

TEST(a_failed_query_is_retried_though_others_succeed)
{
    struct watcher watcher;

    namespace_ip("route add 203.0.113.0/24 via 192.0.2.1"); /* another route: the targets do not share */
    watcher_start(&watcher, expect_target("203.0.113.2"));  /* it is queried first: the default route is for all */
    SCOPED_TARGET other = expect_target("198.51.100.1");
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(other, watcher.loop, kSCRunLoopDefaultMode));
    assert_int_equal(watcher_pass(&watcher), 0);
    namespace_ip("route del default; route del 203.0.113.0/24");
    faults_arm(&(struct fault){ .function = "send", .error = ENOBUFS, .count = 3 }); /* all tries of one query */
    assert_int_equal(watcher_pass(&watcher), 0);
    faults_disarm();
    assert_int_equal(faults_struck(), 3);
    assert_int_equal(expect_flags_of(other), 0);
    EXPECT_CHANGE(&watcher, 0);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(other, watcher.loop, kSCRunLoopDefaultMode));
}

static unsigned refusals, reads; /* of the nexthop objects: left, and made */

static ssize_t send_without_nexthops(int fd, const void *bytes, size_t length, int flags)
{
    const struct nlmsghdr *header = bytes;

    if (length < sizeof *header || header->nlmsg_type != RTM_GETNEXTHOP)
        return send(fd, bytes, length, flags);
    if (refusals == 0) {
        reads++;
        return send(fd, bytes, length, flags);
    }
    refusals--;
    errno = ENOBUFS;
    return -1;
}

TEST(nexthop_objects_are_read_again_after_a_failure)
{
    const double end = watcher_now() + time_limit_of(10);
    struct watcher watcher;

    refusals = 4; /* more than the tries of one query */
    reads = 0;
    faults_send = send_without_nexthops;
    watcher_start(&watcher, expect_target("198.51.100.1"));
    EXPECT(watcher.target, R, None);
    while (reads == 0) {
        assert_true(watcher_now() < end);
        assert_true(SCRunLoopPerform(watcher.loop, 0.1) >= 0);
    }
    EXPECT_QUIET(&watcher);
    assert_int_equal(reads, 1);
}

TEST(a_receive_error_is_reported_and_recovered_from)
{
    struct watcher watcher = { 0 };

    watcher_start(&watcher, expect_target("198.51.100.1"));
    namespace_ip("route del default");
    /* The error loses the message, and no other message reports the change. */
    faults_arm(&(struct fault){ .function = "recvfrom", .error = ENOMEM, .loses = true });
    if (SCRunLoopPerform(watcher.loop, 0) < 0)
        assert_int_equal(SCError(), ENOMEM);
    assert_non_null(faults_disarm());
    if (watcher.calls == 0)
        EXPECT_CHANGE(&watcher, 0);
    assert_int_equal(watcher.flags, 0);
}

static ssize_t send_unless(uint16_t type, int fd, const void *bytes, size_t length, int flags)
{
    const struct nlmsghdr *header = bytes;

    if (header->nlmsg_type == type) {
        errno = EACCES;
        return -1;
    }
    return send(fd, bytes, length, flags);
}

/* A sandbox refuses requests about links, as Android does, but no route queries. */
static ssize_t send_without_links(int fd, const void *bytes, size_t length, int flags)
{
    return send_unless(RTM_GETLINK, fd, bytes, length, flags);
}

static ssize_t send_nothing(int fd, const void *bytes, size_t length, int flags)
{
    (void)fd, (void)bytes, (void)length, (void)flags;
    errno = EACCES;
    return -1;
}

/* The monitor cannot read the links, at first or after lost messages. */
static void expect_changes_without_links(ssize_t (*send_some)(int fd, const void *bytes, size_t length, int flags),
                                         bool first)
{
    struct watcher watcher = { 0 };

    if (first)
        faults_send = send_some;
    watcher_start(&watcher, expect_target("198.51.100.1"));
    (void)watcher_pass(&watcher);
    faults_send = send_some;
    if (!first) {
        faults_arm(&(struct fault){ .function = "recvfrom", .error = ENOBUFS, .loses = true });
        namespace_ip("route add 203.0.113.0/24 via 192.0.2.1");
        (void)watcher_pass(&watcher);
        assert_non_null(faults_disarm());
        namespace_ip("route del 203.0.113.0/24");
    }
    AFTER("route del default", EXPECT_CHANGE(&watcher, 0));
    AFTER("route add default via 192.0.2.1", EXPECT_CHANGE(&watcher, R));
    faults_send = NULL;
    watcher_stop(&watcher);
}

TEST(changes_count_though_links_cannot_be_read)
{
    expect_changes_without_links(send_without_links, true);
    expect_changes_without_links(send_nothing, true);
    expect_changes_without_links(send_without_links, false);
    expect_changes_without_links(send_nothing, false);
}

TEST(a_kernel_without_ipv6_has_no_ipv6_route)
{
    SCNetworkReachabilityFlags flags = 0;
    SCNetworkReachabilityRef localhost;

    localhost = SCNetworkReachabilityCreateWithName(NULL, "localhost");
    namespace_ip("link set lo up");
    faults_send = send_without_ipv6;
    assert_true(SCNetworkReachabilityGetFlags(localhost, &flags));
    assert_int_equal(flags, R | L | D);
    SCNetworkReachabilityRelease(localhost);
    EXPECT_ADDRESS("2001:db8::9", 0, NoRoute);
    EXPECT_ADDRESS("0.0.0.0", R, None);
    AFTER("route del default", EXPECT_ADDRESS("0.0.0.0", 0, NoRoute));
    faults_send = NULL;
}

TEST(lost_messages_before_a_reply_do_no_harm)
{
    SCOPED_TARGET target = expect_target("198.51.100.1");
    EXPECT(target, R, None);
    faults_arm(&(struct fault){ .function = "recvfrom", .error = ENOBUFS });
    EXPECT(target, R, None);
    assert_non_null(faults_disarm());
}

/* The kernel never reports a missing route by the errno of a receive or send. A sandbox can choose any errno. */
TEST(an_errno_of_a_system_call_is_no_reply)
{
    static const char *const functions[] = { "recvfrom", "send" };
    static const int errors[] = { ENETUNREACH, EHOSTUNREACH, EINVAL, ENODEV };
    SCOPED_TARGET target = expect_target("198.51.100.1");

    for (size_t i = 0; i < 8; i++) {
        SCNetworkReachabilityFlags flags = 77;

        faults_arm(&(struct fault){ .function = functions[i / 4], .error = errors[i % 4] });
        assert_false(SCNetworkReachabilityGetFlags(target, &flags));
        assert_string_equal(faults_disarm(), functions[i / 4]);
        assert_int_equal(SCError(), kSCStatusReachabilityUnknown);
        assert_int_equal(flags, 77);
    }
    EXPECT(target, R, None);
}

/* The link table of targets that are not scheduled has the link as running. The messages about its carrier are lost. */
TEST(after_lost_messages_links_are_read_again)
{
    SCOPED_TARGET target = expect_target("198.51.100.1");

    EXPECT(target, R, None);
    namespace_set_carrier("a", "b", false);
    faults_arm(&(struct fault){ .function = "recvfrom", .error = ENOBUFS, .loses = true });
    EXPECT(target, 0, NoCarrier);
    assert_non_null(faults_disarm());
}

TEST(a_lost_reply_about_the_default_path_hides_no_route)
{
    bool struck = true;

    namespace_ip("link set dev lo up; route del default; -6 route add default via 2001:db8::1");
    SCOPED_TARGET target = expect_target("0.0.0.0");
    EXPECT(target, R, None);
    for (unsigned nth = 1; struck; nth++) {
        faults_arm(&(struct fault){ .function = "recvfrom", .error = ENOBUFS, .nth = nth, .loses = true });
        assert_int_equal(expect_flags_of(target), R);
        struck = faults_disarm() != NULL;
        assert_true(nth > 4 || struck);
    }
}

static const struct batch_row {
    const char *name, *route;
} batch_rows[] = { { "half_of_ipv4", "route add 128.0.0.0/1 via 192.0.2.1" },
                   { "ipv6", "-6 route add default via 2001:db8::1" } };

/* If no IPv4 route leads to the first sample, the queries for the others go to the kernel in one send. Of half a
 * default route, only one reply tells. */
TEST_EACH(a_lost_reply_to_a_batch_makes_no_callback, batch_rows)
{
    struct watcher watcher;
    bool struck = true;

    namespace_ip("route del default");
    namespace_ip("%s", row->route);
    watcher_start(&watcher, expect_target("0.0.0.0"));
    assert_true(idle_perform(watcher.loop) >= 0);
    EXPECT(watcher.target, R, None);
    watcher.calls = 0;
    for (unsigned nth = 1; struck; nth++) {
        faults_arm(&(struct fault){ .function = "recvfrom", .error = ENOBUFS, .nth = nth, .loses = true });
        namespace_ip("link set dev a mtu %u", 1400 + nth);
        assert_true(idle_perform(watcher.loop) >= 0);
        struck = faults_disarm() != NULL;
        assert_int_equal(watcher.calls, 0);
        assert_true(nth > 4 || struck);
    }
}

/* With the lost message, the table of links is lost, too. The queries for the interfaces without the chosen route go to
 * the kernel in one send, and only one of the replies shows that half of a default route leads out of "c". */
TEST(a_lost_message_hides_no_way)
{
    SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer;
    SCNetworkReachabilityUplink ways[4];
    bool struck = true;

    namespace_add_second_pair();
    namespace_ip("route add 128.0.0.0/1 via 203.0.113.1");
    SCOPED_TARGET target = expect_option("0.0.0.0", kSCNetworkReachabilityOptionNotifyNetwork);
    for (unsigned nth = 1; struck; nth++) {
        faults_arm(&(struct fault){ .function = "recvfrom", .error = ENOBUFS, .nth = nth, .loses = true });
        if (!SCNetworkReachabilityGetNetwork(target, &network, ways, sizeof ways[0], 4))
            fail_msg("GetNetwork: %s", SCErrorString(SCError()));
        struck = faults_disarm() != NULL;
        assert_int_equal(network.uplinkCount, 2);
        assert_int_equal(network.uplinksAreComplete, 1);
        assert_true(nth > 20 || struck);
    }
}

static unsigned refusals;

/* Until then, the IPv4 default path was found. */
static ssize_t send_and_move_default(int fd, const void *bytes, size_t length, int flags)
{
    const struct nlmsghdr *header = bytes;
    const struct rtmsg *route = NLMSG_DATA(header);

    if (header->nlmsg_type != RTM_GETROUTE || route->rtm_family != AF_INET6 || refusals == 0)
        return send(fd, bytes, length, flags);
    if (--refusals == 0)
        namespace_ip("route replace default via 203.0.113.1");
    errno = ENOBUFS;
    return -1;
}

TEST(a_search_that_is_repeated_has_the_default_path_of_that_time)
{
    SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer;

    namespace_add_second_pair();
    SCOPED_TARGET target = expect_option("0.0.0.0", kSCNetworkReachabilityOptionNotifyNetwork);
    refusals = 3; /* all tries of one query */
    faults_send = send_and_move_default;
    assert_true(SCNetworkReachabilityGetNetwork(target, &network, NULL, 0, 0));
    faults_send = NULL;
    assert_int_equal(refusals, 0);
    assert_int_equal(network.ipv4.interfaceIndex, if_nametoindex("c"));
    assert_int_equal(network.uplinkCount, 1);
}

static unsigned barriers;

static ssize_t send_and_count_barriers(int fd, const void *bytes, size_t length, int flags)
{
    const struct nlmsghdr *header = bytes;

    barriers += header->nlmsg_type == RTM_GETSTATS;
    return send(fd, bytes, length, flags);
}

#define SLICED 100 /* targets: a first round evaluates 16, 32 and 52 of them */

TEST(each_slice_of_a_round_waits_for_the_barrier)
{
    SCNetworkReachabilityRef targets[SLICED];
    SCOPED_LOOP loop = SCRunLoopCreate();

    for (size_t i = 0; i < SLICED; i++) {
        targets[i] = expect_target("198.51.100.1");
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(targets[i], loop, kSCRunLoopDefaultMode));
    }
    barriers = 0;
    faults_send = send_and_count_barriers;
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    faults_send = NULL;
    assert_int_equal(barriers, 3 + 1); /* one when the filter is opened for messages about the gateway */
    for (size_t i = 0; i < SLICED; i++) {
        assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(targets[i], loop, kSCRunLoopDefaultMode));
        SCNetworkReachabilityRelease(targets[i]);
    }
}

/* Only calls that succeed count. */
static ssize_t fail_once(int fd, const void *bytes, size_t length, int flags)
{
    faults_send = send_and_count_barriers;
    (void)fd, (void)bytes, (void)length, (void)flags;
    errno = ENOMEM;
    return -1;
}

TEST(a_query_after_a_failed_one_waits_for_the_barrier)
{
    SCNetworkReachabilityRef targets[2] = { expect_target("203.0.113.2"), expect_target("198.51.100.1") };
    SCOPED_LOOP loop = SCRunLoopCreate();

    namespace_ip("route add 203.0.113.0/24 via 192.0.2.1"); /* another route: the targets do not share */
    for (size_t i = 0; i < 2; i++)
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(targets[i], loop, kSCRunLoopDefaultMode));
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    namespace_ip("route del default; route del 203.0.113.0/24");
    barriers = 0;
    faults_send = fail_once;
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    assert_int_equal(expect_flags_of(targets[1]), 0);
    faults_send = NULL;
    assert_int_equal(barriers, 1);
    for (size_t i = 0; i < 2; i++) {
        assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(targets[i], loop, kSCRunLoopDefaultMode));
        SCNetworkReachabilityRelease(targets[i]);
    }
}

static ssize_t send_without_rules(int fd, const void *bytes, size_t length, int flags)
{
    return send_unless(RTM_GETRULE, fd, bytes, length, flags);
}

/* So many targets share answers, if they can. The sandbox begins before or after the first round. */
static void expect_changes_of_many(ssize_t (*send_some)(int fd, const void *bytes, size_t length, int flags),
                                   bool first)
{
    SCNetworkReachabilityRef targets[SLICED];
    SCOPED_LOOP loop = SCRunLoopCreate();

    if (first)
        faults_send = send_some;
    for (size_t i = 0; i < SLICED; i++) {
        targets[i] = expect_target("198.51.100.1");
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(targets[i], loop, kSCRunLoopDefaultMode));
    }
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    faults_send = send_some;
    namespace_ip("route del default");
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    faults_send = NULL;
    for (size_t i = 0; i < SLICED; i++) {
        assert_int_equal(expect_flags_of(targets[i]), 0);
        assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(targets[i], loop, kSCRunLoopDefaultMode));
        SCNetworkReachabilityRelease(targets[i]);
    }
}

TEST(changes_count_though_rules_cannot_be_read)
{
    expect_changes_of_many(send_without_rules, true);
}

TEST(changes_of_shared_answers_count_though_queries_are_refused)
{
    expect_changes_of_many(send_nothing, false);
}

static int other_program = -1; /* its socket */
static unsigned deleted_link;

/* Another program deletes a link. Its request has the sequence number of our query, and so have the messages about it:
 * NLM_F_ECHO asks for that. */
static ssize_t send_after_deletion(int fd, const void *bytes, size_t length, int flags)
{
    const struct nlmsghdr *header = bytes;
    struct {
        struct nlmsghdr header;
        struct ifinfomsg info;
    } request = { { .nlmsg_len = sizeof request, .nlmsg_type = RTM_DELLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO },
                  { .ifi_index = (int)deleted_link } };

    if (header->nlmsg_type == RTM_GETROUTE && deleted_link != 0) {
        request.header.nlmsg_seq = header->nlmsg_seq;
        assert_int_equal(send(other_program, &request, sizeof request, 0), sizeof request);
        deleted_link = 0;
    }
    return send(fd, bytes, length, flags);
}

TEST(a_message_about_the_request_of_another_program_is_no_reply)
{
    SCOPED_TARGET target = expect_target("198.51.100.1");

    namespace_ip("link add name c type veth peer name d");
    deleted_link = if_nametoindex("c");
    other_program = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    assert_true(other_program >= 0);
    EXPECT(target, R, None);
    faults_send = send_after_deletion;
    EXPECT(target, R, None);
    assert_int_equal(deleted_link, 0);
    faults_send = NULL;
    assert_int_equal(if_nametoindex("c"), 0);
    close(other_program);
}

TEST(a_failed_query_writes_nothing)
{
    SCNetworkReachabilityFlags flags = 77;
    SCOPED_TARGET target = expect_target("198.51.100.1");

    faults_arm(&(struct fault){ .function = "recvfrom", .error = EBADF });
    assert_false(SCNetworkReachabilityGetFlags(target, &flags));
    assert_non_null(faults_disarm());
    assert_int_equal(SCError(), EBADF);
    assert_int_equal(flags, 77);
}

/* Drives the loop until the callback comes. The getters of a test would allocate memory. */
static void expect_call(struct watcher *watcher, SCNetworkReachabilityFlags flags)
{
    const int calls = watcher->calls + 1;

    while (watcher->calls < calls)
        assert_true(SCRunLoopPerform(watcher->loop, 10) > 0);
    assert_int_equal(watcher->flags, flags);
}

TEST(reporting_a_change_allocates_no_memory)
{
    static const char *const functions[] = { "malloc", "calloc", "realloc" };
    struct watcher address, any;

    namespace_ip("link set dev lo up");
    watcher_start(&address, expect_option("198.51.100.1", kSCNetworkReachabilityOptionNotifyPath));
    watcher_start(&any, expect_target("0.0.0.0"));
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        for (int j = 0; j < 20; j++) {
            namespace_ip("route del default");
            faults_arm(&(struct fault){ .function = functions[i], .error = ENOMEM, .count = FAULT_LASTS });
            expect_call(&address, 0);
            faults_disarm();
            assert_int_equal(faults_struck(), 0);
            namespace_ip("route add default via 192.0.2.1");
            faults_arm(&(struct fault){ .function = functions[i], .error = ENOMEM, .count = FAULT_LASTS });
            expect_call(&address, R);
            assert_true(SCRunLoopPerform(any.loop, 0) >= 0);
            faults_disarm();
            assert_int_equal(faults_struck(), 0);
        }
}

/* ---- Dumps ------------------------------------------------------------------------------------------------------ */

#define PORTS 40 /* their links do not fit in one datagram */

static struct writer changes;
static int changed;

/* Not on the stack: if a test fails, they stay open. */
static struct netlink netlink;
static struct rtnetlink rtnetlink;

/* The kernel writes the first part of a dump during the send, and the others when they are read. It sets a flag if the
 * links change in between. */
static ssize_t send_and_change(int fd, const void *bytes, size_t length, int flags)
{
    const struct nlmsghdr *header = bytes;
    const ssize_t sent = send(fd, bytes, length, flags);
    char names[2][16];

    if (header->nlmsg_type != RTM_GETLINK || (header->nlmsg_flags & NLM_F_DUMP) == 0)
        return sent;
    snprintf(names[0], sizeof names[0], "m%d", changed);
    snprintf(names[1], sizeof names[1], "n%d", changed++);
    assert_int_equal(writer_link_add_pair(&changes, names[0], names[1]), 0);
    return sent;
}

static void begin_many(void)
{
    begin();
    assert_int_equal(writer_open(&changes), 0);
    changed = 0;
    namespace_ip("link add name bridge0 type bridge");
    for (int i = 0; i < PORTS; i++) {
        namespace_ip("link add name p%d type veth peer name q%d", i, i);
        namespace_ip("link set dev p%d master bridge0", i);
    }
    faults_send = send_and_change;
}

static void end_many(void)
{
    faults_send = NULL;
    writer_close(&changes);
}

static void count(void *info, const struct nlmsghdr *message)
{
    (void)message;
    ++*(int *)info;
}

static int count_interfaces(void)
{
    struct if_nameindex *all = if_nameindex();
    int total = 0;

    assert_non_null(all);
    while (all[total].if_index != 0)
        total++;
    if_freenameindex(all);
    return total;
}

TEST_WITH(NULL, NULL, an_interrupted_dump_is_repeated)
{
    static _Alignas(struct nlmsghdr) char buffer[NETLINK_BUFFER_SIZE];
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    struct nlmsghdr *header = (struct nlmsghdr *)request;
    int links = 0;

    begin_many();
    assert_int_equal(reach_netlink_open_requests(NULL, NETLINK_ROUTE, &netlink), 0);
    reach_message_put_link_dump(request, 0);
    assert_int_equal(reach_netlink_exchange(&netlink, header, buffer, count, &links), EAGAIN);
    assert_int_equal(changed, 1);
    assert_true(links > 2 * PORTS);
    faults_send = NULL;
    reach_message_put_link_dump(request, 0);
    links = 0;
    assert_int_equal(reach_netlink_exchange(&netlink, header, buffer, count, &links), 0);
    assert_int_equal(links, count_interfaces());
    reach_netlink_close(&netlink);
    end_many();
}

TEST_WITH(NULL, NULL, a_datagram_that_does_not_fit_is_an_error)
{
    static _Alignas(struct nlmsghdr) char buffer[NETLINK_BUFFER_SIZE];
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];

    begin_many();
    faults_send = NULL;
    assert_int_equal(reach_netlink_open_requests(NULL, NETLINK_ROUTE, &netlink), 0);
    assert_int_equal(netlink_send(&netlink, request, reach_message_put_link_dump(request, 0)), 0);
    assert_int_equal(netlink_receive(&netlink, buffer, 64), -EMSGSIZE);
    reach_netlink_close(&netlink);
    end_many();
}

TEST_WITH(NULL, NULL, new_links_during_a_query_do_not_delay_it)
{
    struct link bridge;

    begin_many();
    assert_int_equal(reach_link_type_query(NULL, if_nametoindex("bridge0"), &bridge), 0);
    assert_true(changed > 0);
    assert_true(bridge.carried);
    assert_int_equal(bridge.type, kSCNetworkReachabilityInterfaceTypeVirtual);
    changed = 10;
    assert_int_equal(reach_rtnetlink_open(&rtnetlink, RTNETLINK_ALL, NULL), 0);
    assert_int_equal(reach_rtnetlink_read_links(&rtnetlink), 0);
    assert_int_equal(changed, 10 + NETLINK_DUMP_TRIES);
    assert_true(rtnetlink.links.count > 2 * PORTS);
    reach_rtnetlink_close(&rtnetlink);
    end_many();
}

/* ---- Sockets of others ------------------------------------------------------------------------------------------ */

/* A kernel or a sandbox that does not report sockets is no error. */
TEST(a_lack_of_resources_is_an_error)
{
    static const struct {
        struct fault fault;
        int error;
    } rows[] = {
        { { .function = "socket", .error = EMFILE }, EMFILE },
        { { .function = "malloc", .error = ENOMEM }, ENOMEM },
        { { .function = "send", .error = ENOBUFS }, ENOBUFS },
        { { .function = "socket", .error = EPROTONOSUPPORT }, 0 },
        { { .function = "socket", .error = EPERM }, 0 },
        { { .function = "send", .error = EACCES }, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t size = 7;

        faults_arm(&rows[i].fault);
        assert_int_equal(reach_sock_diag_udp_send_buffer(NULL, 51820, &size), rows[i].error);
        assert_non_null(faults_disarm());
        assert_int_equal(size, rows[i].error == 0 ? 0 : 7);
    }
}

/* ---- Files ------------------------------------------------------------------------------------------------------ */

/* An unreadable file does not mean that it is empty. */
TEST(an_unreadable_file_is_an_error)
{
    static const struct {
        struct fault fault;
        int error;
    } rows[] = {
        { { .function = "open", .error = EINTR, .count = 3 }, 0 },
        { { .function = "open", .error = EMFILE }, EMFILE },
        { { .function = "read", .error = EINTR, .count = 3 }, 0 },
        { { .function = "read", .error = EIO }, EIO },
        { { .function = "read", .error = EIO, .nth = 2 }, EIO },
        { { .function = "read", .error = EISDIR }, 0 }, /* a directory counts as empty */
    };
    size_t length;
    char *bytes;

    etc_require("127.0.0.1");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        faults_arm(&rows[i].fault);
        bytes = NULL;
        assert_int_equal(reach_file_read(ETC_RESOLV_CONF, 4096, &bytes, &length), rows[i].error);
        assert_non_null(faults_disarm());
        assert_true((bytes != NULL) == (rows[i].error == 0));
        free(bytes);
    }
}

UNIT(.setup = begin)
