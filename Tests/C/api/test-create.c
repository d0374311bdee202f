/* SPDX-License-Identifier: MIT */
/* Creating targets: valid and invalid arguments. A refusal changes nothing. */
#include <math.h>
#include <sys/resource.h>

#include "support/test.h"

static const struct sockaddr *any_sockaddr(const struct sockaddr_storage *storage)
{
    return (const struct sockaddr *)storage;
}

static void expect_refused(const void *target)
{
    assert_null(target);
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
}

/* Sets SCError() to something that no test expects. */
static void forget_error(void)
{
    struct rlimit none = { 0 }, before;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_null(SCRunLoopCreate());
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(SCError(), EMFILE);
}

static void expect_one_address(SCNetworkReachabilityRef target, const char *wanted)
{
    struct sockaddr_storage address;
    char text[INET6_ADDRSTRLEN];

    assert_non_null(target);
    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(target, &address, 1), 1);
    inet_ntop(address.ss_family,
              address.ss_family == AF_INET ? (const void *)&((const struct sockaddr_in *)&address)->sin_addr
                                           : (const void *)&((const struct sockaddr_in6 *)&address)->sin6_addr,
              text, sizeof text);
    assert_string_equal(text, wanted);
}

/* ---- By address ------------------------------------------------------------------------------------------------- */

TEST(an_address_is_copied_and_its_port_ignored)
{
    struct sockaddr_storage address = expect_sockaddr("198.51.100.7"), got;

    ((struct sockaddr_in *)&address)->sin_port = htons(80);
    SCOPED_TARGET target = SCNetworkReachabilityCreateWithAddress(NULL, any_sockaddr(&address));
    memset(&address, 0xff, sizeof address);
    expect_one_address(target, "198.51.100.7");
    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(target, &got, 1), 1);
    assert_int_equal(((const struct sockaddr_in *)&got)->sin_port, 0);
}

TEST(other_families_are_refused)
{
    static const int families[] = { AF_UNSPEC, AF_UNIX, AF_PACKET, AF_NETLINK, 65535 };
    struct sockaddr_storage address = expect_sockaddr("198.51.100.7");
    const struct sockaddr_storage good = address;

    expect_refused(SCNetworkReachabilityCreateWithAddress(NULL, NULL));
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        address.ss_family = (sa_family_t)families[i];
        forget_error();
        expect_refused(SCNetworkReachabilityCreateWithAddress(NULL, any_sockaddr(&address)));
        forget_error();
        expect_refused(SCNetworkReachabilityCreateWithAddressPair(NULL, any_sockaddr(&address), NULL));
        expect_refused(SCNetworkReachabilityCreateWithAddressPair(NULL, NULL, any_sockaddr(&address)));
        expect_refused(SCNetworkReachabilityCreateWithAddressPair(NULL, any_sockaddr(&good), any_sockaddr(&address)));
        expect_refused(SCNetworkReachabilityCreateWithAddressPair(NULL, any_sockaddr(&address), any_sockaddr(&good)));
    }
}

TEST(a_mapped_address_becomes_ipv4)
{
    SCOPED_TARGET target = expect_target("::ffff:198.51.100.7");
    expect_one_address(target, "198.51.100.7");
}

TEST(a_pair_needs_one_address_and_one_family)
{
    const struct sockaddr_storage ipv4 = expect_sockaddr("192.0.2.2"), ipv6 = expect_sockaddr("2001:db8::2"),
                                  mapped = expect_sockaddr("::ffff:192.0.2.9"), any6 = expect_sockaddr("::");
    SCNetworkReachabilityRef target;

    forget_error();
    expect_refused(SCNetworkReachabilityCreateWithAddressPair(NULL, NULL, NULL));
    forget_error();
    expect_refused(SCNetworkReachabilityCreateWithAddressPair(NULL, any_sockaddr(&ipv4), any_sockaddr(&ipv6)));
    expect_refused(SCNetworkReachabilityCreateWithAddressPair(NULL, any_sockaddr(&ipv6), any_sockaddr(&ipv4)));
    expect_refused(SCNetworkReachabilityCreateWithAddressPair(NULL, any_sockaddr(&any6), any_sockaddr(&ipv4)));
    expect_refused(SCNetworkReachabilityCreateWithAddressPair(NULL, any_sockaddr(&mapped), any_sockaddr(&ipv6)));
    target = SCNetworkReachabilityCreateWithAddressPair(NULL, any_sockaddr(&ipv4), any_sockaddr(&mapped));
    expect_one_address(target, "192.0.2.9");
    SCNetworkReachabilityRelease(target);
    target = SCNetworkReachabilityCreateWithAddressPair(NULL, any_sockaddr(&ipv4), NULL);
    expect_one_address(target, "192.0.2.2");
    SCNetworkReachabilityRelease(target);
}

