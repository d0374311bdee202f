/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PATIENCE_H
#define TESTS_PATIENCE_H

/* sem_wait(3) with an end. */

#include <semaphore.h>

/* Waits; after a time in which it must have happened it fails the test, with these words. */
void patience_await(sem_t *semaphore, const char *complaint);

#endif
