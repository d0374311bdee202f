/* SPDX-License-Identifier: MIT */
/* Texts: flags, reasons, errors, descriptions, and how they fit a buffer. */
#include "support/expect.h"
#include "support/names.h"

/* Each capacity: never a byte beyond it, always a NUL, always the whole length. `write` is called with an exact buffer,
 * so that a sanitizer detects writes beyond it. */
static void check_capacities(size_t (*write)(const void *subject, char *buffer, size_t capacity), const void *subject)
{
    const size_t whole_length = write(subject, NULL, 0);
    char *whole = malloc(whole_length + 1);

    assert_non_null(whole);
    assert_int_equal(write(subject, whole, whole_length + 1), whole_length);
    assert_int_equal(strlen(whole), whole_length);
    for (size_t capacity = 1; capacity <= whole_length + 3; capacity++) {
        char *buffer = malloc(capacity);
        const size_t shown = capacity - 1 < whole_length ? capacity - 1 : whole_length;

        assert_non_null(buffer);
        memset(buffer, 0xa5, capacity);
        assert_int_equal(write(subject, buffer, capacity), whole_length);
        assert_int_equal(strlen(buffer), shown);
        assert_memory_equal(buffer, whole, shown);
        free(buffer);
    }
    free(whole);
}

/* ---- Flags ------------------------------------------------------------------------------------------------------ */

TEST(flags_are_written_in_apple_s_words)
{
    static const struct {
        SCNetworkReachabilityFlags flags;
        const char *text;
    } rows[] = {
        { 0, "Not Reachable" },
        { R, "Reachable" },
        { R | D, "Reachable,Directly Reachable Address" },
        { R | L | D, "Reachable,Local Address,Directly Reachable Address" },
        { R | T, "Reachable,Transient Connection" },
        { R | T | kSCNetworkReachabilityFlagsIsWWAN, "Reachable,Transient Connection,WWAN" },
        { R | T | kSCNetworkReachabilityFlagsConnectionRequired | kSCNetworkReachabilityFlagsConnectionOnTraffic,
          "Reachable,Transient Connection,Connection Required,Automatic Connection On Traffic" },
        { kSCNetworkReachabilityFlagsConnectionAutomatic, "Automatic Connection On Traffic" },
        { kSCNetworkReachabilityFlagsConnectionOnDemand, "Automatic Connection On Demand" },
        { kSCNetworkReachabilityFlagsInterventionRequired, "Intervention Required" },
        { 0x7003f,
          "Reachable,Transient Connection,Connection Required,Automatic Connection On Traffic,Automatic Connection On "
          "Demand,Intervention Required,Local Address,Directly Reachable Address,WWAN" },
        { 1u << 31, "0x80000000" },
        { R | 1u << 6, "Reachable,0x00000040" },
        { 0xffffffff,
          "Reachable,Transient Connection,Connection Required,Automatic Connection On Traffic,Automatic Connection On "
          "Demand,Intervention Required,Local Address,Directly Reachable Address,WWAN,0xfff8ffc0" },
    };
    char text[512];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(SCNetworkReachabilityFlagsGetString(rows[i].flags, text, sizeof text), strlen(rows[i].text));
        assert_string_equal(text, rows[i].text);
    }
}

static size_t write_flags(const void *subject, char *buffer, size_t capacity)
{
    return SCNetworkReachabilityFlagsGetString(*(const SCNetworkReachabilityFlags *)subject, buffer, capacity);
}

TEST(flags_fit_any_capacity)
{
    static const SCNetworkReachabilityFlags all[] = { 0, R, R | L | D, 0xffffffff };
    char untouched = 'x';

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        check_capacities(write_flags, &all[i]);
    assert_int_equal(SCNetworkReachabilityFlagsGetString(R, &untouched, 0), 9);
    assert_int_equal(untouched, 'x');
}

/* ---- Reasons, errors, version ----------------------------------------------------------------------------------- */

TEST(every_reason_has_its_own_words)
{
    for (SCNetworkReachabilityReason i = 0; i <= kSCNetworkReachabilityReasonInterfaceMissing; i++) {
        assert_true(strlen(SCNetworkReachabilityReasonString(i)) > 0);
        assert_string_not_equal(SCNetworkReachabilityReasonString(i), SCNetworkReachabilityReasonString(99));
        for (SCNetworkReachabilityReason j = 0; j < i; j++)
            assert_string_not_equal(SCNetworkReachabilityReasonString(i), SCNetworkReachabilityReasonString(j));
    }
    assert_string_equal(SCNetworkReachabilityReasonString(kSCNetworkReachabilityReasonNoRoute), "no route");
    assert_string_equal(SCNetworkReachabilityReasonString(kSCNetworkReachabilityReasonNoCarrier), "no carrier");
    assert_non_null(SCNetworkReachabilityReasonString(14));
    assert_non_null(SCNetworkReachabilityReasonString(0xffffffff));
}

