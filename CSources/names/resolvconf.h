/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RESOLVCONF_H
#define REACHABILITY_RESOLVCONF_H

/*
 * What the system's resolver is configured with, as far as it concerns us: where its name servers are, and which names
 * need none. The files are those that the process sees, whatever its network namespaces.
 *
 * Nothing here decides what a name stands for: that is the resolver's to say.
 */

#include "pure/question.h"

enum { RESOLVCONF_FILES = 4 };

/* The files that what the resolver says may change with. */
extern const char *const resolvconf_paths[RESOLVCONF_FILES];

/* As long as somebody uses them, files are kept that have been read. */
void resolvconf_retain(void);
void resolvconf_release(void);

/* What is asked while a name is not resolved: the ways to the name servers or, where these are on this machine and say
 * not whom they ask, the default path. With a reference. 0, or an errno: a file could not be looked at. Reads files
 * only when they changed. */
int resolvconf_pending_questions(struct questions **ret);

/* Those that were made last, without looking whether they still hold; NULL: none. */
struct questions *resolvconf_last_pending_questions(void);

/* Whether hosts(5) has a name, so that looking it up should be quick. Reads the file if it has to. */
bool resolvconf_hosts_has(const char *name);

/* The same without reading the file, which may be long. `trusted`: what is known of it holds, and it is not even looked
 * at. */
enum hosts_verdict { HOSTS_HAS, HOSTS_HAS_NOT, HOSTS_UNREAD };
enum hosts_verdict resolvconf_check_hosts(const char *name, bool trusted);

/* What is known of hosts is forgotten if it does not hold any more: to be called when it may have changed, by who calls
 * it trusted. */
void resolvconf_doubt_hosts(void);

#endif
