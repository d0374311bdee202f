/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CHANGE_PAUSE_H
#define REACHABILITY_CHANGE_PAUSE_H

/*
 * Pauses between the look-ups that changes of one kind start. Without pauses, a gateway that flaps ten times a second,
 * or forged router advertisements, would start as many look-ups of every name.
 */

#include <stdbool.h>
#include <stdint.h>

/* All zero: no change yet. Times are those of clock_now. */
struct change_pause {
    int64_t end;         /* of the latest pause */
    int64_t length;      /* of the next pause; 0: there was no change yet */
    int64_t last_change; /* if there was one */
    bool noted;          /* a change counts at the end of the pause */
};

/* Something changed. */
void change_pause_note(struct change_pause *pause, int64_t now);

/* Returns when look-ups must start because of a change, or NEVER. */
int64_t change_pause_due(const struct change_pause *pause);

/* Begins a pause if a change is noted: look-ups of all names start now. */
void change_pause_begin(struct change_pause *pause, int64_t now);

#endif
