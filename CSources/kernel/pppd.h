/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_PPPD_H
#define REACHABILITY_PPPD_H

/* The state of a ppp link in the database of pppd(8). rtnetlink does not report whether a link that is dialled on
 * demand is connected. */

#include <stdbool.h>
#include <stddef.h>

/* One link. */
struct pppd_link {
    char interface[16];
    bool has_record; /* a running pppd has created the link */
    bool idle;       /* traffic will make pppd dial */
    bool modem;      /* the link uses a cellular modem */
};

/* The links that were looked for. During a round, also the database. */
struct pppd {
    bool was_read, has_database; /* was_read: in this round; has_database: the last read found one */
    char *database;
    size_t length;
    struct pppd_link *links;
    size_t count, capacity;
};

/* Finds the state of a link. Reads the database if this round has not. Returns 0 and a link, valid until the next call,
 * or an errno. A database that does not exist, or that this process may not read, counts as empty. */
int pppd_find(struct pppd *pppd, const char *interface, const struct pppd_link **ret);

/* Begins a round: reads the database if a link was found in an earlier round. Returns whether a link has changed. A
 * database that cannot be read counts as a change; pppd_find then reports the errno. */
bool pppd_begin_round(struct pppd *pppd);

/* Ends a round, and keeps the links. */
void pppd_end_round(struct pppd *pppd);

void pppd_clear(struct pppd *pppd);

#endif
