/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CONFWATCH_H
#define REACHABILITY_CONFWATCH_H

/* Whether the files that the system's resolver reads have changed. */

#include <stdbool.h>

struct confwatch;

/* One that was closed a moment ago is taken over: who looks up name after name does not open one after another. inotify
 * instances are scarce: without one there is no descriptor, and changes are seen when somebody looks. NULL: no memory. */
struct confwatch *confwatch_open(void);
void              confwatch_close(struct confwatch *watch);

/* Becomes readable when one of the files may have changed; -1: there is none. */
int confwatch_descriptor(const struct confwatch *watch);

/* Whether nothing changed since the descriptor was emptied. False where that cannot be told. From any thread. */
bool confwatch_is_quiet(const struct confwatch *watch);

/* Empties the descriptor. Whether one of the files changed since it was asked last. */
bool confwatch_changed(struct confwatch *watch);

#endif
