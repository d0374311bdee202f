/* SPDX-License-Identifier: MIT */
/*
 * Targets for the accepted TCP connections of one listening address. The clients are in another network namespace, each
 * with an address of its own. Measured is a better default route that comes and goes, the default route that goes and
 * comes, and a rule for the port of one client: the queries, and the time until all
 * callbacks are made. The reference is as many calls of the callback, in random order.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bare.h"
#include "watched.h"

#define BLOCKS            7
#define BLOCKS_SHORT      3
#define CONNECTIONS       100000
#define CONNECTIONS_SHORT 2000
#define PORT              80
#define FIRST_CLIENT_PORT 20000
#define OTHER_DESCRIPTORS 64 /* those of the library, and the standard ones */
#define HOLDERS           64 /* at most */

static const struct family {
    const char *name, *server, *clients, *router, *other, *client_format;
    struct writer_route route, better;
    int number;
    socklen_t length;
} families[] = {
    {
        .name = "IPv4",
        .number = AF_INET,
        .length = sizeof(struct sockaddr_in),
        .server = "192.0.2.2",
        .router = "192.0.2.1/24",
        .clients = "10.0.0.0/8",
        .client_format = "10.%u.%u.%u",
        .other = "203.0.113.2/24",
        .route = { .prefix = "0.0.0.0/0", .gateway = "192.0.2.1", .metric = 100 },
        .better = { .prefix = "0.0.0.0/0", .gateway = "203.0.113.1", .metric = 50 },
    },
    {
        .name = "IPv6",
        .number = AF_INET6,
        .length = sizeof(struct sockaddr_in6),
        .server = "2001:db8::2",
        .router = "2001:db8::1/64",
        .clients = "2001:db8:7::/48",
        .client_format = "2001:db8:7::%x:%x:%x",
        .other = "2001:db8:c::2/64",
        .route = { .prefix = "::/0", .gateway = "2001:db8::1", .metric = 100 },
        .better = { .prefix = "::/0", .gateway = "2001:db8:c::1", .metric = 50 },
    },
};

/* ---- Connections ------------------------------------------------------------------------------------------------ */

/* Processes that hold the sockets: one process may not have so many. */
static struct {
    pid_t pids[HOLDERS];
    unsigned count;
} holders;

static struct sockaddr_storage address_of(const struct family *family, const char *text, uint16_t port)
{
    struct sockaddr_storage storage = { .ss_family = (sa_family_t)family->number };
    void *bytes = family->number == AF_INET ? (void *)&((struct sockaddr_in *)&storage)->sin_addr
                                            : (void *)&((struct sockaddr_in6 *)&storage)->sin6_addr;

    if (inet_pton(family->number, text, bytes) != 1)
        bench_fail("not an address: %s", text);
    ((struct sockaddr_in *)&storage)->sin_port = htons(port); /* at the same place in sockaddr_in6 */
    return storage;
}

/* IPv6 allows an address out of a local prefix only with IPV6_FREEBIND. */
static int open_bound(const struct family *family, const char *text, uint16_t port)
{
    const struct sockaddr_storage address = address_of(family, text, port);
    const struct linger abort_at_once = { .l_onoff = 1 };
    const int one = 1, fd = socket(family->number, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        (family->number == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &one, sizeof one) != 0) ||
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort_at_once, sizeof abort_at_once) != 0 ||
        bind(fd, (const struct sockaddr *)&address, family->length) != 0)
        bench_fail("a socket with %s: %s", text, strerror(errno));
    return fd;
}

/* The first client has FIRST_CLIENT_PORT, the others another one. */
static int connect_client(const struct family *family, unsigned i)
{
    const struct sockaddr_storage server = address_of(family, family->server, PORT);
    char text[INET6_ADDRSTRLEN];
    int fd;

    snprintf(text, sizeof text, family->client_format, 1 + i / 62500, i / 250 % 250, 1 + i % 250);
    fd = open_bound(family, text, (uint16_t)(FIRST_CLIENT_PORT + (i == 0 ? 0 : 1 + i % 20000)));
    if (connect(fd, (const struct sockaddr *)&server, family->length) != 0)
        bench_fail("connect: %s", strerror(errno));
    return fd;
}

/* Makes connections in the namespace of the clients. Both sockets of each are in `ret`, the accepted one first. */
static void connect_clients(const struct family *family, int listening, unsigned first, unsigned count, int *ret)
{
    for (unsigned i = 0; i < count; i++) {
        ret[2 * i + 1] = connect_client(family, first + i);
        ret[2 * i] = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
        if (ret[2 * i] < 0)
            bench_fail("accept: %s", strerror(errno));
    }
}

/* Begins a process that holds all open sockets until it is killed. */
static void begin_holder(void)
{
    const pid_t parent = getpid(), child = holders.count < HOLDERS ? fork() : -1;

    if (child < 0)
        bench_fail("no process for the sockets: %s", strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (getppid() == parent)
            pause();
        _exit(0);
    }
    holders.pids[holders.count++] = child;
}