/* ---- By name ---------------------------------------------------------------------------------------------------- */

TEST(a_name_has_1_to_1024_bytes)
{
    char name[1026];

    forget_error();
    expect_refused(SCNetworkReachabilityCreateWithName(NULL, NULL));
    forget_error();
    expect_refused(SCNetworkReachabilityCreateWithName(NULL, ""));
    memset(name, 'a', sizeof name);
    name[1024] = '\0';
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, name);
    assert_non_null(target);
    SCNetworkReachabilityRelease(target);
    name[1024] = 'a';
    name[1025] = '\0';
    forget_error();
    expect_refused(SCNetworkReachabilityCreateWithName(NULL, name));
}

TEST(a_literal_makes_an_address)
{
    static const struct {
        const char *name, *address;
    } rows[] = { { "198.51.100.7", "198.51.100.7" },
                 { "127.1", "127.0.0.1" },
                 { "10", "0.0.0.10" },
                 { "0x7f.1", "127.0.0.1" },
                 { "::1", "::1" },
                 { "2001:DB8::7", "2001:db8::7" },
                 { "::ffff:198.51.100.7", "198.51.100.7" },
                 { "fe80::1%lo", "fe80::1" } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED_TARGET target = SCNetworkReachabilityCreateWithName(NULL, rows[i].name);

        expect_one_address(target, rows[i].address);
        assert_int_not_equal(expect_path_of(target).reason, kSCNetworkReachabilityReasonNamePending);
    }
    EXPECT_ONCE(SCNetworkReachabilityCreateWithName(NULL, "fe80::1%nosuch"), 0, InterfaceMissing);
    EXPECT_ONCE(SCNetworkReachabilityCreateWithName(NULL, "2001:db8::1%nosuch"), 0, InterfaceMissing);
    EXPECT_ONCE(SCNetworkReachabilityCreateWithName(NULL, "0"), 0, NoRoute); /* the default path */
}

TEST_WITH(NULL, NULL, localhost_has_both_loopback_addresses)
{
    static const char *const names[] = { "localhost", "LocalHost", "localhost.", "a.localhost", "b.a.LOCALHOST." };
    static const char *const others[] = { "notlocalhost", "localhost.example", "localhost..", "localhos" };
    struct sockaddr_storage addresses[3];

    namespace_require_lo();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        SCOPED_TARGET target = SCNetworkReachabilityCreateWithName(NULL, names[i]);

        assert_non_null(target);
        memset(addresses, 0xff, sizeof addresses);
        assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(target, addresses, 3), 2);
        assert_int_equal(addresses[0].ss_family, AF_INET);
        assert_int_equal(((const struct sockaddr_in *)&addresses[0])->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
        assert_int_equal(addresses[1].ss_family, AF_INET6);
        assert_memory_equal(&((const struct sockaddr_in6 *)&addresses[1])->sin6_addr, &in6addr_loopback, 16);
        assert_int_equal(addresses[2].ss_family, 0xffff);
        EXPECT(target, R | L | D, None);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        EXPECT_ONCE(SCNetworkReachabilityCreateWithName(NULL, others[i]), 0, NamePending);
}

TEST(any_other_text_makes_a_name)
{
    static const char *const names[] = { "example.com", "a b", "https://x", "1.2.3.4 ", "-", "\xc3\xa9", "[::1]" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char copy[32];

        snprintf(copy, sizeof copy, "%s", names[i]);
        SCOPED_TARGET target = SCNetworkReachabilityCreateWithName(NULL, copy);
        memset(copy, 'x', sizeof copy); /* it was copied */
        EXPECT(target, 0, NamePending);
        forget_error();
        assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(target, NULL, 0), 0);
        assert_int_equal(SCError(), EMFILE); /* success does not change it */
    }
}

