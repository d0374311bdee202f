/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_PROBES_H
#define REACHABILITY_PROBES_H

/*
 * Static probes for bpftrace, perf and gdb (provider "libreachability"), if the build machine has sys/sdt.h. A probe
 * that no tool uses is a no-op instruction.
 */

#include <stdint.h>

#include <reachability/reachability.h>

#if defined(__has_include)
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#endif
#endif

#ifdef DTRACE_PROBE
#define PROBE(probe) probe
/* sdt.h omits a macro argument, which ISO C allows since C23. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#else
#define PROBE(probe) ((void)0)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

/* A message was received that can affect a path: its message_kind, and the index of the link or 0. */
static inline void probe_event(int kind, uint32_t index)
{
    PROBE(DTRACE_PROBE2(libreachability, event, kind, index));
}

/* A route query has ended: AF_..., the interface in the query or 0, and 0 or an errno. */
static inline void probe_query(int family, uint32_t oif, int error)
{
    PROBE(DTRACE_PROBE3(libreachability, query, family, oif, error));
}

/* The kernel dropped messages, for the count-th time on this struct rtnetlink. */
static inline void probe_overrun(unsigned long count)
{
    PROBE(DTRACE_PROBE1(libreachability, overrun, count));
}

/* A callback is about to be called. */
static inline void probe_delivery(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags)
{
    PROBE(DTRACE_PROBE2(libreachability, delivery, target, flags));
}

#pragma GCC diagnostic pop
#undef PROBE

#endif