static void release_connections(void)
{
    for (unsigned i = 0; i < holders.count; i++) {
        kill(holders.pids[i], SIGKILL);
        waitpid(holders.pids[i], NULL, 0);
    }
    holders.count = 0;
}

/* Moves b to a network namespace of its own, in which the clients' addresses are local. Returns a descriptor of it. */
static int open_clients(struct writer *writer)
{
    const unsigned index = writer_index("b");
    const int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    struct writer there;
    int fd;

    if (here < 0 || unshare(CLONE_NEWNET) != 0)
        bench_fail("another network namespace: %s", strerror(errno));
    bench_check(writer_link_move(writer, index, getpid()), "move b");
    bench_check(writer_open(&there), "rtnetlink");
    bench_check(writer_link_up(&there, writer_index("lo"), true), "lo up");
    bench_check(writer_link_up(&there, writer_index("b"), true), "b up");
    for (unsigned i = 0; i < 2; i++) {
        const struct writer_route local = {
            .prefix = families[i].clients, .index = writer_index("lo"), .type = RTN_LOCAL, .table = RT_TABLE_LOCAL
        };

        bench_check(writer_address(&there, WRITER_ADD, writer_index("b"), families[i].router), "address of b");
        bench_check(writer_route(&there, WRITER_ADD, &local), "addresses of the clients");
    }
    writer_close(&there);
    fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (setns(here, CLONE_NEWNET) != 0)
        bench_fail("back to the first namespace: %s", strerror(errno));
    close(here);
    return fd;
}

static void enter(int namespace)
{
    if (setns(namespace, CLONE_NEWNET) != 0)
        bench_fail("setns: %s", strerror(errno));
}

/* Returns how many connections one process can hold. */
static unsigned find_holder_size(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        bench_fail("getrlimit: %s", strerror(errno));
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur <= OTHER_DESCRIPTORS + 2)
        bench_fail("only %ju descriptors are allowed", (uintmax_t)limit.rlim_cur);
    return (unsigned)((limit.rlim_cur - OTHER_DESCRIPTORS) / 2);
}

/* The descriptors are closed here: a target outlives its socket. */
static void create_targets(SCNetworkReachabilityRef *ret, const int *sockets, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        ret[i] = SCNetworkReachabilityCreateWithSocket(NULL, sockets[2 * i]);
        if (ret[i] == NULL)
            bench_fail("CreateWithSocket: %s", SCErrorString(SCError()));
        close(sockets[2 * i]);
        close(sockets[2 * i + 1]);
    }
}

static struct watched watch_connections(const struct family *family, int here, int clients, unsigned count)
{
    const unsigned most = find_holder_size();
    struct watched watched = { .loop = SCRunLoopCreate(),
                               .targets = malloc(count * sizeof *watched.targets),
                               .count = count };
    int *sockets = malloc(2 * (size_t)most * sizeof *sockets);
    const int listening = open_bound(family, family->server, PORT);

    if (watched.loop == NULL || watched.targets == NULL || sockets == NULL)
        bench_fail("no memory");
    if (listen(listening, 1) != 0)
        bench_fail("listen: %s", strerror(errno));
    for (unsigned done = 0, size; done < count; done += size) {
        size = count - done < most ? count - done : most;
        enter(clients);
        connect_clients(family, listening, done, size, sockets);
        enter(here);
        begin_holder();
        create_targets(watched.targets + done, sockets, size);
    }
    free(sockets);
    close(listening);
    return watched;
}

/* ---- Changes ---------------------------------------------------------------------------------------------------- */

struct bench {
    struct writer *writer;
    struct watched *watched;
    const struct family *family;
    size_t blocks;
};

static bool report(const struct bench *bench, const char *what, const char *unit, double number, double limit)
{
    char title[80];

    snprintf(title, sizeof title, "%u connections, %s, %s", bench->watched->count, bench->family->name, what);
    return bench_report_number(title, number, unit, limit);
}

/* One of two changes of the default route. Returns the time until all callbacks are made. */
static double change_route(const struct bench *bench, bool better, bool add)
{
    const struct family *family = bench->family;

    bench_check(
        writer_route(bench->writer, add ? WRITER_ADD : WRITER_DELETE, better ? &family->better : &family->route),
        "default route");
    return watched_settle(bench->watched, bench->watched->count);
}

/* Memory for each callback, as a program has it. */
struct callee {
    void (*call)(struct callee *callee);
    unsigned long calls;
};

static void count_call(struct callee *callee)
{
    callee->calls++;
}

