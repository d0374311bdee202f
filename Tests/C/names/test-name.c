/* SPDX-License-Identifier: MIT */
/* Host names: the flags for each reply of a name server, the flags before it, the callbacks, and when a name is looked
 * up again. test-refresh.c has what depends on the clock. */
#include <dlfcn.h>
#include <locale.h>
#include <semaphore.h>

#include "pure/address.h"
#include "support/limits.h"
#include "support/names.h"
#include "support/test.h"

static struct watcher watcher; /* stopped at the end of each test */

/* Sets resolv.conf to what it is, in another length: a change. */
static void touch_resolv_conf(void)
{
    static unsigned count;
    char text[128];

    snprintf(text, sizeof text, "# %0*d\nnameserver 192.0.2.2\noptions timeout:5 attempts:1\n", (int)(++count % 20) + 1,
             0);
    etc_write(ETC_RESOLV_CONF, text);
}

/* A name without an address makes one callback. */
#define EXPECT_FAILURE(name, reason) \
    do { \
        struct watcher failed; \
        NAMES_RESOLVE(&failed, name, 0); \
        EXPECT(failed.target, 0, reason); \
        EXPECT_ADDRESSES(failed.target, ""); \
        EXPECT_QUIET(&failed); \
        watcher_stop(&failed); \
    } while (0)

/* A callback without a watcher. */
static struct {
    sem_t called;
    atomic_int calls;
    SCNetworkReachabilityFlags flags;
} received;

static void note_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)info;
    received.calls++;
    received.flags = flags;
    sem_post(&received.called);
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

TEST(a_name_has_the_flags_of_its_address)
{
    NAMES_RESOLVE(&watcher, "v4only.test", R);
    EXPECT(watcher.target, R, None);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7");
    EXPECT_DESTINATION(watcher.target, "198.51.100.7");
    EXPECT_INTERFACE(watcher.target, "a");
    EXPECT_GATEWAY(watcher.target, "192.0.2.1");
    EXPECT_SOURCE(watcher.target, "192.0.2.2");
    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(watcher.target, NULL, 0), 1);
}

TEST(a_name_with_only_an_ipv6_address_uses_it)
{
    NAMES_RESOLVE(&watcher, "v6only.test", R);
    EXPECT_ADDRESSES(watcher.target, "2001:db8:1::7");
    EXPECT_GATEWAY(watcher.target, "2001:db8::1");
    AFTER("-6 route delete default", EXPECT_CHANGE(&watcher, 0));
    EXPECT(watcher.target, 0, NoRoute);
}

TEST(a_name_on_link_is_direct_and_an_own_name_is_local)
{
    nameserver_move(names_server, "192.0.2.9");
    NAMES_RESOLVE(&watcher, "moves.test", R | D);
    watcher_stop(&watcher);
    nameserver_move(names_server, "192.0.2.2");
    NAMES_RESOLVE(&watcher, "moves.test", R | L | D);
}

/* The source of a socket that is connected to the address. */
static void expect_connected(const char *address, const char *wanted)
{
    const struct sockaddr_storage remote = expect_sockaddr(address);
    struct sockaddr_storage local = { 0 };
    socklen_t length = sizeof local;
    const int fd = socket(remote.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct address source;
    uint32_t scope;
    char text[46];

    assert_int_equal(connect(fd, (const struct sockaddr *)&remote, reach_address_sockaddr_length(remote.ss_family)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&local, &length), 0);
    close(fd);
    source = reach_address_from_sockaddr((const struct sockaddr *)&local, &scope);
    reach_address_format(&source, text);
    assert_string_equal(text, wanted);
}

/* Name servers that block names, and lists of hosts, have such addresses. */
static void expect_this_machine(const char *address, const char *wanted)
{
    etc_write(ETC_HOSTS, unit_text("%s blocked.test\n", address));
    NAMES_RESOLVE(&watcher, "blocked.test", R | L | D);
    expect_connected(address, wanted);
    EXPECT_ADDRESSES(watcher.target, wanted);
    EXPECT_DESTINATION(watcher.target, wanted);
    EXPECT_SOURCE(watcher.target, wanted);
    EXPECT_INTERFACE(watcher.target, "lo");
    watcher_stop(&watcher);
    nameserver_move(names_server, address);
    NAMES_RESOLVE(&watcher, "moves.test", R | L | D);
    EXPECT_ADDRESSES(watcher.target, wanted);
    watcher_stop(&watcher);
}

TEST(an_unspecified_address_of_a_name_is_this_machine)
{
    expect_this_machine("0.0.0.0", "127.0.0.1");
    expect_this_machine("::", "::1");
    namespace_ip("route delete default; -6 route delete default");
    expect_this_machine("0.0.0.0", "127.0.0.1");
    expect_this_machine("::", "::1");
}

TEST(the_resolvers_order_is_kept)
{
    NAMES_RESOLVE(&watcher, "two.test", R);
    EXPECT_ADDRESSES(watcher.target, "203.0.113.7 198.51.100.7");
    EXPECT_DESTINATION(watcher.target, "203.0.113.7");
    watcher_stop(&watcher);
    NAMES_RESOLVE(&watcher, "ok.test", R);
    EXPECT_ADDRESSES(watcher.target, "2001:db8:1::7 198.51.100.7"); /* RFC 6724 */
    EXPECT_DESTINATION(watcher.target, "2001:db8:1::7");
}

/* The path shows that address, before and after the change. */
TEST(the_first_usable_address_counts)
{
    namespace_add_second_pair();
    namespace_ip("route add 198.51.100.0/24 via 203.0.113.1; route add 203.0.113.7/32 via 192.0.2.1");
    NAMES_RESOLVE(&watcher, "two.test", R);
    EXPECT_INTERFACE(watcher.target, "a");
    AFTER("route replace prohibit 203.0.113.7/32", EXPECT_CHANGE(&watcher, R));
    EXPECT_DESTINATION(watcher.target, "198.51.100.7");
    EXPECT_INTERFACE(watcher.target, "c");
    EXPECT_GATEWAY(watcher.target, "203.0.113.1");
    EXPECT_ADDRESSES(watcher.target, "203.0.113.7 198.51.100.7");
    AFTER("route add prohibit 198.51.100.7/32", EXPECT_CHANGE(&watcher, 0));
    EXPECT(watcher.target, 0, RouteProhibited);
    AFTER("route replace 203.0.113.7/32 via 192.0.2.1", EXPECT_CHANGE(&watcher, R));
    EXPECT_DESTINATION(watcher.target, "203.0.113.7");
    assert_int_equal(names_queried("two.test"), 1); /* not the server's order */
}

TEST(a_family_without_a_route_counts_as_none)
{
    namespace_ip("-6 route delete default");
    NAMES_RESOLVE(&watcher, "ok.test", R);
    EXPECT_DESTINATION(watcher.target, "198.51.100.7");
    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(watcher.target, NULL, 0), 2);
}

