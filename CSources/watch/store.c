/* SPDX-License-Identifier: MIT */
/*
 * Who must query the kernel again after a change, and who gets the answer. This comment is the algorithm; entry.c has
 * its moves, bucket.c its sets, stale.c what a change marks, reply.c what one query says of others, round.c the steps.
 *
 * Each watch is a member of one entry. One member is queried for all. An entry is of the route to a prefix P in the
 * table "main", and has one path; or it is a watch's own. `unfiled` has the watches that wait for an own entry: a new
 * watch, and those of an entry that dissolves. Each is queried. It joins the entry of the route named, or stays alone.
 *
 * Address pairs share only with pairs of the same local address and traffic class; sockets, which report their flow, in
 * the same way with sockets. Their protocol, ports, mark and user do not matter: only rules select by them, and while a
 * rule selects by anything, no pair or socket shares (`others` below). The message about a rule dissolves each route's
 * entry. What else a question says (an interface, several addresses) keeps it alone.
 *
 * An entry is due, in the current step, failed, or answered. If it is answered, it is in the list of its bucket, by its
 * stamp: `now` when its query began. Each change adds 1 to `now`. An answer is valid if its stamp is not before
 * `needed` of the entry, nor before `needed` of the bucket. An entry that is marked is due; if that happens during its
 * query, the answer does not count. The buckets say what can change an answer: one link; no link (only a message can
 * bring the route that is missing); any link ("any"); for IPv6 also: one link or no link, plus any IPv6 address
 * (hidden_routes.h says when any link counts all the same). Each can have the lifetime of an IPv6 route besides.
 *
 * Kept true for each member of the entry of P, but for changes whose messages were not read yet (late_routes.h: or are
 * noted again soon, as look-ups do not find a new IPv6 route at once):
 * 1. No route of "main" longer than P leads to the member. For: it joins when a query for it names P; and a message
 *    about Q, longer than P, moves the members in Q to the entry of Q, which is due: one query, not one for each.
 * 2. If the entry is valid, its path is right. For: a message about Q marks all entries in Q, also own ones; one about
 *    a link marks its bucket and "any"; an answer that ends has a timer. (No message says that a router redirects an
 *    address to another router: docs/reliability.md.)
 * 3. An answer is that of a member: if the queried one leaves, the entry is due. For: a refusal names no prefix. A
 *    longer route may refuse; then its message takes the queried member away.
 *
 * What the answer to one member of the entry of P says of the others, by 1:
 *   P            the same for all.
 *   shorter      nothing is between for any: the entry becomes that of the shorter route, or joins it in O(1).
 *   longer       nothing: its message is to come. The queried member leaves, and another one is queried.
 *   exception    nothing: a router has redirected the one address. The queried member leaves, and is alone until its
 *                answer names a route.
 *   refused      the same for all, if no table after "main" has a route. The entry keeps P, so it costs one query when
 *                P is back.
 *   others       (multipath, WireGuard, another table, see Rules) nothing: the entry dissolves into `unfiled`.
 * A watch refused at first stays in its own entry: a refusal names no prefix. So its first route costs one query for
 * each such watch. Then they share its entry, also after the route is deleted.
 *
 * A message about another table than "main" can be true of some members only (a throw route): entries in Q dissolve,
 * and members in Q of other entries go to `unfiled`.
 *
 * Rules: with other rules than the kernel's own, plain watches of IPv4 share, unless an IPv4 rule suppresses routes, or
 * selects by the source. Each member may have other tables before "main". None had a route to it when its query named
 * "main". If one gets a route, its message moves the member. So as long as "main" has a route to it, that is its
 * answer. If not, tables after "main" decide for each: refused is `others`.
 *
 * If a choice may have changed without a message about a route (a rule, lost messages, a carrier under
 * ignore_routes_with_linkdown), 1 is broken: the entries of routes dissolve, and the own ones are due. An IPv6 gateway
 * fails or responds: the same, for IPv6 only.
 *
 * Neighbours: an IPv4 gateway that fails or responds marks "any", but only where the kernel has a choice
 * (equal_routes.h, legs). An IPv6 neighbour that responds and has a member's address may be one to which a router has
 * redirected it: the member gets its own entry.
 *
 * Queries: a message about Q: one for each entry in Q, or whose queried member leaves. A link: one for each entry of
 * its bucket and "any". `others`, dissolving: one for each watch. A path that differs is given to each member by
 * itself, and a message about Q moves members in Q one by one. All else is O(1), or the depth of a tree.
 */
#ifdef __linux__
#include "watch/store.h"

#include <errno.h>

void store_init(struct store *store)
{
    *store = (struct store){ .now = 1 }; /* the stamp 0: not answered yet */
    list_init(&store->any_route);
    list_init(&store->default_path);
    list_init(&store->due);
    list_init(&store->failed);
    list_init(&store->giving);
    buckets_init(&store->buckets);
    hops_init(&store->hops);
    entry_init(&store->unfiled);
}

