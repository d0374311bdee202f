/* SPDX-License-Identifier: MIT */
/*
 * The accounts of the look-ups, for each domain and for all. A domain is known by its hash alone: two domains with one
 * hash share their accounts, which harms nobody, and the key is secret.
 *
 * What this file must never do: allocate, wait, or walk over all look-ups or domains: it runs under the lock that fork
 * takes. In each ring only domains that have look-ups under way can be passed over, and those are few.
 */
#ifdef __linux__
#include "names/lookup_queue.h"

#include <string.h>

#include "base/clock.h"

#define DOUBTFUL_LIMIT (LOOKUP_LIMIT / 2)
#define FIRST_WINDOW   (DOUBTFUL_LIMIT / 2)
#define SLOW           500 /* milliseconds */

void lookup_queue_init(struct lookup_queue *queue)
{
    memset(queue, 0, sizeof *queue);
    for (size_t i = 0; i < 2; i++) {
        list_init(&queue->running[i]);
        for (size_t kind = 0; kind < LOOKUP_KINDS; kind++)
            list_init(&queue->rings[kind][i]);
    }
}

/* ---- Domains ---------------------------------------------------------------------------------------------------- */

static bool is_any(const struct hash_node *node, const void *info)
{
    (void)node;
    (void)info;
    return true;
}

struct lookup_domain *lookup_queue_domain(struct lookup_queue *queue, uint64_t hash, struct lookup_domain *fresh)
{
    struct hash_node *node = hash_tree_find(queue->domains, hash, is_any, NULL);
    struct lookup_domain *domain = fresh;

    if (node != NULL) {
        domain = container_of(node, struct lookup_domain, tree_node);
    } else {
        *domain = (struct lookup_domain){ .tree_node = { .hash = hash } };
        list_init(&domain->node);
        for (size_t kind = 0; kind < LOOKUP_KINDS; kind++)
            list_init(&domain->queued[kind]);
        hash_tree_add(&queue->domains, &domain->tree_node);
    }
    domain->references++;
    return domain;
}

struct lookup_domain *lookup_queue_release(struct lookup_queue *queue, struct lookup_domain *domain)
{
    if (--domain->references > 0)
        return NULL;
    hash_tree_remove(&queue->domains, &domain->tree_node);
    return domain;
}

/* The kind of the domain's best look-up; LOOKUP_KINDS: none is queued. */
static size_t best_kind(const struct lookup_domain *domain)
{
    size_t kind = 0;

    while (kind < LOOKUP_KINDS && list_is_empty(&domain->queued[kind]))
        kind++;
    return kind;
}

static bool is_doubtful(const struct lookup_domain *domain, size_t kind)
{
    return kind == LOOKUP_DOUBTED || domain->window == 0;
}

/* Puts the domain to the end of the ring to which it belongs now. */
static void update_ring(struct lookup_queue *queue, struct lookup_domain *domain)
{
    const size_t kind = best_kind(domain);

    list_remove(&domain->node);
    if (kind < LOOKUP_KINDS)
        list_append(&queue->rings[kind][is_doubtful(domain, kind)], &domain->node);
}

static void set_window(struct lookup_queue *queue, struct lookup_domain *domain, unsigned window)
{
    const bool was_trusted = domain->window > 0;

    domain->window = (uint8_t)window;
    if (was_trusted != (window > 0))
        update_ring(queue, domain);
}

/* ---- Queued ----------------------------------------------------------------------------------------------------- */

void lookup_queue_add(struct lookup_queue *queue, struct lookup_turn *turn)
{
    struct lookup_domain *domain = turn->domain;
    const size_t before = best_kind(domain);

    list_append(&domain->queued[turn->kind], &turn->node);
    domain->queued_count++;
    if (best_kind(domain) != before)
        update_ring(queue, domain);
}

void lookup_queue_remove(struct lookup_queue *queue, struct lookup_turn *turn)
{
    struct lookup_domain *domain = turn->domain;
    const size_t before = best_kind(domain);

    list_remove(&turn->node);
    domain->queued_count--;
    if (best_kind(domain) != before)
        update_ring(queue, domain);
}

void lookup_queue_raise(struct lookup_queue *queue, struct lookup_turn *turn, enum lookup_kind kind)
{
    if ((uint8_t)kind >= turn->kind)
        return;
    lookup_queue_remove(queue, turn);
    turn->kind = (uint8_t)kind;
    lookup_queue_add(queue, turn);
}

/* ---- Under way -------------------------------------------------------------------------------------------------- */

