/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NAME_SERVERS_H
#define REACHABILITY_NAME_SERVERS_H

/*
 * Reads from the resolver files which name servers there are. It reads the files that the process sees, for targets in
 * all network namespaces.
 *
 * Nothing here decides which addresses a name has. Only the system's resolver does.
 */

#include "pure/conffile.h"

#define NAME_SERVERS_FILE     "/etc/resolv.conf"
#define NAME_SERVERS_UPSTREAM "/run/systemd/resolve/resolv.conf" /* the servers behind systemd-resolved's stub */

/* Reads the name servers. If all are systemd-resolved's stub, and it says which servers it uses, reads those. Returns
 * 0, or an errno: a file could not be read. */
int reach_name_servers_read(struct name_server ret[CONFFILE_SERVERS], size_t *ret_count);

/* Gets the questions whether a look-up can reach a server. If the servers are on this machine, and no file says which
 * servers they use in turn, there is one question, about the default path. Returns 0 or an errno, as above. */
int reach_name_servers_questions(struct questions **ret);

#endif
