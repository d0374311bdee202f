/* SPDX-License-Identifier: MIT */
/*
 * A function that is followed by its clean-up, even if it ends the thread.
 *
 * What this file must never do: use a local variable in both. A local that changed after the setjmp(3) behind
 * pthread_cleanup_push has no defined value when the thread ends.
 */
#include "base/cleanup.h"

#include <pthread.h>

void cleanup_run(void (*run)(void *argument), void (*cleanup)(void *argument), void *argument)
{
    pthread_cleanup_push(cleanup, argument);
    run(argument);
    pthread_cleanup_pop(1);
}
