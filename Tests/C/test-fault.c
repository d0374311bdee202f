/* SPDX-License-Identifier: MIT */
/* What the kernel's refusals do: none is taken for an answer, and none makes an answer stay wrong. The calls are wrapped
 * at link time. */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "namespace.h"
#include "watcher.h"

ssize_t __real_send(int fd, const void *bytes, size_t length, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags);
ssize_t __real_recvfrom(int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length);
ssize_t __wrap_recvfrom(int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length);

static int  sends_to_fail, receives_to_pass, receives_to_fail, receive_error;
static bool has_no_ipv6;

/* A kernel without IPv6 answers as it would to any family that it has not: as if to a question about such a family. */
static ssize_t send_without_ipv6(int fd, const void *bytes, size_t length, int flags)
{
    _Alignas(struct nlmsghdr) char copy[1024];
    size_t                         left = length;

    assert_true(length <= sizeof copy);
    memcpy(copy, bytes, length);
    for (char *next = copy; left >= sizeof(struct nlmsghdr);) {
        struct nlmsghdr *header = (struct nlmsghdr *)next;
        struct rtmsg    *route = NLMSG_DATA(header);

        if (header->nlmsg_type == RTM_GETROUTE && route->rtm_family == AF_INET6)
            route->rtm_family = AF_APPLETALK;
        left -= NLMSG_ALIGN(header->nlmsg_len);
        next += NLMSG_ALIGN(header->nlmsg_len);
    }
    return __real_send(fd, copy, length, flags);
}

ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags)
{
    if (sends_to_fail > 0) {
        sends_to_fail--;
        errno = ENOBUFS;
        return -1;
    }
    return has_no_ipv6 ? send_without_ipv6(fd, bytes, length, flags) : __real_send(fd, bytes, length, flags);
}

ssize_t __wrap_recvfrom(int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
    if (receives_to_fail > 0 && receives_to_pass-- <= 0) {
        receives_to_fail--;
        errno = receive_error;
        return -1;
    }
    return __real_recvfrom(fd, bytes, size, flags, from, length);
}

static void begin(void)
{
    sends_to_fail = receives_to_pass = receives_to_fail = 0;
    has_no_ipv6 = false;
    namespace_require();
    namespace_add_pair();
    namespace_ip("route add default via 192.0.2.1");
}

static void a_question_that_failed_is_put_again_though_others_went_well(void **state)
{
    struct watcher watcher = { 0 }, other = { 0 };

    (void)state;
    begin();
    watcher_start(&watcher, expect_target("198.51.100.1"));
    other.loop = watcher.loop;
    namespace_ip("route del default");
    sends_to_fail = 3; /* as often as one question is tried */
    assert_int_equal(SCRunLoopPerform(watcher.loop, 0), 0);
    assert_int_equal(sends_to_fail, 0);
    watcher_schedule(&other, expect_target("192.0.2.9"));
    EXPECT_CHANGE(&watcher, 0);
    watcher_stop(&other);
    watcher_stop(&watcher);
}

static void an_error_in_the_middle_of_the_events_is_told_and_made_good(void **state)
{
    struct watcher watcher = { 0 };

    (void)state;
    begin();
    watcher_start(&watcher, expect_target("198.51.100.1"));
    namespace_ip("route del default");
    receives_to_pass = 1; /* the message that would be lost */
    receives_to_fail = 1;
    receive_error = ENOMEM;
    if (SCRunLoopPerform(watcher.loop, 0) < 0)
        assert_int_equal(SCError(), ENOMEM);
    assert_int_equal(receives_to_fail, 0);
    if (watcher.calls == 0)
        EXPECT_CHANGE(&watcher, 0);
    assert_int_equal(watcher.flags, 0);
    watcher_stop(&watcher);
}

static void a_kernel_without_ipv6_has_no_ipv6_route(void **state)
{
    SCNetworkReachabilityFlags flags = 0;
    SCNetworkReachabilityRef   localhost;

    (void)state;
    begin();
    localhost = SCNetworkReachabilityCreateWithName(NULL, "localhost");
    namespace_ip("link set lo up");
    has_no_ipv6 = true;
    assert_true(SCNetworkReachabilityGetFlags(localhost, &flags));
    assert_int_equal(flags, R | L | D);
    SCNetworkReachabilityRelease(localhost);
    EXPECT_ADDRESS("2001:db8::9", 0, NoRoute);
    EXPECT_ADDRESS("0.0.0.0", R, None);
    namespace_ip("route del default");
    EXPECT_ADDRESS("0.0.0.0", 0, NoRoute);
}

static void messages_lost_in_front_of_an_answer_do_not_spoil_it(void **state)
{
    SCNetworkReachabilityRef target;

    (void)state;
    begin();
    target = expect_target("198.51.100.1");
    EXPECT(target, R, None);
    receives_to_fail = 1;
    receive_error = ENOBUFS;
    EXPECT(target, R, None);
    assert_int_equal(receives_to_fail, 0);
    SCNetworkReachabilityRelease(target);
}

static void a_failure_to_ask_writes_nothing(void **state)
{
    SCNetworkReachabilityRef   target;
    SCNetworkReachabilityFlags flags = 77;

    (void)state;
    begin();
    target = expect_target("198.51.100.1");
    receives_to_fail = 1;
    receive_error = EBADF;
    assert_false(SCNetworkReachabilityGetFlags(target, &flags));
    assert_int_equal(SCError(), EBADF);
    assert_int_equal(flags, 77);
    SCNetworkReachabilityRelease(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_that_failed_is_put_again_though_others_went_well),
        cmocka_unit_test(an_error_in_the_middle_of_the_events_is_told_and_made_good),
        cmocka_unit_test(a_kernel_without_ipv6_has_no_ipv6_route),
        cmocka_unit_test(messages_lost_in_front_of_an_answer_do_not_spoil_it),
        cmocka_unit_test(a_failure_to_ask_writes_nothing),
    };

    return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
