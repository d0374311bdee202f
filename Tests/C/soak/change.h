/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_CHANGE_H
#define TESTS_SOAK_CHANGE_H

/*
 * One change of the network, as random bits. They decide what the change is, its text, and whether a check follows. So
 * a change stays the same if other changes are left out.
 */

#include "soak/random.h"
#include "soak/text.h"
#include "soak/world.h"

typedef uint64_t change;

struct change_made {
    struct text text; /* commands of ip(8), and the kernel's error */
    char prefix[64];  /* of a route; "": the change is not about one */
};

/* Makes the change. The kernel may refuse it. */
void change_make(change bits, struct world *world, struct change_made *ret);

/* The kinds of changes are in so many tables. Whether the change is of the kinds in one of them. */
#define CHANGE_TABLES 8
bool change_is_in_table(change bits, unsigned table);

/* After a change of a link, an address or a nexthop object, the library evaluates everything a second time. */
bool change_is_about_links(change bits);

/* Whether the next change follows at once, without a check. */
bool change_has_successor(change bits);

/* Whether the check after the change is late enough that the second evaluation is over. */
bool change_has_pause(change bits);

/* Whether the loops' threads stop reading until the check, while messages are lost. */
bool change_is_flood(change bits);

#endif
