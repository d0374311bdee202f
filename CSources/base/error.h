/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ERROR_H
#define REACHABILITY_ERROR_H

/* What SCError() returns for the calling thread. */

/* Sets it to a kSCStatus... value or an errno. A caller can do nothing about EINTR and EAGAIN: they become
 * kSCStatusReachabilityUnknown. */
void error_set(int status);

/* Returns the value set last, 0 before the first. */
int error_get(void);

#endif
