/* SPDX-License-Identifier: MIT */
/* The type of an uplink, for each kind of link: the same in the first evaluation, which reads no kinds, as in others.
 * */
#include "support/denial.h"
#include "support/etc.h"
#include "support/fake_sysfs.h"
#include "support/test.h"

static struct watcher watcher; /* stopped at the end of each test */

static SCNetworkReachabilityUplink uplink_of(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer;
    SCNetworkReachabilityUplink uplink;

    if (!SCNetworkReachabilityGetNetwork(target, &network, &uplink, sizeof uplink, 1))
        fail_msg("GetNetwork: %s", SCErrorString(SCError()));
    if (network.uplinkCount == 0)
        fail_msg("there is no uplink");
    return uplink;
}

static SCNetworkReachabilityRef network_target(void)
{
    return expect_option("0.0.0.0", kSCNetworkReachabilityOptionNotifyNetwork);
}

/* How a link is made, and what it is. "a" and "c" are ends of veth pairs, whose other ends are in this namespace. */
struct kind {
    const char *commands[3];
    const char *name;
    SCNetworkReachabilityInterfaceType type;
    bool leads_out, is_known_at_once;
};

#define TYPE(name) kSCNetworkReachabilityInterfaceType##name

static const struct kind kinds[] = {
    { { "link add name x type veth peer name y", "link set dev y up" }, "veth", TYPE(Virtual), true, true },
    { { "link add name x link a type macvlan mode bridge" }, "macvlan", TYPE(Virtual), true, true },
    { { "link add name x link a type macvtap mode bridge" }, "macvtap", TYPE(Virtual), true, false },
    { { "link add name x link a type ipvlan mode l2" }, "ipvlan", TYPE(Virtual), true, true },
    { { "link add name x type netkit peer name y", "link set dev y up" }, "netkit", TYPE(Virtual), true, true },
    { { "link add name x link a type vlan id 5" }, "VLAN of a veth", TYPE(Virtual), true, true },
    { { "link add name x type bridge", "link set dev c master x" }, "bridge of a veth", TYPE(Virtual), true, true },
    { { "link add name x type bond", "link set dev c down", "link set dev c master x" },
      "bond of a veth",
      TYPE(Virtual),
      true,
      true },
    { { "link add name x type dummy" }, "dummy", TYPE(Virtual), false, false },
    { { "link add name x type ifb" }, "ifb", TYPE(Virtual), false, false },
    { { "link add name z type dummy", "link set dev z up", "link add name x link z type vlan id 5" },
      "VLAN of a dummy",
      TYPE(Virtual),
      false,
      false },
    { { "link add name x type bridge", "link add name z type ifb", "link set dev z up master x" },
      "bridge of an ifb",
      TYPE(Virtual),
      false,
      false },
    { { "link add name x type vxlan id 4 dstport 4789 dev a" }, "vxlan", TYPE(Virtual), false, false },
    { { "link add name x type geneve id 4 remote 192.0.2.1" }, "geneve", TYPE(Virtual), false, false },
    { { "link add name x type gretap remote 192.0.2.1 dev a" }, "gretap", TYPE(Tunnel), false, false },
    { { "link add name x type ipip remote 192.0.2.1 local 192.0.2.2" }, "ipip", TYPE(Tunnel), false, false },
    { { "link add name x type gre remote 192.0.2.1 local 192.0.2.2" }, "gre", TYPE(Tunnel), false, false },
    { { "link add name x type sit remote 192.0.2.1 local 192.0.2.2" }, "sit", TYPE(Tunnel), false, false },
};

static bool make_link(const struct kind *kind)
{
    for (size_t i = 0; i < 3 && kind->commands[i] != NULL; i++)
        if (!namespace_try_ip("%s", kind->commands[i]))
            return false;
    namespace_ip("address add 198.51.100.2/24 dev x; link set dev x up");
    return true;
}

static void expect_uplink(const struct kind *kind, const SCNetworkReachabilityUplink *uplink, const char *when)
{
    assert_string_equal(uplink->interfaceName, "x");
    if (uplink->interfaceType != kind->type || uplink->interfaceLeadsOut != kind->leads_out)
        fail_msg("%s, %s: type %u, leads out %u", kind->name, when, (unsigned)uplink->interfaceType,
                 (unsigned)uplink->interfaceLeadsOut);
}

