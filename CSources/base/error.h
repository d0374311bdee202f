/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ERROR_H
#define REACHABILITY_ERROR_H

/* What SCError() and SCErrorDetail() return for the calling thread. */

/* Sets it to a kSCStatus... value or an errno. A caller can do nothing about EINTR and EAGAIN: they become
 * kSCStatusReachabilityUnknown. */
void reach_error_set(int status);

/* Returns kSCStatusInvalidArgument. `detail` is a static text that says which argument is wrong. The next
 * reach_error_set uses it, if it sets this status. */
int reach_error_invalid(const char *detail);

#endif
