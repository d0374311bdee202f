/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_WORLD_H
#define TESTS_SOAK_WORLD_H

/*
 * The network namespace of an episode: veth pairs a-b and c-d, a tun device p, lo. a or c can be renamed to e or f. The
 * changes are made in it. An error of the set-up fails the test.
 */

#include "soak/text.h"
#include "support/namespace.h"
#include "support/router.h"
#include "support/writer.h"

struct world {
    struct writer writer;
    int tun;
    struct router router;         /* on b */
    struct namespace_other other; /* links are moved there */
    unsigned mounts;              /* over resolv.conf */
};

void world_open(struct world *ret);
void world_close(struct world *world);

/* Makes "a", "c" or "p" usable: up, with a carrier, addresses and routes. The text has the commands of ip(8). */
void world_restore(struct world *world, const char *link);
const char *world_restore_text(const char *link);

/* Runs a command of ip(8), and adds it to the text. Returns whether it succeeded. */
bool world_run(const char *command, struct text *text);

/* Prints what world_open makes, as commands of ip(8). */
void world_print(void);

/* The index of a link that may have been renamed: world_index("a") is the link of that name or its new name. */
unsigned world_index(const char *name);

/* The number of messages that the kernel has dropped for the sockets of this namespace. */
unsigned long world_drops(void);

#endif