TEST(a_missing_name_is_not_found)
{
    EXPECT_FAILURE("nx.test", NameNotFound);
    EXPECT_FAILURE("nodata.test", NameNotFound);
}

TEST(a_failing_or_refusing_server_is_a_failure)
{
    EXPECT_FAILURE("servfail.test", NameServerFailure);
    EXPECT_FAILURE("refused.test", NameServerFailure);
    nameserver_stop(names_server); /* the port is closed */
    EXPECT_FAILURE("ok.test", NameServerFailure);
}

TEST(a_silent_server_is_a_failure)
{
    etc_set_servers("192.0.2.2", 1);
    EXPECT_FAILURE("drop.test", NameServerFailure);
}

TEST(a_slow_reply_is_accepted)
{
    watcher_schedule(&watcher, expect_name("slow200.test"));
    EXPECT(watcher.target, R, NamePending);
    EXPECT_CHANGE(&watcher, R);
    EXPECT(watcher.target, R, None);
}

TEST(a_truncated_reply_is_queried_over_tcp)
{
    struct sockaddr_storage addresses[64];

    NAMES_RESOLVE(&watcher, "trunc.test", R);
    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(watcher.target, addresses, 64), 60);
    assert_int_equal(expect_path_of(watcher.target).addressCount, 60);
    assert_true(nameserver_count_tcp(names_server) > 0);
}

TEST_WITH(NULL, NULL, a_server_may_have_an_ipv6_address)
{
    static const char *const servers[] = { "::1", "2001:db8::2" };

    for (size_t i = 0; i < 2; i++) {
        names_begin();
        etc_set_servers(servers[i], 5);
        NAMES_RESOLVE(&watcher, "v4only.test", R);
        watcher_stop(&watcher);
        names_end();
    }
}

TEST_WITH(NULL, NULL, a_server_without_a_route_is_unreachable)
{
    names_begin_far("198.51.100.53");
    namespace_ip("route delete default");
    NAMES_RESOLVE(&watcher, "v4only.test", 0);
    EXPECT(watcher.target, 0, NameServerUnreachable);
    EXPECT_QUIET(&watcher);
    AFTER("route add default via 192.0.2.1", EXPECT_CHANGE(&watcher, R));
    EXPECT(watcher.target, R, None);
}

/* As VPNs have it. */
TEST_WITH(NULL, NULL, the_path_to_a_server_is_that_of_udp_packets_to_port_53)
{
    names_begin_far("198.51.100.53");
    namespace_ip(
        "route replace prohibit default; rule add ipproto 17 dport 53 lookup 100; rule add ipproto 6 lookup 9");
    namespace_ip("route add default via 192.0.2.1 table 100");
    EXPECT_FAILURE("servfail.test", NameServerFailure);
    namespace_ip("route replace prohibit default table 100; route replace default via 192.0.2.1");
    NAMES_RESOLVE(&watcher, "v4only.test", 0);
    EXPECT(watcher.target, 0, NameServerUnreachable);
    AFTER("route replace default via 192.0.2.1 table 100", EXPECT_CHANGE(&watcher, R));
}

/* Whether the default path decides if servers are reachable. Otherwise, that is the path to the server 203.0.113.53,
 * which has a route of its own. */
static void expect_default_path_decides(bool decides)
{
    namespace_ip("route replace prohibit 203.0.113.53/32");
    if (decides)
        EXPECT_FAILURE("servfail.test", NameServerFailure);
    else
        EXPECT_FAILURE("servfail.test", NameServerUnreachable);
    namespace_ip("route replace 203.0.113.53/32 dev lo; route replace prohibit default");
    if (decides)
        EXPECT_FAILURE("servfail.test", NameServerUnreachable);
    else
        EXPECT_FAILURE("servfail.test", NameServerFailure);
    namespace_ip("route replace default via 192.0.2.1");
}

TEST(servers_on_this_machine_are_as_reachable_as_the_default_path)
{
    static const char *const servers[] = { "127.0.0.53", "127.0.0.1 ::1", "" };

    namespace_ip("-6 route delete default");
    for (size_t i = 0; i < 3; i++) {
        etc_set_servers(servers[i], 1);
        expect_default_path_decides(true);
    }
    etc_remove(ETC_RESOLV_CONF);
    expect_default_path_decides(true);
}

TEST(a_stub_is_as_reachable_as_its_upstream_servers)
{
    namespace_ip("-6 route delete default");
    etc_set_servers("127.0.0.53", 1);
    etc_make_directory("/run/systemd");
    etc_make_directory("/run/systemd/resolve");
    etc_write(ETC_UPSTREAM, "nameserver 203.0.113.53\n");
    expect_default_path_decides(false);
    etc_write(ETC_UPSTREAM, "# none\n");
    expect_default_path_decides(true);
    etc_write(ETC_UPSTREAM, "nameserver 127.0.0.54\n");
    expect_default_path_decides(true);
}

TEST(a_server_on_this_machine_beside_others_does_not_count)
{
    namespace_ip("-6 route delete default");
    etc_set_servers("127.0.0.1 203.0.113.53", 1);
    expect_default_path_decides(false);
}

TEST(a_restarted_server_is_queried_again)
{
    nameserver_stop(names_server);
    NAMES_RESOLVE(&watcher, "v4only.test", 0);
    nameserver_start(names_server);
    EXPECT_CHANGE(&watcher, R); /* at least a second after the failure */
}

TEST(a_new_name_is_found_when_the_resolver_files_change)
{
    nameserver_move(names_server, "");
    NAMES_RESOLVE(&watcher, "moves.test", 0);
    EXPECT(watcher.target, 0, NameNotFound);
    nameserver_move(names_server, "198.51.100.7");
    touch_resolv_conf();
    EXPECT_CHANGE(&watcher, R);
    EXPECT(watcher.target, R, None);
}

TEST(a_deleted_name_is_not_found)
{
    nameserver_move(names_server, "198.51.100.7");
    NAMES_RESOLVE(&watcher, "moves.test", R);
    nameserver_move(names_server, "");
    touch_resolv_conf();
    EXPECT_CHANGE(&watcher, 0);
    EXPECT(watcher.target, 0, NameNotFound);
    EXPECT_ADDRESSES(watcher.target, "");
}

TEST(addresses_survive_a_failing_server)
{
    nameserver_move(names_server, "198.51.100.7");
    NAMES_RESOLVE(&watcher, "moves.test", R);
    nameserver_move(names_server, NULL);
    touch_resolv_conf();
    names_drive_until(&watcher, "moves.test", 2);
    names_settle(&watcher);
    EXPECT_QUIET(&watcher);
    EXPECT(watcher.target, R, None);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7");
}

/* ---- Without a server ------------------------------------------------------------------------------------------- */

