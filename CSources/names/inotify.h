/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_INOTIFY_H
#define REACHABILITY_INOTIFY_H

/* Opens and closes inotify(7) instances. A user can have 128 of them, and the kernel takes milliseconds to close
 * one. */

#include "base/list.h"
#include "base/process.h"

struct inotify {
    struct list node;
    struct descriptor descriptor;
};

/* Returns a new instance, or one that was closed a moment ago, with its watches and unread events. NULL: there are no
 * more instances, descriptors or memory. */
struct inotify *inotify_open(void);

/* Accepts NULL. Waits for the kernel only if no thread can be started. */
void inotify_close(struct inotify *inotify);

#endif
