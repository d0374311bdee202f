/* SPDX-License-Identifier: MIT */
/* The type of the device behind a link, as sysfs shows it. Tests/VM has real devices; here a sysfs of the test shows
 * the types. */
#include "support/fake_sysfs.h"
#include "support/test.h"

#define PEER "192.0.2.9"

static struct watcher watcher; /* stopped at the end of each test */

static bool counts;
static int opened; /* by the library, on this thread */

WRAP(int, open, const char *path, int flags, ...)
{
    opened += counts;
    return __real_open(path, flags);
}

static void begin(void)
{
    namespace_require_pair();
    fake_sysfs_require();
}

static void expect_peer(SCNetworkReachabilityFlags flags, SCNetworkReachabilityInterfaceType type)
{
    SCOPED_TARGET target = expect_target(PEER);

    EXPECT(target, flags, None);
    assert_int_equal(expect_path_of(target).interfaceType, type);
}

TEST_WITH(NULL, NULL, the_driver_determines_the_device_type)
{
    static const struct {
        const char *type;
        SCNetworkReachabilityFlags flags;
        SCNetworkReachabilityInterfaceType expected;
    } rows[] = {
        { "wwan", R | W | T, kSCNetworkReachabilityInterfaceTypeCellular },
        { "wlan", R | D, kSCNetworkReachabilityInterfaceTypeWiFi },
        { "wlan0", R | D, kSCNetworkReachabilityInterfaceTypeVirtual },
        { "gadget", R | D, kSCNetworkReachabilityInterfaceTypeVirtual },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        fake_sysfs_set_type("a", rows[i].type);
        expect_peer(rows[i].flags, rows[i].expected);
    }
}

TEST(an_own_address_is_not_cellular)
{
    fake_sysfs_set_type("a", "wwan");
    EXPECT_ADDRESS("192.0.2.2", R | L | D, None);
}

TEST_WITH(NULL, NULL, a_link_above_a_modem_is_cellular)
{
    static const char *const kinds[] = { "macvlan", "macvtap", "ipvlan", "vlan id 5" };
    int made = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        begin();
        fake_sysfs_set_type("a", "wwan");
        if (!namespace_try_ip("link add name m link a type %s", kinds[i]))
            continue;
        made++;
        namespace_ip("link set dev m up; address flush dev a; address add 192.0.2.3/24 dev m");
        namespace_await_running("m", true);
        expect_peer(R | W | T, kSCNetworkReachabilityInterfaceTypeCellular);
    }
    if (made == 0)
        SKIP("this kernel has none of the kinds");
}

/* A bridge has the best type of its ports with a carrier. */
TEST(a_bridge_has_the_type_of_its_ports)
{
    namespace_add_second_pair();
    fake_sysfs_set_type("a", "wwan");
    fake_sysfs_set_type("c", "wlan");
    namespace_ip("address flush dev a; link add name br type bridge; link set dev a master br");
    namespace_ip("link set dev br up; address add 192.0.2.2/24 dev br");
    namespace_await_running("br", true);
    watcher_start(&watcher, expect_target(PEER));
    assert_int_equal(expect_flags_of(watcher.target), R | W | T);
    EXPECT_TYPE(watcher.target, Cellular);
    AFTER("link set dev c master br", EXPECT_CHANGE(&watcher, R | D));
    EXPECT_TYPE(watcher.target, WiFi);
    AFTER("link set dev d down", EXPECT_CHANGE(&watcher, R | W | T));
    EXPECT_TYPE(watcher.target, Cellular);
    AFTER("link set dev d up", EXPECT_CHANGE(&watcher, R | D));
    AFTER("link set dev c nomaster", EXPECT_CHANGE(&watcher, R | W | T));
    AFTER("link set dev a nomaster", EXPECT_END(&watcher, 0)); /* a bridge without a port has no carrier */
    AFTER("link set dev a master br", EXPECT_END(&watcher, R | W | T));
}

/* Its type is read before it has a port. */
TEST(a_bridge_without_a_port_is_read_again)
{
    fake_sysfs_set_type("a", "wwan");
    namespace_ip("address flush dev a; link add name br type bridge; link set dev br up");
    namespace_ip("address add 192.0.2.2/24 dev br");
    watcher_start(&watcher, expect_target(PEER));
    assert_int_equal(expect_flags_of(watcher.target), R | D); /* it has a carrier until it loses one */
    AFTER("link set dev a master br", EXPECT_END(&watcher, R | W | T));
}

/* The type is read when a result first depends on it, and at no other event. */
TEST(the_type_is_not_read_again_on_every_event)
{
    namespace_add_second_pair();
    fake_sysfs_set_type("a", "wwan");
    watcher_start(&watcher, expect_target("198.51.100.7"));
    AFTER("route add default via 192.0.2.1", EXPECT_CHANGE(&watcher, R | W | T));
    counts = true;
    AFTER("route delete default", EXPECT_CHANGE(&watcher, 0));
    AFTER("route add default via 192.0.2.1", EXPECT_CHANGE(&watcher, R | W | T));
    AFTER("link set dev c mtu 1400; link set dev d down; link set dev b down", EXPECT_END(&watcher, 0));
    AFTER("link set dev b up", EXPECT_END(&watcher, R | W | T));
    counts = false;
    assert_int_equal(opened, 0);
}

TEST(a_replaced_interface_is_read_again)
{
    fake_sysfs_set_type("a", "wwan");
    watcher_start(&watcher, expect_target(PEER));
    assert_int_equal(expect_flags_of(watcher.target), R | W | T);
    AFTER("link delete dev a", EXPECT_CHANGE(&watcher, 0));
    namespace_add_pair();
    EXPECT_END(&watcher, R | D);
    EXPECT_TYPE(watcher.target, Virtual);
}

/* sysfs still shows the namespace in which it was mounted, with an interface of the same name and index. */
TEST(the_sysfs_of_another_namespace_is_not_used)
{
    const int shown = namespace_keep(); /* with its last user, its interfaces would go */

    fake_sysfs_set_type("a", "wwan");
    expect_peer(R | W | T, kSCNetworkReachabilityInterfaceTypeCellular);
    namespace_require();
    namespace_add_pair();
    watcher_start(&watcher, expect_target(PEER));
    assert_int_equal(expect_flags_of(watcher.target), R | D);
    EXPECT_TYPE(watcher.target, Virtual);
    expect_peer(R | D, kSCNetworkReachabilityInterfaceTypeVirtual);
    EXPECT_QUIET(&watcher);
    close(shown);
}

/* Without sysfs the library queries rtnetlink for the lower link. */
TEST_WITH(NULL, NULL, without_sysfs_the_lower_link_is_still_found)
{
    const int tun = (namespace_require(), namespace_require_tun("t"));

    namespace_add_pair();
    namespace_require_macvlan("m", "a");
    namespace_ip("link add name br type bridge; link set dev m master br; link set dev br up");
    namespace_ip("address add 198.51.100.2/24 dev br");
    namespace_await_running("br", true);
    SCOPED_TARGET target = expect_target("198.51.100.7");
    EXPECT(target, R | D, None);
    EXPECT_TYPE(target, Virtual);
    close(tun);
}

UNIT(.setup = begin)