TEST(a_literal_is_known_at_once_and_makes_no_callback)
{
    static const char *const literals[] = { "198.51.100.7", "198.51.25607", "0xc6.51.100.7", "2001:db8:1::7" };

    for (size_t i = 0; i < 4; i++) {
        watcher_schedule(&watcher, expect_name(literals[i]));
        EXPECT(watcher.target, R, None);
        EXPECT_QUIET(&watcher);
        watcher_stop(&watcher);
    }
    assert_int_equal(nameserver_count(names_server, NULL, NAMESERVER_A), 0);
    assert_int_equal(names_count_threads(), 0);
}

TEST_WITH(NULL, NULL, localhost_is_reachable_offline)
{
    static const char *const names[] = { "localhost", "LOCALHOST.", "a.localhost" };

    namespace_require();
    etc_require("192.0.2.2");
    namespace_ip("link set dev lo up");
    for (size_t i = 0; i < 3; i++) {
        EXPECT_ONCE(expect_name(names[i]), R | L | D, None);
        NAMES_RESOLVE(&watcher, names[i], R | L | D);
        EXPECT_ADDRESSES(watcher.target, "127.0.0.1 ::1");
        EXPECT_QUIET(&watcher);
        watcher_stop(&watcher);
    }
    assert_int_equal(names_count_threads(), 0);
}

TEST_WITH(NULL, NULL, names_in_hosts_need_no_server_and_no_network)
{
    namespace_require();
    etc_require("192.0.2.2");
    namespace_ip("link set dev lo up");
    etc_write(ETC_HOSTS, "127.0.0.1 me # myself\n203.0.113.7 Box.test box\n2001:db8:9::1 six\n");
    NAMES_RESOLVE(&watcher, "me", R | L | D);
    EXPECT_ADDRESSES(watcher.target, "127.0.0.1");
    watcher_stop(&watcher);
    NAMES_RESOLVE(&watcher, "box.test", 0);
    EXPECT(watcher.target, 0, NoRoute);
    EXPECT_ADDRESSES(watcher.target, "203.0.113.7");
    watcher_stop(&watcher);
    NAMES_RESOLVE(&watcher, "six", 0);
    EXPECT_ADDRESSES(watcher.target, "2001:db8:9::1");
    watcher_stop(&watcher);
    EXPECT_FAILURE("other.test", NameServerUnreachable);
}

TEST(impossible_names_are_not_found)
{
    static const char *const names[] = { "https://x", "a b",      "ok.test/", "ok.test/path",
                                         " ",         "ok..test", "x\ny",     "\xff\xfe" };
    char label[70], whole[1025];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        EXPECT_FAILURE(names[i], NameNotFound);
    memset(label, 'x', sizeof label);
    label[sizeof label - 1] = '\0';
    EXPECT_FAILURE(label, NameNotFound);
    memset(whole, 'x', sizeof whole);
    whole[sizeof whole - 1] = '\0';
    EXPECT_FAILURE(whole, NameNotFound);
    for (size_t i = 1; i < 1024; i += 2)
        whole[i] = '.';
    EXPECT_FAILURE(whole, NameNotFound);
}

/* ---- Pending names ---------------------------------------------------------------------------------------------- */

/* The flags and reason of an unscheduled target, and of a scheduled one while the server sends no reply. */
#define EXPECT_PENDING(flags) \
    do { \
        struct watcher pending; \
        const char *name = name_without_an_answer(); \
        EXPECT_ONCE(expect_name(name), flags, NamePending); \
        watcher_schedule(&pending, expect_name(name)); \
        EXPECT(pending.target, flags, NamePending); \
        EXPECT_ADDRESSES(pending.target, ""); \
        EXPECT_QUIET(&pending); \
        EXPECT(pending.target, flags, NamePending); \
        watcher_stop(&pending); \
        nameserver_release(names_server, name); /* if it was queried in time, its look-up ends now */ \
    } while (0)

/* A new name each time. */
static const char *name_without_an_answer(void)
{
    static char name[32];
    static unsigned count;

    snprintf(name, sizeof name, "held%u.test", ++count);
    return name;
}

TEST(a_pending_name_has_the_flags_of_the_default_path)
{
    static const char *const servers[] = { "192.0.2.2", "192.0.2.53", "203.0.113.53", "fe80::53%a", "127.0.0.1", "" };

    EXPECT_PENDING(R);
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++) {
        etc_set_servers(servers[i], 30);
        EXPECT_ONCE(expect_name("ok.test"), R, NamePending);
    }
    etc_remove(ETC_RESOLV_CONF);
    EXPECT_PENDING(R);
    AFTER("route replace prohibit default; -6 route delete default", EXPECT_PENDING(0));
}

/* Programs would report "reachable" without a network. */
TEST(a_pending_name_is_not_reachable_over_a_link_without_a_default_route)
{
    namespace_ip("route delete default; -6 route delete default");
    EXPECT_PENDING(0); /* the server has an address of this machine */
    etc_set_servers("192.0.2.53", 30);
    EXPECT_ONCE(expect_name("ok.test"), 0, NamePending);
}

/* The default path says nothing about the host. */
TEST(a_pending_name_is_neither_direct_nor_local)
{
    AFTER("route replace default dev a", EXPECT_ADDRESS("0.0.0.0", R | D, None));
    EXPECT_PENDING(R);
}

TEST(a_pending_name_is_transient_over_a_tunnel)
{
    const int tun = namespace_require_tun("t0");

    AFTER("route replace default dev t0", EXPECT_PENDING(R | T));
    close(tun);
}

TEST(a_pending_name_has_the_path_of_the_default_route)
{
    SCOPED_TARGET target = expect_name("ok.test");

    EXPECT_INTERFACE(target, "a");
    EXPECT_GATEWAY(target, "192.0.2.1");
    EXPECT_SOURCE(target, "192.0.2.2");
    EXPECT_DESTINATION(target, "none");
}

/* The flags before and after the first result, over the interface and with the mark that the options name. */
static void expect_bound_pending(const char *interface, uint32_t mark, SCNetworkReachabilityFlags flags)
{
    SCNetworkReachabilityRef target = names_bound_target("held.test", interface, mark);

    EXPECT(target, flags, NamePending);
    watcher_schedule(&watcher, target);
    EXPECT(target, flags, NamePending);
    watcher_stop(&watcher);
}

TEST(a_pending_name_has_its_own_interface_and_mark)
{
    namespace_ip("-6 route delete default; rule add fwmark 7 prohibit");
    expect_bound_pending("a", 0, R);
    expect_bound_pending("", 7, 0);
    expect_bound_pending("c", 0, 0); /* there is no such interface */
    namespace_add_second_pair();
    expect_bound_pending("c", 0, 0);
    namespace_ip("route add default dev c metric 1");
    expect_bound_pending("c", 0, R);
    expect_bound_pending("c", 7, 0);
    nameserver_release(names_server, "held");
}

