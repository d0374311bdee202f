/* SPDX-License-Identifier: MIT */
/*
 * The accounts of the look-ups. An account is known by its hash alone: two with one hash are one, which harms nobody,
 * and the key is secret.
 *
 * What this file must never do: allocate, wait, or walk over all look-ups or accounts: it runs under the lock that fork
 * takes. In the ring only accounts that have look-ups under way can be passed over, and those are few.
 */
#ifdef __linux__
#include "names/lookup_queue.h"

#include <string.h>

void lookup_queue_init(struct lookup_queue *queue)
{
    memset(queue, 0, sizeof *queue);
    list_init(&queue->rings[0]);
    list_init(&queue->rings[1]);
    list_init(&queue->running);
}

/* ---- Accounts --------------------------------------------------------------------------------------------------- */

static bool is_any(const struct hash_node *node, const void *info)
{
    (void)node;
    (void)info;
    return true;
}

struct lookup_account *lookup_queue_account(struct lookup_queue *queue, uint64_t hash, struct lookup_account *fresh)
{
    struct hash_node *node = hash_tree_find(queue->accounts, hash, is_any, NULL);
    struct lookup_account *account = node == NULL ? fresh : container_of(node, struct lookup_account, tree_node);

    if (node == NULL) {
        *account = (struct lookup_account){ .tree_node = { .hash = hash } };
        list_init(&account->node);
        list_init(&account->queued[0]);
        list_init(&account->queued[1]);
        hash_tree_add(&queue->accounts, &account->tree_node);
    }
    account->references++;
    return account;
}

struct lookup_account *lookup_queue_release(struct lookup_queue *queue, struct lookup_account *account)
{
    if (--account->references > 0)
        return NULL;
    hash_tree_remove(&queue->accounts, &account->tree_node);
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

void lookup_queue_add(struct lookup_queue *queue, struct lookup_turn *turn)
{
    list_append(&turn->account->queued[!turn->is_first], &turn->node);
    turn->account->count++;
    update_ring(queue, turn->account, false);
}

void lookup_queue_remove(struct lookup_queue *queue, struct lookup_turn *turn)
{
    list_remove(&turn->node);
    turn->account->count--;
    update_ring(queue, turn->account, false);
}

static void change_running(struct lookup_queue *queue, struct lookup_account *account, int change)
{
    account->running += (unsigned)change;
    queue->count += (unsigned)change;
}

/* Returns the next account that may begin a look-up. `for_thread`: one for which no thread is coming. */
static struct lookup_account *find_account(const struct lookup_queue *queue, bool for_thread)
{
    for (size_t i = 0; i < 2; i++) {
        list_for_each(node, &queue->rings[i]) {
            struct lookup_account *account = container_of(node, struct lookup_account, node);

            if (account->running < (LOOKUP_LIMIT - queue->count + 1) / 2 &&
                (!for_thread || account->count > account->coming))
                return account;
        }
    }
    return NULL;
}

struct lookup_turn *lookup_queue_begin(struct lookup_queue *queue)
{
    struct lookup_account *account = find_account(queue, false);
    struct lookup_turn *turn;

    if (account == NULL)
        return NULL;
    turn = container_of(account->queued[list_is_empty(&account->queued[0])].next, struct lookup_turn, node);
    list_remove(&turn->node);
    account->count--;
    update_ring(queue, account, true);
    turn->running = true;
    list_append(&queue->running, &turn->node);
    change_running(queue, account, 1);
    return turn;
}

void lookup_queue_end(struct lookup_queue *queue, struct lookup_turn *turn)
{
    list_remove(&turn->node);
    change_running(queue, turn->account, -1);
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

struct lookup_account *lookup_queue_call_thread(struct lookup_queue *queue)
{
    struct lookup_account *account = find_account(queue, true);

    if (account == NULL)
        return NULL;
    account->references++;
    change_running(queue, account, 1);
    account->coming++;
    queue->coming++;
    return account;
}

void lookup_queue_arrive(struct lookup_queue *queue, struct lookup_account *account)
{
    change_running(queue, account, -1);
    account->coming--;
    queue->coming--;
}
#endif
