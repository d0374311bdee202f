/* SPDX-License-Identifier: MIT */
#ifndef BENCHMARKS_BENCH_H
#define BENCHMARKS_BENCH_H

/*
 * Shared parts of the benchmarks. Absolute times vary too much between runs on a shared machine. So blocks of the
 * library and of the reference alternate in one process, each pair of neighbours gives one ratio, and the median of the
 * ratios is compared with the threshold.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/writer.h"

/* Whether --short is an argument, or BENCH_SHORT is set: few blocks, and no ratio makes the benchmark fail. Any other
 * argument ends the program with status 64. */
bool bench_is_short(int argc, char **argv);

/* Prints why the benchmark cannot run, and ends the program. */
_Noreturn __attribute__((format(printf, 1, 2))) void bench_fail(const char *format, ...);

/* Ends the program if an error is not 0. */
void bench_check(int error, const char *what);

/* Moves the calling thread, and the threads that it starts later, to a new network namespace. In it lo is up, and veth
 * "a" with 192.0.2.2/24 and 2001:db8::2/64 has a carrier. Opens the writer there. Returns the index of "a". */
unsigned bench_enter_namespace(struct writer *writer);

/* The main function of a benchmark: calls `measure` in such a namespace, on one processor. Returns the program's
 * status: 1 if what it measured is over a limit, and the run is not short. */
int bench_run(int argc, char **argv, bool (*measure)(struct writer *writer, bool is_short));

/* Through 192.0.2.1, and through 2001:db8::1. */
extern const struct writer_route bench_default_route, bench_ipv6_default_route;

/* Adds `count` routes over a link. None of them covers a target. */
void bench_add_routes(struct writer *writer, unsigned index, unsigned count);

/* Keeps the calling thread on one of the processors of this process: 0 is the first. */
void bench_pin(unsigned number);

int64_t bench_now(void); /* nanoseconds */

double bench_median(double *values, size_t count);                     /* sorts them */
double bench_percentile(double *values, size_t count, double percent); /* the same */

/* Prints one line. Returns whether the median of ours[i] / reference[i] is at most the threshold (0: no threshold). */
bool bench_report(const char *name, const char *reference_name, const double *ours, const double *reference,
                  size_t blocks, double threshold);

/* Prints one line about a number that needs no reference. Returns whether it is at most the limit. */
bool bench_report_number(const char *name, double number, const char *unit, double limit);

/* Prints a point of the chart: what a series costs with `count` routes or targets. */
void bench_point(const char *series, unsigned count, double nanoseconds);

/* Bytes that malloc has given to the program. */
size_t bench_heap(void);

#endif
