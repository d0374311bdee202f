/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_PPPD_H
#define REACHABILITY_PPPD_H

/* What pppd(8) notes of the links that it makes, in its database. rtnetlink does not tell whether one that is dialled
 * on demand is connected. */

#include <stdbool.h>

struct pppd {
    bool kept;  /* there is a database, which may tell something else in a moment */
    bool noted; /* the link is one of pppd's */
    bool idle;  /* it will be dialled when there is traffic */
    bool modem; /* a cellular modem carries it */
};

/* 0 or an errno: it could not be looked at. Where there is no database, or none for us, nothing is noted. */
int pppd_read(const char *interface, struct pppd *ret);

#endif
