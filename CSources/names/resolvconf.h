/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RESOLVCONF_H
#define REACHABILITY_RESOLVCONF_H

/*
 * Reads two things from the resolver files: where the name servers are, and which names are in hosts(5), so that they
 * need no server. It reads the files that the process sees, for targets in all network namespaces.
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

/* Returns whether hosts(5) has the name, so that its look-up should be quick. Reads the file if it has changed. */
bool resolvconf_hosts_has(const char *name);

/* The same, but never reads the file, which may be long. `hosts_known`: the cached file is current, so that its stamp
 * need not be checked. */
enum hosts_verdict { HOSTS_HAS, HOSTS_HAS_NOT, HOSTS_UNREAD };
enum hosts_verdict resolvconf_check_hosts(const char *name, bool hosts_known);

/* Drops the cached hosts(5) if the file has changed. A caller that passes `hosts_known` must call this after every
 * change of the resolver files. */
void resolvconf_recheck_hosts(void);

#endif
