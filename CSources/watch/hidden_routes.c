/* SPDX-License-Identifier: MIT */
/*
 * Whether the kernel may hide IPv6 routes.
 *
 * What this file must never do: miss that a neighbour had failed when an answer came. A link may have forgotten it
 * since then, so no message about a link may be unread.
 */
#ifdef __linux__
#include "watch/hidden_routes.h"

#include "base/clock.h"
#include "kernel/neighbours.h"

#define SHARE 100 /* the part of the time for reading neighbours: one of so many */

void hidden_routes_note_answer(struct hidden_routes *hidden)
{
    hidden->none = false;
    hidden->is_late = true;
}

void hidden_routes_look(struct hidden_routes *hidden, struct rtnetlink *rtnetlink)
{
    const int64_t began = clock_now();

    if (!hidden->is_late || began < hidden->next)
        return;
    hidden->none = !neighbours_any_failed(rtnetlink) && neighbours_are_current(rtnetlink);
    hidden->is_late = false;
    hidden->next = began + SHARE * (clock_now() - began);
}
#endif