static double measure_bare_calls(unsigned count)
{
    struct callee **callees = malloc(count * sizeof(struct callee *));
    int64_t start;

    for (unsigned i = 0; i < count; i++) {
        const unsigned j = (unsigned)random() % (i + 1);
        struct callee *callee = malloc(sizeof *callee);

        if (callees == NULL || callee == NULL)
            bench_fail("no memory");
        *callee = (struct callee){ .call = count_call };
        callees[i] = callees[j];
        callees[j] = callee;
    }
    start = bench_now();
    for (unsigned i = 0; i < count; i++)
        callees[i]->call(callees[i]);
    start = bench_now() - start;
    for (unsigned i = 0; i < count; i++)
        free(callees[i]);
    free(callees);
    return (double)start;
}

/* The route is there again at the end. `better`: first it comes, otherwise first it goes. */
static bool measure_route(const struct bench *bench, bool better)
{
    const unsigned long before = watched_queries(bench->watched);
    double ours[2 * BLOCKS], reference[2 * BLOCKS];
    char title[80];
    bool within;

    for (size_t i = 0; i < 2 * bench->blocks; i++) {
        reference[i] = measure_bare_calls(bench->watched->count);
        ours[i] = change_route(bench, better, (i % 2 == 0) == better);
    }
    within = report(bench, better ? "better route, queries" : "default route, queries", "queries",
                    (double)(watched_queries(bench->watched) - before) / (double)(2 * bench->blocks), 16);
    snprintf(title, sizeof title, "%s, all callbacks, %s", better ? "better route" : "default route",
             bench->family->name);
    (void)bench_report(title, "as many bare callbacks", ours, reference, 2 * bench->blocks, 0);
    return report(bench, better ? "better route, all callbacks" : "default route, all callbacks", "ms",
                  bench_median(ours, 2 * bench->blocks) / 1e6, 100) &&
           within;
}

/* Returns the time for a query. */
static double measure_batches(unsigned count)
{
    const int fd = bare_open();
    const int64_t start = bench_now();

    for (unsigned done = 0; done < count; done += BARE_BATCH)
        bare_query_batch(fd, 0x0a000000U + done, BARE_BATCH);
    close(fd);
    return (double)(bench_now() - start) / count;
}

/* A rule for the port of the first client: it alone is not reachable. Each connection is queried by itself. */
static bool measure_rule(const struct bench *bench)
{
    const struct writer_rule rule = { .prefix = bench->family->route.prefix,
                                      .priority = 10,
                                      .action = FR_ACT_PROHIBIT,
                                      .protocol = IPPROTO_TCP,
                                      .remote_port = FIRST_CLIENT_PORT };
    const unsigned long before = watched_queries(bench->watched);
    SCNetworkReachabilityFlags flags = 0;
    double time, reference, queries;
    char title[80];

    reference = measure_batches(bench->watched->count);
    bench_check(writer_rule(bench->writer, WRITER_ADD, &rule), "rule");
    time = watched_settle(bench->watched, 1) / bench->watched->count;
    queries = (double)(watched_queries(bench->watched) - before) / bench->watched->count;
    if (!SCNetworkReachabilityGetFlags(bench->watched->targets[0], &flags) || flags != 0)
        bench_fail("the first connection is reachable");
    bench_check(writer_rule(bench->writer, WRITER_DELETE, &rule), "rule");
    (void)watched_settle(bench->watched, 1);
    snprintf(title, sizeof title, "a rule for one port, a connection, %s", bench->family->name);
    (void)bench_report(title, "a bare batch of RTM_GETROUTE (IPv4)", &time, &reference, 1, 0);
    return report(bench, "a rule, queries for each", "queries", queries, 12);
}

static bool measure(struct writer *writer, const struct family *family, int here, int clients, bool is_short)
{
    struct watched watched = watch_connections(family, here, clients, is_short ? CONNECTIONS_SHORT : CONNECTIONS);
    const struct bench bench = {
        .writer = writer, .watched = &watched, .family = family, .blocks = is_short ? BLOCKS_SHORT : BLOCKS
    };
    bool within;

    watched_schedule(&watched, true);
    within = measure_route(&bench, false);
    within = measure_route(&bench, true) && within;
    within = measure_rule(&bench) && within;
    watched_unschedule(&watched);
    watched_release(&watched);
    release_connections();
    return within;
}

static bool measure_all(struct writer *writer, bool is_short)
{
    const int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    bool within = true;
    int clients;

    bench_check(writer_link_add_pair(writer, "c", "d"), "veth pair");
    bench_check(writer_link_up(writer, writer_index("c"), true), "c up");
    bench_check(writer_link_up(writer, writer_index("d"), true), "d up");
    clients = open_clients(writer);
    for (unsigned i = 0; i < 2; i++) {
        bench_check(writer_address(writer, WRITER_ADD, writer_index("c"), families[i].other), "address of c");
        bench_check(writer_route(writer, WRITER_ADD, &families[i].route), "default route");
    }
    for (unsigned i = 0; i < 2; i++)
        within = measure(writer, &families[i], here, clients, is_short) && within;
    close(clients);
    close(here);
    return within;
}

int main(int argc, char **argv)
{
    return bench_run(argc, argv, measure_all);
}
