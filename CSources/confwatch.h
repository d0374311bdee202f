/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CONFWATCH_H
#define REACHABILITY_CONFWATCH_H

/* Whether the files that the system's resolver reads have changed. */

#include "inotify.h"
#include "resolvconf.h"
#include "stamp.h"

/* Somebody who watches them. */
struct confwatch {
    struct inotify *inotify; /* NULL: none could be had */
    bool            failed;  /* while watches are added: one could not be */
    atomic_bool     deaf;    /* so not everything is watched: what is not heard may have changed; read by any thread */
    struct stamp    stamps[RESOLVCONF_FILES]; /* as they were seen last */
};

/* inotify instances are scarce: without one there is no descriptor, and changes are seen when somebody looks. */
void confwatch_open(struct confwatch *ret);
void confwatch_close(struct confwatch *watch);

/* Becomes readable when one of the files may have changed; -1: there is none. */
int confwatch_descriptor(const struct confwatch *watch);

/* Whether nothing changed since the descriptor was emptied. False where that cannot be told. */
bool confwatch_is_quiet(const struct confwatch *watch);

/* Empties the descriptor. Whether one of the files changed since it was asked last. */
bool confwatch_changed(struct confwatch *watch);

#endif
