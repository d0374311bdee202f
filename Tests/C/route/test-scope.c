/* SPDX-License-Identifier: MIT */
/* Addresses that depend on an interface: link-local, multicast, broadcast. Each row is checked against the kernel: the
 * test sends a datagram, and a packet socket shows the interface over which it left. */
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "support/test.h"

#define TRACE "libreachability looks for this"

static int packets;

/* Two pairs with addresses, a-b and c-d, and one without, e-f. lo is down. On a and c a neighbour is known, so that
 * packets to it leave at once. */
static void begin(void)
{
    static const char *const with_neighbour[] = { "a", "c" };

    namespace_require();
    namespace_add_pair();
    namespace_add_second_pair();
    namespace_ip("address add 192.0.2.2/25 broadcast + dev a; link add name e type veth peer name f");
    namespace_ip("link set dev f up");
    namespace_set_up("e");
    namespace_await_addresses();
    for (size_t i = 0; i < 2; i++) {
        namespace_ip("neighbour add fe80::1 lladdr 02:00:00:00:00:01 dev %s", with_neighbour[i]);
        namespace_ip("neighbour add 192.0.2.1 lladdr 02:00:00:00:00:01 dev %s", with_neighbour[i]);
    }
    packets = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL));
    assert_true(packets >= 0);
}

static void end(void)
{
    close(packets);
}

/* ---- What the kernel does --------------------------------------------------------------------------------------- */

/* Sends a datagram. 0 or an errno. */
static int send_to(const char *address, const char *interface)
{
    const struct sockaddr_storage to = expect_sockaddr(address);
    struct sockaddr_storage with_port = to;
    const int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1;
    int error = 0;

    assert_true(fd >= 0);
    ((struct sockaddr_in *)&with_port)->sin_port = htons(9); /* at the same place in both families */
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof one), 0);
    if (interface != NULL)
        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, (socklen_t)strlen(interface)), 0);
    if (sendto(fd, TRACE, sizeof TRACE, 0, (const struct sockaddr *)&with_port,
               to.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6)) < 0)
        error = errno;
    close(fd);
    return error;
}

/* The interface over which the datagram leaves, "" if it does not leave. */
static const char *find_way_out(const char *address, const char *interface, char name[IF_NAMESIZE])
{
    struct sockaddr_ll from;
    socklen_t size = sizeof from;
    char bytes[2048];
    ssize_t length;

    while (recv(packets, bytes, sizeof bytes, 0) >= 0)
        continue;
    name[0] = '\0';
    if (send_to(address, interface) != 0)
        return name;
    while ((length = recvfrom(packets, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &size)) >= 0) {
        if (from.sll_pkttype == PACKET_OUTGOING && memmem(bytes, (size_t)length, TRACE, sizeof TRACE) != NULL)
            if_indextoname((unsigned)from.sll_ifindex, name);
        size = sizeof from;
    }
    return name;
}

/* ---- Results of the library ------------------------------------------------------------------------------------- */

struct row {
    const char *address, *interface; /* NULL: not bound */
    SCNetworkReachabilityFlags flags;
    const char *out; /* of the kernel: the interface, "" for none */
};

static void expect_row(const struct row *row)
{
    SCOPED_TARGET target = row->interface != NULL ? expect_bound(row->address, row->interface)
                                                  : expect_target(row->address);
    SCNetworkReachabilityPath path = expect_path_of(target);
    const char *bound = row->interface != NULL ? row->interface : "anything";
    char flags[64], name[IF_NAMESIZE];

    SCNetworkReachabilityFlagsGetString(path.flags, flags, sizeof flags);
    if (path.flags != row->flags || expect_flags_of(target) != row->flags)
        fail_msg("%s out of %s: %s", row->address, bound, flags);
    if (path.flags == 0 && path.reason != kSCNetworkReachabilityReasonNoRoute)
        fail_msg("%s out of %s: %s", row->address, bound, SCNetworkReachabilityReasonString(path.reason));
    if (strcmp(find_way_out(row->address, row->interface, name), row->out) != 0)
        fail_msg("the kernel sends to %s out of %s over \"%s\"", row->address, bound, name);
    if (path.flags != 0 && strcmp(path.interfaceName, row->out) != 0)
        fail_msg("%s out of %s: over \"%s\"", row->address, bound, path.interfaceName);
}

