/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NEIGHBOURS_H
#define REACHABILITY_NEIGHBOURS_H

#include "kernel/rtnetlink.h"

/* Whether an IPv6 neighbour does not respond: its entry has failed. True also if that is not known. Only the thread
 * that handles events calls it: it waits for RTNL. */
bool neighbours_any_failed(struct rtnetlink *rtnetlink);

#endif
