/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUND_H
#define REACHABILITY_ROUND_H

/* A round: a monitor's steps until nothing is stale and all watches have their paths. On the driving thread. */

#include "watch/monitor_state.h"

/* Notes what messages have changed, and begins a round unless there is one. */
void round_note_changes(struct monitor *monitor, const struct changes *changes, uint64_t before);

/* Makes the next slice of the round. After the last slice, ends the round and plans the next run. `more`: messages are
 * left to be read. */
void round_continue(struct monitor *monitor, bool more);

/* Ends the round early. What is stale stays stale. */
void round_end(struct monitor *monitor, bool more);

#endif