#define EXPECT_ROWS(rows) \
    do { \
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows)[0]; i++) \
            expect_row(&(rows)[i]); \
    } while (0)

/* There is no default route. Packets to 224.0.0.0/4 and 255.255.255.255 leave over the interface of the query. For
 * other destinations only routes count, although the kernel treats all of them as on-link if the query has an
 * interface. */
TEST(ipv4_out_of_an_interface_without_a_default_route)
{
    static const struct row rows[] = {
        { "224.0.0.251", NULL, 0, "" },         { "224.0.0.251", "a", R | D, "a" },
        { "224.0.0.251", "c", R | D, "c" },     { "224.0.0.251", "e", R | D, "e" },
        { "224.0.0.251", "lo", 0, "" },         { "239.1.2.3", NULL, 0, "" },
        { "239.1.2.3", "a", R | D, "a" },       { "239.1.2.3", "lo", 0, "" },
        { "255.255.255.255", NULL, 0, "" },     { "255.255.255.255", "a", R | D, "a" },
        { "255.255.255.255", "e", R | D, "e" }, { "255.255.255.255", "lo", 0, "" },
        { "192.0.2.127", NULL, R | D, "a" },    { "192.0.2.127", "a", R | D, "a" },
        { "192.0.2.127", "c", 0, "c" },         { "192.0.2.127", "lo", 0, "" },
    };

    EXPECT_ROWS(rows);
}

/* Multicast is on-link even if its route has a gateway. */
TEST(ipv4_out_of_an_interface_with_a_default_route)
{
    static const struct row rows[] = {
        { "224.0.0.251", NULL, R | D, "a" },     { "224.0.0.251", "a", R | D, "a" },
        { "224.0.0.251", "c", R | D, "c" },      { "239.1.2.3", NULL, R | D, "a" },
        { "239.1.2.3", "a", R | D, "a" },        { "239.1.2.3", "c", R | D, "c" },
        { "255.255.255.255", NULL, R | D, "a" }, { "255.255.255.255", "a", R | D, "a" },
        { "255.255.255.255", "c", R | D, "c" },  { "192.0.2.127", NULL, R | D, "a" },
        { "192.0.2.127", "a", R | D, "a" },
    };

    AFTER("route add default via 192.0.2.1", EXPECT_ROWS(rows));
}

TEST(ipv4_multicast_has_its_own_route)
{
    static const struct row rows[] = {
        { "224.0.0.251", NULL, R | D, "c" }, { "224.0.0.251", "a", R | D, "a" }, { "239.1.2.3", NULL, R | D, "c" },
        { "239.1.2.3", "c", R | D, "c" },    { "239.1.2.3", "a", R | D, "a" },
    };

    AFTER("route add default via 192.0.2.1; route add 224.0.0.0/4 dev c", EXPECT_ROWS(rows));
}

/* Also as connect(2) does: the source is the same. */
TEST(ipv4_multicast_leaves_an_interface_that_routes_and_rules_refuse)
{
    static const char *const refusals[] = { "route add prohibit 224.0.0.0/4", "route add blackhole 239.0.0.0/8",
                                            "route add unreachable default", "rule add pref 1 prohibit",
                                            "rule add pref 1 oif a blackhole" };
    static const struct row rows[] = {
        { "224.0.0.251", "a", R | D, "a" },     { "239.255.255.250", "a", R | D, "a" },
        { "239.255.255.250", "c", R | D, "c" }, { "239.255.255.250", "e", R | D, "e" },
        { "255.255.255.255", "a", R | D, "a" }, { "255.255.255.255", "c", R | D, "c" },
    };
    SCOPED_TARGET target = expect_bound("239.255.255.250", "a");

    for (size_t j = 0; j < sizeof refusals / sizeof refusals[0]; j++) {
        namespace_ip("%s", refusals[j]);
        EXPECT_ROWS(rows);
        EXPECT(target, R | D, None, .gateway = "none", .interface = "a");
        EXPECT_SOURCE(target, "192.0.2.2");
    }
}

