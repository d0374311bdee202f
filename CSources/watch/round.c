/* SPDX-License-Identifier: MIT */
/*
 * The rounds of a monitor: their steps, and the queries that several steps send together. In a step, one entry is
 * queried for, or a few watches are given the path of their entry.
 *
 * What this file must never do: query without the barrier, or while the filter can drop messages about the answer.
 */
#ifdef __linux__
#include "base/clock.h"
#include "watch/monitor_state.h"

/* In a round with much to do, each run makes a slice of it. Between two slices the loop makes callbacks and reads new
 * messages. The first slices are small, so that the first callback comes soon. */
#define SLICE_FIRST 16
#define SLICE_LAST  256

/* If changes go on, a round ends after this many steps, and for each watch some more. */
#define ROUND_STEPS           64
#define ROUND_STEPS_PER_WATCH 4

#define BATCH_MINIMUM 8 /* queries that are sent together */

/* Few enough that the processor loads the memory of all their owners at the same time. */
#define GROUP_LIMIT 8

/* ---- Steps ------------------------------------------------------------------------------------------------------ */

static struct counted *owner_of(struct path_watch *watch)
{
    return watch->type->owner(watch);
}

/* Lets all messages pass that affect a watch. Replies from before that may be outdated: their messages were dropped. So
 * were those about changes that the kernel has not finished. */
static void open_filter_locked(struct monitor *monitor)
{
    if (monitor_filter_passes_all(monitor))
        return;
    rtnetlink_end_batch(&monitor->rtnetlink);
    rtnetlink_set_barrier(&monitor->rtnetlink);
    round_cache_begin_slice(&monitor->cache);
    if (event_filter_detach(&monitor->filter, &monitor->rtnetlink.events, &monitor->store, &monitor->gateways) != 0)
        plan_begin_polling(&monitor->plan);
}

/* Its owner may have a newer path than the one that the watch did not take. */
static void refuse(struct monitor *monitor, struct path_watch *watch, const struct path *path)
{
    runloop_lock(monitor->service.loop);
    if (watch->monitor != NULL) {
        if (path->left_failed_hop && entry_of(watch)->hop != NULL)
            entry_of(watch)->hop->left_failed = true;
        store_refuse(&monitor->store, watch);
    }
    runloop_unlock(monitor->service.loop);
}

static void give(struct monitor *monitor, struct path_watch *watch, const struct path *path)
{
    if (!watch->type->accept(watch, path))
        refuse(monitor, watch, path);
}

/* What is done in a step. */
struct step {
    struct inquiry inquiry;                  /* watch NULL: there is no query */
    size_t count;                            /* of watches that get the path */
    struct path_watch *watches[GROUP_LIMIT]; /* with references to their owners */
    const struct path *path;
};

/* Loads what the step uses of each owner. A million owners do not fit in the processor's caches, and waiting for one
 * after the other would take most of the time. */
static void prefetch_owners(struct path_watch *const *watches, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (watches[i]->type->prefetch != NULL)
            watches[i]->type->prefetch(watches[i]);
}

/* Whether to look for the link on which the watch of an address depends, as it cannot share: links have made it stale
 * before, so it is worth a query. Other rules and other routes could decide for each address. */
static bool seeks_link(const struct monitor *monitor, const struct inquiry *inquiry)
{
    struct entry *entry = inquiry->watch->key.entry;
    const struct question *question = &inquiry->questions->items[0];

    if (entry->length == ENTRY_OWN && entry->stamp != 0 && entry->stamp >= entry->needed)
        entry->seeks_link = true;
    return entry->seeks_link && !inquiry->can_share && monitor->shares == SHARING_ALL &&
           plan_relies_on_messages(&monitor->plan) && inquiry->watch->type->evaluate == NULL &&
           inquiry->questions->count == 1 && question->local.family == AF_UNSPEC &&
           question->destination.family != AF_UNSPEC && question->interface[0] == '\0' && question->mark == 0 &&
           question->scope == 0;
}

static struct repetition find_repetition(const struct monitor *monitor, const struct entry *entry)
{
    const struct path *path = entry->length != ENTRY_OWN ? &entry->route->path : NULL;

    if (!monitor->round.quiet || path == NULL || entry->bucket == NULL)
        return (struct repetition){ 0 };
    return (struct repetition){
        .link = entry->bucket->link, .index = path->index, .gateway = path->gateway, .source = path->source
    };
}