TEST(unscheduled_names_are_not_looked_up)
{
    SCOPED_TARGET target = expect_name("ok.test");
    EXPECT(target, R, NamePending);
    EXPECT_ADDRESSES(target, "");
    assert_int_equal(names_count_threads(), 0);
    assert_int_equal(nameserver_count(names_server, NULL, NAMESERVER_A), 0);
}

TEST(the_flags_of_a_pending_name_follow_the_network)
{
    etc_set_servers("127.0.0.1", 30);
    watcher_schedule(&watcher, expect_name("held.test"));
    names_await_queries("held.test", 1);
    EXPECT_QUIET(&watcher);
    AFTER("-6 route delete default; route delete default", EXPECT_END(&watcher, 0));
    EXPECT(watcher.target, 0, NamePending);
    AFTER("route add default dev a", EXPECT_CHANGE(&watcher, R));
    EXPECT(watcher.target, R, NamePending);
    watcher_stop(&watcher);
    nameserver_release(names_server, "");
}

TEST(the_flags_of_a_pending_name_do_not_follow_the_resolver)
{
    watcher_schedule(&watcher, expect_name("held.test"));
    names_await_queries("held.test", 1);
    EXPECT_QUIET(&watcher);
    etc_set_servers("192.0.2.53", 30);
    EXPECT_QUIET(&watcher);
    etc_set_servers("192.0.2.54", 30);
    EXPECT_QUIET(&watcher);
    EXPECT(watcher.target, R, NamePending);
    watcher_stop(&watcher);
    nameserver_release(names_server, "");
}

TEST(an_unscheduled_name_is_pending_again)
{
    NAMES_RESOLVE(&watcher, "v4only.test", R);
    SCNetworkReachabilityRetain(watcher.target);
    watcher_stop(&watcher);
    EXPECT(watcher.target, R, NamePending);
    EXPECT_ADDRESSES(watcher.target, "");
    watcher_schedule(&watcher, watcher.target);
    EXPECT_CHANGE(&watcher, R);
    assert_int_equal(names_queried("v4only.test"), 2); /* looked up again */
}

/* ---- Callbacks -------------------------------------------------------------------------------------------------- */

TEST(a_scheduled_name_calls_exactly_once)
{
    static const struct {
        const char *name;
        SCNetworkReachabilityFlags flags;
    } rows[] = {
        { "v4only.test", R }, { "ok.test", R },       { "here.test", R | L | D }, /* R: as before the result */
        { "nx.test", 0 },     { "servfail.test", 0 }, { "localhost", R | L | D },
    };

    etc_write(ETC_HOSTS, "192.0.2.2 here.test\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int schedules = 0; schedules < 2; schedules++) {
            watcher_schedule(&watcher, expect_name(rows[i].name));
            if (schedules) {
                (void)expect_flags_of(watcher.target);
                (void)expect_path_of(watcher.target);
            }
            EXPECT_CHANGE(&watcher, rows[i].flags);
            EXPECT_QUIET(&watcher);
            assert_int_equal(watcher.calls, 1);
            watcher_stop(&watcher);
        }
    }
}

TEST(a_name_resolved_before_the_first_pass_calls_once_too)
{
    nameserver_move(names_server, "192.0.2.9");
    for (int schedules = 0; schedules < 2; schedules++) {
        watcher_schedule(&watcher, expect_name("moves.test"));
        names_await_result(watcher.target);
        EXPECT_ADDRESSES(watcher.target, "192.0.2.9");
        assert_int_equal(expect_flags_of(watcher.target), R); /* the last evaluation */
        EXPECT_CHANGE(&watcher, R | D);
        EXPECT_QUIET(&watcher);
        watcher_stop(&watcher);
    }
}

TEST(a_late_callback_gets_no_first_result)
{
    SCOPED_LOOP loop = SCRunLoopCreate();

    assert_int_equal(sem_init(&received.called, 0, 0), 0);
    received.calls = 0;
    SCOPED_TARGET target = expect_name("v4only.test");
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    names_await_result(target);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    assert_true(SCNetworkReachabilitySetCallback(target, note_call, NULL));
    assert_int_equal(idle_perform(loop), 0);
    namespace_ip("route replace prohibit default");
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_int_equal(received.flags, 0);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
}

TEST(a_name_without_a_callback_is_fetched_once)
{
    SCNetworkReachabilityFlags flags = 0;
    SCOPED_LOOP loop = SCRunLoopCreate();

    assert_null(SCRunLoopCopyNextChange(loop, NULL));
    SCNetworkReachabilityRef target = expect_name("v4only.test");
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    assert_int_equal(SCRunLoopPerform(loop, 5), 0);
    assert_ptr_equal(SCRunLoopCopyNextChange(loop, &flags), target);
    assert_int_equal(flags, R);
    SCNetworkReachabilityRelease(target);
    assert_int_equal(idle_perform(loop), 0);
    assert_null(SCRunLoopCopyNextChange(loop, NULL));
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(target);
}

TEST(a_resolved_name_keeps_no_thread)
{
    NAMES_RESOLVE(&watcher, "v4only.test", R);
    names_await_no_thread();
}

TEST(a_change_of_addresses_alone_is_reported)
{
    static const char *const addresses[] = { "198.51.100.8", "198.51.100.8 203.0.113.9", "203.0.113.9" };

    nameserver_move(names_server, "198.51.100.7");
    NAMES_RESOLVE(&watcher, "moves.test", R);
    for (size_t i = 0; i < 3; i++) {
        nameserver_move(names_server, addresses[i]);
        touch_resolv_conf();
        EXPECT_CHANGE(&watcher, R);
        EXPECT_ADDRESSES(watcher.target, addresses[i]);
    }
    EXPECT_QUIET(&watcher);
}

TEST(equal_results_are_not_reported)
{
    NAMES_RESOLVE(&watcher, "ok.test", R);
    for (unsigned count = 2; count < 5; count++) {
        touch_resolv_conf();
        names_drive_until(&watcher, "ok.test", count);
        names_settle(&watcher);
    }
    EXPECT_QUIET(&watcher);
    assert_int_equal(watcher.calls, 1);
}

/* Some servers rotate the addresses in each reply. */
TEST(another_order_alone_is_not_reported)
{
    NAMES_RESOLVE(&watcher, "turns.test", R);
    EXPECT_ADDRESSES(watcher.target, "203.0.113.7 198.51.100.7");
    touch_resolv_conf();
    names_drive_until(&watcher, "turns.test", 2);
    names_settle(&watcher);
    EXPECT_QUIET(&watcher);
    assert_int_equal(watcher.calls, 1);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7 203.0.113.7");
    EXPECT_DESTINATION(watcher.target, "198.51.100.7");
}

