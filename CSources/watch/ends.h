/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ENDS_H
#define REACHABILITY_ENDS_H

/* When answers end without a message. All answers over one IPv6 route share its lifetime, and with it a bucket. One of
 * them, the probe, is queried to see whether the route is still there, and for how long. If it is not, the others are
 * queried, too: see entry_file. A router advertisement can change the lifetime without a message about the route. If it
 * contains a prefix, the kernel sends RTM_NEWPREFIX: the probes are queried after that, and every 5 s while a route
 * expires. Under the loop's lock. */

#include "watch/entry.h"

/* The entry was answered, and will be in this bucket. */
void ends_set(struct store *store, struct entry *entry, struct bucket *bucket, const struct dependencies *dependencies);

/* When the first answer ends; NEVER. */
int64_t ends_nearest(const struct store *store);

/* Answers and lifetimes that have ended by `now` are stale. */
void ends_note_time(struct store *store, int64_t now);

/* Lifetimes must be read again. `all`: also those of routes that do not expire, so far. */
void ends_probe(struct store *store, bool all);

/* Whether a lifetime may be shortened without a message. */
bool ends_can_shorten(const struct store *store);

#endif