TEST(every_status_has_words)
{
    static const int statuses[] = { INT32_MIN, -1, 999, 1000, 1004, 4000, 4002, INT32_MAX };

    assert_string_equal(SCErrorString(kSCStatusOK), "Success");
    assert_string_equal(SCErrorString(kSCStatusInvalidArgument), "Invalid argument");
    assert_string_equal(SCErrorString(ENOMEM), "Cannot allocate memory");
    assert_string_equal(SCErrorString(133), "Memory page has hardware error"); /* the last of Linux */
    assert_true(strlen(SCErrorString(kSCStatusFailed)) > 0);
    assert_true(strlen(SCErrorString(kSCStatusAccessError)) > 0);
    assert_true(strlen(SCErrorString(kSCStatusReachabilityUnknown)) > 0);
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        assert_string_equal(SCErrorString(statuses[i]), "Unknown error");
}

TEST(the_version_is_that_of_the_header)
{
    char version[32];

    assert_string_equal(SCNetworkReachabilityGetVersion(), REACHABILITY_VERSION);
    snprintf(version, sizeof version, "%d.%d.%d", REACHABILITY_VERSION_MAJOR, REACHABILITY_VERSION_MINOR,
             REACHABILITY_VERSION_PATCH);
    assert_string_equal(version, REACHABILITY_VERSION);
}

/* ---- Descriptions ----------------------------------------------------------------------------------------------- */

/* The first line, as scutil prints it. */
static void expect_first_line(SCNetworkReachabilityRef target, const char *subject)
{
    char text[2048], wanted[256];

    assert_true(SCNetworkReachabilityGetDescription(target, text, sizeof text) < sizeof text);
    assert_non_null(strchr(text, '\n'));
    *strchr(text, '\n') = '\0';
    snprintf(wanted, sizeof wanted, "<SCNetworkReachability %p> {%s}", (const void *)target, subject);
    assert_string_equal(text, wanted);
}

static void expect_description(SCNetworkReachabilityRef target, const char *subject)
{
    assert_non_null(target);
    expect_first_line(target, subject);
    SCNetworkReachabilityRelease(target);
}

TEST(a_description_names_the_target)
{
    namespace_require();
    expect_description(expect_target("198.51.100.7"), "address = 198.51.100.7");
    expect_description(expect_target("2001:db8::7"), "address = 2001:db8::7");
    expect_description(expect_target("::ffff:198.51.100.7"), "address = 198.51.100.7");
    expect_description(expect_pair("192.0.2.2", "198.51.100.7"),
                       "local address = 192.0.2.2, remote address = 198.51.100.7");
    expect_description(expect_target("0.0.0.0"), "default path");
    expect_description(expect_target("::"), "default path");
    expect_description(SCNetworkReachabilityCreateWithName(NULL, "example.com"), "name = example.com");
    expect_description(SCNetworkReachabilityCreateWithName(NULL, "localhost"), "name = localhost");
    expect_description(SCNetworkReachabilityCreateWithName(NULL, "127.1"), "address = 127.0.0.1");
    expect_description(SCNetworkReachabilityCreateWithName(NULL, "fe80::1%a"), "address = fe80::1%a");
}

static size_t write_description(const void *subject, char *buffer, size_t capacity)
{
    return SCNetworkReachabilityGetDescription((SCNetworkReachabilityRef)subject, buffer, capacity);
}

static SCNetworkReachabilityRef zoned_target(const char *interface)
{
    return SCNetworkReachabilityCreateWithName(NULL, unit_text("fe80::1%%%s", interface));
}

TEST(control_characters_of_a_name_are_escaped_in_a_description)
{
    namespace_require();
    expect_description(SCNetworkReachabilityCreateWithName(NULL, "a\x1b[31m\n  flags: Reachable"),
                       "name = a\\x1b[31m\\n  flags: Reachable");
    expect_description(SCNetworkReachabilityCreateWithName(NULL, "a\xc2\x9b\x7f\xff\\b\xc3\xbc"),
                       "name = a\\xc2\\x9b\\x7f\\xff\\\\b\xc3\xbc");
    expect_description(zoned_target("a\x1b[2J"), "address = fe80::1%a\\x1b[2J");
}

