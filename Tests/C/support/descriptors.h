/* SPDX-License-Identifier: MIT */
#ifndef TESTS_DESCRIPTORS_H
#define TESTS_DESCRIPTORS_H

/* The file descriptors that this process has open. */

#include <stdbool.h>

#define DESCRIPTORS 1024

struct descriptors {
    bool open[DESCRIPTORS];
    int highest;
};

void descriptors_read(struct descriptors *ret);
struct descriptors descriptors_now(void);

/* Fails the test unless the same descriptors are open now. */
void descriptors_expect(const struct descriptors *then);

/* The same, but waits: threads that end by themselves close some of them. */
void descriptors_await(const struct descriptors *then);

/* Closes all others. */
void descriptors_close_others(const struct descriptors *then);

#endif
