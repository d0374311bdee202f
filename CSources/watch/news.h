/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NEWS_H
#define REACHABILITY_NEWS_H

/* What one run of a monitor has read. The calls are made on the driving thread. */

#include "watch/monitor_state.h"

struct news {
    struct monitor *monitor;
    struct changes  changes;
};

/* Notes a message. `info`: struct news. */
void news_note_message(void *info, const struct message *message);

/* Routes may be gone without a message; the kernel may not have finished that. */
void news_note_all(struct news *news);

/* Any route may have come without a message. `unfinished`: the kernel may not have finished that. */
void news_note_any(struct news *news, bool unfinished);

#endif
