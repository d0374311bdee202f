/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETWORK_H
#define REACHABILITY_NETWORK_H

/* The network paths of targets with notify_network. */

#include "api/schedule.h"

void network_schedule_init(struct schedule *schedule, struct schedule_network *network);

/* Begins to watch. Returns 0 or an errno. */
int network_join_locked(struct schedule *schedule);

/* Ends it. Does nothing if the schedule does not watch. */
void network_leave_locked(struct schedule *schedule);

/* Called after a schedule was removed from its target, or was not added. Does nothing for other targets. */
void network_forget_locked(struct SCNetworkReachability *target);

#endif