TEST_WITH(NULL, NULL, changes_of_unreachable_addresses_are_reported)
{
    namespace_require();
    etc_require("192.0.2.2");
    NAMES_RESOLVE(&watcher, "box.test", 0);
    EXPECT(watcher.target, 0, NameServerUnreachable);
    etc_write(ETC_HOSTS, "203.0.113.7 box.test\n");
    EXPECT_CHANGE(&watcher, 0);
    EXPECT_ADDRESSES(watcher.target, "203.0.113.7");
    EXPECT(watcher.target, 0, NoRoute);
    etc_write(ETC_NSSWITCH, "hosts: files\n");
    etc_write(ETC_HOSTS, "203.0.113.7 other.test\n");
    EXPECT_CHANGE(&watcher, 0);
    EXPECT(watcher.target, 0, NameNotFound);
}

TEST(a_late_reply_is_dropped)
{
    watcher_schedule(&watcher, expect_name("held.test"));
    names_await_queries("held.test", 1);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
    nameserver_release(names_server, "held");
    names_await_no_thread();
    EXPECT_QUIET(&watcher);
    assert_int_equal(watcher.calls, 0);
    EXPECT(watcher.target, R, NamePending);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
    names_await_queries("held.test", 2);
    EXPECT(watcher.target, R, NamePending);
    nameserver_release(names_server, "held");
    EXPECT_CHANGE(&watcher, R);
}

TEST(a_target_may_be_released_during_its_look_up)
{
    watcher_schedule(&watcher, expect_name("held.test"));
    names_await_queries("held.test", 1);
    watcher_stop(&watcher); /* the last reference */
    nameserver_release(names_server, "held");
}

/* ---- Files ------------------------------------------------------------------------------------------------------ */

#define ELSEWHERE "203.0.113.9"

static void begin_with_an_address_elsewhere(void)
{
    NAMES_RESOLVE(&watcher, "v4only.test", R);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7");
}

static void expect_elsewhere(void)
{
    EXPECT_CHANGE(&watcher, R);
    EXPECT_ADDRESSES(watcher.target, ELSEWHERE);
    watcher_stop(&watcher);
}

TEST(hosts_edited_in_place_is_read_again)
{
    begin_with_an_address_elsewhere();
    etc_write(ETC_HOSTS, ELSEWHERE " v4only.test\n");
    expect_elsewhere();
}

TEST(hosts_replaced_by_renaming_is_read_again)
{
    begin_with_an_address_elsewhere();
    etc_replace(ETC_HOSTS, ELSEWHERE " v4only.test\n");
    expect_elsewhere();
}

TEST(mounted_hosts_edited_in_place_is_read_again)
{
    etc_write(ETC_ASIDE "hosts", "# of the container\n");
    etc_mount(ETC_HOSTS, ETC_ASIDE "hosts");
    begin_with_an_address_elsewhere();
    etc_write(ETC_ASIDE "hosts", ELSEWHERE " v4only.test\n");
    expect_elsewhere();
}

/* Only the second has the name's address. */
static void make_two_hosts_directories(void)
{
    etc_make_directory("/run/own"); /* the library has not seen it before */
    etc_make_directory("/run/own/a");
    etc_make_directory("/run/own/b");
    etc_write("/run/own/a/hosts", "# none\n");
    etc_write("/run/own/b/hosts", ELSEWHERE " v4only.test\n");
}

/* For example, a link to the directory of the current configuration. It counts with the next change, at the latest. */
TEST(a_symlink_on_the_way_to_hosts_may_change)
{
    make_two_hosts_directories();
    etc_link("/run/own/current", "a");
    etc_link(ETC_HOSTS, "../run/own/current/hosts");
    begin_with_an_address_elsewhere();
    etc_link("/run/own/current", "/run/own/b");
    etc_write("/etc/another", "# another\n");
    expect_elsewhere();
}

TEST(a_directory_on_the_way_to_hosts_may_be_replaced)
{
    make_two_hosts_directories();
    etc_link(ETC_HOSTS, "/run/own/a/hosts");
    begin_with_an_address_elsewhere();
    assert_int_equal(renameat2(AT_FDCWD, "/run/own/a", AT_FDCWD, "/run/own/b", RENAME_EXCHANGE), 0);
    expect_elsewhere();
}

/* Too many links, and a link to itself: no error, no endless loop. */
TEST(endless_symlinks_count_as_no_hosts_file)
{
    etc_link("/run/circle", "circle/on");
    etc_link(ETC_HOSTS, "/run/circle/hosts");
    begin_with_an_address_elsewhere();
    etc_replace(ETC_HOSTS, ELSEWHERE " v4only.test\n");
    expect_elsewhere();
}

TEST(new_hosts_is_read)
{
    etc_remove(ETC_HOSTS);
    begin_with_an_address_elsewhere();
    etc_write(ETC_HOSTS, ELSEWHERE " v4only.test\n");
    expect_elsewhere();
}

/* The only event is the rename of the new file. */
TEST(a_hosts_file_that_is_moved_into_its_place_is_read)
{
    etc_remove(ETC_HOSTS);
    etc_make_directory("/etc/other");
    etc_write("/etc/other/hosts", ELSEWHERE " v4only.test\n");
    begin_with_an_address_elsewhere();
    assert_int_equal(rename("/etc/other/hosts", ETC_HOSTS), 0);
    expect_elsewhere();
}

TEST(nsswitch_determines_the_sources)
{
    NAMES_RESOLVE(&watcher, "v4only.test", R);
    etc_replace(ETC_NSSWITCH, "hosts: files\n");
    EXPECT_CHANGE(&watcher, 0);
    EXPECT(watcher.target, 0, NameNotFound);
    etc_replace(ETC_NSSWITCH, "hosts: files dns\n");
    EXPECT_CHANGE(&watcher, R);
}

#define AT(address) "nameserver " address "\noptions timeout:1 attempts:1\n"

static void begin_with_another_server(const char *address)
{
    namespace_ip("address add %s/32 dev lo", address);
    nameserver_move(names_server, "198.51.100.7");
    NAMES_RESOLVE(&watcher, "moves.test", R);
    nameserver_move(names_server, ELSEWHERE);
}

TEST(resolv_conf_edited_in_place_is_read_again)
{
    begin_with_another_server("192.0.2.3");
    etc_write(ETC_RESOLV_CONF, AT("192.0.2.3"));
    expect_elsewhere();
}

TEST(resolv_conf_replaced_by_renaming_is_read_again)
{
    begin_with_another_server("192.0.2.3");
    etc_replace(ETC_RESOLV_CONF, AT("192.0.2.3"));
    expect_elsewhere();
}

TEST(mounted_resolv_conf_edited_in_place_is_read_again)
{
    etc_write(ETC_ASIDE "resolv.conf", AT("192.0.2.2"));
    etc_mount(ETC_RESOLV_CONF, ETC_ASIDE "resolv.conf");
    begin_with_another_server("192.0.2.30");
    etc_write(ETC_ASIDE "resolv.conf", AT("192.0.2.30"));
    expect_elsewhere();
}

