/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LINK_TABLE_H
#define REACHABILITY_LINK_TABLE_H

/* The links of one network namespace: tens of entries. The caller applies the kernel's messages. */

#include "pure/link.h"

struct link_table {
    struct link *items; /* by rising index */
    size_t count, capacity;
    bool any_carried;
    unsigned version; /* counts the messages applied */
};

#define LINK_TABLE_EMPTY ((struct link_table){ 0 })

void link_table_clear(struct link_table *links);

/* Adds a link, or replaces the link with its index, and sets its type. Returns 0 or ENOMEM. */
int link_table_put(struct link_table *links, const struct link *link);

/* Applies a MESSAGE_LINK or MESSAGE_LINK_GONE. Returns 0 or ENOMEM. */
int link_table_apply(struct link_table *links, const struct message *message);

/* Takes the devices of links that another table of the same namespace knows, and this one does not. `takes` false: only
 * looks. Returns whether there are such. */
bool link_table_take_devices(struct link_table *links, const struct link_table *other, bool takes);

/* Notes when the last message about a link was read. */
void link_table_note_change(struct link_table *links, uint32_t index, int64_t now);

/* Returns the link, valid until the table changes, or NULL. */
const struct link *link_table_find(const struct link_table *links, uint32_t index);

/* The link to the local network: neither loopback nor point-to-point. The best link counts: a usable link, then one
 * without a carrier, then one that is down. If several are equal, the lowest index counts. NULL: there is none. Valid
 * until the table changes. */
const struct link *link_table_find_local(const struct link_table *links);

/* Stores what kernel/link_type.h found out about a link. Does nothing if a message was applied since the caller read
 * `version`. Flags, MTU and name stay as they are: messages are newer. */
void link_table_learn(struct link_table *links, const struct link *found, unsigned version);

/* Notes that nothing more can be found out about this link. Its hardware type and kind then decide its type. */
void link_table_give_up(struct link_table *links, uint32_t index);

#endif
