/* SPDX-License-Identifier: MIT */
/* SCErrorDetail: each argument that a call refuses has its text, on the thread of the call. */
#include <math.h>

#include "support/test.h"

static SCNetworkReachabilityRef target;
static SCRunLoopRef loop;

static void create_without_anything(void)
{
    SCNetworkReachabilityCreateWithAddress(NULL, NULL);
}

static void create_for_a_unix_socket(void)
{
    const struct sockaddr address = { .sa_family = AF_UNIX };

    SCNetworkReachabilityCreateWithAddress(NULL, &address);
}

static void create_from_a_unix_socket(void)
{
    const struct sockaddr address = { .sa_family = AF_UNIX };

    SCNetworkReachabilityCreateWithAddressPair(NULL, &address, NULL);
}

static void create_for_two_families(void)
{
    const struct sockaddr_in local = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const struct sockaddr_in6 remote = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };

    SCNetworkReachabilityCreateWithAddressPair(NULL, (const struct sockaddr *)&local, (const struct sockaddr *)&remote);
}

static void create_with_an_empty_name(void)
{
    SCNetworkReachabilityCreateWithName(NULL, "");
}

static void create_with(size_t size, const char *nodename, const char *interface, uint32_t options)
{
    const SCNetworkReachabilityOptions all = {
        .size = size, .nodename = nodename, .interfaceName = interface, .options = options
    };

    SCNetworkReachabilityCreateWithOptions(NULL, &all);
}

static void create_with_the_zone_of_a_url(void)
{
    SCNetworkReachabilityCreateWithName(NULL, "fe80::1%25eth0");
}

static void create_with_brackets(void)
{
    SCNetworkReachabilityCreateWithName(NULL, "[fe80::1%25eth0]");
}

static void create_with_a_long_zone(void)
{
    SCNetworkReachabilityCreateWithName(NULL, "fe80::1%sixteen-letters-");
}

static void create_with_no_address_before_the_zone(void)
{
    SCNetworkReachabilityCreateWithName(NULL, "fe80::12345%eth0");
}

static void create_without_options(void)
{
    SCNetworkReachabilityCreateWithOptions(NULL, NULL);
}

static void create_with_a_small_size(void)
{
    create_with(1, "a.test", NULL, 0);
}

static void create_with_a_newer_option(void)
{
    struct {
        SCNetworkReachabilityOptions options;
        uint64_t newer;
    } larger = { { .size = sizeof larger, .nodename = "a.test" }, 1 };

    SCNetworkReachabilityCreateWithOptions(NULL, &larger.options);
}

static void create_with_an_unknown_option(void)
{
    create_with(sizeof(SCNetworkReachabilityOptions), "a.test", NULL, 1u << 31);
}

static void create_the_network_of_a_name(void)
{
    create_with(sizeof(SCNetworkReachabilityOptions), "a.test", NULL, kSCNetworkReachabilityOptionNotifyNetwork);
}

static void create_with_a_long_interface(void)
{
    create_with(sizeof(SCNetworkReachabilityOptions), "a.test", "sixteen-letters-", 0);
}

static void create_with_two_interfaces(void)
{
    create_with(sizeof(SCNetworkReachabilityOptions), "fe80::1%a", "b", 0);
}

static void create_a_flow(const char *nodename, uint8_t protocol, uint16_t port, uint32_t reserved)
{
    const struct sockaddr_in address = { .sin_family = AF_INET };
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    options.nodename = nodename;
    options.remoteAddress = nodename == NULL ? (const struct sockaddr *)&address : NULL;
    options.protocol = protocol;
    options.remotePort = port;
    options.reserved = reserved;
    SCNetworkReachabilityCreateWithOptions(NULL, &options);
}

static void create_a_flow_of_another_protocol(void)
{
    create_a_flow("a.test", IPPROTO_SCTP, 0, 0);
}

