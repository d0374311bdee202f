/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CONFFILE_H
#define REACHABILITY_CONFFILE_H

/* The text of resolv.conf(5) and of hosts(5). Pure. */

#include "pure/address.h"

#define CONFFILE_SERVERS 3 /* the resolver takes no more */

struct server {
    struct address address;
    uint32_t       scope;    /* a numeric zone; 0: none */
    char           zone[16]; /* "": none, or numeric */
};

/* The name servers that resolv.conf names, in order. Returns how many. */
size_t conffile_servers(const char *text, size_t length, struct server ret[CONFFILE_SERVERS]);

/* The names in hosts, as hashes: of one in some thousand millions that hosts has not, it says that it has it. */
struct hosts_index {
    size_t   mask;     /* how many places there are, less one */
    uint32_t hashes[]; /* 0: none */
};

/* To be freed with free(3). NULL: no memory. */
struct hosts_index *conffile_index_hosts(const char *text, size_t length);

/* Whether a name is among them, in whatever case, with or without the final dot. */
bool hosts_index_has(const struct hosts_index *index, const char *name);

#endif
