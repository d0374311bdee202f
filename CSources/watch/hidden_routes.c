/* SPDX-License-Identifier: MIT */
/*
 * Whether the kernel may hide IPv6 routes.
 *
 * What this file must never do: miss that a neighbour had failed when an answer came. A link may have forgotten it
 * since then, so no message about a link may be unread.
 */
#ifdef __linux__
#include "watch/hidden_routes.h"

#include <time.h>

#include "base/clock.h"
#include "kernel/neighbours.h"

#define SHARE 100 /* the part of a processor for reading neighbours: one of so many */

void hidden_routes_note_answer(struct hidden_routes *hidden)
{
    hidden->none = false;
    hidden->is_late = true;
}

static int64_t processor_time(void)
{
    struct timespec time = { 0 };

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

void hidden_routes_look(struct hidden_routes *hidden, struct rtnetlink *rtnetlink)
{
    const int64_t now = clock_now();
    int64_t began;
    bool failed, current;

    if (!hidden->is_late || now < hidden->next)
        return;
    began = processor_time();
    failed = neighbours_any_failed(rtnetlink);
    current = !failed && neighbours_are_current(rtnetlink);
    hidden->none = current;
    hidden->is_late = !failed && !current; /* once more, after the messages that are unread */
    hidden->next = now + SHARE * (processor_time() - began);
}
#endif
