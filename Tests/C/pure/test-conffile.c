/* SPDX-License-Identifier: MIT */
/* Parsing of resolv.conf, as tables of usual and odd texts. No kernel; only the last test compares with the
 * resolver of the system. */
#include <netinet/in.h>
#include <resolv.h>

#include "pure/conffile.h"
#include "support/etc.h"
#include "support/exact.h"
#include "support/namespace.h"
#include "support/unit.h"

/* Text that may hold a NUL. */
struct text {
    const char *bytes;
    size_t length;
};

#define TEXT(literal) \
    { \
        literal, sizeof literal - 1 \
    }

/* ---- Name servers ----------------------------------------------------------------------------------------------- */

static const struct {
    struct text text;
    const char *servers;
    bool differs; /* the resolver of this system is stricter */
} files[] = {
    { TEXT(""), "" },
    { TEXT("\n\n\n"), "" },
    { TEXT("nameserver 192.0.2.1\n"), "192.0.2.1" },
    { TEXT("nameserver 192.0.2.1"), "192.0.2.1" },
    { TEXT("nameserver\t192.0.2.1\n"), "192.0.2.1" },
    { TEXT("nameserver \t  192.0.2.1 \t \n"), "192.0.2.1" },
    { TEXT("nameserver 192.0.2.1\r\nnameserver 192.0.2.2\r\n"), "192.0.2.1 192.0.2.2", .differs = true },
    { TEXT("nameserver 2001:db8::1\r\n"), "2001:db8::1", .differs = true },
    { TEXT("search example.com\nnameserver 192.0.2.1\noptions timeout:1 attempts:2\n"), "192.0.2.1" },
    /* In their order, and no more than the resolver takes. */
    { TEXT("nameserver 192.0.2.3\nnameserver 192.0.2.1\nnameserver 192.0.2.2\n"), "192.0.2.3 192.0.2.1 192.0.2.2" },
    { TEXT("nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\nnameserver 192.0.2.4\n"),
      "192.0.2.1 192.0.2.2 192.0.2.3" },
    { TEXT("nameserver 192.0.2.1\nnameserver 192.0.2.1\n"), "192.0.2.1 192.0.2.1" },
    { TEXT("nameserver 192.0.2.1\nnameserver 2001:db8::1\nnameserver 192.0.2.2\n"), "192.0.2.1 2001:db8::1 192.0.2.2" },
    /* Invalid addresses do not count. */
    { TEXT("nameserver\nnameserver \nnameserver 192.0.2.1\n"), "192.0.2.1" },
    { TEXT("nameserver dns.example.com\nnameserver 192.0.2.1\n"), "192.0.2.1" },
    { TEXT("nameserver 192.0.2.256\nnameserver 192.0.2.1\n"), "192.0.2.1" },
    { TEXT("nameserver 192.0.2.1.\nnameserver [2001:db8::1]\nnameserver 192.0.2.1:53\n"), "" },
    { TEXT("nameserver a b c d\nnameserver e\nnameserver f\nnameserver g\nnameserver 192.0.2.1\n"), "192.0.2.1" },
    { TEXT("nameserver 192.0.2.1 192.0.2.2\n"), "192.0.2.1" },
    { TEXT("nameserver 192.0.2.1 # the first\n"), "192.0.2.1" },
    { TEXT("nameserver 192.0.2.1# the first\nnameserver 192.0.2.2;the second\n"), "192.0.2.1 192.0.2.2",
      .differs = true },
    { TEXT("nameserver # 192.0.2.1\n"), "" },
    { TEXT("#nameserver 192.0.2.1\n;nameserver 192.0.2.2\n # nameserver 192.0.2.3\n"), "" },
    { TEXT("# nameserver 192.0.2.1"), "" },
    { TEXT("#\n;\n#"), "" },
    /* The keyword stands at the start of the line, alone and in lower case. */
    { TEXT(" nameserver 192.0.2.1\n\tnameserver 192.0.2.2\n"), "" },
    { TEXT("NAMESERVER 192.0.2.1\nNameserver 192.0.2.2\n"), "" },
    { TEXT("nameservers 192.0.2.1\nnameserve 192.0.2.2\nnameserver192.0.2.3\n"), "" },
    { TEXT("nameserver=192.0.2.1\nnameserver:192.0.2.2\n"), "" },
    { TEXT("search nameserver 192.0.2.1\n"), "" },
    /* IPv4 as inet_aton reads it. */
    { TEXT("nameserver 127.1\nnameserver 0x7f000035\nnameserver 0300.0.2.1\n"), "127.0.0.1 127.0.0.53 192.0.2.1" },
    { TEXT("nameserver 0.0.0.0\n"), "127.0.0.1" }, /* as connect(2) has it */
    /* IPv6, with a zone. */
    { TEXT("nameserver ::1\nnameserver 2001:DB8::A\nnameserver ::\n"), "::1 2001:db8::a ::1" },
    { TEXT("nameserver ::ffff:192.0.2.1\n"), "192.0.2.1" },
    { TEXT("nameserver fe80::1%lo\nnameserver fe80::2%1\n"), "fe80::1%lo fe80::2%1" },
    { TEXT("nameserver fe80::1\n"), "fe80::1" },
    { TEXT("nameserver fe80::1%interface-name1\n"), "fe80::1%interface-name1" }, /* 15 bytes */
    { TEXT("nameserver fe80::1%interface-name16\n"), "fe80::1" },                /* no name of an interface */
    { TEXT("nameserver fe80::1%4294967295\n"), "fe80::1%4294967295" },
    { TEXT("nameserver 2001:db8::1%lo\nnameserver 2001:db8::2%7\n"), "2001:db8::1 2001:db8::2" },
    { TEXT("nameserver ff02::fb%lo\n"), "ff02::fb%lo" },
    { TEXT("nameserver 192.0.2.1%lo\n"), "" },
    /* Bytes that are not text. */
    { TEXT("\0"), "" },
    { TEXT("\0\0\0\nnameserver 192.0.2.1\n"), "192.0.2.1" },
    { TEXT("nameserver 192.0.2.1\0garbage\nnameserver 192.0.2.2\n"), "192.0.2.1 192.0.2.2" },
    { TEXT("name\0server 192.0.2.1\n"), "" },
    { TEXT("nameserver\0 192.0.2.1\n"), "" },
    { TEXT("nameserver \0 192.0.2.1\n"), "" },
    { TEXT("nameserver \xff\xfe\xc3\x28\nnameserver 192.0.2.1\n"), "192.0.2.1" },
    { TEXT("\xef\xbb\xbfnameserver 192.0.2.1\nnameserver 192.0.2.2\n"), "192.0.2.2" }, /* a byte order mark */
    { TEXT("nameserver 192.0.2.1\rnameserver 192.0.2.2\r"), "192.0.2.1", .differs = true },
};

