/* SPDX-License-Identifier: MIT */
/*
 * Runs a function, then its clean-up, even if the function ends the thread.
 *
 * What this file must never do: share a local variable between the two. A local that changed after the setjmp(3) behind
 * pthread_cleanup_push has no defined value when the thread ends.
 */
#ifdef __linux__
#include "base/cleanup.h"

#include <pthread.h>

void cleanup_run(void (*run)(void *argument), void (*cleanup)(void *argument), void *argument)
{
    pthread_cleanup_push(cleanup, argument);
    run(argument);
    pthread_cleanup_pop(1);
}
#endif