/* The kernel allows them, only no white space, '/' and ':'. */
TEST(control_characters_of_an_interface_s_name_are_escaped_in_a_description)
{
    char text[2048];

    namespace_require();
    namespace_add_pair();
    namespace_ip("link set dev a down");
    namespace_ip("link set dev a name a\x1b[2J");
    namespace_ip("link set dev a\x1b[2J up");
    SCOPED_TARGET target = expect_target("192.0.2.9");
    assert_true(SCNetworkReachabilityGetDescription(target, text, sizeof text) < sizeof text);
    assert_non_null(strstr(text, " dev a\\x1b[2J "));
    assert_null(strchr(text, '\x1b'));
}

TEST(an_escaped_description_fits_any_capacity)
{
    SCOPED_TARGET target = expect_name("a\x1b\n\\\xff");

    check_capacities(write_description, target);
}

TEST(the_description_of_a_scheduled_target_holds_its_flags)
{
    char subject[128];

    namespace_require();
    namespace_add_pair();
    SCOPED_LOOP loop = SCRunLoopCreate();
    SCOPED_TARGET target = expect_target("192.0.2.9");
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    snprintf(subject, sizeof subject, "address = 192.0.2.9, flags = 0x00020002, if_index = %u",
             expect_path_of(target).interfaceIndex);
    expect_first_line(target, subject);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    expect_first_line(target, "address = 192.0.2.9");
}

TEST(a_description_fits_any_capacity)
{
    namespace_require();
    namespace_add_pair();
    namespace_ip("route add default via 192.0.2.1");
    SCOPED_TARGET target = expect_target("198.51.100.7");
    check_capacities(write_description, target);
}

TEST(a_description_holds_the_whole_path)
{
    static const char *const words[] = { "Reachable", "via 192.0.2.1", "dev a", "src 192.0.2.2", "none", "mtu 1500" };
    char text[2048];

    namespace_require();
    namespace_add_pair();
    namespace_ip("route add default via 192.0.2.1");
    SCOPED_TARGET target = expect_target("198.51.100.7");
    assert_true(SCNetworkReachabilityGetDescription(target, text, sizeof text) < sizeof text);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(text, words[i]) == NULL)
            fail_msg("no \"%s\" in %s", words[i], text);
}

/* ---- Resolver results ------------------------------------------------------------------------------------------- */

#define EXPECT_RESOLVER(target, words) expect_resolver(target, words, __FILE__, __LINE__)
static void expect_resolver(SCNetworkReachabilityRef target, const char *words, const char *file, int line)
{
    char text[2048], wanted[128];

    assert_true(SCNetworkReachabilityGetDescription(target, text, sizeof text) < sizeof text);
    snprintf(wanted, sizeof wanted, "\n  resolver: %s\n", words);
    if (strstr(text, wanted) == NULL) {
        print_error("no \"%s\" in %s\n", words, text);
        _fail(file, line);
    }
}

TEST(the_description_of_an_address_needs_no_resolver)
{
    namespace_require();
    SCOPED_TARGET target = expect_target("198.51.100.7");
    EXPECT_RESOLVER(target, "not needed");
}

TEST_WITH(NULL, names_end, a_description_holds_the_state_and_result_of_a_look_up)
{
    static const struct {
        const char *name;
        SCNetworkReachabilityFlags flags;
        const char *words;
    } rows[] = {
        { "v4only.test", R, "looked up" },
        { "nx.test", 0, "looked up" },
        { "servfail.test", 0, "failed" },
    };
    struct watcher watcher;

    names_begin();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED_TARGET target = SCNetworkReachabilityRetain(expect_name(rows[i].name));

        EXPECT_RESOLVER(target, "not looked up");
        watcher_schedule(&watcher, target);
        EXPECT_CHANGE(&watcher, rows[i].flags);
        EXPECT_RESOLVER(target, rows[i].words);
        watcher_stop(&watcher);
        EXPECT_RESOLVER(target, "not looked up");
    }
}

TEST_WITH(NULL, names_end, a_description_holds_a_look_up_in_progress)
{
    struct watcher watcher;

    names_begin();
    watcher_schedule(&watcher, expect_name("held.test"));
    EXPECT_RESOLVER(watcher.target, "looking up");
    names_await_queries("held.test", 1);
    nameserver_release(names_server, "held");
    EXPECT_CHANGE(&watcher, R);
    EXPECT_RESOLVER(watcher.target, "looked up");
}