static void create_a_flow_with_a_port_beside_an_address(void)
{
    create_a_flow(NULL, IPPROTO_TCP, 443, 0);
}

static void create_a_flow_with_a_port_and_no_protocol(void)
{
    create_a_flow("a.test", 0, 443, 0);
}

static void create_a_flow_with_a_reserved_field(void)
{
    create_a_flow("a.test", 0, 0, 1);
}

static void create_with_name_and_address(void)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    const struct sockaddr_in address = { .sin_family = AF_INET };

    options.nodename = "a.test";
    options.remoteAddress = (const struct sockaddr *)&address;
    SCNetworkReachabilityCreateWithOptions(NULL, &options);
}

static void get_flags_of_no_target(void)
{
    SCNetworkReachabilityFlags flags;

    SCNetworkReachabilityGetFlags(NULL, &flags);
}

static void get_flags_to_nowhere(void)
{
    SCNetworkReachabilityGetFlags(target, NULL);
}

static void get_a_path_of_no_size(void)
{
    SCNetworkReachabilityPath path = { .size = 0 };

    SCNetworkReachabilityGetPath(target, &path);
}

static void get_the_last_path_to_nowhere(void)
{
    SCNetworkReachabilityGetLastPath(target, NULL);
}

static void get_a_network_to_nowhere(void)
{
    SCNetworkReachabilityGetNetwork(target, NULL, NULL, 0, 0);
}

static void get_a_network_of_no_size(void)
{
    SCNetworkReachabilityNetwork network = { .size = 0 };

    SCNetworkReachabilityGetNetwork(target, &network, NULL, 0, 0);
}

static void get_uplinks_to_nowhere(void)
{
    SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer;

    SCNetworkReachabilityGetNetwork(target, &network, NULL, sizeof(SCNetworkReachabilityUplink), 1);
}

static void get_uplinks_of_no_size(void)
{
    SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer;
    SCNetworkReachabilityUplink uplink;

    SCNetworkReachabilityGetNetwork(target, &network, &uplink, 0, 1);
}

static void get_the_network_of_a_plain_target(void)
{
    SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer;

    SCNetworkReachabilityGetNetwork(target, &network, NULL, 0, 0);
}

static void get_addresses_to_nowhere(void)
{
    SCNetworkReachabilityGetResolvedAddresses(target, NULL, 1);
}

static void get_a_description_to_nowhere(void)
{
    SCNetworkReachabilityGetDescription(target, NULL, 1);
}

static void set_a_context_of_another_version(void)
{
    SCNetworkReachabilityContext context = kSCNetworkReachabilityContextInitializer;

    context.version = 1;
    SCNetworkReachabilitySetCallback(target, ignore_call, &context);
}

static void retain_no_target(void)
{
    SCNetworkReachabilityRetain((SCNetworkReachabilityRef)loop);
}

static void schedule_on_no_loop(void)
{
    SCNetworkReachabilityScheduleWithRunLoop(target, NULL, kSCRunLoopDefaultMode);
}

static void schedule_on_a_target(void)
{
    SCNetworkReachabilityScheduleWithRunLoop(target, (SCRunLoopRef)(uintptr_t)target, kSCRunLoopDefaultMode);
}

static void schedule_in_another_mode(void)
{
    SCNetworkReachabilityScheduleWithRunLoop(target, loop, "kCFRunLoopDefaultMode");
}

static void unschedule_what_is_not_scheduled(void)
{
    SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
}

static void set_a_scheduler_without_perform(void)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = NULL };

    SCNetworkReachabilitySetScheduler(target, &scheduler);
}

static void set_a_scheduler_of_another_version(void)
{
    const SCNetworkReachabilityScheduler scheduler = { .version = 1, .perform = perform_at_once };

    SCNetworkReachabilitySetScheduler(target, &scheduler);
}

static void end_no_scheduler(void)
{
    SCNetworkReachabilitySetScheduler(target, NULL);
}

