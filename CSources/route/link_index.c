/* SPDX-License-Identifier: MIT */
/*
 * The index of a monitor's answers by the links on which their paths depend.
 *
 * What this file must never do: leave a member without a list if there is no memory.
 */
#include "route/link_index.h"

#include <stdlib.h>

static void init_members(struct link_members *members, uint32_t link)
{
    *members = (struct link_members){ .link = link };
    list_init(&members->members);
    list_init(&members->changed);
}

void link_index_init(struct link_index *index)
{
    *index = (struct link_index){ 0 };
    init_members(&index->any, LINK_INDEX_ANY);
    list_init(&index->changed);
}

void link_index_member_init(struct link_index_member *member)
{
    *member = (struct link_index_member){ 0 };
    list_init(&member->node);
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

/* The kernel counts the indexes up. The factor spreads them over all bits. */
static uint64_t hash_link(uint32_t link)
{
    return link * UINT64_C(0x9e3779b97f4a7c15);
}

static bool is_link(const struct hash_node *node, const void *info)
{
    return container_of(node, const struct link_members, node)->link == *(const uint32_t *)info;
}

/* Returns NULL if no member depends on this link alone. */
static struct link_members *find_members(const struct link_index *index, uint32_t link)
{
    struct hash_node *node = hash_tree_find(index->links, hash_link(link), is_link, &link);

    return node == NULL ? NULL : container_of(node, struct link_members, node);
}

/* Returns NULL if there is no memory. */
static struct link_members *create_members(struct link_index *index, uint32_t link)
{
    struct link_members *members = malloc(sizeof *members);

    if (members == NULL)
        return NULL;
    init_members(members, link);
    members->node.hash = hash_link(link);
    hash_tree_add(&index->links, &members->node);
    return members;
}

static void delete_members(struct link_index *index, struct link_members *members)
{
    hash_tree_remove(&index->links, &members->node);
    list_remove(&members->changed);
    free(members);
}

/* ---- Members ---------------------------------------------------------------------------------------------------- */

static struct link_members *members_for(struct link_index *index, uint32_t link)
{
    struct link_members *members;

    if (link == LINK_INDEX_NONE)
        return NULL;
    if (link == LINK_INDEX_ANY)
        return &index->any;
    members = find_members(index, link);
    if (members == NULL)
        members = create_members(index, link);
    return members != NULL ? members : &index->any;
}

void link_index_set(struct link_index *index, struct link_index_member *member, uint32_t link)
{
    struct link_members *before = member->members;

    if (before != NULL && before->link == link)
        return;
    list_remove(&member->node);
    if (before != NULL && before != &index->any && list_is_empty(&before->members))
        delete_members(index, before);
    member->members = members_for(index, link);
    if (member->members != NULL)
        list_append(&member->members->members, &member->node);
}

/* ---- Changes ---------------------------------------------------------------------------------------------------- */

/* Returns whether there are members. */
static bool note_members(struct link_index *index, struct link_members *members)
{
    if (list_is_empty(&members->members))
        return false;
    list_remove(&members->changed);
    list_append(&index->changed, &members->changed);
    return true;
}

bool link_index_note_change(struct link_index *index, uint32_t link)
{
    struct link_members *members = find_members(index, link);
    const bool           affects_any = note_members(index, &index->any);

    return (members != NULL && note_members(index, members)) || affects_any;
}

static void visit_members(const struct link_members *members,
                          void (*visit)(void *info, struct link_index_member *member), void *info)
{
    list_for_each(node, &members->members)
        visit(info, container_of(node, struct link_index_member, node));
}

void link_index_visit_changed(struct link_index *index, void (*visit)(void *info, struct link_index_member *member),
                              void              *info)
{
    struct list *node;

    while ((node = list_pop(&index->changed)) != NULL)
        visit_members(container_of(node, struct link_members, changed), visit, info);
}

void link_index_visit_any(const struct link_index *index, void (*visit)(void *info, struct link_index_member *member),
                          void                    *info)
{
    visit_members(&index->any, visit, info);
}
