/* SPDX-License-Identifier: MIT */
#ifndef BENCHMARKS_DELAYSERVER_H
#define BENCHMARKS_DELAYSERVER_H

/*
 * A name server on 127.0.0.1, whose replies are late or do not come. The first label of a name decides:
 *
 *   slow...   198.51.100.7 after 100 ms        drop...   no reply        any other   198.51.100.7 at once
 */

#include <stdbool.h>

/* Mounts resolver files of this program's own: the server is the only one, and `options` are those of resolv.conf(5).
 * False: that is not possible here. */
bool delayserver_mount(const char *options);

/* Starts the server, on a new thread, in the network namespace of the caller. It runs until the program ends. */
void delayserver_start(void);

#endif
