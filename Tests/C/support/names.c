/* SPDX-License-Identifier: MIT */
#include "support/names.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include "support/time_limit.h"

#define TIME_LIMIT \
    30.0 /* seconds: an event that takes longer has failed. A look-up on a dead server may have to end first */

struct nameserver *names_server;

/* ---- Networks --------------------------------------------------------------------------------------------------- */

static void make_network(void)
{
    namespace_ip("link set dev lo up");
    namespace_add_pair();
    namespace_ip("route add default via 192.0.2.1; route add default via 2001:db8::1");
    names_server = nameserver_open();
}

void names_begin(void)
{
    namespace_require();
    etc_require("192.0.2.2");
    make_network();
}

void names_begin_another(void)
{
    namespace_require();
    make_network();
}

void names_begin_far(const char *servers)
{
    namespace_require();
    int far = namespace_keep();
    etc_require(servers);
    namespace_ip("link set dev lo up; address add 198.51.100.53/32 dev lo");
    names_server = nameserver_open();
    namespace_require();
    int near = namespace_keep();
    namespace_ip("link set dev lo up");
    namespace_ip("link add name a type veth peer name b netns %d", (int)nameserver_thread(names_server));
    namespace_go(far);
    namespace_ip("link set dev b up; address add 192.0.2.1/24 dev b");
    namespace_go(near);
    namespace_ip("link set dev a up; address add 192.0.2.2/24 dev a");
    namespace_await_running("a", true);
    namespace_ip("route add default via 192.0.2.1");
    namespace_go(far); /* until it is running, the other end sends nothing */
    namespace_await_running("b", true);
    namespace_go(near);
    close(far);
    close(near);
}

void names_end(void)
{
    if (names_server != NULL)
        nameserver_close(names_server);
    names_server = NULL;
    names_await_threads(0);
}

void names_end_group(void)
{
    names_await_no_thread();
}

/* ---- Targets ---------------------------------------------------------------------------------------------------- */

SCNetworkReachabilityRef names_bound_target(const char *name, const char *interface, uint32_t mark)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    options.nodename = name;
    options.interfaceName = interface[0] != '\0' ? interface : NULL;
    options.routingMark = mark;
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
    if (target == NULL)
        fail_msg("%s: %s", name, SCErrorString(SCError()));
    return target;
}

static void add_address(char *text, size_t size, const struct sockaddr_storage *address)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
    const size_t length = strlen(text);
    char digits[INET6_ADDRSTRLEN] = "none";

    if (address->ss_family == AF_INET)
        inet_ntop(AF_INET, &in->sin_addr, digits, sizeof digits);
    if (address->ss_family == AF_INET6)
        inet_ntop(AF_INET6, &in6->sin6_addr, digits, sizeof digits);
    snprintf(text + length, size - length, "%s%s", length == 0 ? "" : " ", digits);
}

static void fail_at(const char *what, const char *wanted, const char *got, const char *file, int line)
{
    print_error("%s: wanted \"%s\", got \"%s\"\n", what, wanted, got);
    _fail(file, line);
}

void names_expect_addresses(SCNetworkReachabilityRef target, const char *text, const char *file, int line)
{
    struct sockaddr_storage addresses[64];
    char got[2048] = "", counted[16], wanted[16];
    const size_t count = SCNetworkReachabilityGetResolvedAddresses(target, addresses, 64);

    for (size_t i = 0; i < count && i < 64; i++)
        add_address(got, sizeof got, &addresses[i]);
    if (strcmp(got, text) != 0)
        fail_at("addresses", text, got, file, line);
    snprintf(counted, sizeof counted, "%u", expect_path_of(target).addressCount);
    snprintf(wanted, sizeof wanted, "%zu", count);
    if (strcmp(counted, wanted) != 0)
        fail_at("number of addresses", wanted, counted, file, line);
}

void names_expect_destination(SCNetworkReachabilityRef target, const char *text, const char *file, int line)
{
    const SCNetworkReachabilityPath path = expect_path_of(target);
    char got[64] = "";

    add_address(got, sizeof got, &path.destination);
    if (strcmp(got, text) != 0)
        fail_at("destination", text, got, file, line);
}

/* ---- Waiting ---------------------------------------------------------------------------------------------------- */

unsigned names_queried(const char *name)
{
    return nameserver_count(names_server, name, NAMESERVER_A);
}