/* The first evaluation does not wait for RTNL, so it does not always know the type. But what it knows is right. */
static void expect_one_type(const struct kind *kind)
{
    SCOPED_TARGET target = network_target();

    watcher_schedule(&watcher, network_target());
    SCNetworkReachabilityUplink first = uplink_of(watcher.target);
    (void)idle_perform(watcher.loop);
    SCNetworkReachabilityUplink later = uplink_of(watcher.target);
    SCNetworkReachabilityUplink queried = uplink_of(target);
    if (kind->is_known_at_once && !first.interfaceTypeIsKnown)
        fail_msg("%s: the type is not known at first", kind->name);
    if (first.interfaceTypeIsKnown)
        expect_uplink(kind, &first, "at first");
    if (!later.interfaceTypeIsKnown || !queried.interfaceTypeIsKnown)
        fail_msg("%s: the type is not known later", kind->name);
    expect_uplink(kind, &later, "later");
    expect_uplink(kind, &queried, "queried");
    watcher_stop(&watcher);
}

static void begin(void)
{
    namespace_require_pair();
    fake_sysfs_require();
    denial_require_netlink("a socket does not show the interfaces");
    etc_require("192.0.2.53");
    namespace_add_second_pair();
}

TEST_WITH(NULL, NULL, each_kind_of_link_has_one_type)
{
    int made = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        begin();
        if (!make_link(&kinds[i]))
            continue; /* this kernel does not have the kind */
        namespace_await_running("x", true);
        AFTER("route add default dev x", expect_one_type(&kinds[i]));
        made++;
    }
    assert_true(made >= 3); /* veth, VLAN and bridge are everywhere */
}

/* As a container has it. The other end has an index that no link here has, or that of a link here. */
static void expect_link_to(const struct namespace_other *other, unsigned index, bool is_known_at_once)
{
    const struct kind kind = { { NULL }, "veth to another namespace", TYPE(Virtual), true, is_known_at_once };

    /* Made in the other namespace: Linux 6.1 refuses an index that a link of the calling one has. */
    const char *command = unit_text("link add name y index %u type veth peer name x netns %d", index, (int)gettid());
    namespace_other_ip(other, command);
    namespace_other_ip(other, "link set dev y up");
    namespace_ip("address add 198.51.100.2/24 dev x");
    namespace_set_up("x");
    AFTER("route add default dev x", expect_one_type(&kind));
    namespace_ip("link delete dev x");
}

TEST(a_veth_to_another_namespace_leads_out)
{
    struct namespace_other other;

    namespace_other_open(&other);
    expect_link_to(&other, 4711, true);
    AFTER("link add name z index 4712 type veth peer name w", expect_link_to(&other, 4712, false));
    namespace_other_close(&other);
}

TEST(a_tunnel_knows_that_its_underlay_leads_out)
{
    if (!namespace_try_ip("link add name x type ipip remote 192.0.2.1 local 192.0.2.2"))
        SKIP("this kernel has no ipip");
    namespace_ip("address add 198.51.100.2/24 dev x; link set dev x up; route add default dev x");
    watcher_schedule(&watcher, network_target());
    (void)idle_perform(watcher.loop);
    SCNetworkReachabilityUplink uplink = uplink_of(watcher.target);
    assert_int_equal(uplink.ipv4UnderlayTypes, 1u << TYPE(Virtual));
    assert_int_equal(uplink.ipv4UnderlayLeadsOut, 1);
    assert_int_equal(uplink.interfaceLeadsOut, 0);
}

TEST(an_uplink_smaller_than_that_of_the_first_version_is_refused)
{
    SCOPED_TARGET target = network_target();
    SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer;
    SCNetworkReachabilityUplink uplink;

    namespace_ip("route add default via 192.0.2.1");
    assert_true(SCNetworkReachabilityGetNetwork(target, &network, &uplink, sizeof uplink, 1));
    assert_false(SCNetworkReachabilityGetNetwork(target, &network, &uplink, sizeof uplink - 8, 1));
}

UNIT(.setup = begin)
