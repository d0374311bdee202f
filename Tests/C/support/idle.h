/* SPDX-License-Identifier: MIT */
#ifndef TESTS_IDLE_H
#define TESTS_IDLE_H

/* Checks that no callback comes, without a fixed waiting time. */

#include <reachability/reachability.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Drives the loop until it has handled all earlier changes: no message, no delivery and no near deadline is left. It
 * waits for evaluations that the library repeats after 5 to 50 ms. It does not wait for other threads (look-ups).
 * Returns the number of callbacks of the first pass that makes one; -1: it takes too long. */
int idle_perform(SCRunLoopRef loop);

/* The nearest deadline, by clock_now(); in the past if something is due. */
int64_t idle_next_deadline(SCRunLoopRef loop);

/* Whether the loop's descriptor is readable. */
bool idle_loop_is_readable(SCRunLoopRef loop);

/* Waits until the thread that drives the loop has done the same. Returns false if that takes too long. */
bool idle_await(SCRunLoopRef loop);

/* Whether a thread of this process waits for the events of a loop. */
bool idle_thread_waits(pid_t thread);

/* Waits until this many threads do, beside the first one. Returns false if that takes too long. */
bool idle_await_threads(unsigned count);

#endif
