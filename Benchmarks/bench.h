/* SPDX-License-Identifier: MIT */
#ifndef BENCHMARKS_BENCH_H
#define BENCHMARKS_BENCH_H

/*
 * What the benchmarks share. Machines are shared and absolute times move by more than what is measured: blocks of ours
 * and of the reference take turns in one process, each pair of neighbours gives one ratio, and the median of those is
 * held against the threshold.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/writer.h"

/* Whether --short was asked for, or BENCH_SHORT is set: few blocks, ratios are printed, nothing fails on them. Any
 * other argument ends the program with status 64. */
bool bench_is_short(int argc, char **argv);

/* Ends the program, with a reason: the benchmark cannot be run. */
_Noreturn __attribute__((format(printf, 1, 2))) void bench_fail(const char *format, ...);

/* Ends the program when an error is not 0. */
void bench_check(int error, const char *what);

/* A new network namespace for the calling thread and those that it starts: lo is up, and veth "a" with 192.0.2.2/24 and
 * 2001:db8::2/64 has a carrier. Returns the index of "a". The writer is opened in it. */
unsigned bench_enter_namespace(struct writer *writer);

/* By 192.0.2.1. */
extern const struct writer_route bench_default_route;

/* Adds that many routes of their own over a link, none of which is on the way to any target. */
void bench_add_routes(struct writer *writer, unsigned index, unsigned count);

/* The calling thread stays on one of the processors that the process was given: the first, the second... */
void bench_pin(unsigned number);

int64_t bench_now(void); /* nanoseconds */

double bench_median(double *values, size_t count); /* sorts them */

/* Prints one line, and answers whether the median of ours[i] / reference[i] is at most the threshold. 0: no threshold. */
bool bench_report(const char *name, const char *reference_name, const double *ours, const double *reference,
                  size_t blocks, double threshold);

#endif
