/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_STORE_H
#define REACHABILITY_STORE_H

/* The store of a monitor's watches: who must query the kernel again after a change, and who gets the answer. The
 * algorithm is in store.c. Under the loop's lock. */

#include "pure/route.h"
#include "watch/entry.h"

void store_init(struct store *store);

/* Return 0 or ENOMEM. After store_isolate, the watch shares with none. */
int store_add(struct store *store, struct path_watch *watch);
int store_isolate(struct store *store, struct path_watch *watch);
void store_remove(struct store *store, struct path_watch *watch);
void store_evaluate_again(struct store *store, struct path_watch *watch);
void store_replace_questions(struct store *store, struct path_watch *watch); /* of a watch that cannot share */

/* Entries whose queries have failed are due again. */
void store_retry(struct store *store);

bool store_has_work(struct store *store);
bool store_is_due(const struct store *store); /* apart from what links have made stale */

/* Puts stale entries into `due` until it has `limit`, if there are so many. Returns how many it has, at most
 * `limit`. */
size_t store_prepare(struct store *store, size_t limit);

/* The member that will be queried for an entry. */
struct path_watch *store_choose(const struct entry *entry);

/* Begins a step: store_begin to query a member, store_give to give the path of one entry to members, at most `limit`.
 * NULL, 0: there is nothing to do. store_end ends the step. */
struct path_watch *store_begin(struct store *store);
size_t store_give(struct store *store, struct path_watch **ret, size_t limit);
void store_end(struct store *store, bool failed); /* failed: the entry is due after store_retry */

enum reply_kind {
    REPLY_ALONE,     /* the path of the queried address, and of no other */
    REPLY_EXCEPTION, /* the same, but others have that of the route */
    REPLY_REFUSED,   /* no route: names no prefix. The same for all members of a route's entry */
    REPLY_ROUTE      /* one path for all to which the route to `prefix` leads */
};

struct reply {
    enum reply_kind kind;
    struct address_prefix prefix;
    uint32_t link;    /* on which the answer depends: see bucket.h */
    unsigned gateway; /* its place: see gateways.h */
    struct path path;
};

/* The query names the route to `prefix`. Returns whether there is an entry of it, which has the members of the queried
 * one from now on. */
bool store_join(struct store *store, const struct address_prefix *prefix);

/* Notes the reply to the query of the current step. Returns 0 or ENOMEM. */
int store_answer(struct store *store, const struct reply *reply);

/* Whether the queried watch is given its path now: *ret, which is that of its own query, or becomes that of its
 * entry. */
bool store_give_queried(struct path_watch *watch, struct path *ret);

/* A member did not take the path. */
void store_refuse(struct store *store, struct path_watch *watch);

/* ---- stale.c: what a change makes stale. Messages are noted between two steps ------------------------------------ */

/* Return whether that affects a watch. */
bool stale_mark_route(struct store *store, const struct route *route);
bool stale_mark_link(struct store *store, uint32_t link); /* routes over it may be gone without a message */

void stale_mark_all(struct store *store);      /* any route may be gone without a message */
void stale_mark_any_link(struct store *store); /* what depends on any link: pppd's database, a gateway has changed */
bool stale_mark_ipv6(struct store *store);     /* the same, and what depends on any IPv6 address */
bool stale_mark_ipv6_since(struct store *store, uint64_t since); /* of these, answers whose queries were sent since */

/* The IPv6 neighbour responds, so a router may have redirected its packets to it. */
bool stale_mark_neighbour(struct store *store, const struct address *address);

/* The neighbour may be the next hop of watches that report it. */
bool stale_mark_hop(struct store *store, const struct message_neighbour *neighbour);

/* Any route of the family may have come without a message: the entries of routes end. AF_UNSPEC: of both. */
void stale_dissolve(struct store *store, uint8_t family);

/* The answers whose queries were sent at `since` or later. False: there is none. */
bool stale_has_since(const struct store *store, uint64_t since);
void stale_mark_since(struct store *store, uint64_t since);

/* ---- ends.c: when answers end without a message ------------------------------------------------------------------ */

/* All answers over one IPv6 route share its lifetime, and with it a bucket. One of them, the probe, is queried to see
 * whether the route is still there, and for how long. If it is not, the others are queried, too: see entry_file. A
 * router advertisement can change the lifetime without a message about the route. If it contains a prefix, the kernel
 * sends RTM_NEWPREFIX: the probes are queried after that, and every 5 s while a route expires. */

/* The entry was answered, and will be in this bucket. */
void ends_set(struct store *store, struct entry *entry, struct bucket *bucket, const struct dependencies *dependencies);

/* When the first answer ends; NEVER. */
int64_t ends_nearest(const struct store *store);

/* Answers and lifetimes that have ended by `now` are stale. */
void ends_note_time(struct store *store, int64_t now);

/* Lifetimes must be read again. `all`: also those of routes that do not expire, so far. */
void ends_probe(struct store *store, bool all);

/* Whether a lifetime may be shortened without a message. */
bool ends_can_shorten(const struct store *store);

#endif