void names_await_queries(const char *name, unsigned count)
{
    nameserver_await(names_server, name, NAMESERVER_A, count);
    nameserver_await(names_server, name, NAMESERVER_AAAA, count);
}

void names_drive_until(const struct watcher *watcher, const char *name, unsigned count)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT);
    struct pollfd pollers[] = { { .fd = SCRunLoopGetFileDescriptor(watcher->loop), .events = POLLIN },
                                { .fd = nameserver_news(names_server), .events = POLLIN } };

    while (names_queried(name) < count) {
        if (watcher_now() > end)
            fail_msg("%s was queried %u times, not %u", name, names_queried(name), count);
        assert_true(SCRunLoopPerform(watcher->loop, 0) >= 0);
        (void)poll(pollers, 2, 100);
        nameserver_take_news(names_server);
    }
}

bool names_is_looking(SCNetworkReachabilityRef target)
{
    char text[1024];

    SCNetworkReachabilityGetDescription(target, text, sizeof text);
    return strstr(text, "resolver: looking up") != NULL;
}

void names_settle(const struct watcher *watcher)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT);
    struct pollfd poller = { .fd = SCRunLoopGetFileDescriptor(watcher->loop), .events = POLLIN };
    bool looking;

    do {
        looking = names_is_looking(watcher->target);
        if (watcher_now() > end)
            fail_msg("a look-up does not end");
        assert_true(SCRunLoopPerform(watcher->loop, 0) >= 0);
        if (looking)
            (void)poll(&poller, 1, 5); /* its end may not wake the loop */
    } while (looking || names_is_looking(watcher->target));
}

void names_await_result(SCNetworkReachabilityRef target)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT);

    while (names_is_looking(target)) {
        if (watcher_now() > end)
            fail_msg("a look-up does not end");
        (void)poll(NULL, 0, 1); /* there is no event to wait for */
    }
}

static void read_comm(const char *thread, char ret[32])
{
    char path[300];

    snprintf(path, sizeof path, "/proc/self/task/%s/comm", thread);
    ret[0] = '\0';
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fgets(ret, 32, file) == NULL)
        ret[0] = '\0';
    fclose(file);
}

/* A new thread has the name of its process at first. The thread sanitizer's own thread keeps that name. */
static bool may_be_resolver(const char *comm, long thread, const char *own_comm)
{
    const char *under = getenv("TEST_UNDER");

    if (strcmp(comm, "reach-resolver\n") == 0)
        return true;
    return strcmp(comm, own_comm) == 0 && thread != getpid() && (under == NULL || strcmp(under, "tsan") != 0) &&
           (names_server == NULL || thread != nameserver_thread(names_server));
}

/* The kernel counts the threads as links of the directory. */
static unsigned count_all_threads(void)
{
    struct stat status;

    assert_int_equal(stat("/proc/self/task", &status), 0);
    return (unsigned)status.st_nlink - 2;
}

/* Returns the number of threads that were listed. The list ends early if a thread ends meanwhile. */
static unsigned list_threads(bool with_closer, unsigned *ret_count)
{
    DIR *directory = opendir("/proc/self/task");
    char main_thread[16], own_comm[32], comm[32];
    unsigned listed = 0;

    assert_non_null(directory);
    *ret_count = 0;
    snprintf(main_thread, sizeof main_thread, "%d", (int)getpid());
    read_comm(main_thread, own_comm);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        listed++;
        read_comm(entry->d_name, comm);
        *ret_count += may_be_resolver(comm, atol(entry->d_name), own_comm) ||
                      (with_closer && strcmp(comm, "reach-closer\n") == 0);
    }
    closedir(directory);
    return listed;
}

static unsigned count_threads(bool with_closer)
{
    unsigned count;

    while (list_threads(with_closer, &count) < count_all_threads())
        continue;
    return count;
}

unsigned names_count_threads(void)
{
    return count_threads(false);
}

static void await_threads(unsigned limit, bool all)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT);

    while (count_threads(all) > limit) {
        if (watcher_now() > end)
            fail_msg("resolver threads do not end");
        (void)poll(NULL, 0, 1); /* they are detached: there is no event to wait for */
    }
}

void names_await_threads(unsigned limit)
{
    await_threads(limit, false);
}

/* Also waits for the thread that closes inotify instances. */
void names_await_no_thread(void)
{
    await_threads(0, true);
}
