/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_FIRST_ROUTES_H
#define REACHABILITY_FIRST_ROUTES_H

#include "kernel/rtnetlink.h"

enum first_routes_end {
    FIRST_ROUTES_ALL,    /* there are no more */
    FIRST_ROUTES_MORE,   /* the rest was not read */
    FIRST_ROUTES_CHANGED /* a route has changed meanwhile, so some may be missing */
};

/* What to read: at most so many datagrams, of about 250 routes each. */
struct first_routes {
    uint8_t family;
    uint32_t table; /* RT_TABLE_UNSPEC: all */
    unsigned datagrams;
};

/* Reads the first routes of a table. Calls `visit` for each, until it returns false; if the table is long, for some of
 * them twice. May wait for RTNL. Returns 0 or an errno.
 *
 * The first datagram is read over the socket for requests, which is replaced if the table is long. So there must be no
 * groups on it, and no replies to come. If one is not enough, a socket of its own reads all: to close it ends the dump.
 */
int first_routes_read(struct rtnetlink *rtnetlink, const struct first_routes *what,
                      bool (*visit)(void *info, const struct route *route), void *info, enum first_routes_end *ret);

#endif
