/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NAME_H
#define REACHABILITY_NAME_H

/* Targets whose name has to be looked up: when that is done, and what comes of it. Each is called with the target's
 * lock held. */

#include "api/target.h"

/* The questions of a name that is not resolved: as the resolver's files are now. 0, or an errno: they could not be
 * looked at. */
int name_refresh_pending_locked(struct SCNetworkReachability *target);

/* The same for those that the surroundings have; takes over a reference. NULL: nothing changes. */
void name_set_questions_locked(struct SCNetworkReachability *target, struct questions *questions);

/* The target is scheduled for the first time: it is looked up from now on. `trusted`: see resolvconf_check_hosts. */
void name_begin_locked(struct SCNetworkReachability *target, bool trusted);

/* It is scheduled no more: a late result is thrown away, and it is as if it had never been looked up. */
void name_end_locked(struct SCNetworkReachability *target);

/* Time to look it up once more; `changed`: because an answer might be another one now. */
void name_look_again_locked(struct SCNetworkReachability *target, bool changed);

#endif
