/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SEARCH_H
#define REACHABILITY_SEARCH_H

/* The search for one question's answer: the queries that it takes, and what they come to. */

#include "question.h"
#include "view.h"

/* What is asked besides flags, reason and interface. Bits. */
enum search_extras {
    SEARCH_EXPIRY = 1, /* when the kernel will let the route expire without a word */
    SEARCH_SOURCE = 2  /* the source address, where it takes a further query */
};

struct search {
    struct view           *view;
    const struct question *question;
    unsigned               extras;
    struct route_request   request; /* what all of its queries have in common */
    bool                   bound;   /* an interface was asked for, not just an address of it */
    unsigned               depth;   /* tunnels that may be in one another yet */
};

struct search search_make(struct view *view, const struct question *question, unsigned extras);

/* The calls below answer 0, or an errno: the kernel could not be asked. */

/* Finds the interface, and looks at the local address. *ret_open false: `ret` is the answer already. */
int search_begin(struct search *search, bool *ret_open, struct path *ret);

/* After that: the way to a destination that is an address. */
int search_address(struct search *search, struct path *ret);

/* The pieces of that, about the destination of `request`. An errno of theirs may be an answer: path_from_error. */
int search_match(struct search *search, struct route *ret);                         /* which route matches */
int search_judge_match(struct search *search, struct route *match, struct path *ret); /* what that one comes to */
int search_plain(struct search *search, struct path *ret);                          /* the way of a packet */

/* Puts right a path over a leg that is dead, or leads nowhere, while another one lives; adds the source, if that is
 * among the extras. */
int search_other_leg(struct search *search, struct path *path);
int search_note_source(struct search *search, struct path *path);

/* Has the path asked for again after a while, as nobody tells when it is another one. */
void search_again(struct path *path, uint32_t seconds);

#endif
