/* SPDX-License-Identifier: MIT */
/*
 * Whether the kernel may have hidden IPv6 routes.
 *
 * What this file must never do: miss that a neighbour had failed when an answer came. A link may have forgotten it
 * since then, so no message about a link may be unread. It may also respond since then, without a message.
 */
#ifdef __linux__
#include "watch/hidden_routes.h"

#include <time.h>

#include "base/clock.h"
#include "kernel/dumps.h"

#define SHARE 100 /* the part of a processor for reading neighbours: one of so many */

void hidden_routes_note_answer(struct hidden_routes *hidden, bool shared)
{
    hidden->possible = hidden->is_late = true;
    hidden->shared = hidden->shared || shared;
}

void hidden_routes_note_stale(struct hidden_routes *hidden)
{
    hidden->had_failed = false;
}

static int64_t processor_time(void)
{
    struct timespec time = { 0 };

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

bool hidden_routes_look(struct hidden_routes *hidden, struct rtnetlink *rtnetlink)
{
    const int64_t now = clock_now();
    int64_t began;
    bool failed, current;

    if (!hidden->is_late || now < hidden->next)
        return false;
    began = processor_time();
    failed = neighbours_any_failed(rtnetlink);
    current = !failed && neighbours_are_current(rtnetlink);
    hidden->next = now + SHARE * (processor_time() - began);
    hidden->is_late = !failed && !current; /* once more, after the messages that are unread */
    hidden->had_failed = hidden->had_failed || failed;
    if (!current || hidden->had_failed)
        return false;
    hidden->possible = hidden->shared = false;
    return true;
}

int64_t hidden_routes_nearest(const struct hidden_routes *hidden)
{
    return hidden->is_late ? hidden->next : NEVER;
}
#endif
