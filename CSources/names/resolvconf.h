/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RESOLVCONF_H
#define REACHABILITY_RESOLVCONF_H

/*
 * Reads from the resolver files where the name servers are. It reads the files that the process sees, for targets in
 * all network namespaces.
 *
 * Nothing here decides which addresses a name has. Only the system's resolver does.
 */

#include "pure/conffile.h"
#include "pure/question.h"

enum { RESOLVCONF_FILES = 4 };

/* The resolver files: the resolver's results can change when one of them changes. */
extern const char *const resolvconf_paths[RESOLVCONF_FILES];

/* What was read is cached while there is a user. */
void resolvconf_retain(void);
void resolvconf_release(void);

/* Gets the questions about the name servers, with a reference. If the servers are on this machine, and no file says
 * which servers they use in turn, there is one question, about the default path. Returns 0, or an errno: a file could
 * not be read. Reads files only if they have changed. */
int resolvconf_server_questions(struct questions **ret);

/* Reads the name servers of resolv.conf. If all are systemd-resolved's stub, and it says which servers it uses, reads
 * those. Caches nothing. Returns 0, or an errno: a file could not be read. */
int resolvconf_servers(struct name_server ret[CONFFILE_SERVERS], size_t *ret_count);

#endif
