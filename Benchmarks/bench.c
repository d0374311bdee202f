/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <errno.h>
#include <malloc.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCKS_LIMIT 1024

const struct writer_route bench_default_route = { .prefix = "0.0.0.0/0", .gateway = "192.0.2.1" };
const struct writer_route bench_ipv6_default_route = { .prefix = "::/0", .gateway = "2001:db8::1" };

bool bench_is_short(int argc, char **argv)
{
    const char *variable = getenv("BENCH_SHORT");

    if (argc == 1)
        return variable != NULL && *variable != '\0';
    if (argc == 2 && strcmp(argv[1], "--short") == 0)
        return true;
    fprintf(stderr, "usage: %s [--short]\n", argv[0]);
    exit(64);
}

void bench_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void bench_check(int error, const char *what)
{
    if (error != 0)
        bench_fail("%s: %s", what, strerror(error));
}

int64_t bench_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Duplicate address detection ends after a second or two, with messages that make each path stale. */
static void turn_off_address_detection(void)
{
    FILE *file = fopen("/proc/sys/net/ipv6/conf/default/accept_dad", "w");

    if (file == NULL)
        return;
    fputs("0", file);
    fclose(file);
}

/* The kernel reports that a veth runs some time after both ends are up. That would be a change during a benchmark. */
static void await_running(const char *name)
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = { 0 };

    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    do
        if (ioctl(fd, SIOCGIFFLAGS, &request) != 0)
            bench_fail("the flags of %s cannot be read: %s", name, strerror(errno));
    while ((request.ifr_flags & IFF_RUNNING) == 0);
    close(fd);
}

unsigned bench_enter_namespace(struct writer *writer)
{
    unsigned index;

    /* As root; otherwise through a user namespace, which a process of one thread may make. */
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        bench_fail("no network namespace can be made here: %s", strerror(errno));
    turn_off_address_detection();
    bench_check(writer_open(writer), "rtnetlink");
    bench_check(writer_link_up(writer, writer_index("lo"), true), "lo up");
    bench_check(writer_link_add_pair(writer, "a", "b"), "veth pair");
    index = writer_index("a");
    bench_check(writer_link_up(writer, index, true), "a up");
    bench_check(writer_link_up(writer, writer_index("b"), true), "b up");
    await_running("a");
    await_running("b");
    bench_check(writer_address(writer, WRITER_ADD, index, "192.0.2.2/24"), "IPv4 address");
    bench_check(writer_address(writer, WRITER_ADD, index, "2001:db8::2/64"), "IPv6 address");
    return index;
}

void bench_add_routes(struct writer *writer, unsigned index, unsigned count)
{
    char prefix[32];

    bench_check(writer_batch(writer), "batch");
    for (unsigned i = 0; i < count; i++) {
        const struct writer_route route = { .prefix = prefix, .index = index };

        snprintf(prefix, sizeof prefix, "10.%u.%u.%u/32", i >> 16, i >> 8 & 255, i & 255);
        bench_check(writer_route(writer, WRITER_ADD, &route), prefix);
    }
    bench_check(writer_flush(writer), "routes");
}

void bench_pin(unsigned number)
{
    static cpu_set_t given;
    cpu_set_t one;
    int processor = -1;

    if (CPU_COUNT(&given) == 0)
        sched_getaffinity(0, sizeof given, &given);
    number %= (unsigned)CPU_COUNT(&given);
    do
        while (!CPU_ISSET(++processor, &given))
            continue;
    while (number-- > 0);
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
}

int bench_run(int argc, char **argv, bool (*measure)(struct writer *writer, bool is_short))
{
    const bool is_short = bench_is_short(argc, argv);
    struct writer writer;
    bool within;

    bench_pin(0);
    bench_enter_namespace(&writer);
    within = measure(&writer, is_short);
    writer_close(&writer);
    return within || is_short ? 0 : 1;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof values[0], compare);
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double median_of(const double *values, size_t count)
{
    double copy[BLOCKS_LIMIT];

    memcpy(copy, values, count * sizeof copy[0]);
    return bench_median(copy, count);
}

double bench_percentile(double *values, size_t count, double percent)
{
    qsort(values, count, sizeof values[0], compare);
    return values[(size_t)((double)(count - 1) * percent / 100)];
}

static void print_time(double nanoseconds)
{
    if (nanoseconds < 1000)
        printf("%9.2f ns", nanoseconds);
    else if (nanoseconds < 1e6)
        printf("%9.2f us", nanoseconds / 1e3);
    else
        printf("%9.2f ms", nanoseconds / 1e6);
}

/* Benchmarks/performance reads these lines: the columns are two spaces apart. */
bool bench_report(const char *name, const char *reference_name, const double *ours, const double *reference,
                  size_t blocks, double threshold)
{
    double ratios[BLOCKS_LIMIT], ratio;
    bool within;

    for (size_t i = 0; i < blocks; i++)
        ratios[i] = ours[i] / reference[i];
    ratio = bench_median(ratios, blocks);
    within = threshold == 0 || ratio <= threshold;
    printf("%-44s  ", name);
    print_time(median_of(ours, blocks));
    printf("  %-36s  ", reference_name);
    print_time(median_of(reference, blocks));
    printf("  ratio %5.3f", ratio);
    if (threshold != 0)
        printf(" (at most %.2f) %s", threshold, within ? "ok" : "OVER");
    putchar('\n');
    fflush(stdout);
    return within;
}

bool bench_report_number(const char *name, double number, const char *unit, double limit)
{
    const bool within = number <= limit;

    printf("%-44s  %9.*f %s (at most %g) %s\n", name, number >= 100 || number == 0 ? 0 : 2, number, unit, limit,
           within ? "ok" : "OVER");
    fflush(stdout);
    return within;
}

void bench_point(const char *series, unsigned count, double nanoseconds)
{
    printf("point  %s  %u  %.1f\n", series, count, nanoseconds);
    fflush(stdout);
}

size_t bench_heap(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}
