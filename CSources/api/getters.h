/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_GETTERS_H
#define REACHABILITY_GETTERS_H

/* Reads a target, scheduled or not: SCNetworkReachabilityGetFlags and the other Get calls. */

#include "api/target.h"

/* Evaluates the target now, through its namespace's shared socket. `extras`: query_extras. Returns 0 or an errno. */
int getters_evaluate(struct SCNetworkReachability *target, unsigned extras, struct path *ret);

/* Checks the `size` of a caller's structure. Returns false and sets SCError() if it is invalid. */
bool getters_check_size(const SCNetworkReachabilityPath *path);

/* Writes the fields for which the caller's structure has room. */
void getters_write_path(const SCNetworkReachabilityPath *path, SCNetworkReachabilityPath *ret);

#endif