/* The interface decides. */
TEST(ipv4_multicast_out_of_an_interface_follows_its_carrier)
{
    struct watcher bound;

    watcher_start(&bound, expect_bound("239.255.255.250", "a"));
    namespace_set_carrier("a", "b", false);
    EXPECT_END(&bound, 0);
    EXPECT(bound.target, 0, NoCarrier);
    namespace_set_carrier("a", "b", true);
    EXPECT_END(&bound, R | D);
    AFTER("link set dev a down", EXPECT_END(&bound, 0));
    AFTER("link set dev a up", EXPECT_END(&bound, R | D));
}

/* As in the kernel, a scope counts if the address needs one. Without a scope, sendto(2) and the library choose an
 * interface for multicast. For fe80::/10, sendto(2) also chooses one, but connect(2) and the library refuse. */
TEST(ipv6_with_and_without_a_scope)
{
    static const struct row rows[] = {
        { "ff02::1%a", NULL, R | D, "a" }, { "ff02::fb%a", NULL, R | D, "a" }, { "ff02::fb%c", NULL, R | D, "c" },
        { "ff02::fb%lo", NULL, 0, "" },    { "ff02::fb", "a", R | D, "a" },    { "ff02::fb", "c", R | D, "c" },
        { "ff02::fb", "lo", 0, "" },       { "ff02::fb%a", "a", R | D, "a" },  { "ff05::1", "c", R | D, "c" },
        { "ff05::1%c", "a", R | D, "a" },  { "fe80::1%a", NULL, R | D, "a" },  { "fe80::1%c", NULL, R | D, "c" },
        { "fe80::1%lo", NULL, 0, "" },     { "fe80::1", "c", R | D, "c" },     { "fe80::1%a", "a", R | D, "a" },
    };
    SCNetworkReachabilityRef target;
    char name[IF_NAMESIZE];

    EXPECT_ROWS(rows);
    target = expect_target("ff02::fb");
    EXPECT(target, R | D, None);
    EXPECT_INTERFACE(target, find_way_out("ff02::fb", NULL, name));
    SCNetworkReachabilityRelease(target);
    EXPECT_ADDRESS("fe80::1", 0, NoRoute);
}

/* ---- Zones ------------------------------------------------------------------------------------------------------ */

static SCNetworkReachabilityRef named_and_bound(const char *literal, const char *interface)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    options.nodename = literal;
    options.interfaceName = interface;
    return SCNetworkReachabilityCreateWithOptions(NULL, &options);
}

/* The target has one address, with this scope. */
static void expect_scope(SCNetworkReachabilityRef target, uint32_t index)
{
    struct sockaddr_storage storage[2];
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)storage;

    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(target, storage, 2), 1);
    assert_int_equal(in6->sin6_family, AF_INET6);
    assert_int_equal(in6->sin6_scope_id, index);
}

static uint32_t scope_of_destination(SCNetworkReachabilityRef target)
{
    const SCNetworkReachabilityPath path = expect_path_of(target);

    return ((const struct sockaddr_in6 *)&path.destination)->sin6_scope_id;
}

TEST(a_zone_is_a_name_or_a_number)
{
    static const char *const addresses[] = { "fe80::1", "ff02::1", "ff02::fb", "ff01::1" };
    const char *interfaces[] = { "a", "c" };

    for (size_t i = 0; i < 8; i++) {
        const char *address = addresses[i / 2], *interface = interfaces[i % 2];
        const uint32_t index = if_nametoindex(interface);
        char by_name[40], by_number[40];

        snprintf(by_name, sizeof by_name, "%s%%%s", address, interface);
        snprintf(by_number, sizeof by_number, "%s%%%u", address, index);
        for (size_t j = 0; j < 3; j++) {
            SCOPED_TARGET target = j == 0   ? expect_name(by_name)
                                   : j == 1 ? expect_name(by_number)
                                            : expect_target(by_name); /* a socket address */
            EXPECT(target, R | D, None, .interface = interface);
            expect_scope(target, index);
            assert_int_equal(scope_of_destination(target), index);
        }
    }
}

