/* SPDX-License-Identifier: MIT */
/* Addresses as values: literals, prefixes, socket addresses. No kernel. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "pure/address.h"
#include "support/literal.h"
#include "support/unit.h"

/* musl writes no IPv4 address at the end of ::192.0.2.1. */
static void as_system_writes(const char *digits, char ret[46])
{
    const int family = strchr(digits, ':') == NULL ? AF_INET : AF_INET6;
    uint8_t bytes[16];

    assert_int_equal(inet_pton(family, digits, bytes), 1);
    assert_non_null(inet_ntop(family, bytes, ret, 46));
}

#define LETTERS_32  "abcdefghijklmnopqrstuvwxyzabcdef"
#define LETTERS_127 LETTERS_32 LETTERS_32 LETTERS_32 "abcdefghijklmnopqrstuvwxyzabcde"

TEST(literals_are_read_whole)
{
    static const struct {
        const char *text, *digits; /* digits NULL: not a literal */
        const char *zone;
        uint32_t scope;
    } rows[] = {
        { "192.0.2.1", "192.0.2.1", "", 0 },
        { "127.1", "127.0.0.1", "", 0 },
        { "10", "0.0.0.10", "", 0 },
        { "10.1.2", "10.1.0.2", "", 0 },
        { "0x7f.1", "127.0.0.1", "", 0 },
        { "0x7f000001", "127.0.0.1", "", 0 },
        { "017.1", "15.0.0.1", "", 0 },
        { "4294967295", "255.255.255.255", "", 0 },
        { "0", "0.0.0.0", "", 0 },
        { "0.0.0.0", "0.0.0.0", "", 0 },
        { "256.1.1.1", NULL, "", 0 },
        { "1.2.3.4.5", NULL, "", 0 },
        { "4294967296", NULL, "", 0 },
        { "1.2.3.4 ", NULL, "", 0 },
        { " 1.2.3.4", NULL, "", 0 },
        { "1.2.3.4 garbage", NULL, "", 0 },
        { "1.2.3.4\n", NULL, "", 0 },
        { "1.2.3.4\t", NULL, "", 0 },
        { "1.2.3.4x", NULL, "", 0 },
        { "1.2.3.", NULL, "", 0 },
        { "1..2", NULL, "", 0 },
        { "09", NULL, "", 0 },
        { "1.2.3.4:80", NULL, "", 0 },
        { "1.2.3.4/8", NULL, "", 0 },
        { "-1", NULL, "", 0 },
        { "", NULL, "", 0 },
        { ".", NULL, "", 0 },
        { "::", "::", "", 0 },
        { "::1", "::1", "", 0 },
        { "2001:DB8::1", "2001:db8::1", "", 0 },
        { "2001:db8:0:0:0:0:0:1", "2001:db8::1", "", 0 },
        { "::ffff:192.0.2.1", "192.0.2.1", "", 0 },
        { "::FFFF:c000:201", "192.0.2.1", "", 0 },
        { "::192.0.2.1", "::192.0.2.1", "", 0 },
        { "fe80::1%eth0", "fe80::1", "eth0", 0 },
        { "fe80::1%3", "fe80::1", "", 3 },
        { "fe80::1%4294967295", "fe80::1", "", 4294967295u },
        { "fe80::1%3x", "fe80::1", "3x", 0 },
        { "fe80::1%abcdefghijklmno", "fe80::1", "abcdefghijklmno", 0 },
        { "fe80::1%abcdefghijklmnop", "fe80::1", "abcdefghijklmnop", 0 }, /* perhaps an alternative name */
        { "fe80::1%" LETTERS_127, "fe80::1", LETTERS_127, 0 },
        { "fe80::1%" LETTERS_127 "a", NULL, "", 0 },
        { "fe80::1%4294967296", NULL, "", 0 },
        { "fe80::1%99999999999", NULL, "", 0 },
        { "fe80::1%", NULL, "", 0 },
        { "fe80::1%eth0 ", NULL, "", 0 },
        { "192.0.2.1%eth0", NULL, "", 0 },
        { "%eth0", NULL, "", 0 },
        { "[::1]", NULL, "", 0 },
        { "::1::", NULL, "", 0 },
        { "2001:db8::1/64", NULL, "", 0 },
        { "12345::", NULL, "", 0 },
        { ":1", NULL, "", 0 },
        { "1111:2222:3333:4444:5555:6666:123.123.123.123", "1111:2222:3333:4444:5555:6666:7b7b:7b7b", "", 0 },
        { "1111:2222:3333:4444:5555:6666:7777:8888:9999:0000:1111:2222:3333", NULL, "", 0 },
        { "example.com", NULL, "", 0 },
        { "cafe", NULL, "", 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct address address;
        const char *zone;
        char digits[46], wanted[46];
        uint32_t scope;
        const bool is_literal = reach_address_parse(rows[i].text, &address, &zone, &scope);

        if (is_literal != (rows[i].digits != NULL))
            fail_msg("\"%s\" is taken for %s", rows[i].text, is_literal ? "a literal" : "none");
        if (!is_literal)
            continue;
        reach_address_format(&address, digits);
        as_system_writes(rows[i].digits, wanted);
        if (strcmp(digits, wanted) != 0 || strcmp(zone != NULL ? zone : "", rows[i].zone) != 0 ||
            scope != rows[i].scope)
            fail_msg("\"%s\" is read as %s, zone \"%s\", scope %u", rows[i].text, digits, zone != NULL ? zone : "",
                     scope);
    }
}

TEST(prefixes_cover_bit_by_bit)
{
    static const struct {
        const char *address, *prefix;
        unsigned length;
        bool inside;
    } rows[] = {
        { "192.0.2.1", "192.0.2.0", 24, true },
        { "192.0.3.1", "192.0.2.0", 24, false },
        { "192.0.3.1", "192.0.2.0", 23, true },
        { "192.0.2.1", "192.0.2.1", 32, true },
        { "192.0.2.2", "192.0.2.1", 32, false },
        { "192.0.2.2", "192.0.2.3", 31, true },
        { "255.1.2.3", "0.0.0.0", 0, true },
        { "127.255.0.1", "0.0.0.0", 1, true },
        { "128.0.0.1", "0.0.0.0", 1, false },
        { "128.0.0.1", "128.0.0.0", 1, true },
        { "192.0.2.1", "192.0.2.1", 33, false },
        { "2001:db8::1", "2001:db8::", 32, true },
        { "2001:db9::1", "2001:db8::", 32, false },
        { "2001:db9::1", "2001:db8::", 31, true },
        { "::1", "::", 0, true },
        { "2001:db8::1", "2001:db8::1", 128, true },
        { "2001:db8::1", "2001:db8::", 127, true },
        { "2001:db8::1", "2001:db8::", 128, false },
        { "2001:db8::1", "2001:db8::1", 129, false },
        { "192.0.2.1", "::", 0, false },
        { "::1", "0.0.0.0", 0, false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct address address = make(rows[i].address), prefix = make(rows[i].prefix);

        if (reach_address_in_prefix(&address, &prefix, rows[i].length) != rows[i].inside)
            fail_msg("%s in %s/%u", rows[i].address, rows[i].prefix, rows[i].length);
    }
}

TEST(kinds_of_addresses_are_distinct)
{
    static const struct {
        const char *text;
        bool unspecified, loopback, link_local, multicast;
    } rows[] = {
        { "0.0.0.0", true, false, false, false },
        { "0.0.0.1", false, false, false, false },
        { "127.0.0.1", false, true, false, false },
        { "127.255.255.254", false, true, false, false },
        { "128.0.0.1", false, false, false, false },
        { "169.254.1.1", false, false, false, false },
        { "224.0.0.1", false, false, false, true },
        { "239.255.255.255", false, false, false, true },
        { "223.255.255.255", false, false, false, false },
        { "255.255.255.255", false, false, false, false },
        { "::", true, false, false, false },
        { "::1", false, true, false, false },
        { "::2", false, false, false, false },
        { "fe80::1", false, false, true, false },
        { "febf::1", false, false, true, false },
        { "fec0::1", false, false, false, false },
        { "fe7f::1", false, false, false, false },
        { "ff02::1", false, false, false, true },
        { "7f00::1", false, false, false, false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct address address = make(rows[i].text);

        if (reach_address_is_unspecified(&address) != rows[i].unspecified ||
            reach_address_is_loopback(&address) != rows[i].loopback ||
            reach_address_is_link_local(&address) != rows[i].link_local ||
            reach_address_is_multicast(&address) != rows[i].multicast)
            fail_msg("%s", rows[i].text);
    }
}

TEST(an_empty_address_is_of_no_kind)
{
    const struct address none = { 0 }, zero = make("0.0.0.0"), any = make("::");
    char text[46];

    assert_false(reach_address_is_unspecified(&none));
    assert_false(reach_address_is_loopback(&none));
    assert_false(reach_address_is_link_local(&none));
    assert_false(reach_address_is_multicast(&none));
    assert_false(reach_address_equal(&none, &zero));
    assert_false(reach_address_equal(&any, &zero));
    assert_false(reach_address_in_prefix(&none, &zero, 0));
    assert_int_equal(address_length(&none), 0);
    assert_int_equal(address_length(&zero), 4);
    assert_int_equal(address_length(&any), 16);
    reach_address_format(&none, text);
    assert_string_equal(text, "none");
}

TEST(a_length_that_does_not_fit_the_family_makes_no_address)
{
    static const unsigned char bytes[17] = { 1 };

    for (size_t length = 0; length <= 17; length++) {
        assert_int_equal(address_make(AF_INET, bytes, length).family, length == 4 ? AF_INET : AF_UNSPEC);
        assert_int_equal(address_make(AF_INET6, bytes, length).family, length == 16 ? AF_INET6 : AF_UNSPEC);
        assert_int_equal(address_make(AF_UNIX, bytes, length).family, AF_UNSPEC);
        assert_int_equal(address_make(AF_UNSPEC, bytes, length).family, AF_UNSPEC);
    }
}

TEST(socket_addresses_convert_both_ways)
{
    const struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = 80, .sin_addr = { htonl(0xc0000201) } };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = 80, .sin6_scope_id = 7 };
    const struct sockaddr other = { .sa_family = AF_UNIX };
    struct sockaddr_storage storage;
    uint32_t scope = 99;
    char text[46];
    struct address address = reach_address_from_sockaddr((const struct sockaddr *)&in, &scope);

    reach_address_format(&address, text);
    assert_string_equal(text, "192.0.2.1");
    assert_int_equal(scope, 0);
    reach_address_to_sockaddr(&address, 5, &storage);
    assert_int_equal(((const struct sockaddr_in *)&storage)->sin_addr.s_addr, in.sin_addr.s_addr);
    assert_int_equal(((const struct sockaddr_in *)&storage)->sin_port, 0);

    inet_pton(AF_INET6, "fe80::1", &in6.sin6_addr);
    address = reach_address_from_sockaddr((const struct sockaddr *)&in6, &scope);
    assert_int_equal(scope, 7);
    reach_address_to_sockaddr(&address, scope, &storage);
    assert_int_equal(storage.ss_family, AF_INET6);
    assert_int_equal(((const struct sockaddr_in6 *)&storage)->sin6_scope_id, 7);
    assert_memory_equal(&((const struct sockaddr_in6 *)&storage)->sin6_addr, &in6.sin6_addr, 16);

    inet_pton(AF_INET6, "::ffff:192.0.2.1", &in6.sin6_addr);
    address = reach_address_from_sockaddr((const struct sockaddr *)&in6, &scope);
    assert_int_equal(address.family, AF_INET);
    assert_int_equal(scope, 0);

    address = reach_address_from_sockaddr(&other, &scope);
    assert_int_equal(address.family, AF_UNSPEC);
    memset(&storage, 0xff, sizeof storage);
    reach_address_to_sockaddr(&address, 3, &storage);
    assert_int_equal(storage.ss_family, AF_UNSPEC);

    assert_int_equal(reach_address_sockaddr_length(AF_INET), sizeof(struct sockaddr_in));
    assert_int_equal(reach_address_sockaddr_length(AF_INET6), sizeof(struct sockaddr_in6));
    assert_int_equal(reach_address_sockaddr_length(AF_UNIX), 0);
    assert_int_equal(reach_address_sockaddr_length(AF_UNSPEC), 0);
}

TEST(a_scope_is_kept_for_link_local_addresses_only)
{
    const struct address global = make("2001:db8::1"), local = make("fe80::1");
    struct sockaddr_storage storage;

    reach_address_to_sockaddr(&global, 5, &storage);
    assert_int_equal(((const struct sockaddr_in6 *)&storage)->sin6_scope_id, 0);
    reach_address_to_sockaddr(&local, 5, &storage);
    assert_int_equal(((const struct sockaddr_in6 *)&storage)->sin6_scope_id, 5);
}
