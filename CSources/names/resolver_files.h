/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RESOLVER_FILES_H
#define REACHABILITY_RESOLVER_FILES_H

/* Whether the files that the system's resolver reads have changed. */

#include <stdatomic.h>

#include "base/filestamp.h"
#include "names/inotify.h"
#include "names/resolvconf.h"

/* Somebody who watches them. */
struct resolver_files {
    struct inotify  *inotify; /* NULL: none could be had */
    bool             failed;  /* while watches are added: one could not be */
    atomic_bool      deaf;    /* so not everything is watched: what is not heard may have changed; read by any thread */
    struct filestamp stamps[RESOLVCONF_FILES]; /* as they were seen last */
};

/* inotify instances are scarce: without one there is no descriptor, and changes are seen when somebody looks. */
void resolver_files_open(struct resolver_files *ret);
void resolver_files_close(struct resolver_files *watch);

/* Becomes readable when one of the files may have changed; -1: there is none. */
int resolver_files_descriptor(const struct resolver_files *watch);

/* Whether nothing changed since the descriptor was emptied. False where that cannot be told. */
bool resolver_files_are_unchanged(const struct resolver_files *watch);

/* Empties the descriptor. Whether one of the files changed since it was asked last. */
bool resolver_files_changed(struct resolver_files *watch);

#endif