/* ---- By options ------------------------------------------------------------------------------------------------- */

static struct sockaddr_storage options_address;

static SCNetworkReachabilityOptions good_options(void)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    options_address = expect_sockaddr("198.51.100.7");
    options.remoteAddress = any_sockaddr(&options_address);
    return options;
}

static void expect_options_refused(const SCNetworkReachabilityOptions *options)
{
    forget_error();
    expect_refused(SCNetworkReachabilityCreateWithOptions(NULL, options));
}

static void expect_options_taken(const SCNetworkReachabilityOptions *options)
{
    SCOPED_TARGET target = SCNetworkReachabilityCreateWithOptions(NULL, options);

    assert_non_null(target);
}

TEST(options_name_a_host_or_addresses)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    expect_options_refused(NULL);
    expect_options_refused(&options); /* neither */
    options.nodename = "example.com";
    expect_options_taken(&options);
    options.nodename = "";
    expect_options_refused(&options);
    options = good_options();
    expect_options_taken(&options);
    options.nodename = "example.com";
    expect_options_refused(&options); /* both */
    options.localAddress = options.remoteAddress;
    options.remoteAddress = NULL;
    expect_options_refused(&options);
}

TEST(an_interface_name_has_1_to_15_bytes)
{
    SCNetworkReachabilityOptions options = good_options();
    char name[16] = "abcdefghijklmno";

    options.interfaceName = "";
    expect_options_refused(&options);
    options.interfaceName = "abcdefghijklmnop"; /* no alternative name, either */
    expect_options_refused(&options);
    options.interfaceName = name;
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
    memset(name, 0, sizeof name);
    EXPECT(target, 0, InterfaceMissing);
    SCNetworkReachabilityRelease(target);
    options.interfaceName = "nosuch";
    options.remoteAddress = NULL;
    options.nodename = "example.com";
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), 0, NamePending);
}

TEST(unknown_option_bits_are_refused)
{
    SCNetworkReachabilityOptions options = good_options();

    const uint32_t known = kSCNetworkReachabilityOptionNotifyPath | kSCNetworkReachabilityOptionNotifyNextHop |
                           kSCNetworkReachabilityOptionIPv4Only;

    for (int bit = 0; bit < 32; bit++) {
        options.options = 1u << bit;
        if ((options.options & known) != 0)
            expect_options_taken(&options);
        else
            expect_options_refused(&options);
    }
}

TEST(lengths_must_fit_the_family)
{
    const struct sockaddr_storage addresses[] = { expect_sockaddr("192.0.2.2"), expect_sockaddr("2001:db8::2") };
    static const socklen_t needed[] = { sizeof(struct sockaddr_in), sizeof(struct sockaddr_in6) };

    for (size_t i = 0; i < 2; i++) {
        for (socklen_t length = 0; length <= sizeof(struct sockaddr_storage); length++) {
            for (int local = 0; local < 2; local++) {
                SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

                if (local) {
                    options.localAddress = any_sockaddr(&addresses[i]);
                    options.localAddressLength = length;
                } else {
                    options.remoteAddress = any_sockaddr(&addresses[i]);
                    options.remoteAddressLength = length;
                }
                if (length == 0 || length >= needed[i])
                    expect_options_taken(&options);
                else
                    expect_options_refused(&options);
            }
        }
    }
}

/* With a given length, no byte beyond it is read: a sanitizer checks that. */
TEST_WITH(NULL, NULL, a_short_length_is_refused_before_anything_is_read)
{
    for (socklen_t length = 1; length < sizeof(struct sockaddr_in6); length++) {
        SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
        unsigned char *exact = calloc(1, length);
        const sa_family_t family = AF_INET6;

        assert_non_null(exact);
        memcpy(exact, &family, length < sizeof family ? length : sizeof family);
        options.remoteAddress = (const struct sockaddr *)(const void *)exact;
        options.remoteAddressLength = length;
        expect_options_refused(&options);
        free(exact);
    }
}

