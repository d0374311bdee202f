/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NAME_H
#define REACHABILITY_NAME_H

/* Targets that need a look-up: when their name is looked up, and what the result changes. */

#include "api/target.h"

/* Looks the name up from now on: the target has its first schedule. */
void name_start_lookups_locked(struct SCNetworkReachability *target);

/* Stops the look-ups: the target has lost its last schedule. Ignores a late result, and forgets the addresses. */
void name_stop_lookups_locked(struct SCNetworkReachability *target);

/* Looks the name up again. `changed`: because a result may differ now, not because time has passed. */
void name_repeat_lookup_locked(struct SCNetworkReachability *target, bool changed);

#endif