static void set_a_scheduler_beside_a_loop(void)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform_at_once };

    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilitySetScheduler(target, &scheduler);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
}

static void set_a_loop_beside_a_scheduler(void)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform_at_once };

    assert_true(SCNetworkReachabilitySetScheduler(target, &scheduler));
    SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode);
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
}

static void set_another_loop_beside_a_loop(void)
{
    SCOPED_LOOP other = SCRunLoopCreate();

    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityScheduleWithRunLoop(target, other, kSCRunLoopDefaultMode);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
}

static void perform_for_no_number_of_seconds(void)
{
    SCRunLoopPerform(loop, NAN);
}

static void run_for_no_number_of_seconds(void)
{
    SCRunLoopRunInMode(kSCRunLoopDefaultMode, NAN, 0);
}

static void run_in_another_mode(void)
{
    SCRunLoopRunInMode("mine", 0, 0);
}

static void stop_no_loop(void)
{
    SCRunLoopStop(NULL);
}

static void retain_no_loop(void)
{
    SCRunLoopRetain((SCRunLoopRef)(uintptr_t)target);
}

static void fetch_from_no_loop(void)
{
    SCRunLoopCopyNextChange(NULL, NULL);
}

/* `detail`: how the text begins. */
static const struct {
    const char *name;
    void (*call)(void);
    const char *detail;
} refusals[] = {
#define REFUSAL(function, detail) \
    { \
#function, function, detail \
    }
    REFUSAL(create_without_anything, "nodename and address: both are NULL"),
    REFUSAL(create_with_name_and_address, "nodename and address: both are set"),
    REFUSAL(create_for_a_unix_socket, "address: "),
    REFUSAL(create_from_a_unix_socket, "localAddress: "),
    REFUSAL(create_for_two_families, "localAddress and remoteAddress: "),
    REFUSAL(create_with_an_empty_name, "nodename: "),
    REFUSAL(create_without_options, "options: NULL"),
    REFUSAL(create_with_a_small_size, "options->size: "),
    REFUSAL(create_with_a_newer_option, "options: a field"),
    REFUSAL(create_with_an_unknown_option, "options->options: "),
    REFUSAL(create_the_network_of_a_name, "options->options: "),
    REFUSAL(create_with_a_long_interface, "interfaceName: the interface or zone has over 15 bytes"),
    REFUSAL(create_with_the_zone_of_a_url, "nodename: \"%25\" before a zone is for URLs; write \"%\""),
    REFUSAL(create_with_brackets, "nodename: brackets"),
    REFUSAL(create_with_a_long_zone, "interfaceName: the interface or zone has over 15 bytes"),
    REFUSAL(create_with_no_address_before_the_zone, "nodename: has ':' and '%'"),
    REFUSAL(create_with_two_interfaces, "interfaceName: not"),
    REFUSAL(create_a_flow_of_another_protocol, "options->protocol: "),
    REFUSAL(create_a_flow_with_a_port_beside_an_address, "options->remotePort: beside"),
    REFUSAL(create_a_flow_with_a_port_and_no_protocol, "options->remotePort: without"),
    REFUSAL(create_a_flow_with_a_reserved_field, "options->reserved: "),
    REFUSAL(get_flags_of_no_target, "target: "),
    REFUSAL(get_flags_to_nowhere, "flags: NULL"),
    REFUSAL(get_a_path_of_no_size, "path->size: "),
    REFUSAL(get_the_last_path_to_nowhere, "path: NULL"),
    REFUSAL(get_a_network_to_nowhere, "network: NULL"),
    REFUSAL(get_a_network_of_no_size, "network->size: "),
    REFUSAL(get_uplinks_to_nowhere, "uplinks: NULL"),
    REFUSAL(get_uplinks_of_no_size, "uplinkSize: "),
    REFUSAL(get_the_network_of_a_plain_target, "target: without"),
    REFUSAL(get_addresses_to_nowhere, "addresses: "),
    REFUSAL(get_a_description_to_nowhere, "buffer: "),
    REFUSAL(set_a_context_of_another_version, "context->version: "),
    REFUSAL(retain_no_target, "target: "),
    REFUSAL(schedule_on_no_loop, "runLoop: "),
    REFUSAL(schedule_on_a_target, "runLoop: "),
    REFUSAL(schedule_in_another_mode, "mode: "),
    REFUSAL(unschedule_what_is_not_scheduled, "target: not scheduled"),
    REFUSAL(set_a_scheduler_without_perform, "scheduler->perform: "),
    REFUSAL(set_a_scheduler_of_another_version, "scheduler->version: "),
    REFUSAL(end_no_scheduler, "target: on no scheduler"),
    REFUSAL(set_a_scheduler_beside_a_loop, "target: scheduled already"),
    REFUSAL(set_a_loop_beside_a_scheduler, "target: on a scheduler"),
    REFUSAL(set_another_loop_beside_a_loop, "target: on another run loop"),
    REFUSAL(perform_for_no_number_of_seconds, "seconds: "),
    REFUSAL(run_for_no_number_of_seconds, "seconds: "),
    REFUSAL(run_in_another_mode, "mode: "),
    REFUSAL(stop_no_loop, "runLoop: "),
    REFUSAL(retain_no_loop, "runLoop: "),
    REFUSAL(fetch_from_no_loop, "runLoop: "),
};

