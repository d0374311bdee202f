/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RESOLVER_FILES_H
#define REACHABILITY_RESOLVER_FILES_H

/* Watches the files that the system's resolver reads, and reports whether they have changed. */

#include <stdatomic.h>

#include "base/file.h"
#include "loop/runloop.h"
#include "names/inotify.h"
#include "names/resolvconf.h"

struct resolver_files {
    struct inotify *inotify;    /* NULL: there is none */
    struct descriptor mounts;   /* closed: there is none */
    bool watch_failed;          /* used by add_all_watches: a watch could not be added */
    atomic_bool incomplete;     /* the result of the last add_all_watches; read by any thread */
    atomic_bool mounts_missing; /* no memory, descriptor or place in the epoll set for `mounts`; likewise */
    struct filestamp stamps[RESOLVCONF_FILES]; /* as of the last check */
};

/* Does not fail. Sets the source's descriptor, which becomes readable when one of the files may have changed, and its
 * `edges`: the kernel wakes their waiters when something is mounted or unmounted. inotify instances are scarce: without
 * one there is no descriptor, and only resolver_files_check finds changes. */
void resolver_files_open(struct resolver_files *ret, struct source *source);
void resolver_files_close(struct resolver_files *files);

/* Watches the mounts for this source of the loop, if that has failed before. Only the thread that drives the loop calls
 * it. */
void resolver_files_repair(struct resolver_files *files, SCRunLoopRef loop, struct source *source);

/* Returns whether the descriptors report every change of the files. False: there are no inotify instances, watches,
 * descriptors or memory left, or the program has closed the descriptor. */
bool resolver_files_are_watched(const struct resolver_files *files);

/* Reads all events. Returns whether one of the files has changed since the last check. */
bool resolver_files_check(struct resolver_files *files);

#endif
