/* SPDX-License-Identifier: MIT */
/* The calling thread's last error. With the thread's own run loop, it is the library's only state per thread. */
#include "base/error.h"

#include <errno.h>
#include <reachability/reachability.h>

static _Thread_local int last_error;

void error_set(int status)
{
    if (status == EINTR || status == EAGAIN)
        status = kSCStatusReachabilityUnknown;
    last_error = status;
}

int error_get(void)
{
    return last_error;
}
