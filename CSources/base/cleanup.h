/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CLEANUP_H
#define REACHABILITY_CLEANUP_H

/* Calls run(argument), then cleanup(argument), also if `run` ends the thread by pthread_exit(3). User code may do that.
 * What `cleanup` needs must be in *argument. Costs some nanoseconds and no system call. */
void cleanup_run(void (*run)(void *argument), void (*cleanup)(void *argument), void *argument);

#endif