static void begin(void)
{
    target = expect_target("127.0.0.1");
    loop = SCRunLoopCreate();
    assert_non_null(loop);
}

static void end(void)
{
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
}

TEST_EACH(a_refused_argument_is_named, refusals)
{
    row->call();
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
    if (strncmp(SCErrorDetail(), row->detail, strlen(row->detail)) != 0)
        fail_msg("\"%s\"", SCErrorDetail());
}

static void *expect_no_detail(void *unused)
{
    unit_complain_if(SCErrorDetail()[0] != '\0', "the detail of another thread");
    return unused;
}

TEST(each_thread_has_its_own_detail)
{
    get_flags_to_nowhere();
    pthread_t thread = unit_thread(expect_no_detail, NULL);
    assert_int_equal(pthread_join(thread, NULL), 0);
    unit_expect_no_complaint();
    assert_string_equal(SCErrorDetail(), "flags: NULL");
}

/* EBUSY has none. */
static void *perform_in_another_thread(void *unused)
{
    get_flags_to_nowhere();
    unit_complain_if(SCRunLoopPerform(loop, 0) != -1 || SCErrorDetail()[0] != '\0', "the detail of an earlier failure");
    return unused;
}

static void start_thread(SCNetworkReachabilityRef changed, SCNetworkReachabilityFlags flags, void *thread)
{
    (void)changed, (void)flags;
    unit_complain_if(pthread_create(thread, NULL, perform_in_another_thread, NULL) != 0, "no thread");
    unit_complain_if(pthread_join(*(pthread_t *)thread, NULL) != 0, "no end");
}

TEST(another_failure_has_no_detail)
{
    SCNetworkReachabilityContext context = kSCNetworkReachabilityContextInitializer;
    SCOPED_TARGET name = expect_name("localhost"); /* it calls back at once */
    pthread_t thread;

    context.info = &thread;
    assert_true(SCNetworkReachabilitySetCallback(name, start_thread, &context));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(name, loop, kSCRunLoopDefaultMode));
    assert_int_equal(SCRunLoopPerform(loop, 0), 1);
    unit_expect_no_complaint();
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(name, loop, kSCRunLoopDefaultMode));
}

/* As SCError(). */
TEST(a_call_that_succeeds_keeps_the_detail)
{
    get_flags_to_nowhere();
    expect_flags_of(target);
    assert_string_equal(SCErrorDetail(), "flags: NULL");
}

UNIT(.setup = begin, .teardown = end)
