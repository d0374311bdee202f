/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SHARE_MODE_H
#define REACHABILITY_SHARE_MODE_H

/* What the evaluation of a shared answer means for its watches. On the driving thread. */

#include "route/answer.h"

/* `question` was evaluated: `extent` and `path` are the results. `must_check`: see struct shared_answer. */
enum share_mode share_mode_choose(struct monitor *monitor, const struct question *question, bool must_check,
                                  const struct extent *extent, const struct path *path);

/* Whether all watches of the answer have this path already, so that nothing has to be done for each. */
bool share_mode_keeps_path(const struct shared_answer *shared, enum share_mode mode, const struct path *path);

#endif