/* The service looks 100 ms after the last write before the test. Then nothing makes it look until the next change. */
TEST(resolv_conf_that_is_mounted_is_read_with_the_next_change)
{
    etc_write(ETC_ASIDE "resolv.conf", AT("192.0.2.30"));
    begin_with_another_server("192.0.2.30");
    EXPECT_QUIET(&watcher);
    etc_mount(ETC_RESOLV_CONF, ETC_ASIDE "resolv.conf");
    EXPECT_QUIET(&watcher);
    etc_write(ETC_HOSTS, "# another\n");
    expect_elsewhere();
}

TEST(a_changed_symlink_to_resolv_conf_is_followed)
{
    etc_write(ETC_ASIDE "one", AT("192.0.2.2"));
    etc_write(ETC_ASIDE "other", AT("192.0.2.30"));
    etc_link(ETC_RESOLV_CONF, ETC_ASIDE "one");
    begin_with_another_server("192.0.2.30");
    etc_link(ETC_RESOLV_CONF, "../run/aside/other");
    expect_elsewhere();
}

TEST(each_symlink_on_the_way_is_followed)
{
    etc_write(ETC_ASIDE "one", AT("192.0.2.2"));
    etc_write(ETC_ASIDE "other", AT("192.0.2.30"));
    etc_make_directory(ETC_ASIDE "between");
    etc_link(ETC_ASIDE "between/resolv.conf", "../one");
    etc_link(ETC_RESOLV_CONF, ETC_ASIDE "between/resolv.conf");
    begin_with_another_server("192.0.2.30");
    etc_link(ETC_ASIDE "between/resolv.conf", "../other");
    expect_elsewhere();
}

TEST_WITH(NULL, NULL, the_symlink_target_of_resolv_conf_is_watched)
{
    for (int renames = 0; renames < 2; renames++) {
        names_begin();
        etc_write(ETC_ASIDE "one", AT("192.0.2.2"));
        etc_link(ETC_RESOLV_CONF, ETC_ASIDE "one");
        begin_with_another_server("192.0.2.30");
        if (renames)
            etc_replace(ETC_ASIDE "one", AT("192.0.2.30"));
        else
            etc_write(ETC_ASIDE "one", AT("192.0.2.30"));
        expect_elsewhere();
        names_end();
    }
}

TEST(resolv_conf_deleted_and_restored_is_read_again)
{
    begin_with_another_server("192.0.2.3");
    etc_remove(ETC_RESOLV_CONF); /* the resolver then uses 127.0.0.1 */
    EXPECT_CHANGE(&watcher, R);
    EXPECT_ADDRESSES(watcher.target, ELSEWHERE);
    nameserver_move(names_server, "203.0.113.10");
    etc_write(ETC_RESOLV_CONF, AT("192.0.2.3"));
    EXPECT_CHANGE(&watcher, R);
    EXPECT_ADDRESSES(watcher.target, "203.0.113.10");
}

TEST(other_upstream_servers_are_queried)
{
    etc_set_servers("127.0.0.53", 5);
    etc_make_directory("/run/systemd");
    etc_make_directory("/run/systemd/resolve");
    etc_write(ETC_UPSTREAM, "nameserver 192.0.2.53\n");
    begin_with_another_server("192.0.2.3");
    etc_replace(ETC_UPSTREAM, "nameserver 192.0.2.153\n");
    expect_elsewhere();
}

TEST(a_new_upstream_file_is_watched)
{
    etc_set_servers("127.0.0.53", 5);
    begin_with_another_server("192.0.2.3");
    etc_make_directory("/run/systemd");
    etc_make_directory("/run/systemd/resolve");
    etc_replace(ETC_UPSTREAM, "nameserver 192.0.2.53\n");
    expect_elsewhere();
}

TEST(other_files_are_ignored)
{
    NAMES_RESOLVE(&watcher, "v4only.test", R);
    etc_write("/etc/resolv.conf.bak", "nameserver 192.0.2.53\n");
    etc_replace("/etc/motd", "hello\n");
    EXPECT_QUIET(&watcher);
    assert_int_equal(names_queried("v4only.test"), 1);
    assert_false(names_is_looking(watcher.target));
}

/* ---- Networks --------------------------------------------------------------------------------------------------- */

/* The old addresses count at once. Both times a look-up starts as soon as the server is reachable. */
static void the_default_route_is_lost_and_regained(const char *server, bool stays)
{
    names_begin_far(server);
    etc_set_servers(server, 1);
    NAMES_RESOLVE(&watcher, "v4only.test", R);
    AFTER("route delete default", EXPECT_CHANGE(&watcher, 0));
    EXPECT(watcher.target, 0, NoRoute);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7");
    if (stays)
        names_drive_until(&watcher, "v4only.test", 2);
    names_settle(&watcher);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7");
    EXPECT_QUIET(&watcher);
    nameserver_silence(names_server, true); /* only the old addresses can be the reason */
    AFTER("route add default via 192.0.2.1", EXPECT_CHANGE(&watcher, R));
    EXPECT(watcher.target, R, None);
    names_drive_until(&watcher, "v4only.test", stays ? 3 : 2);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7");
    watcher_stop(&watcher);
}

TEST_WITH(NULL, NULL, a_name_depends_on_the_default_route)
{
    the_default_route_is_lost_and_regained("192.0.2.1", true);
}

TEST_WITH(NULL, NULL, a_name_and_its_server_depend_on_the_default_route)
{
    the_default_route_is_lost_and_regained("198.51.100.53", false);
}

TEST_WITH(NULL, NULL, an_address_moved_meanwhile_is_noticed)
{
    names_begin_far("198.51.100.53");
    nameserver_move(names_server, "198.51.100.7");
    NAMES_RESOLVE(&watcher, "moves.test", R);
    AFTER("link set dev a down", EXPECT_END(&watcher, 0));
    nameserver_move(names_server, "192.0.2.9");
    namespace_set_up("a");
    AFTER("route add default via 192.0.2.1", EXPECT_END(&watcher, R | D));
    EXPECT_ADDRESSES(watcher.target, "192.0.2.9");
}

TEST(another_default_route_starts_a_look_up)
{
    namespace_add_second_pair();
    NAMES_RESOLVE(&watcher, "v4only.test", R);
    AFTER("route replace default via 203.0.113.1", EXPECT_CHANGE(&watcher, R));
    names_drive_until(&watcher, "v4only.test", 2);
    names_settle(&watcher);
    namespace_ip("-6 route replace default via 2001:db8:c::1");
    names_drive_until(&watcher, "v4only.test", 3);
    names_settle(&watcher);
    namespace_ip("-6 route delete default");
    names_drive_until(&watcher, "v4only.test", 4);
}

TEST_WITH(NULL, NULL, another_path_to_the_server_starts_a_look_up)
{
    names_begin_far("198.51.100.53");
    NAMES_RESOLVE(&watcher, "v4only.test", R);
    AFTER("route add 198.51.100.53/32 via 192.0.2.1 src 192.0.2.2 mtu 1400", EXPECT_QUIET(&watcher));
    assert_int_equal(names_queried("v4only.test"), 1); /* the same way */
    namespace_ip("route replace 198.51.100.53/32 dev a");
    names_drive_until(&watcher, "v4only.test", 2);
}

