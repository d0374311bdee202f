/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_STALE_H
#define REACHABILITY_STALE_H

/* Which answers a change makes stale. Each value includes those before it. */
enum stale {
    STALE_NONE,
    STALE_MARKED, /* some, which have been marked */
    STALE_LINKS,  /* those that depend on links that have changed: see watch_set_note_link */
    STALE_ALL,    /* all. Watches that share an answer still have the same route */
    STALE_CHECK   /* all, and such watches can have different routes: some may have come without a message */
};

static inline enum stale stale_add(enum stale a, enum stale b)
{
    return a > b ? a : b;
}

#endif
