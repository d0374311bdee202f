/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CONFFILE_H
#define REACHABILITY_CONFFILE_H

/* A parser for resolv.conf(5). */

#include "pure/question.h"

#define CONFFILE_SERVERS 3 /* the resolver uses no more */

struct name_server {
    struct address address;
    uint32_t scope; /* a numeric zone; 0: there is none */
    char zone[16];  /* "": there is none, or it is numeric */
};

/* Reads the name servers from the text of resolv.conf, in order. Returns their number. */
size_t reach_conffile_servers(const char *text, size_t length, struct name_server ret[CONFFILE_SERVERS]);

/* The question about the resolver's packets to a server. Rules can select them: they are UDP, for port 53. */
struct question reach_name_server_question(const struct name_server *server);

#endif
