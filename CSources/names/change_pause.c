/* SPDX-License-Identifier: MIT */
/*
 * Pauses between look-ups: the first change starts look-ups at once, and then a pause begins. A change during the pause
 * counts at its end. Each pause is twice as long as the previous one. After a quiet time, pauses are short again.
 *
 * What this file must never do: lose a change. Look-ups must start after the last one.
 */
#ifdef __linux__
#include "names/change_pause.h"

#include "base/clock.h"

#define LENGTH_FIRST (100 * MILLISECOND) /* short: a network comes up in steps (link, address, route) */
#define LENGTH_LAST  (60 * SECOND)
#define QUIET        (30 * SECOND) /* without a change */

void change_pause_note(struct change_pause *pause, int64_t now)
{
    if (pause->length == 0 || now - pause->last_change >= QUIET) {
        pause->length = LENGTH_FIRST;
        pause->end = now;
    }
    pause->last_change = now;
    pause->noted = true;
}

int64_t change_pause_due(const struct change_pause *pause)
{
    return pause->noted ? pause->end : NEVER;
}

void change_pause_begin(struct change_pause *pause, int64_t now)
{
    if (!pause->noted)
        return;
    pause->noted = false;
    pause->end = now + pause->length;
    pause->length = 2 * pause->length < LENGTH_LAST ? 2 * pause->length : LENGTH_LAST;
}
#endif