/* The address needs no scope. Its zone only selects the interface. */
TEST(the_zone_of_a_global_address_is_ignored)
{
    SCNetworkReachabilityRef target = expect_name("2001:db8::9%a");
    EXPECT(target, R | D, None);
    expect_scope(target, 0);
    SCNetworkReachabilityRelease(target);
    EXPECT_ONCE(expect_name("2001:db8::9%c"), 0, NoRoute);
}

static struct watcher unicast, multicast;

/* Watches two addresses with this zone until its interface comes: it has the name z and the number 77. */
static void begin_waiting(const char *zone, uint32_t scope)
{
    char address[40];

    snprintf(address, sizeof address, "fe80::1%%%s", zone);
    watcher_start(&unicast, expect_name(address));
    snprintf(address, sizeof address, "ff02::fb%%%s", zone);
    watcher_start(&multicast, expect_name(address));
    EXPECT_EACH(0, InterfaceMissing, unicast.target, multicast.target);
    expect_scope(unicast.target, scope);
    namespace_ip("link add name z index 77 type veth peer name y; link set dev y up; link set dev z up");
    EXPECT_END(&unicast, R | D, &multicast, R | D);
}

TEST(a_zone_by_number_waits_for_its_interface)
{
    begin_waiting("77", 77);
    AFTER("link set dev z down", EXPECT_END(&unicast, 0, &multicast, 0));
    namespace_ip("link set dev z name other"); /* a number is not a name */
    AFTER("link set dev other up", EXPECT_END(&unicast, R | D, &multicast, R | D));
    EXPECT_INTERFACE(unicast.target, "other");
    AFTER("link delete dev other", EXPECT_END(&unicast, 0, &multicast, 0));
    EXPECT(unicast.target, 0, InterfaceMissing);
}

TEST(a_zone_by_name_waits_for_its_interface)
{
    begin_waiting("z", 0);
    expect_scope(unicast.target, if_nametoindex("z"));
    AFTER("link set dev z down; link set dev z name other", EXPECT_END(&unicast, 0, &multicast, 0));
    EXPECT(unicast.target, 0, InterfaceMissing);
    expect_scope(unicast.target, 0);
    namespace_ip("link set dev c down; link set dev c name z; link set dev z up");
    EXPECT_END(&unicast, R | D, &multicast, R | D);
    expect_scope(unicast.target, if_nametoindex("z"));
}

TEST(two_interfaces_are_refused)
{
    assert_null(named_and_bound("fe80::1%a", "c"));
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
    assert_null(named_and_bound("ff02::fb%nosuch", "a"));
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
    EXPECT_ONCE(named_and_bound("fe80::1%a", "a"), R | D, None);
    EXPECT_ONCE(named_and_bound("fe80::1", "a"), R | D, None);
    /* The number of a missing interface is accepted. */
    const char *zone_a = unit_text("fe80::1%%%u", if_nametoindex("a"));
    EXPECT_ONCE(named_and_bound(zone_a, "a"), R | D, None);
    EXPECT_ONCE(named_and_bound(zone_a, "c"), 0, NoRoute);
    EXPECT_BOUND("fe80::1%a", "c", 0, NoRoute);
    EXPECT_BOUND("ff02::1%c", "a", 0, NoRoute);
    EXPECT_BOUND("fe80::1%a", "nosuch", 0, InterfaceMissing);
}

/* ---- Alternative names ------------------------------------------------------------------------------------------ */

#define ALIAS "enp195s0f4u1u4u4u3" /* too long for ioctls */

