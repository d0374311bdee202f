/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_QUESTION_H
#define REACHABILITY_QUESTION_H

/* What a target needs to know: one question for each of its addresses. */

#include <reachability/reachability.h>

#include "base/counted.h"
#include "pure/address.h"
#include "pure/path.h"
#include "pure/route.h"

struct question {
    struct address destination; /* AF_UNSPEC: the default path */
    uint8_t family;             /* of the default path, and of a name's addresses; AF_UNSPEC: either */
    struct address local;       /* the source address; AF_UNSPEC: the kernel chooses */
    uint32_t scope;             /* an interface index, from a numeric zone or a socket address; 0: any */
    uint32_t local_scope;       /* the same of a link-local local address */
    uint32_t mark;
    const char *interface; /* NULL: any. `reach_questions_create` copies it */
    struct flow flow;
};

/* Constant: when a name is resolved, its target gets new questions. */
struct questions {
    struct counted counted;
    SCNetworkReachabilityReason reason; /* why there are none; NamePending: there is one, about the default path */
    size_t count;
    struct question items[];
};

/* NULL: no memory. */
struct questions *reach_questions_create(const struct question *items, size_t count,
                                         SCNetworkReachabilityReason reason);
void reach_questions_release(struct questions *questions); /* NULL: does nothing */

/* Changes a path of questions that have a reason: the path gets that reason, and no destination. The path of a pending
 * name is not the host's, so it is neither direct nor local. */
void reach_questions_adjust_path(const struct questions *questions, struct path *path);

/* Whether the question is not about an address, but about the local network: 169.254.0.0, without local address,
 * interface and mark. Inline, as each query uses it. */
static inline bool question_is_local_wifi(const struct question *question)
{
    static const uint8_t local_wifi[4] = { 169, 254, 0, 0 };

    return question->destination.family == AF_INET && memcmp(question->destination.bytes, local_wifi, 4) == 0 &&
           question->local.family == AF_UNSPEC && question->interface == NULL && question->mark == 0;
}

/* Two plain questions, to whose destinations the same route leads, have the same path, apart from the destination and
 * the source, if the route has one way. */
bool reach_question_is_plain(const struct question *question);

/* What decides about an address pair, besides its destination, while the rules are standard: no rule selects by
 * protocol, port, mark or user then. Two pairs of one group, to whose destinations the same route leads, have the same
 * path, if the route has one way. */
struct question_group {
    struct address local;
    uint8_t traffic_class; /* IPv4 routes select by it */
    bool is_socket;        /* only targets for sockets report their flow to others that share */
};

static inline bool question_group_equal(const struct question_group *a, const struct question_group *b)
{
    return a->traffic_class == b->traffic_class && a->is_socket == b->is_socket &&
           reach_address_equal(&a->local, &b->local);
}

/* Sets *ret to the group of a question. False: it is not about a pair of plain addresses, or it is bound. */
bool reach_question_find_group(const struct question *question, struct question_group *ret);

/* Whether the question is about the default path, and about nothing else but its family. */
bool reach_question_is_default_path(const struct question *question);

/* Whether rules that select by `selectors` (for IPv4 and IPv6) may decide otherwise for a socket than for the path that
 * the questions have. */
bool reach_questions_are_incomplete(const struct questions *questions, const struct path *path,
                                    const unsigned selectors[2]);

/* The family of a question about the default path; AF_UNSPEC: the better of the two. */
static inline uint8_t question_default_family(const struct question *question)
{
    return question->local.family != AF_UNSPEC ? question->local.family : question->family;
}

/* Sets *ret_oif to the interface of a question; 0: any. `named` is the current index of the interface with the
 * question's interface name; 0: no name, or no such interface. False: *ret is the path already. */
bool reach_question_choose_interface(const struct question *question, uint32_t named, uint32_t *ret_oif,
                                     struct path *ret);

#endif
