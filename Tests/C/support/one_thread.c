/* SPDX-License-Identifier: MIT */
/*
 * Linked into programs with one thread, which are not run under the thread sanitizer: ONE_THREAD in the Makefile. In a
 * sandbox (TEST_DENIED), the tests have a second thread: see namespace_set_aside.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/wrap.h"

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    if (getenv("TEST_DENIED") == NULL) {
        fputs("This program starts a thread: ONE_THREAD in the Makefile must not name it.\n", stderr);
        abort();
    }
    return __real_pthread_create(thread, attributes, run, argument);
}
