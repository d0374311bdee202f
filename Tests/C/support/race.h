/* SPDX-License-Identifier: MIT */
#ifndef TESTS_RACE_H
#define TESTS_RACE_H

/*
 * Changes that the kernel announces before it makes them, and a writer on one processor that makes them. The test's
 * thread is on another one, and reads messages meanwhile.
 */

#include <stdbool.h>

#include "support/writer.h"

#define RACE_FAR_AWAY "198.51.100.1" /* the destination of the paths */

/* A change that ends a path, and the change that restores it. */
struct race_change {
    const char *name;
    void (*end)(struct writer *writer);
    void (*restore)(struct writer *writer);
    bool after; /* whether the destination can still be reached when the path has ended */
    bool slow;  /* the kernel takes its time between the last message and the change */
    int share;  /* makes 1/share of the rounds, as each is slow; 0: all */
};

/* In a large table, the address that the default route depends on. */
extern const struct race_change race_address_deleted;

/* A link goes down, and another route takes over. */
extern const struct race_change race_link_lowered;

/* Indexes of the link that the changes are about, and of another one. */
extern unsigned race_link, race_other_link;

/* The hooks of a UNIT. The second one moves the thread to the second processor, in a new namespace with a pair of
 * links. */
void race_start(void);
void race_require(void);

/* Make what is there before the first change, in which the path exists. */
void race_prepare_address_deleted(void);
void race_prepare_link_lowered(void);

/* Starts and ends the writer's thread. Between two rounds, this thread may use the writer. */
void race_open(const struct race_change *change, struct writer *writer);
void race_close(struct writer *writer);

/* Lets the thread end the path. It is done when the kernel has acknowledged the change: all messages are sent. */
void race_begin_round(void);
bool race_is_round_done(void);

#endif
