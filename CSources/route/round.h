/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUND_H
#define REACHABILITY_ROUND_H

/* A round: the evaluation of all answers of a monitor that were stale when it began. On the driving thread. */

#include <stdbool.h>

#include "route/stale.h"

struct monitor;

/* What messages have changed. */
struct changes {
    enum stale stale;
    enum stale unfinished; /* the kernel may not have finished the changes that affect these */
    bool       prefix;     /* a router has advertised a prefix */
    bool       failed;     /* messages or links could not be read */
};

/* Begins a round after these changes. During a round, keeps them for the next. */
void round_note_changes(struct monitor *monitor, const struct changes *changes);

/* Evaluates the next slice of the round. After the last slice, ends the round and plans the next run. `more`: messages
 * are left to be read. */
void round_continue(struct monitor *monitor, bool more);

/* Ends the round early. The answers that are left stay stale. */
void round_end(struct monitor *monitor, bool more);

#endif
