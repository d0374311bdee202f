/* SPDX-License-Identifier: MIT */
/*
 * The steps of a round: which answer is evaluated next, which watch gets a shared path next, and where they are
 * afterwards.
 *
 * What this file must never do: leave a watch without the path of its answer.
 */
#include "route/watch_steps.h"

/* ---- Rounds ----------------------------------------------------------------------------------------------------- */

void watch_steps_begin_round(struct watch_set *set)
{
    list_append_all(&set->round, &set->stale);
}

/* The pending watches wait for another evaluation, and are the first to get its path. */
static void stop_applying(struct shared_answer *shared)
{
    if (!list_is_empty(&shared->pending) && shared->mode != SHARE_FOLLOW)
        shared->must_check = true;
    shared->settled = shared->settled && list_is_empty(&shared->pending);
    list_append_all(shared->answer.watches.next, &shared->pending);
    list_remove(&shared->applying);
}

bool watch_steps_end_round(struct watch_set *set)
{
    const bool others = !list_is_empty(&set->stale);

    while (!list_is_empty(&set->applying)) {
        struct shared_answer *shared = container_of(set->applying.next, struct shared_answer, applying);

        stop_applying(shared);
        watch_set_put_stale(&shared->answer, &set->stale);
    }
    list_append_all(&set->stale, &set->round);
    list_append_all(&set->stale, &set->failed);
    return others;
}

/* Returns the next shared answer with pending watches; NULL: there is none. */
static struct shared_answer *next_applying(struct watch_set *set)
{
    while (!list_is_empty(&set->applying)) {
        struct shared_answer *shared = container_of(set->applying.next, struct shared_answer, applying);

        if (list_is_empty(&shared->answer.stale) && !list_is_empty(&shared->pending))
            return shared;
        stop_applying(shared);
    }
    return NULL;
}

static struct path_watch *take_stale(struct watch_set *set)
{
    struct answer *answer;
    struct list   *node = list_pop(&set->round);

    if (node == NULL)
        return NULL;
    answer = container_of(node, struct answer, stale);
    if (answer->is_shared)
        stop_applying(answer_shared(answer));
    return container_of(answer->watches.next, struct path_watch, node);
}

/* The answer has pending watches. */
static struct path_watch *pop_pending(struct shared_answer *shared)
{
    struct list *node = list_pop(&shared->pending);

    list_append(&shared->answer.watches, node);
    if (list_is_empty(&shared->pending))
        list_remove(&shared->applying);
    return container_of(node, struct path_watch, node);
}

static struct path_watch *take_pending(struct watch_set *set)
{
    struct shared_answer *shared = next_applying(set);

    return shared == NULL ? NULL : pop_pending(shared);
}

size_t watch_steps_begin_group(struct watch_set *set, struct path_watch **ret, size_t limit)
{
    struct shared_answer *shared = list_is_empty(&set->round) ? next_applying(set) : NULL;
    size_t                count = 0;

    if (shared == NULL || shared->mode != SHARE_FOLLOW)
        return 0;
    while (count < limit && !list_is_empty(&shared->pending))
        ret[count++] = pop_pending(shared);
    set->current = &shared->answer;
    return count;
}

/* Evaluations come first: an answer that a watch leaves is freed before the next watch leaves. */
struct path_watch *watch_steps_begin(struct watch_set *set, bool *ret_apply)
{
    struct path_watch *watch = take_stale(set);

    *ret_apply = watch == NULL;
    if (watch == NULL)
        watch = take_pending(set);
    set->current = watch == NULL ? NULL : watch->answer;
    return watch;
}

/* The watch whose question is evaluated next. Those without the answer's path are first. */
static struct list *first_watch(struct answer *answer)
{
    struct shared_answer *shared = answer_shared(answer);

    return shared != NULL && !list_is_empty(&shared->pending) ? shared->pending.next : answer->watches.next;
}

/* Whether the watch's evaluation begins with a query for its destination. */
static bool begins_with_query(const struct path_watch *watch)
{
    const struct questions *questions = watch->questions;

    return questions == NULL || (questions->count == 1 && question_is_plain(&questions->items[0]));
}

/* Keeps the watches whose evaluations begin with a query, and returns their number. Also loads what all evaluations
 * will use of the owners. */
static size_t keep_queries(const struct path_watch **watches, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const struct path_watch *watch = watches[i];

        if (watch->type->prefetch != NULL)
            watch->type->prefetch(watch);
        if (begins_with_query(watch))
            watches[kept++] = watch;
    }
    return kept;
}