static uint8_t *count_of(struct lookup_domain *domain, size_t kind, bool doubtful)
{
    return doubtful ? &domain->doubtful[kind == LOOKUP_DOUBTED] : &domain->trusted;
}

static void set_doubtful(struct lookup_queue *queue, struct lookup_turn *turn, bool doubtful)
{
    turn->doubtful = doubtful;
    list_append(&queue->running[doubtful], &turn->node);
    ++*count_of(turn->domain, turn->kind, doubtful);
    queue->doubtful += doubtful;
}

static void unset_doubtful(struct lookup_queue *queue, struct lookup_turn *turn)
{
    list_remove(&turn->node);
    --*count_of(turn->domain, turn->kind, turn->doubtful);
    queue->doubtful -= turn->doubtful;
}

static bool is_slow(const struct lookup_turn *turn, int64_t now)
{
    return (uint32_t)(now / MILLISECOND) - turn->begun > SLOW;
}

/* A trusted look-up that has taken long is doubtful. Then so is its domain: its server may have become silent. */
static void find_slow(struct lookup_queue *queue, int64_t now)
{
    while (!list_is_empty(&queue->running[false])) {
        struct lookup_turn *turn = container_of(queue->running[false].next, struct lookup_turn, node);

        if (!is_slow(turn, now))
            return;
        unset_doubtful(queue, turn);
        set_doubtful(queue, turn, true);
        set_window(queue, turn->domain, 0);
    }
}

/* `all`: how many doubtful ones there are. `coming`: how many threads are being started for this domain. */
static bool may_begin(struct lookup_domain *domain, size_t kind, unsigned all, unsigned coming)
{
    const bool doubtful = is_doubtful(domain, kind);
    const unsigned own = *count_of(domain, kind, doubtful) + coming;

    if (domain->queued_count <= coming)
        return false;
    if (!doubtful)
        return own < domain->window;
    return own < (DOUBTFUL_LIMIT - (all - own) + 1) / 2; /* at most half of what the others leave, rounded up */
}

/* `with_coming`: the threads that are being started count as look-ups under way. */
static struct lookup_domain *find_domain(struct lookup_queue *queue, bool with_coming)
{
    const unsigned all = queue->doubtful + (with_coming ? queue->coming : 0);

    for (size_t kind = 0; kind < LOOKUP_KINDS; kind++) {
        for (int doubtful = all < DOUBTFUL_LIMIT; doubtful >= 0; doubtful--) {
            list_for_each(node, &queue->rings[kind][doubtful]) {
                struct lookup_domain *domain = container_of(node, struct lookup_domain, node);

                if (may_begin(domain, kind, all, with_coming ? domain->coming : 0))
                    return domain;
            }
        }
    }
    return NULL;
}

struct lookup_turn *lookup_queue_begin(struct lookup_queue *queue, int64_t now)
{
    struct lookup_domain *domain;
    struct lookup_turn *turn;
    size_t kind;

    find_slow(queue, now);
    domain = find_domain(queue, false);
    if (domain == NULL)
        return NULL;
    kind = best_kind(domain);
    turn = container_of(list_pop(&domain->queued[kind]), struct lookup_turn, node);
    domain->queued_count--;
    update_ring(queue, domain);
    turn->running = true;
    turn->begun = (uint32_t)(now / MILLISECOND);
    set_doubtful(queue, turn, is_doubtful(domain, kind));
    return turn;
}

/* A domain whose names are answered quickly may have more look-ups at once, one more for each answer. When none is
 * under way, it begins again with few. */
static void widen(struct lookup_queue *queue, struct lookup_domain *domain)
{
    unsigned window = domain->window + 1u;

    if (window < FIRST_WINDOW || domain->trusted == 0)
        window = FIRST_WINDOW;
    set_window(queue, domain, window < LOOKUP_LIMIT ? window : LOOKUP_LIMIT);
}

bool lookup_queue_end(struct lookup_queue *queue, struct lookup_turn *turn, bool answered, int64_t now)
{
    const bool slow = is_slow(turn, now);

    find_slow(queue, now);
    unset_doubtful(queue, turn);
    if (answered && !slow)
        widen(queue, turn->domain);
    return slow;
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

struct lookup_domain *lookup_queue_call_thread(struct lookup_queue *queue, int64_t now)
{
    struct lookup_domain *domain;

    find_slow(queue, now);
    domain = find_domain(queue, true);
    if (domain == NULL)
        return NULL;
    domain->references++;
    domain->coming++;
    queue->coming++;
    return domain;
}

void lookup_queue_arrive(struct lookup_queue *queue, struct lookup_domain *domain)
{
    domain->coming--;
    queue->coming--;
}
#endif
