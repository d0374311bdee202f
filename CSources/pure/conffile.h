/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CONFFILE_H
#define REACHABILITY_CONFFILE_H

/* Parsers for resolv.conf(5) and hosts(5). */

#include "pure/address.h"

#define CONFFILE_SERVERS 3 /* the resolver uses no more */

struct name_server {
    struct address address;
    uint32_t       scope;    /* a numeric zone; 0: there is none */
    char           zone[16]; /* "": there is none, or it is numeric */
};

/* Reads the name servers from the text of resolv.conf, in order. Returns their number. */
size_t conffile_servers(const char *text, size_t length, struct name_server ret[CONFFILE_SERVERS]);

/* The names in hosts, as 32-bit hashes. A name that is not in hosts can have the hash of a name that is. */
struct hosts_index {
    size_t   mask;     /* the number of places, minus one */
    uint32_t hashes[]; /* 0: an empty place */
};

/* Makes an index from the text of hosts. Free it with free(3). NULL: no memory. */
struct hosts_index *conffile_index_hosts(const char *text, size_t length);

/* Whether hosts has the name. Case and a final dot do not matter. */
bool hosts_index_has(const struct hosts_index *index, const char *name);

#endif
