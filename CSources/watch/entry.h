/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ENTRY_H
#define REACHABILITY_ENTRY_H

/* The entries of a store, and their members. store.c has the algorithm. Under the loop's lock. */

#include "route/evaluate.h"
#include "watch/bucket.h"
#include "watch/gateways.h"
#include "watch/hops.h"
#include "watch/watch.h"

#define ENTRY_GROUPS 32 /* entries of one route: the watches of other groups have own ones */

#define ENTRY_OWN UINT8_MAX /* longer than all: a route moves none of the members */

/* The addresses on which an answer depends, besides the prefix of its route. */
struct entry_keys {
    struct entry_key *items; /* allocated */
    uint32_t count;
    bool has_member;  /* besides them, the address of the only member */
    bool has_outer;   /* the last one is the other end of a tunnel */
    bool any_route;   /* the same for all routes */
    struct list node; /* of store.any_route, or else of store.default_path */
};

/* What only the entry of a route has. */
struct entry_route {
    struct entry_key first;      /* the first address of the prefix */
    struct question_group group; /* of all members; all zero: they are plain */
    struct path path;
};

struct entry {
    struct entry_keys keys;
    unsigned refs;              /* of the store, of members, of merged entries, of the current step */
    uint16_t gateway;           /* 1 + the place of the path's gateway; 0: there is none */
    uint8_t length;             /* of the route's prefix; or ENTRY_OWN */
    bool ended : 1;             /* no watch has it any more */
    bool pppd : 1;              /* the answer depends on pppd's database */
    bool is_exception : 1;      /* the answer was not the path of the route: see store.h */
    bool seeks_link : 1;        /* links have made it stale: which of them matters is worth a query */
    struct list members;        /* first those that were given `path` */
    struct list *waiting;       /* the node of the first of the others; &members: there is none */
    struct list giving, node;   /* of store.giving; of store.due, store.failed or bucket->entries */
    struct bucket *bucket;      /* NULL: not answered yet */
    uint64_t stamp, needed;     /* see store.c; stamp 0: not answered yet */
    struct heap_node timer;     /* the end of the answer, apart from the bucket's lifetime */
    struct entry_route *route;  /* NULL: it was never that of a route; the only member has the path */
    struct path_watch *queried; /* the member that was queried for all; of an own entry, the only one */
    struct hop_use *hop;        /* the path's next hop; NULL: it is not watched */
    struct entry *into;         /* has the members, if this entry was merged */
};

struct store {
    struct address_tree routes;    /* the entries of routes, by the first addresses of their prefixes */
    struct address_tree addresses; /* the keys of all entries */
    struct address_tree members;   /* the watches that can share, but for those in own entries */
    size_t lengths[2][129];        /* how many routes' entries have a length, for IPv4 and IPv6 */

    struct list any_route, default_path;            /* entries that depend on these */
    struct entry_key samples[DEFAULT_PATH_SAMPLES]; /* keys while there are entries in default_path */
    unsigned long edits, additions;                 /* of what the socket filter must pass; they only grow */

    struct list due, failed, giving; /* giving: members of the entries have not been given the path */
    struct entry unfiled;            /* never answered */
    struct buckets buckets;
    struct heap timers;
    struct hops hops;

    uint64_t now;                                  /* counts changes */
    struct entry *current;                         /* of the current step */
    uint64_t sent;                                 /* `now` at its begin */
    size_t count;                                  /* of watches */
    size_t sharers;                                /* of those that can share: see update_policy in monitor.c */
    size_t pppd;                                   /* of entries that depend on pppd's database */
    uint32_t gateway_users[ROUTE_FILTER_GATEWAYS]; /* entries that have the gateway of a place */
    bool starved;                                  /* for lack of memory, a watch stayed in `unfiled` */
};

/* Creates an own entry, which is due, with one reference. NULL: no memory. */
struct entry *entry_create(struct store *store);
void entry_unref(struct entry *entry); /* NULL: does nothing */
void entry_init(struct entry *entry);

/* Sets what an own entry depends on: the addresses of the watch's questions; and of any entry, what the path says. */
void entry_set_questions(struct store *store, struct entry *entry, struct path_watch *watch);
void entry_set_dependencies(struct store *store, struct entry *entry, const struct dependencies *dependencies);

/* Notes the place of the path's gateway; GATEWAYS_NOWHERE: it has none. */
void entry_set_gateway(struct store *store, struct entry *entry, unsigned place);

/* The other end of a tunnel on which the answer depends; AF_UNSPEC: there is none. */
struct address entry_outer(const struct entry *entry);

/* The entry of the route to a prefix, for members of a group. NULL: there is none. */
struct entry *entry_find(const struct store *store, const struct question_group *group,
                         const struct address_prefix *prefix);

/* Whether any group has an entry of the route to a prefix. */
bool entry_exists(const struct store *store, const struct address_prefix *prefix);

/* Makes the entry that of a route. False: no memory, or an own entry would be that of one group too many; it is as
 * before. */
bool entry_set_route(struct store *store, struct entry *entry, const struct question_group *group,
                     const struct address_prefix *prefix);

/* The entry must be queried again. */
void entry_mark(struct store *store, struct entry *entry);
bool entry_is_valid(const struct entry *entry);

/* If the answer is valid, members without the path are given it. */
void entry_announce(struct store *store, struct entry *entry);

/* Puts an entry that was answered into a bucket. */
void entry_file(struct store *store, struct entry *entry, struct bucket *bucket);

/* Whether there are several members; whether some do not have the path. */
bool entry_has_others(const struct entry *entry);
bool entry_has_waiting(const struct entry *entry);

/* The member does, or does not, have the path. */
void entry_set_given(struct entry *entry, struct path_watch *watch);
void entry_set_pending(struct entry *entry, struct path_watch *watch);

/* Moves all members, in constant time. */
void entry_merge(struct store *store, struct entry *entry, struct entry *into);

/* The entry of a watch. */
struct entry *entry_of(struct path_watch *watch);
void entry_join(struct store *store, struct path_watch *watch, struct entry *entry);
void entry_leave(struct store *store, struct path_watch *watch);

/* Gives a watch an entry of its own, apart from the one that it has. False: no memory; it stays. */
bool entry_move_to_own(struct store *store, struct path_watch *watch);

#endif