/* ---- Flows ------------------------------------------------------------------------------------------------------ */

TEST(a_protocol_is_one_that_queries_take)
{
    const struct sockaddr_in6 mapped = { .sin6_family = AF_INET6,
                                         .sin6_addr = { { { [10] = 0xff, 0xff, 127, 0, 0, 1 } } } };
    const struct sockaddr_in6 ipv6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    const struct sockaddr_in any = { .sin_family = AF_INET };
    SCNetworkReachabilityOptions options = good_options(), name = kSCNetworkReachabilityOptionsInitializer;

    name.nodename = "example.com";
    for (unsigned protocol = 1; protocol < 256; protocol++) {
        const bool is_common = protocol == IPPROTO_TCP || protocol == IPPROTO_UDP;
        const bool fits[] = { is_common || protocol == IPPROTO_ICMP, is_common || protocol == IPPROTO_ICMP,
                              is_common || protocol == IPPROTO_ICMP, is_common || protocol == IPPROTO_ICMPV6,
                              is_common || protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6 };
        const void *const addresses[] = { good_options().remoteAddress, &any, &mapped, &ipv6, NULL };

        for (size_t i = 0; i < sizeof fits / sizeof fits[0]; i++) {
            SCNetworkReachabilityOptions *which = addresses[i] == NULL ? &name : &options;

            which->protocol = (uint8_t)protocol;
            which->remoteAddress = addresses[i];
            if (fits[i])
                expect_options_taken(which);
            else
                expect_options_refused(which);
        }
    }
}

TEST(a_remote_port_needs_a_name_and_a_protocol)
{
    SCNetworkReachabilityOptions options = good_options();

    options.protocol = IPPROTO_TCP;
    expect_options_taken(&options);
    options.remotePort = 443;
    expect_options_refused(&options); /* beside an address */
    options.remoteAddress = NULL;
    options.nodename = "localhost";
    expect_options_taken(&options);
    options.nodename = "example.com";
    expect_options_taken(&options);
    options.nodename = "192.0.2.1";
    expect_options_taken(&options);
    options.protocol = 0;
    expect_options_refused(&options);
    options.remotePort = 0;
    expect_options_taken(&options);
    options.reserved = 1;
    expect_options_refused(&options);
}

TEST(the_size_of_options_follows_the_rules)
{
    union {
        SCNetworkReachabilityOptions options;
        unsigned char bytes[5000];
    } more;
    static const size_t first = sizeof more.options;
    const size_t bad[] = { 0, 1, first - 1, 4097, 5000, SIZE_MAX };

    memset(&more, 0, sizeof more);
    more.options = good_options();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        more.options.size = bad[i];
        expect_options_refused(&more.options);
    }
    more.options.size = sizeof more.options;
    more.bytes[sizeof more.options] = 1; /* beyond the given size */
    expect_options_taken(&more.options);
    more.bytes[sizeof more.options] = 0;
    for (size_t size = sizeof more.options + 1; size <= 4096; size += 97) {
        more.options.size = size;
        expect_options_taken(&more.options);
        more.bytes[size - 1] = 1; /* an unknown option */
        expect_options_refused(&more.options);
        more.bytes[size - 1] = 0;
    }
    more.options.size = 4096;
    expect_options_taken(&more.options);
}

/* ---- GetPath, GetFlags, GetResolvedAddresses -------------------------------------------------------------------- */

TEST_WITH(NULL, NULL, the_size_of_a_path_follows_the_rules)
{
    union {
        SCNetworkReachabilityPath path;
        unsigned char bytes[5000];
    } more, before;
    static const size_t first = sizeof more.path;
    const size_t bad[] = { 0, 1, first - 1, 4097, 5000, SIZE_MAX };

    namespace_require_lo();
    SCOPED_TARGET target = expect_target("127.0.0.1");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memset(&more, 0xa5, sizeof more);
        more.path.size = bad[i];
        before = more;
        forget_error();
        assert_false(SCNetworkReachabilityGetPath(target, &more.path));
        assert_int_equal(SCError(), kSCStatusInvalidArgument);
        assert_memory_equal(&more, &before, sizeof more);
    }
    for (size_t size = sizeof more.path; size <= 4096; size += 97) {
        memset(&more, 0xa5, sizeof more);
        more.path.size = size;
        assert_true(SCNetworkReachabilityGetPath(target, &more.path));
        assert_int_equal(more.path.size, size);
        assert_int_equal(more.path.flags, R | L | D);
        for (size_t i = sizeof more.path; i < size; i++)
            assert_int_equal(more.bytes[i], 0);
        assert_int_equal(more.bytes[size], 0xa5);
    }
}