#define FILES (sizeof files / sizeof files[0])

static void append(char *text, size_t size, const char *format, const char *value)
{
    const size_t length = strlen(text);

    snprintf(text + length, size - length, format, value);
}

static void read_text(struct text text, char *ret, size_t size)
{
    struct name_server servers[CONFFILE_SERVERS];
    char *bytes = exact_copy(text.bytes, text.length);
    const size_t count = reach_conffile_servers(bytes, text.length, servers);

    free(bytes);
    assert_true(count <= CONFFILE_SERVERS);
    ret[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        char address[46], number[16];

        reach_address_format(&servers[i].address, address);
        append(ret, size, i > 0 ? " %s" : "%s", address);
        snprintf(number, sizeof number, "%u", servers[i].scope);
        assert_true(servers[i].zone[0] == '\0' || servers[i].scope == 0);
        if (servers[i].zone[0] != '\0' || servers[i].scope != 0)
            append(ret, size, "%%%s", servers[i].scope != 0 ? number : servers[i].zone);
    }
}

static void fail_on(struct text text, const char *wanted, const char *got)
{
    print_error("of ");
    for (size_t i = 0; i < text.length; i++)
        print_error(text.bytes[i] >= ' ' && text.bytes[i] <= '~' ? "%c" : "\\x%02x", (unsigned char)text.bytes[i]);
    fail_msg(" wanted \"%s\", got \"%s\"", wanted, got);
}

TEST(servers_are_read)
{
    for (size_t i = 0; i < FILES; i++) {
        char servers[256];

        read_text(files[i].text, servers, sizeof servers);
        if (strcmp(servers, files[i].servers) != 0)
            fail_on(files[i].text, files[i].servers, servers);
    }
}

/* A sanitizer detects reads past the end. */
TEST(a_text_may_end_anywhere)
{
    for (size_t i = 0; i < FILES; i++)
        for (size_t length = 0; length <= files[i].text.length; length++) {
            char servers[256];

            read_text((struct text){ files[i].text.bytes, length }, servers, sizeof servers);
        }
}

