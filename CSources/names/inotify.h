/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_INOTIFY_H
#define REACHABILITY_INOTIFY_H

/* An inotify(7) instance. There are 128 a user, and to close one takes the kernel milliseconds. */

#include "base/list.h"
#include "base/process.h"

struct inotify {
    struct list       node;
    struct descriptor descriptor;
    int anchor; /* a watch that nothing ever comes from, by which it is known again; -1: none could be had */
};

/* One that was closed a moment ago, with what it watches and has told, or a new one. NULL: none could be had. */
struct inotify *inotify_open(void);

/* Never waits, unless no thread can be had; see inotify.c. NULL is fine. */
void inotify_close(struct inotify *inotify);

#endif
