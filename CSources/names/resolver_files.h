/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RESOLVER_FILES_H
#define REACHABILITY_RESOLVER_FILES_H

/* Watches the files that the system's resolver reads, for all loops of the process. */

#include "loop/runloop.h"

/* A source of a loop that runs when a file may have changed. */
struct resolver_files_user {
    struct list node;
    SCRunLoopRef loop;
    struct source *source;
    unsigned version; /* of the files, as of its last check */
    bool is_watched;  /* as of its last check: an event reports every change. Else there is no instance or watch left */
    int64_t due;      /* as of its last check: a file is being written, and counts then. NEVER: all are whole */
};

/* Does not fail: inotify instances are scarce. Without one, only reach_resolver_files_check finds changes. The source
 * runs soon afterwards. The loop and the source stay until reach_resolver_files_leave. */
void reach_resolver_files_join(struct resolver_files_user *user, SCRunLoopRef loop, struct source *source);
void reach_resolver_files_leave(struct resolver_files_user *user);

/* For the thread that runs the loop, when the source runs. Returns whether a file has changed since the last check, and
 * all are whole: their writers have closed them, nothing has changed for 100 ms, or the first change is 1 s old. */
bool reach_resolver_files_check(struct resolver_files_user *user, int64_t now);

#endif