TEST(long_lines_and_words_are_skipped)
{
    static char bytes[300000];
    static const char end[] = "\nnameserver 192.0.2.1\n";
    char servers[256];
    size_t length;

    for (size_t word = 1; word < sizeof bytes - 64; word = word * 3 + 1) {
        length = (size_t)snprintf(bytes, sizeof bytes, "nameserver ");
        memset(bytes + length, '1', word);
        length += word;
        memcpy(bytes + length, end, sizeof end - 1);
        length += sizeof end - 1;
        read_text((struct text){ bytes, length }, servers, sizeof servers);
        /* "1" and "1111" are addresses. */
        assert_string_equal(servers, word == 1 ? "0.0.0.1 192.0.2.1" : word == 4 ? "0.0.4.87 192.0.2.1" : "192.0.2.1");
        /* The same as a comment, and as blanks. */
        memset(bytes, '#', 10);
        read_text((struct text){ bytes, length }, servers, sizeof servers);
        assert_string_equal(servers, "192.0.2.1");
        memset(bytes, ' ', length - sizeof end + 1);
        read_text((struct text){ bytes, length }, servers, sizeof servers);
        assert_string_equal(servers, "192.0.2.1");
    }
}

/* No address that a person writes is as long as 64 bytes. */
TEST(an_address_has_at_most_63_bytes)
{
    for (int length = 60; length < 70; length++) {
        char text[128], servers[256];
        int size = snprintf(text, sizeof text, "nameserver %0*d", length, 1);

        read_text((struct text){ text, (size_t)size }, servers, sizeof servers);
        assert_string_equal(servers, length < 64 ? "0.0.0.1" : "");
    }
}

/* One line, then many lines. */
TEST(the_end_of_a_huge_file_is_found)
{
    enum { SIZE = 3 * 1024 * 1024 };
    static const char end[] = "\nnameserver 192.0.2.1";
    char *bytes = malloc(SIZE), servers[256];

    assert_non_null(bytes);
    memset(bytes, '1', SIZE);
    memcpy(bytes + SIZE - sizeof end + 1, end, sizeof end - 1);
    read_text((struct text){ bytes, SIZE }, servers, sizeof servers);
    assert_string_equal(servers, "192.0.2.1");
    for (size_t i = 0; i < SIZE - sizeof end - 32; i += 32)
        bytes[i] = '\n';
    read_text((struct text){ bytes, SIZE }, servers, sizeof servers);
    assert_string_equal(servers, "192.0.2.1");
    free(bytes);
}

/* ---- The system's resolver -------------------------------------------------------------------------------------- */

#ifdef __GLIBC__
/* Without a server the resolver uses this machine. */
static void read_by_system(char *ret, size_t size)
{
    struct __res_state resolver;

    memset(&resolver, 0, sizeof resolver);
    assert_int_equal(res_ninit(&resolver), 0);
    ret[0] = '\0';
    for (int i = 0; i < resolver.nscount; i++) {
        const struct sockaddr_in6 *in6 = resolver._u._ext.nsaddrs[i];
        char text[46], number[16];
        uint32_t scope = 0;

        struct address address = reach_address_from_sockaddr(
            in6 != NULL ? (const struct sockaddr *)in6 : (const struct sockaddr *)&resolver.nsaddr_list[i], &scope);
        address = reach_address_to_connect(&address);
        reach_address_format(&address, text);
        append(ret, size, i > 0 ? " %s" : "%s", text);
        snprintf(number, sizeof number, "%u", scope);
        if (scope != 0 && reach_address_needs_scope(&address))
            append(ret, size, "%%%s", number);
    }
    if (strcmp(ret, "127.0.0.1") == 0)
        ret[0] = '\0';
    res_nclose(&resolver);
}

/* As the resolver reads them: the name of a zone becomes the index of that interface, or no zone if there is no such
 * interface. */
static void as_system_has_it(const char *servers, char *ret, size_t size)
{
    char copy[256];
    char *rest = NULL;

    snprintf(copy, sizeof copy, "%s", strcmp(servers, "127.0.0.1") == 0 ? "" : servers);
    ret[0] = '\0';
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *zone = strchr(word, '%');

        append(ret, size, ret[0] != '\0' ? " %s" : "%s", "");
        if (zone != NULL && strcmp(zone, "%lo") == 0)
            memcpy(zone, "%1", 3);
        else if (zone != NULL && strspn(zone + 1, "0123456789") != strlen(zone + 1))
            *zone = '\0';
        append(ret, size, "%s", word);
    }
}
#endif

TEST(the_system_reads_the_same)
{
#ifdef __GLIBC__
    namespace_require();
    etc_require("192.0.2.53");
    for (size_t i = 0; i < FILES; i++) {
        char wanted[256], got[256];
        FILE *file = fopen(ETC_RESOLV_CONF, "we");

        assert_non_null(file);
        fwrite(files[i].text.bytes, 1, files[i].text.length, file);
        fclose(file);
        as_system_has_it(files[i].servers, wanted, sizeof wanted);
        read_by_system(got, sizeof got);
        if ((strcmp(wanted, got) == 0) == files[i].differs)
            fail_on(files[i].text, wanted, got);
    }
#else
    SKIP("the resolver is not glibc's");
#endif
}