TEST_WITH(NULL, NULL, a_path_holds_all_that_is_known)
{
    namespace_require_pair();
    namespace_ip("route add 198.51.100.0/24 via 192.0.2.1 mtu 1400 table 77; rule add from all lookup 77");
    SCNetworkReachabilityRef target = expect_target("198.51.100.7");
    SCNetworkReachabilityPath path = expect_path_of(target);
    assert_int_equal(path.interfaceType, kSCNetworkReachabilityInterfaceTypeVirtual);
    assert_string_equal(path.interfaceName, "a");
    assert_int_equal(path.mtu, 1400);
    assert_int_equal(path.table, 77);
    assert_int_equal(path.addressCount, 1);
    assert_int_equal(path.evidence, kSCNetworkReachabilityEvidenceKernel);
    assert_int_equal(path.destination.ss_family, AF_INET);
    assert_int_equal(((const struct sockaddr_in *)&path.destination)->sin_addr.s_addr, inet_addr("198.51.100.7"));
    SCNetworkReachabilityRelease(target);
    target = expect_target("127.0.0.1");
    assert_int_equal(expect_path_of(target).interfaceType, kSCNetworkReachabilityInterfaceTypeLoopback);
    assert_string_equal(expect_path_of(target).interfaceName, "lo");
    assert_int_equal(expect_path_of(target).mtu, 65536);
    SCNetworkReachabilityRelease(target);
    target = expect_target("192.0.2.9");
    assert_int_equal(expect_path_of(target).mtu, 1500);
    assert_int_equal(expect_path_of(target).gateway.ss_family, AF_UNSPEC);
    SCNetworkReachabilityRelease(target);
}

TEST(resolved_addresses_are_counted_whole)
{
    struct sockaddr_storage addresses[2];
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "localhost");

    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(target, NULL, 0), 2);
    memset(addresses, 0xa5, sizeof addresses);
    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(target, addresses, 1), 2);
    assert_int_equal(addresses[0].ss_family, AF_INET);
    assert_int_equal(addresses[1].ss_family, 0xa5a5);
    forget_error();
    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(target, NULL, 1), 0);
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
    SCNetworkReachabilityRelease(target);
    target = expect_target("0.0.0.0");
    forget_error();
    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(target, addresses, 2), 0);
    assert_int_equal(SCError(), EMFILE);
    SCNetworkReachabilityRelease(target);
}

/* ---- Foreign pointers ------------------------------------------------------------------------------------------- */

static void expect_error(int wanted)
{
    assert_int_equal(SCError(), wanted);
    forget_error();
}