TEST(unrelated_network_changes_start_no_look_up)
{
    NAMES_RESOLVE(&watcher, "v4only.test", R);
    namespace_ip("route add 203.0.113.0/24 via 192.0.2.1; address add 192.0.2.77/24 dev a");
    namespace_ip("address replace 192.0.2.2/24 dev a valid_lft 3600 preferred_lft 3600"); /* as DHCP does */
    AFTER("link set dev a alias cable; link add name x type veth peer name y", EXPECT_QUIET(&watcher));
    assert_int_equal(names_queried("v4only.test"), 1);
    assert_false(names_is_looking(watcher.target));
}

TEST_WITH(NULL, NULL, a_change_before_the_first_pass_starts_a_look_up)
{
    names_begin_far("198.51.100.53");
    namespace_ip("route delete default");
    watcher_schedule(&watcher, expect_name("v4only.test"));
    names_await_result(watcher.target); /* it has failed; the next retry is due in a second */
    EXPECT(watcher.target, 0, NameServerUnreachable);
    namespace_ip("route add default via 192.0.2.1");
    assert_true(SCRunLoopPerform(watcher.loop, 0) >= 0);
    assert_true(names_is_looking(watcher.target) || names_queried("v4only.test") > 0);
    EXPECT_END(&watcher, R);
}

/* The old result counts, and another look-up starts. */
TEST(continuous_changes_do_not_keep_a_name_pending)
{
    watcher_schedule(&watcher, expect_name("held.test"));
    names_await_queries("held.test", 1);
    EXPECT_QUIET(&watcher);
    AFTER("route replace default via 192.0.2.111", EXPECT_QUIET(&watcher));
    nameserver_release(names_server, "held");
    EXPECT_CHANGE(&watcher, R);
    names_drive_until(&watcher, "held.test", 2);
    names_await_queries("held.test", 2);
    nameserver_release(names_server, "held");
    names_settle(&watcher);
    EXPECT_QUIET(&watcher);
}

/* ---- Several targets, loops, namespaces ------------------------------------------------------------------------- */

TEST(targets_of_one_name_share_a_look_up)
{
    struct watcher watchers[3]; /* each on a loop of its own */

    for (size_t i = 0; i < 3; i++)
        watcher_schedule(&watchers[i], expect_name("held.test"));
    names_await_queries("held.test", 1);
    nameserver_release(names_server, "held");
    for (size_t i = 0; i < 3; i++) {
        EXPECT_CHANGE(&watchers[i], R);
        EXPECT_QUIET(&watchers[i]);
    }
    assert_int_equal(names_queried("held.test"), 1);
    for (size_t i = 0; i < 3; i++)
        watcher_stop(&watchers[i]);
}

TEST(targets_of_one_name_on_one_loop_are_all_notified)
{
    watcher_schedule(&watcher, expect_name("held.test"));
    SCOPED_TARGET other = expect_name("held.test");
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(other, watcher.loop, kSCRunLoopDefaultMode));
    names_await_queries("held.test", 1);
    nameserver_release(names_server, "held");
    EXPECT_END(&watcher, R); /* the other target, which has no callback, may end a Perform first */
    assert_int_equal(watcher.calls, 1);
    names_await_result(other); /* they are notified one after the other */
    names_settle(&watcher);
    EXPECT(other, R, None);
    assert_int_equal(names_queried("held.test"), 1);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(other, watcher.loop, kSCRunLoopDefaultMode));
}

/* The look-up goes on for the remaining targets. */
TEST(one_of_two_targets_of_a_name_may_be_released)
{
    struct watcher stays, goes;

    watcher_schedule(&goes, expect_name("held.test"));
    watcher_schedule(&stays, expect_name("held.test"));
    names_await_queries("held.test", 1);
    watcher_stop(&goes);
    nameserver_release(names_server, "held");
    EXPECT_CHANGE(&stays, R);
    assert_int_equal(goes.calls, 0);
}

static void release_moves(struct nameserver *server)
{
    nameserver_await(server, "heldmoves.test", NAMESERVER_A, 1);
    nameserver_await(server, "heldmoves.test", NAMESERVER_AAAA, 1);
    nameserver_release(server, "held");
}

TEST(each_network_namespace_uses_its_own_server)
{
    struct watcher watchers[2];
    struct nameserver *first = names_server;

    nameserver_move(first, "198.51.100.7");
    watcher_schedule(&watchers[0], expect_name("heldmoves.test"));
    names_begin_another();
    nameserver_move(names_server, "192.0.2.9");
    watcher_schedule(&watchers[1], expect_name("heldmoves.test")); /* while the first is looked up */
    release_moves(names_server);
    release_moves(first);
    EXPECT_CHANGE(&watchers[0], R); /* the thread is in the other namespace */
    EXPECT_CHANGE(&watchers[1], R | D);
    EXPECT_ADDRESSES(watchers[0].target, "198.51.100.7");
    EXPECT_ADDRESSES(watchers[1].target, "192.0.2.9");
    assert_int_equal(nameserver_count(first, "heldmoves.test", NAMESERVER_A), 1);
    assert_int_equal(names_queried("heldmoves.test"), 1);
    for (size_t i = 0; i < 2; i++)
        watcher_stop(&watchers[i]);
    nameserver_close(first);
}

TEST(a_name_may_be_bound_to_an_interface)
{
    watcher_schedule(&watcher, names_bound_target("v4only.test", "c", 0));
    EXPECT_CHANGE(&watcher, 0);
    EXPECT(watcher.target, 0, InterfaceMissing);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7");
    namespace_add_second_pair();
    EXPECT_QUIET(&watcher);
    EXPECT(watcher.target, 0, NoRoute);
    AFTER("route add default via 203.0.113.1 metric 100", EXPECT_CHANGE_OVER(&watcher, R, "c"));
}

TEST(a_name_may_have_a_routing_mark)
{
    namespace_ip("rule add fwmark 7 prohibit");
    NAMES_RESOLVE(&watcher, "v4only.test", R);
    watcher_stop(&watcher);
    watcher_schedule(&watcher, names_bound_target("v4only.test", "", 7));
    EXPECT_CHANGE(&watcher, 0);
    EXPECT(watcher.target, 0, RouteProhibited);
    AFTER("rule delete fwmark 7", EXPECT_CHANGE(&watcher, R));
}

/* ---- Schedulers ------------------------------------------------------------------------------------------------- */

static void await_call(SCNetworkReachabilityFlags flags)
{
    time_limit_await(&received.called, "no callback on the scheduler");
    assert_int_equal(received.flags, flags);
}

