/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NAME_H
#define REACHABILITY_NAME_H

/* Targets that need a look-up: when their name is looked up, and what the result changes. */

#include "api/target.h"

/* While a name is not resolved, the target's questions are about the name servers. This updates them if the resolver
 * files changed. Returns 0, or an errno if a file cannot be read. */
int name_refresh_pending_questions_locked(struct SCNetworkReachability *target);

/* Sets the questions of a name that is not resolved. Consumes a reference. NULL: does nothing. */
void name_set_pending_questions_locked(struct SCNetworkReachability *target, struct questions *questions);

/* Looks the name up from now on: the target has its first schedule. `hosts_known`: what is known of the hosts file is
 * current, so it need not be checked. */
void name_start_lookups_locked(struct SCNetworkReachability *target, bool hosts_known);

/* Stops the look-ups: the target has lost its last schedule. Ignores a late result, and forgets the addresses. */
void name_stop_lookups_locked(struct SCNetworkReachability *target);

/* Looks the name up again. `changed`: because a result may differ now, not because time has passed. */
void name_repeat_lookup_locked(struct SCNetworkReachability *target, bool changed);

#endif