static void check_no_target(SCNetworkReachabilityRef wrong, SCRunLoopRef loop)
{
    SCNetworkReachabilityFlags flags = 99;
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer, before;
    struct sockaddr_storage address;
    char text[8] = "before";

    memset((char *)&path + sizeof path.size, 0xa5, sizeof path - sizeof path.size);
    before = path;
    forget_error();
    assert_false(SCNetworkReachabilityGetFlags(wrong, &flags));
    expect_error(kSCStatusInvalidArgument);
    assert_int_equal(flags, 99);
    assert_false(SCNetworkReachabilityGetPath(wrong, &path));
    assert_false(SCNetworkReachabilityGetLastPath(wrong, &path));
    expect_error(kSCStatusInvalidArgument);
    assert_memory_equal(&path, &before, sizeof path);
    memset(&address, 0xa5, sizeof address);
    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(wrong, &address, 1), 0);
    expect_error(kSCStatusInvalidArgument);
    assert_int_equal(address.ss_family, 0xa5a5);
    assert_int_equal(SCNetworkReachabilityGetDescription(wrong, text, sizeof text), 0);
    expect_error(kSCStatusInvalidArgument);
    assert_string_equal(text, "before");
    assert_false(SCNetworkReachabilitySetCallback(wrong, ignore_call, NULL));
    expect_error(kSCStatusInvalidArgument);
    assert_false(SCNetworkReachabilityScheduleWithRunLoop(wrong, loop, kSCRunLoopDefaultMode));
    expect_error(kSCStatusInvalidArgument);
    assert_false(SCNetworkReachabilityUnscheduleFromRunLoop(wrong, loop, kSCRunLoopDefaultMode));
    expect_error(kSCStatusInvalidArgument);
    if (wrong != NULL) {
        assert_null(SCNetworkReachabilityRetain(wrong));
        expect_error(kSCStatusInvalidArgument);
        SCNetworkReachabilityRelease(wrong);
        expect_error(kSCStatusInvalidArgument);
    } else {
        assert_null(SCNetworkReachabilityRetain(wrong));
        SCNetworkReachabilityRelease(wrong);
        assert_int_equal(SCError(), EMFILE); /* both are fine */
    }
}

static void check_no_loop(SCRunLoopRef wrong, SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityFlags flags = 99;

    forget_error();
    assert_false(SCNetworkReachabilityScheduleWithRunLoop(target, wrong, kSCRunLoopDefaultMode));
    expect_error(kSCStatusInvalidArgument);
    assert_false(SCNetworkReachabilityUnscheduleFromRunLoop(target, wrong, kSCRunLoopDefaultMode));
    expect_error(kSCStatusInvalidArgument);
    assert_int_equal(SCRunLoopGetFileDescriptor(wrong), -1);
    expect_error(kSCStatusInvalidArgument);
    assert_int_equal(SCRunLoopPerform(wrong, 0), -1);
    expect_error(kSCStatusInvalidArgument);
    assert_null(SCRunLoopCopyNextChange(wrong, &flags));
    expect_error(kSCStatusInvalidArgument);
    assert_int_equal(flags, 99);
    SCRunLoopStop(wrong);
    SCRunLoopWakeUp(wrong);
    forget_error();
    if (wrong != NULL) {
        assert_null(SCRunLoopRetain(wrong));
        expect_error(kSCStatusInvalidArgument);
        SCRunLoopRelease(wrong);
        expect_error(kSCStatusInvalidArgument);
    } else {
        assert_null(SCRunLoopRetain(wrong));
        SCRunLoopRelease(wrong);
        assert_int_equal(SCError(), EMFILE);
    }
}

TEST(foreign_pointers_are_refused)
{
    static uint64_t zeros[64];
    uint64_t ones[64];

    memset(ones, 0xff, sizeof ones);
    SCOPED_LOOP loop = SCRunLoopCreate();
    SCOPED_TARGET target = expect_target("198.51.100.7");
    {
        const uintptr_t wrongs[] = { 0,
                                     1,
                                     8,
                                     4095,
                                     (uintptr_t)target + 1,
                                     (uintptr_t)target + 4,
                                     (uintptr_t)zeros,
                                     (uintptr_t)ones,
                                     (uintptr_t) "a string of some length" };

        for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
            check_no_target((SCNetworkReachabilityRef)wrongs[i], loop);
            check_no_loop((SCRunLoopRef)wrongs[i], target);
        }
    }
    check_no_target((SCNetworkReachabilityRef)(uintptr_t)loop, loop);
    check_no_loop((SCRunLoopRef)(uintptr_t)target, target);
    check_no_loop((SCRunLoopRef)((uintptr_t)loop + 2), target);
}