/* The name counts, as that of an interface does. */
TEST(a_long_alternative_name_is_that_of_an_interface)
{
    struct watcher bound;

    assert_null(named_and_bound("2001:db8::9", ALIAS));
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
    assert_null(SCNetworkReachabilityCreateWithName(NULL, "fe80::1%" ALIAS));
    if (!namespace_try_ip("link property add dev a altname " ALIAS))
        SKIP("this kernel has no alternative names");
    SCOPED_TARGET zoned = expect_name("fe80::1%" ALIAS);
    EXPECT(zoned, R | D, None, .interface = "a");
    expect_scope(zoned, if_nametoindex("a"));
    EXPECT_ONCE(named_and_bound("2001:db8:c::9", ALIAS), 0, NoRoute);
    watcher_start(&bound, named_and_bound("ff05::1", ALIAS));
    EXPECT(bound.target, R | D, None, .interface = "a");
    AFTER("link property del dev a altname " ALIAS, EXPECT_END(&bound, 0));
    EXPECT(bound.target, 0, InterfaceMissing);
    EXPECT(zoned, 0, InterfaceMissing);
    expect_scope(zoned, 0);
    AFTER("link property add dev c altname " ALIAS, EXPECT_END(&bound, R | D));
    EXPECT_INTERFACE(bound.target, "c");
    EXPECT(zoned, R | D, None, .interface = "c");
}

/* ---- Zones of local addresses ----------------------------------------------------------------------------------- */

/* "": not given. */
struct pair_row {
    const char *local, *remote, *interface;
    SCNetworkReachabilityFlags flags;
};

/* Whether a socket can have both ends and stay bound to the interface: bind(2) may bind it to another one. */
static bool can_connect(const struct pair_row *row)
{
    const struct sockaddr_storage local = expect_sockaddr(row->local);
    struct sockaddr_storage remote = expect_sockaddr(row->remote);
    const int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char bound[IF_NAMESIZE] = "";
    socklen_t length = sizeof bound;

    assert_true(fd >= 0);
    if (row->interface[0] != '\0')
        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, row->interface, (socklen_t)strlen(row->interface)),
                         0);
    ((struct sockaddr_in6 *)&remote)->sin6_port = htons(9);
    bool connected = bind(fd, (const struct sockaddr *)&local, sizeof(struct sockaddr_in6)) == 0 &&
                     connect(fd, (const struct sockaddr *)&remote, sizeof(struct sockaddr_in6)) == 0;
    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, bound, &length), 0);
    close(fd);
    return connected && (row->interface[0] == '\0' || strcmp(bound, row->interface) == 0);
}

/* bind(2) binds the socket to the interface of a link-local address, and refuses such an address without one. */
TEST(a_link_local_local_address_selects_its_interface)
{
    static const struct pair_row rows[] = {
        { "fe80::2%a", "2001:db8::9", "", R | D },   { "fe80::2%a", "2001:db8::9", "a", R | D },
        { "fe80::2%a", "2001:db8::9", "c", 0 },      { "fe80::2%a", "2001:db8:c::9", "", 0 },
        { "fe80::3%c", "2001:db8:c::9", "", R | D }, { "fe80::3%c", "2001:db8::9", "", 0 },
        { "fe80::2%a", "fe80::1%a", "", R | D },     { "fe80::2%a", "fe80::1%c", "", 0 },
        { "fe80::2", "2001:db8::9", "", 0 },         { "fe80::2", "2001:db8::9", "a", R | D },
        { "fe80::2%a", "ff02::1%a", "", R | D },     { "fe80::2%a", "ff02::1%c", "", 0 },
        { "fe80::5%a", "2001:db8:c::9", "c", 0 },    { "fe80::5%a", "fe80::9%c", "c", 0 },
        { "fe80::5%a", "2001:db8:c::9", "", 0 },     { "fe80::5%a", "2001:db8::9", "a", R | D },
    };

    namespace_ip("address add fe80::2/64 dev a nodad; address add fe80::3/64 dev c nodad");
    namespace_ip("address add fe80::5/64 dev a nodad; address add fe80::5/64 dev c nodad");
    namespace_await_addresses();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *interface = rows[i].interface[0] != '\0' ? rows[i].interface : NULL;
        SCOPED_TARGET target = expect_bound_pair(rows[i].local, rows[i].remote, interface);

        if (can_connect(&rows[i]) != (rows[i].flags != 0))
            fail_msg("the kernel disagrees: %s to %s over %s", rows[i].local, rows[i].remote, rows[i].interface);
        expect_result(target, rows[i].flags,
                      rows[i].flags != 0 ? kSCNetworkReachabilityReasonNone : kSCNetworkReachabilityReasonNoRoute, NULL,
                      rows[i].local, (int)i);
    }
}

UNIT(.setup = begin, .teardown = end)