/* Begins a query for the entry that is due next. If none is, at most `limit` watches get the path of one entry. */
static void begin_step_locked(struct monitor *monitor, size_t limit, struct step *ret)
{
    struct inquiry *inquiry = &ret->inquiry;

    open_filter_locked(monitor);
    inquiry->watch = ret->watches[0] = store_begin(&monitor->store);
    ret->count = inquiry->watch != NULL ? 1 : store_give(&monitor->store, ret->watches, limit);
    prefetch_owners(ret->watches, ret->count);
    for (size_t i = 0; i < ret->count; i++) {
        counted_retain(owner_of(ret->watches[i]));
        if (atomic_load(&ret->watches[i]->outdated)) /* in the first step of a watch, then rarely */
            atomic_store(&ret->watches[i]->outdated, false);
    }
    if (inquiry->watch == NULL) {
        ret->path = ret->count == 0 ? NULL : &monitor->store.current->route->path;
        return;
    }
    inquiry->questions = path_watch_questions(inquiry->watch, &inquiry->memory);
    inquiry->can_share = inquiry->watch->can_share && monitor_shares(monitor, inquiry->watch);
    inquiry->for_others = entry_has_others(inquiry->watch->key.entry);
    inquiry->seeks_link = seeks_link(monitor, inquiry);
    inquiry->repetition = find_repetition(monitor, inquiry->watch->key.entry);
    counted_retain(&inquiry->questions->counted);
}

/* Notes the reply of the step. Returns whether the watch is given the path now: then reply->path is that of its entry.
 * If the filter drops messages about the answer, it is stale. */
static bool end_query_locked(struct monitor *monitor, struct path_watch *watch, int error, bool joined,
                             struct reply *reply)
{
    struct store *store = &monitor->store;
    bool given = false;

    if (error == 0 && !joined)
        error = store_answer(store, reply);
    if (error == 0 && watch->monitor != NULL) {
        given = store_give_queried(watch, &reply->path);
        if (given && entry_of(watch)->hop != NULL)
            entry_of(watch)->hop->left_failed = false;
        if (!monitor_filter_passes_all(monitor))
            entry_mark(store, entry_of(watch));
    }
    store_end(store, error != 0);
    monitor->round.failed = monitor->round.failed || error != 0;
    return given;
}

static void make_query(struct monitor *monitor, const struct step *step)
{
    struct path_watch *watch = step->inquiry.watch;
    struct reply reply;
    bool joined, given;
    const int error = reply_find(monitor, &step->inquiry, &joined, &reply);

    runloop_lock(monitor->service.loop);
    given = end_query_locked(monitor, watch, error, joined, &reply);
    runloop_unlock(monitor->service.loop);
    if (given)
        give(monitor, watch, &reply.path);
    questions_release(step->inquiry.questions);
}

static void give_group(struct monitor *monitor, const struct step *step)
{
    for (size_t i = 0; i < step->count; i++)
        give(monitor, step->watches[i], step->path);
    runloop_lock(monitor->service.loop);
    store_end(&monitor->store, false);
    runloop_unlock(monitor->service.loop);
}

/* Returns the number of watches of the step; 0: there is nothing to do. */
static size_t make_step(struct monitor *monitor, size_t limit)
{
    struct step step;

    runloop_lock(monitor->service.loop);
    begin_step_locked(monitor, limit < GROUP_LIMIT ? limit : GROUP_LIMIT, &step);
    runloop_unlock(monitor->service.loop);
    if (step.inquiry.watch != NULL)
        make_query(monitor, &step);
    else if (step.count > 0)
        give_group(monitor, &step);
    for (size_t i = 0; i < step.count; i++)
        counted_release(owner_of(step.watches[i]));
    return step.count;
}

/* ---- Batches ---------------------------------------------------------------------------------------------------- */

/* The processor loads what the next steps use, while others are looked for. */
static void prefetch(const void *object, size_t size)
{
    enum { CACHE_LINE = 64 };

    for (size_t offset = 0; offset < size; offset += CACHE_LINE)
        __builtin_prefetch((const char *)object + offset, 1);
}

