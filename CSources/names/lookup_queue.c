/* SPDX-License-Identifier: MIT */
/*
 * The accounts of the look-ups, in a balanced tree: nobody can choose names that make it slow.
 *
 * What this file must never do: wait, or walk over all look-ups or accounts: it runs under the lock that fork takes. In
 * the ring only accounts that have look-ups under way can be passed over, and those are few. It may allocate, as fork
 * takes malloc's locks after ours.
 */
#ifdef __linux__
#include "names/lookup_queue.h"

#include <errno.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void reach_lookup_queue_init(struct lookup_queue *queue)
{
    memset(queue, 0, sizeof *queue);
    list_init(&queue->rings[0]);
    list_init(&queue->rings[1]);
    list_init(&queue->running);
}

/* ---- Accounts --------------------------------------------------------------------------------------------------- */

static int compare_accounts(const void *a, const void *b)
{
    const struct lookup_account *one = a, *other = b;

    if (one->netns != other->netns)
        return (uintptr_t)one->netns < (uintptr_t)other->netns ? -1 : 1;
    if (one->is_doubted != other->is_doubted)
        return one->is_doubted ? 1 : -1;
    return strcmp(one->domain, other->domain);
}

/* Returns the account of the name; NULL: no memory. Case and a final dot do not matter. */
static struct lookup_account *open_account(struct lookup_queue *queue, const struct netns *netns, const char *name,
                                           bool is_doubted)
{
    const char *dot = strchr(name, '.'), *domain = dot == NULL ? "" : dot + 1;
    const size_t length = strlen(domain);
    struct lookup_account *fresh = calloc(1, sizeof *fresh + length + 1), **place, *account;

    if (fresh == NULL)
        return NULL;
    fresh->netns = netns;
    fresh->is_doubted = is_doubted;
    for (size_t i = 0; i < length && (domain[i] != '.' || i + 1 < length); i++)
        fresh->domain[i] = (char)(domain[i] >= 'A' && domain[i] <= 'Z' ? domain[i] - 'A' + 'a' : domain[i]);
    place = tsearch(fresh, &queue->accounts, compare_accounts);
    account = place == NULL ? NULL : *place;
    if (account != fresh) {
        free(fresh);
    } else {
        list_init(&account->node);
        list_init(&account->queued[0]);
        list_init(&account->queued[1]);
    }
    return account;
}

/* ---- Look-ups --------------------------------------------------------------------------------------------------- */

/* Moves the account to the ring where it belongs now. `to_end`: the others come first. */
static void update_ring(struct lookup_queue *queue, struct lookup_account *account, bool to_end)
{
    struct list *ring = account->count == 0 ? NULL : &queue->rings[list_is_empty(&account->queued[0])];

    if (ring == account->ring && !to_end)
        return;
    list_remove(&account->node);
    if (ring != NULL)
        list_append(ring, &account->node);
    account->ring = ring;
}

int reach_lookup_queue_add(struct lookup_queue *queue, struct lookup_turn *turn, const struct netns *netns,
                           const char *name, bool is_doubted)
{
    turn->account = open_account(queue, netns, name, is_doubted);
    if (turn->account == NULL)
        return ENOMEM;
    list_append(&turn->account->queued[!turn->is_first], &turn->node);
    turn->account->count++;
    update_ring(queue, turn->account, false);
    return 0;
}

void reach_lookup_queue_remove(struct lookup_queue *queue, struct lookup_turn *turn)
{
    struct lookup_account *account = turn->account;

    list_remove(&turn->node);
    account->running -= turn->running;
    queue->count -= turn->running;
    account->count -= !turn->running;
    update_ring(queue, account, false);
    if (account->running + account->count > 0)
        return;
    tdelete(account, &queue->accounts, compare_accounts);
    free(account);
}

struct lookup_account *reach_lookup_queue_next(const struct lookup_queue *queue)
{
    for (size_t i = 0; i < 2; i++) {
        list_for_each(node, &queue->rings[i]) {
            struct lookup_account *account = container_of(node, struct lookup_account, node);

            if (account->running < (LOOKUP_LIMIT - queue->count + 1) / 2)
                return account;
        }
    }
    return NULL;
}

struct lookup_turn *reach_lookup_queue_begin(struct lookup_queue *queue)
{
    struct lookup_account *account = reach_lookup_queue_next(queue);
    struct lookup_turn *turn;

    if (account == NULL)
        return NULL;
    turn = container_of(account->queued[list_is_empty(&account->queued[0])].next, struct lookup_turn, node);
    list_remove(&turn->node);
    account->count--;
    update_ring(queue, account, true);
    turn->running = true;
    list_append(&queue->running, &turn->node);
    account->running++;
    queue->count++;
    return turn;
}
#endif
