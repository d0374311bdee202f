/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ERROR_H
#define REACHABILITY_ERROR_H

/* Sets SCError() of the calling thread: a kSCStatus... value or an errno. EINTR and EAGAIN tell a caller nothing
 * that it could act on; they become kSCStatusReachabilityUnknown. */
void error_set(int status);

/* The last one set. */
int error_get(void);

#endif