/* Sends the first queries of the next steps together, at most `limit`. Does nothing if there are only a few. */
static void begin_batch(struct monitor *monitor, size_t limit)
{
    struct store *store = &monitor->store;
    struct path_watch *watches[QUERY_BATCH_LIMIT];
    struct route_request requests[QUERY_BATCH_LIMIT];
    size_t count = 0, kept = 0;

    if (!monitor_can_query(monitor))
        return;
    runloop_lock(monitor->service.loop);
    open_filter_locked(monitor);
    runloop_unlock(monitor->service.loop);
    reply_read_gateways(monitor);
    runloop_lock(monitor->service.loop);
    if (store_prepare(store, limit) >= BATCH_MINIMUM) {
        for (struct list *node = store->due.next; node != &store->due && count < limit; node = node->next) {
            const struct entry *entry = container_of(node, const struct entry, node);

            watches[count] = store_choose(entry);
            prefetch(entry, sizeof *entry);
            prefetch(watches[count], sizeof *watches[count]);
            count++;
        }
        prefetch_owners(watches, count);
    }
    for (size_t i = 0; i < count; i++)
        kept += reply_first_request(monitor, watches[i], &requests[kept]);
    runloop_unlock(monitor->service.loop);
    if (kept >= BATCH_MINIMUM)
        rtnetlink_begin_batch(&monitor->rtnetlink, requests, kept);
}

/* Makes steps, at most `limit`. Returns whether others may be left. */
static bool run_batch(struct monitor *monitor, size_t limit)
{
    begin_batch(monitor, limit);
    for (size_t done = 0, made = 1; done < limit; done += made) {
        made = make_step(monitor, limit - done);
        if (made == 0)
            return false;
    }
    return true;
}

/* The same for a slice of the round. */
static bool run_slice(struct monitor *monitor)
{
    struct round *round = &monitor->round;
    const size_t slice = round->slice < round->left ? round->slice : round->left;
    bool more = true;

    rtnetlink_set_barrier(&monitor->rtnetlink);
    round_cache_begin_slice(&monitor->cache);
    for (size_t done = 0; more && done < slice; done += QUERY_BATCH_LIMIT)
        more = run_batch(monitor, slice - done < QUERY_BATCH_LIMIT ? slice - done : QUERY_BATCH_LIMIT);
    rtnetlink_end_batch(&monitor->rtnetlink);
    round->left -= slice;
    if (round->slice < SLICE_LAST)
        round->slice *= 2;
    return more;
}

/* ---- Begin ------------------------------------------------------------------------------------------------------ */

static void mark_changed_locked(struct monitor *monitor, bool all, bool dissolve, bool dissolve_ipv6)
{
    if (dissolve || dissolve_ipv6)
        stale_dissolve(&monitor->store, dissolve ? AF_UNSPEC : AF_INET6);
    if (!all && !dissolve)
        return;
    stale_mark_all(&monitor->store);
    hops_distrust(&monitor->store.hops);
    gateways_age(&monitor->gateways, 0);
}

/* The kernel has finished the changes by now. */
static void mark_unfinished_locked(struct monitor *monitor)
{
    mark_changed_locked(monitor, false, monitor->again_dissolve, monitor->again_dissolve_ipv6);
    late_routes_mark(&monitor->late_routes, &monitor->store, monitor->round.began);
    if (monitor->unfinished != NEVER_SENT)
        stale_mark_since(&monitor->store, monitor->unfinished);
    monitor->unfinished = NEVER_SENT;
    monitor->again_dissolve = monitor->again_dissolve_ipv6 = false;
    monitor->plan.recheck = NEVER;
}

/* Marks what is stale because its time has come. */
static void mark_due_locked(struct monitor *monitor)
{
    const struct plan *plan = &monitor->plan;
    const int64_t now = monitor->round.began;
    struct route route;

    if (plan->poll <= now) {
        mark_changed_locked(monitor, true, true, false);
        monitor->round.quiet = false;
    }
    if (plan->reread <= now)
        ends_probe(&monitor->store, false);
    ends_note_time(&monitor->store, now);
    while (route_ends_take(&monitor->route_ends, now, &route)) {
        (void)stale_mark_route(&monitor->store, &route);
        monitor->round.quiet = false;
    }
    store_retry(&monitor->store);
}