TEST(a_name_may_be_on_a_scheduler)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform_at_once };

    assert_int_equal(sem_init(&received.called, 0, 0), 0);
    received.calls = 0;
    nameserver_move(names_server, "198.51.100.7");
    SCOPED_TARGET target = expect_name("moves.test");
    assert_true(SCNetworkReachabilitySetCallback(target, note_call, NULL));
    assert_true(SCNetworkReachabilitySetScheduler(target, &scheduler));
    await_call(R);
    EXPECT(target, R, None);
    nameserver_move(names_server, "192.0.2.9");
    touch_resolv_conf();
    await_call(R | D);
    EXPECT_ADDRESSES(target, "192.0.2.9");
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    assert_int_equal(received.calls, 2);
    EXPECT(target, R, NamePending);
}

/* ---- International names ----------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *converted; /* NULL: there is no such name */
} international[] = {
    { "v4only.b\u00fccher.test", "v4only.xn--bcher-kva.test" },
    { "v4only.B\u00dcCHER.test", "v4only.xn--bcher-kva.test" },
    { "v4only.bu\u0308cher.test", "v4only.xn--bcher-kva.test" }, /* a letter and a combining mark */
    { "v4only.\u65e5\u672c.test", "v4only.xn--wgv71a.test" },
    { "v4only.xn--bcher-kva.test", "v4only.xn--bcher-kva.test" },
    { "v4only.\xff\xfe.test", NULL }, /* not UTF-8 */
    { "v4only.\xc3.test", NULL },
    { "v4only.\u2028.test", NULL },
};

/* getent(1) under C.UTF-8 converts names as this program must, whatever its locale is. */
static void expect_the_name_of_getent(size_t row)
{
    const char *name = international[row].name, *converted = international[row].converted;
    const unsigned before = nameserver_count(names_server, NULL, NAMESERVER_A);
    const unsigned named_before = converted == NULL ? 0 : names_queried(converted);

    NAMES_RESOLVE(&watcher, name, converted != NULL ? R : 0);
    if (converted == NULL)
        EXPECT(watcher.target, 0, NameNotFound);
    watcher_stop(&watcher);
    assert_int_equal(system(unit_text("LC_ALL=C.UTF-8 getent ahosts '%s' >/dev/null", name)) == 0, converted != NULL);
    assert_int_equal(nameserver_count(names_server, NULL, NAMESERVER_A) - before, converted != NULL ? 2 : 0);
    if (converted != NULL)
        assert_int_equal(names_queried(converted) - named_before, 2);
}

TEST(international_names_are_looked_up_in_any_locale)
{
    static const char *const locales[] = { "C", "C.UTF-8", "POSIX" };
    void *library = dlopen("libidn2.so.0", RTLD_NOW);

    if (library == NULL)
        SKIP("libidn2 is not installed");
    dlclose(library);
    etc_set_servers("192.0.2.2", 1);
    for (size_t i = 0; i < sizeof locales / sizeof locales[0]; i++) {
        assert_non_null(setlocale(LC_ALL, locales[i]));
        for (size_t row = 0; row < sizeof international / sizeof international[0]; row++)
            expect_the_name_of_getent(row);
        assert_string_equal(setlocale(LC_ALL, NULL), strcmp(locales[i], "POSIX") == 0 ? "C" : locales[i]);
    }
    (void)setlocale(LC_ALL, "C");
}

/* ---- Many ------------------------------------------------------------------------------------------------------- */

#define MANY 10000

TEST(many_names_on_a_dead_server_take_a_share_of_the_threads_and_do_not_delay_others)
{
    const char *const under = getenv("TEST_UNDER");
    const int count = under == NULL || unit_is_under("clang") ? MANY : MANY / 20;
    SCNetworkReachabilityRef *targets = calloc((size_t)count, sizeof *targets);
    SCOPED_LOOP loop = SCRunLoopCreate();
    char name[32];

    assert_non_null(targets);
    etc_write(ETC_HOSTS, "192.0.2.9 here.elsewhere\n");
    etc_set_servers("192.0.2.2", 1);
    nameserver_silence(names_server, true);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "many%d.test", i);
        targets[i] = expect_name(name);
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(targets[i], loop, kSCRunLoopDefaultMode));
    }
    names_await_threads(FIRST_SHARE); /* those whose look-up has ended may be about to end */
    NAMES_RESOLVE(&watcher, "here.elsewhere", R | D);
    names_await_threads(FIRST_SHARE);
    watcher_stop(&watcher);
    EXPECT(targets[count - 1], R, NamePending);
    for (int i = 0; i < count; i++) {
        assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(targets[i], loop, kSCRunLoopDefaultMode));
        SCNetworkReachabilityRelease(targets[i]);
    }
    assert_true(nameserver_count(names_server, NULL, NAMESERVER_A) < 6 * FIRST_SHARE);
    free(targets);
}

/* ---- Fork ------------------------------------------------------------------------------------------------------- */

static void require_threads(void)
{
    if (unit_is_under("tsan"))
        SKIP("the thread sanitizer cannot follow a fork among threads");
}

#define STUCK 3

static void await_stuck(unsigned count)
{
    for (int i = 0; i < STUCK; i++) {
        names_await_queries(unit_text("held%d.test", i), count);
    }
}

static void begin_stuck(struct watcher watchers[STUCK])
{
    for (int i = 0; i < STUCK; i++) {
        watcher_schedule(&watchers[i], expect_name(unit_text("held%d.test", i)));
    }
}

static void end_stuck(struct watcher watchers[STUCK])
{
    for (int i = 0; i < STUCK; i++) {
        EXPECT_CHANGE(&watchers[i], R);
        watcher_stop(&watchers[i]);
    }
}

/* The child does not continue the look-ups of the parent. It inherits the stacks of their threads, and the C library
 * reuses them with the resolver's old data. */
TEST(a_child_does_its_own_look_ups)
{
    struct watcher watchers[STUCK];
    pid_t child;

    require_threads();
    etc_set_servers("192.0.2.2", 30); /* the parent's look-ups outlast the child's */
    begin_stuck(watchers);
    await_stuck(1);
    if (child_fork(&child)) {
        begin_stuck(watchers); /* other targets */
        end_stuck(watchers);
        child_end();
    }
    await_stuck(2);
    nameserver_release(names_server, "held");
    child_expect_end(child);
    end_stuck(watchers);
    assert_int_equal(names_queried("held0.test"), 2);
}

TEST(a_process_may_end_during_a_look_up)
{
    int ends[2];
    char byte;
    pid_t child;

    require_threads();
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    if (child_fork(&child)) {
        watcher_schedule(&watcher, expect_name("held.test"));
        close(ends[1]);
        assert_int_equal(read(ends[0], &byte, 1), 0); /* the parent saw the query */
        if (unit_is_under("asan"))
            child_end(); /* the leak check does not see what other threads of the parent held */
        exit(0);
    }
    names_await_queries("held.test", 1);
    close(ends[0]);
    close(ends[1]);
    child_expect_end(child);
}

UNIT(.setup = names_begin, .cleanup = names_end, .end = names_end_group)