/* ---- Watches ---------------------------------------------------------------------------------------------------- */

static void add_member(struct store *store, struct path_watch *watch)
{
    address_tree_add(&store->members, &watch->key.address);
    store->sharers++;
    store->edits++;
    store->additions++;
}

int store_add(struct store *store, struct path_watch *watch)
{
    watch->key.entry = NULL;
    if (watch->can_share) {
        add_member(store, watch);
        entry_join(store, watch, &store->unfiled);
    } else if (!entry_move_to_own(store, watch)) {
        return ENOMEM;
    }
    store->count++;
    return 0;
}

void store_remove(struct store *store, struct path_watch *watch)
{
    entry_leave(store, watch);
    store->count--;
    if (!watch->can_share)
        return;
    address_tree_remove(&store->members, &watch->key.address);
    store->sharers--;
    store->edits++;
}

/* The filter passes the address, as it was that of a member. */
int store_isolate(struct store *store, struct path_watch *watch)
{
    if (!watch->can_share)
        return 0;
    if (!entry_move_to_own(store, watch))
        return ENOMEM;
    if (!watch->plain)
        address_tree_remove(&store->members, &watch->key.address);
    watch->can_share = false; /* so the address of a plain one stays in the tree of keys */
    store->sharers--;
    store->edits++;
    return 0;
}

void store_evaluate_again(struct store *store, struct path_watch *watch)
{
    struct entry *entry = entry_of(watch);

    entry->stamp = 0;
    entry_mark(store, entry);
}