static void begin_round_locked(struct monitor *monitor, bool pppd)
{
    const bool is_recheck = monitor->plan.recheck <= monitor->round.began;

    if (is_recheck) {
        mark_unfinished_locked(monitor);
        monitor->round.quiet = false;
    }
    if (pppd)
        stale_mark_any_link(&monitor->store);
    mark_due_locked(monitor);
    /* What is evaluated soon after a change may be wrong, but not in the round that makes up for it. */
    if (monitor->unfinished == NEVER_SENT && !is_recheck && plan_is_recent(monitor->plan.changed, monitor->round.began))
        monitor->unfinished = ++monitor->store.now;
    monitor->round.left = ROUND_STEPS + ROUND_STEPS_PER_WATCH * monitor->store.count;
}

void round_note_changes(struct monitor *monitor, const struct changes *changes, uint64_t first)
{
    struct round *round = &monitor->round;
    const bool begins = !round->active;
    bool pppd = false;

    if (begins) {
        *round = (struct round){
            .active = true, .began = clock_now(), .slice = SLICE_FIRST, .quiet = !round->incomplete
        };
        pppd = round_cache_begin(&monitor->cache);
        if (monitor->plan.reread <= round->began)
            route_ends_reread(&monitor->route_ends, &monitor->rtnetlink);
    }
    round->failed = round->failed || changes->failed;
    round->reread = round->reread || changes->prefix;
    runloop_lock(monitor->service.loop);
    if (changes->any || changes->all || changes->dissolve || changes->dissolve_ipv6)
        round->quiet = false;
    if (begins)
        begin_round_locked(monitor, pppd);
    mark_changed_locked(monitor, changes->all, changes->dissolve, changes->dissolve_ipv6);
    if (changes->prefix)
        ends_probe(&monitor->store, true);
    if (changes->unfinished && first < monitor->unfinished)
        monitor->unfinished = first;
    monitor->again_dissolve = monitor->again_dissolve || changes->again_dissolve;
    monitor->again_dissolve_ipv6 = monitor->again_dissolve_ipv6 || changes->again_dissolve_ipv6;
    runloop_unlock(monitor->service.loop);
}

/* ---- End -------------------------------------------------------------------------------------------------------- */

void round_end(struct monitor *monitor, bool more)
{
    struct round *round = &monitor->round;
    struct plan *plan = &monitor->plan;
    struct store *store = &monitor->store;
    const int64_t now = clock_now();
    bool pppd;

    round->active = false;
    round_cache_end(&monitor->cache);
    runloop_lock(monitor->service.loop);
    plan_poll(plan, round->began, now);
    plan_retry(plan, now, round->failed || store->starved);
    if (monitor->again_dissolve || monitor->again_dissolve_ipv6 || monitor->late_routes.count > 0 ||
        stale_has_since(store, monitor->unfinished))
        plan_recheck(plan, now);
    else
        monitor->unfinished = NEVER_SENT;
    if (more || store_has_work(store))
        runloop_source_due_locked(monitor->service.loop, &monitor->service.source);
    round->incomplete = !round->quiet && (more || round->failed || store->starved || store_has_work(store));
    pppd = store->pppd > 0;
    plan_pppd(plan, now, pppd);
    plan_reread(plan, now, ends_can_shorten(store) || route_ends_can_shorten(&monitor->route_ends),
                round->reread || plan->reread <= round->began);
    monitor->service.source.deadline = clock_earlier(clock_earlier(plan_nearest(plan), ends_nearest(store)),
                                                     route_ends_nearest(&monitor->route_ends));
    if (monitor_can_query(monitor))
        monitor->service.source.deadline = clock_earlier(monitor->service.source.deadline,
                                                         hidden_routes_nearest(&monitor->hidden_routes));
    runloop_unlock(monitor->service.loop);
    if (!pppd)
        pppd_clear(&monitor->cache.pppd);
}

/* Before the next messages: those that have come by now can be the end of what the kernel has hidden. */
static void look_for_hidden_routes(struct monitor *monitor)
{
    if (!monitor_can_query(monitor) || !hidden_routes_look(&monitor->hidden_routes, &monitor->rtnetlink))
        return;
    runloop_lock(monitor->service.loop);
    monitor->hidden_routes.since = ++monitor->store.now;
    runloop_unlock(monitor->service.loop);
}

void round_continue(struct monitor *monitor, bool more)
{
    const bool has_work = run_slice(monitor);

    look_for_hidden_routes(monitor);
    if (has_work && monitor->round.left > 0)
        runloop_source_continues(monitor->service.loop, &monitor->service.source);
    else
        round_end(monitor, more);
}
#endif
