/* SPDX-License-Identifier: MIT */
/* The calling thread's last error. With the thread's own run loop, it is the library's only state per thread. */
#ifdef __linux__
#include "base/error.h"

#include <errno.h>
#include <reachability/reachability.h>

static _Thread_local int last_error;
static _Thread_local const char *last_detail, *next_detail; /* NULL: none */

void reach_error_set(int status)
{
    if (status == EINTR || status == EAGAIN)
        status = kSCStatusReachabilityUnknown;
    last_error = status;
    last_detail = status == kSCStatusInvalidArgument ? next_detail : NULL;
    next_detail = NULL;
}

int reach_error_invalid(const char *detail)
{
    next_detail = detail;
    return kSCStatusInvalidArgument;
}

int SCError(void)
{
    return last_error;
}

const char *SCErrorDetail(void)
{
    return last_detail != NULL ? last_detail : "";
}
#endif