void store_replace_questions(struct store *store, struct path_watch *watch)
{
    entry_set_questions(store, entry_of(watch), watch);
    store_evaluate_again(store, watch);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------ */

void store_retry(struct store *store)
{
    list_append_all(&store->due, &store->failed);
    store->starved = false;
}

/* The oldest entry of a marked bucket, if it is stale. */
static struct entry *next_of_bucket(struct bucket *bucket)
{
    struct entry *oldest = container_of(bucket->entries.next, struct entry, node);

    return !list_is_empty(&bucket->entries) && oldest->stamp < bucket->needed ? oldest : NULL;
}

static bool prepare_one(struct store *store)
{
    while (!list_is_empty(&store->buckets.work)) {
        struct bucket *bucket = container_of(store->buckets.work.next, struct bucket, work);
        struct entry *entry = next_of_bucket(bucket);

        if (entry != NULL) {
            list_remove(&entry->node);
            list_append(&store->due, &entry->node);
            return true;
        }
        list_remove(&bucket->work);
    }
    if (list_is_empty(&store->unfiled.members) || store->starved)
        return false;
    store->starved = !entry_move_to_own(store, container_of(store->unfiled.members.next, struct path_watch, node));
    return !store->starved;
}

size_t store_prepare(struct store *store, size_t limit)
{
    size_t count = 0;

    for (const struct list *node = store->due.next; node != &store->due && count < limit; node = node->next)
        count++;
    while (count < limit && prepare_one(store))
        count++;
    return count;
}

struct path_watch *store_choose(const struct entry *entry)
{
    return entry->queried != NULL ? entry->queried : container_of(entry->members.next, struct path_watch, node);
}

static void begin_step(struct store *store, struct entry *entry)
{
    store->current = entry;
    store->sent = store->now;
    entry->refs++;
}

struct path_watch *store_begin(struct store *store)
{
    struct entry *entry;

    if (store_prepare(store, 1) == 0)
        return NULL;
    entry = container_of(list_pop(&store->due), struct entry, node);
    begin_step(store, entry);
    entry->queried = store_choose(entry);
    return entry->queried;
}

/* The first entry that has members without its path, if its answer is valid. */
static struct entry *next_giving(struct store *store)
{
    while (!list_is_empty(&store->giving)) {
        struct entry *entry = container_of(store->giving.next, struct entry, giving);

        if (entry_is_valid(entry) && entry_has_waiting(entry))
            return entry;
        list_remove(&entry->giving); /* until the next answer, or member */
    }
    return NULL;
}

size_t store_give(struct store *store, struct path_watch **ret, size_t limit)
{
    struct entry *entry = next_giving(store);
    size_t count = 0;

    if (entry == NULL)
        return 0;
    begin_step(store, entry);
    for (; count < limit && entry_has_waiting(entry); entry->waiting = entry->waiting->next)
        ret[count++] = container_of(entry->waiting, struct path_watch, node);
    return count;
}

bool store_is_due(const struct store *store)
{
    return !list_is_empty(&store->due) || !list_is_empty(&store->unfiled.members);
}

bool store_has_work(struct store *store)
{
    return store_prepare(store, 1) > 0 || next_giving(store) != NULL;
}

void store_end(struct store *store, bool failed)
{
    struct entry *entry = store->current;

    store->current = NULL;
    if (!entry->ended && (failed || entry->stamp < entry->needed)) {
        list_remove(&entry->node);
        list_append(failed ? &store->failed : &store->due, &entry->node);
    }
    entry_unref(entry);
}

void store_refuse(struct store *store, struct path_watch *watch)
{
    struct entry *entry = entry_of(watch);

    entry_set_pending(entry, watch);
    entry_mark(store, entry);
}

/* ---- Answers ---------------------------------------------------------------------------------------------------- */

/* Whether the queried watch is still a member. If the entry was only marked, store_end makes it due again. */
static bool counts(const struct entry *entry)
{
    return !entry->ended && entry->queried != NULL;
}

/* Whether the answer to one member of a route's entry says what the path of all is. */
static bool is_for_all(const struct entry *entry, const struct reply *reply)
{
    return reply->kind == REPLY_REFUSED || (reply->kind == REPLY_ROUTE && reply->prefix.length <= entry->length);
}

/* Whether the answer is about the queried member alone, and the others still have the same path. */
static bool is_exceptional(const struct entry *entry, const struct reply *reply)
{
    return reply->kind == REPLY_EXCEPTION || (reply->kind == REPLY_ROUTE && reply->prefix.length > entry->length);
}

/* The queried member leaves the current entry, which was a route's. Returns its own entry; NULL: no memory. */
static struct entry *split(struct store *store, const struct reply *reply)
{
    struct entry *entry = store->current, *own;
    struct path_watch *queried = entry->queried;

    if (!entry_move_to_own(store, queried))
        return NULL;
    own = queried->key.entry;
    list_remove(&own->node); /* it is answered now */
    if (!entry->ended && !is_exceptional(entry, reply))
        entry_merge(store, entry, &store->unfiled); /* so that the queries are sent together */
    return own;
}

bool store_join(struct store *store, const struct address_prefix *prefix)
{
    struct entry *entry = store->current, *into;
    struct question_group group;

    if (!counts(entry))
        return false;
    group = path_watch_group(entry->queried);
    into = entry_find(store, &group, prefix);
    if (!entry->queried->can_share || entry->is_exception || into == NULL || prefix->length >= entry->length)
        return false;
    entry_merge(store, entry, into);
    return true;
}

/* The entry of the reply's route has the members of `entry` from now on. Returns `entry` if there is no memory. */
static struct entry *follow_route(struct store *store, struct entry *entry, const struct address_prefix *prefix)
{
    const struct question_group group = path_watch_group(entry->queried);
    struct entry *into = entry_find(store, &group, prefix);

    if (into == NULL)
        (void)entry_set_route(store, entry, &group, prefix);
    if (into == NULL || into == entry)
        return entry;
    into->queried = entry->queried;
    entry_merge(store, entry, into);
    return into;
}

static void file(struct store *store, struct entry *entry, const struct reply *reply)
{
    const struct dependencies *dependencies = &reply->path.dependencies;
    const bool is_ipv6 = reply->path.destination.family == AF_INET6;
    struct buckets *buckets = &store->buckets;
    struct bucket *bucket = dependencies->many_lifetimes
                                ? &buckets->many
                                : bucket_get(buckets, reply->link, is_ipv6, &dependencies->lifetime);

    ends_set(store, entry, bucket, dependencies);
    entry_set_dependencies(store, entry, dependencies);
    entry_set_gateway(store, entry, reply->gateway);
    entry_file(store, entry, bucket);
}

/* Whether all members that were given the path have it still. */
static bool keeps_path(const struct entry *entry, const struct path *path)
{
    const struct outcome before = path_outcome(&entry->route->path), now = path_outcome(path);

    return before.index == now.index && !path_differs(&entry->route->path, path) &&
           !outcome_flow_differs(&before, &now);
}

int store_answer(struct store *store, const struct reply *reply)
{
    struct entry *entry = store->current;
    bool can_share;

    if (!counts(entry))
        return 0;
    can_share = entry->queried->can_share;
    if (entry->length != ENTRY_OWN && !is_for_all(entry, reply))
        entry = split(store, reply);
    if (entry == NULL)
        return ENOMEM;
    entry->is_exception = reply->kind == REPLY_EXCEPTION;
    if (reply->kind == REPLY_ROUTE && can_share)
        entry = follow_route(store, entry, &reply->prefix);
    if (store->sent < entry->needed)
        return 0; /* the entry that they have joined is due */
    if (entry->length == ENTRY_OWN || entry->stamp == 0 || !keeps_path(entry, &reply->path))
        entry->waiting = entry->members.next;
    if (entry->length != ENTRY_OWN)
        entry->route->path = reply->path;
    file(store, entry, reply);
    entry_announce(store, entry);
    return 0;
}

bool store_give_queried(struct path_watch *watch, struct path *ret)
{
    struct entry *entry = entry_of(watch);

    if (!entry_is_valid(entry))
        return false;
    entry_set_given(entry, watch);
    if (!entry_has_waiting(entry))
        list_remove(&entry->giving); /* now, while its memory is in the processor's cache */
    if (entry->length != ENTRY_OWN)
        *ret = entry->route->path;
    return true;
}
#endif
