/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_QUESTION_H
#define REACHABILITY_QUESTION_H

/* What is asked about a target: one question for each address that it stands for. */

#include <reachability/reachability.h>

#include "base/counted.h"
#include "pure/address.h"
#include "pure/path.h"

struct question {
    struct address destination; /* AF_UNSPEC: the default path */
    struct address local;       /* the source to use; AF_UNSPEC: the kernel's choice */
    uint32_t       scope;       /* the index of the interface, from a numeric zone or a socket address; 0: any */
    uint32_t       mark;
    char           interface[16]; /* "": any */
};

/* Never changed once made: a name that is resolved gets others. */
struct questions {
    struct counted              counted;
    SCNetworkReachabilityReason reason; /* why there are none; NamePending: they are about the name servers */
    size_t                      count;
    struct question             items[];
};

/* NULL: no memory. */
struct questions *questions_create(const struct question *items, size_t count, SCNetworkReachabilityReason reason);
void              questions_release(struct questions *questions); /* NULL is fine */

/* What the reason makes of the best of their answers. */
void questions_apply_reason(const struct questions *questions, struct path *path);

/* The interface that a question names, where `named` is the index of the one with its name now (0: it names none,
 * or there is none): *ret_oif, 0 for any. False: `ret` is the answer already. */
bool question_interface(const struct question *question, uint32_t named, uint32_t *ret_oif, struct path *ret);

#endif