TEST(other_bad_arguments_are_refused)
{
    SCNetworkReachabilityContext context = { .version = 1 };
    SCOPED_LOOP loop = SCRunLoopCreate();
    SCOPED_TARGET target = expect_target("198.51.100.7");

    forget_error();
    assert_false(SCNetworkReachabilityGetFlags(target, NULL));
    expect_error(kSCStatusInvalidArgument);
    assert_false(SCNetworkReachabilityGetPath(target, NULL));
    expect_error(kSCStatusInvalidArgument);
    assert_false(SCNetworkReachabilityGetLastPath(target, NULL));
    expect_error(kSCStatusInvalidArgument);
    assert_int_equal(SCNetworkReachabilityGetDescription(target, NULL, 1), 0);
    expect_error(kSCStatusInvalidArgument);
    assert_false(SCNetworkReachabilitySetCallback(target, ignore_call, &context));
    expect_error(kSCStatusInvalidArgument);
    assert_false(SCNetworkReachabilityScheduleWithRunLoop(target, loop, NULL));
    expect_error(kSCStatusInvalidArgument);
    assert_false(SCNetworkReachabilityScheduleWithRunLoop(target, loop, ""));
    expect_error(kSCStatusInvalidArgument);
    assert_false(SCNetworkReachabilityScheduleWithRunLoop(target, loop, "NSDefaultRunLoopMode"));
    expect_error(kSCStatusInvalidArgument);
    assert_int_equal(SCRunLoopPerform(loop, (double)NAN), -1);
    expect_error(kSCStatusInvalidArgument);
    assert_int_equal(SCNetworkReachabilityFlagsGetString(0, NULL, 1), 0);
    expect_error(kSCStatusInvalidArgument);
}

/* ---- Errors ----------------------------------------------------------------------------------------------------- */

static void *error_of_another_thread(void *argument)
{
    int *errors = argument;

    errors[0] = SCError();
    (void)SCNetworkReachabilityCreateWithName(NULL, NULL);
    errors[1] = SCError();
    return NULL;
}

TEST(an_error_belongs_to_its_thread_and_outlives_success)
{
    int errors[2] = { -1, -1 };

    forget_error();
    pthread_t thread = unit_thread(error_of_another_thread, errors);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(errors[0], kSCStatusOK);
    assert_int_equal(errors[1], kSCStatusInvalidArgument);
    assert_int_equal(SCError(), EMFILE);
    SCOPED_TARGET target = expect_target("198.51.100.7");
    (void)expect_flags_of(target);
    assert_int_equal(SCError(), EMFILE);
}

/* Fewer and fewer descriptors are free. Each call fails with an errno or succeeds, leaves nothing open, and works again
 * afterwards. */
TEST(a_shortage_of_descriptors_is_an_errno)
{
    const struct sockaddr_storage address = expect_sockaddr("198.51.100.7");
    struct rlimit before, fewer;
    bool all_went_well = false;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct descriptors open = descriptors_now();
    for (rlim_t more = 0; !all_went_well && more < 30; more++) {
        SCRunLoopRef loop = NULL;

        fewer = before;
        fewer.rlim_cur = (rlim_t)open.highest + 1 + more;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &fewer), 0);
        SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithAddress(NULL, any_sockaddr(&address));
        if (target == NULL)
            assert_int_equal(SCError(), EMFILE);
        else if ((loop = SCRunLoopCreate()) == NULL)
            assert_int_equal(SCError(), EMFILE);
        else if (!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode)) {
            assert_int_equal(SCError(), EMFILE);
            assert_false(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
        } else {
            assert_int_equal(expect_flags_of(target), 0);
            assert_int_equal(SCRunLoopPerform(loop, 0), 0);
            assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
            all_went_well = true;
        }
        SCNetworkReachabilityRelease(target);
        SCRunLoopRelease(loop);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        descriptors_expect(&open);
    }
    assert_true(all_went_well);
}

TEST_WITH(NULL, NULL, all_targets_have_one_type)
{
    assert_true(SCNetworkReachabilityGetTypeID() != 0);
    assert_int_equal(SCNetworkReachabilityGetTypeID(), SCNetworkReachabilityGetTypeID());
}

TEST(references_are_counted)
{
    SCNetworkReachabilityRef target = expect_target("198.51.100.7");
    assert_ptr_equal(SCNetworkReachabilityRetain(target), target);
    SCNetworkReachabilityRelease(target);
    EXPECT(target, 0, NoRoute);
    SCNetworkReachabilityRelease(target);
}

UNIT(.setup = namespace_require)
