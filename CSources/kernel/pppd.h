/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_PPPD_H
#define REACHABILITY_PPPD_H

/* The state of a ppp link in the database of pppd(8). rtnetlink does not report whether a link that is dialled on
 * demand is connected. */

#include <stdbool.h>

struct pppd {
    bool has_database; /* it can be read; it may change at any time */
    bool has_record;   /* a running pppd has created the link */
    bool idle;         /* traffic will make pppd dial */
    bool modem;        /* the link uses a cellular modem */
};

/* Returns 0, also if there is no database that this process may read, or an errno. */
int pppd_read(const char *interface, struct pppd *ret);

#endif