/* The processor loads a watch while the next ones are looked for. keep_queries and the evaluation use it. */
static const struct path_watch *prefetch_watch(struct list *node)
{
    const struct path_watch *watch = container_of(node, const struct path_watch, node);

    __builtin_prefetch(watch);
    __builtin_prefetch(&watch->address);
    return watch;
}

/* The same for what watch_set_update uses of an answer. */
static void prefetch_answer(const struct answer *answer)
{
    __builtin_prefetch(&answer->lifetime);
    __builtin_prefetch(&answer->outer);
}

size_t watch_steps_peek(const struct watch_set *set, const struct path_watch **ret, size_t limit)
{
    size_t count = 0;

    list_for_each(node, &set->round) {
        if (count == limit)
            return keep_queries(ret, count);
        prefetch_answer(container_of(node, struct answer, stale));
        ret[count++] = prefetch_watch(first_watch(container_of(node, struct answer, stale)));
    }
    list_for_each(node, &set->applying) {
        const struct shared_answer *shared = container_of(node, struct shared_answer, applying);

        if (shared->mode != SHARE_CHECK)
            continue;
        list_for_each(watch, &shared->pending) {
            if (count == limit)
                return keep_queries(ret, count);
            ret[count++] = prefetch_watch(watch);
        }
    }
    return keep_queries(ret, count);
}

void watch_steps_end(struct watch_set *set)
{
    struct answer *answer = set->current;

    set->current = NULL;
    watch_set_delete_unused(set, answer);
}

void watch_steps_note_failure(struct watch_set *set, struct answer *answer)
{
    struct shared_answer *shared = answer_shared(answer);

    if (answer->is_representative && answer->lifetime.shared != NULL)
        watch_set_mark_others(set, answer);
    answer->is_representative = false;
    if (shared != NULL) {
        stop_applying(shared);
        shared->must_check = true;
        shared->settled = false;
    }
    watch_set_put_stale(answer, &set->failed);
}

void watch_steps_requeue(struct watch_set *set, struct answer *answer)
{
    watch_set_put_stale(answer, &set->round);
}

/* ---- Sharing ---------------------------------------------------------------------------------------------------- */

static void add_applying(struct watch_set *set, struct shared_answer *shared)
{
    if (list_is_empty(&shared->applying))
        list_append(&set->applying, &shared->applying);
}

void watch_steps_apply(struct watch_set *set, struct shared_answer *shared, struct path_watch *leader)
{
    shared->leader = leader;
    shared->must_check = false;
    shared->settled = true;
    list_append_all(&shared->pending, &shared->answer.watches);
    add_applying(set, shared);
}

void watch_steps_postpone(struct watch_set *set, struct path_watch *watch)
{
    struct shared_answer *shared = answer_shared(watch->answer);

    list_remove(&watch->node);
    list_append(&shared->pending, &watch->node);
    add_applying(set, shared);
}

/* Adds a watch to an answer that has been evaluated, or will be. */
static void add_to_shared(struct watch_set *set, struct path_watch *watch, const struct extent *extent,
                          struct shared_answer *shared)
{
    if (!extent_covers(&shared->match, &extent->prefix) || shared->match.length != extent->prefix.length)
        watch_set_put_stale(&shared->answer, &set->round); /* it has another route, or had */
    sharing_add(&set->sharing, shared, watch, list_is_empty(&shared->answer.stale));
    if (list_is_empty(&shared->answer.stale))
        add_applying(set, shared);
}

bool watch_steps_join(struct watch_set *set, struct path_watch *watch, const struct extent *extent)
{
    struct shared_answer *shared = sharing_find(&set->sharing, extent);

    if (shared == NULL)
        return false;
    list_remove(&watch->node);
    add_to_shared(set, watch, extent, shared);
    return true;
}

struct shared_answer *watch_steps_create(struct watch_set *set, struct path_watch *watch, const struct extent *extent)
{
    struct answer        *own = watch->answer;
    struct shared_answer *shared = sharing_create(&set->sharing, extent);

    if (shared == NULL)
        return NULL;
    list_remove(&watch->node);
    watch_set_add_answer(set, &shared->answer);
    sharing_add(&set->sharing, shared, watch, false);
    set->current = &shared->answer;
    watch_set_delete_answer(set, own);
    return shared;
}

int watch_steps_leave(struct watch_set *set, struct path_watch *watch)
{
    return watch_set_leave(set, watch, &set->round);
}
