/* SPDX-License-Identifier: MIT */
/*
 * The full path of questions: evaluate, read about the links on the way, evaluate again, then follow a WireGuard tunnel
 * to its peer. One tunnel can be behind another tunnel, so reading and evaluating can repeat.
 *
 * What this file must never do: repeat for a link that stays unknown.
 */
#include "route/full_path.h"

#include <errno.h>

#include "route/evaluate.h"
#include "route/wireguard_path.h"

static int follow_peers(struct netns *netns, struct round_cache *cache, const struct questions *questions,
                        struct path *path)
{
    const int error = wireguard_path_follow(netns, cache, path);

    if (error == 0)
        questions_adjust_path(questions, path); /* the other end of a tunnel may have set another reason */
    return error;
}

/* Finds out the type of a link, as far as possible. Returns 0 or an errno. */
static int learn_link(struct link_table *links, struct netns *netns, uint32_t index)
{
    const unsigned changes = links->changes;
    struct link    link;
    const int      error = netns_query_link_type(netns, index, &link);

    if (error == 0)
        link_table_learn(links, &link, changes);
    else if (netlink_is_withheld(error))
        link_table_give_up(links, index);
    else if (error != ENODEV) /* the link was deleted a moment ago */
        return error;
    return 0;
}

int full_path_evaluate(struct rtnetlink *rtnetlink, struct netns *netns, struct round_cache *cache,
                       const struct questions *questions, unsigned extras, struct path *ret)
{
    uint32_t learned = 0;
    int      error = evaluate_questions(rtnetlink, cache, questions, extras, ret);

    while (error == 0 && ret->dependencies.unknown_link != 0 && ret->dependencies.unknown_link != learned) {
        learned = ret->dependencies.unknown_link;
        error = learn_link(&rtnetlink->links, netns, learned);
        if (error == 0)
            error = evaluate_questions(rtnetlink, cache, questions, extras, ret);
    }
    return error == 0 ? follow_peers(netns, cache, questions, ret) : error;
}

/* Ends if the same link stays unknown: where link messages cannot be received, the shared link table keeps nothing that
 * was learned. */
static int query_and_learn_links(struct netns *netns, const struct questions *questions, unsigned extras,
                                 struct path *ret)
{
    struct link link = { 0 };
    int         error = netns_evaluate(netns, questions, extras, ret);

    while (error == 0 && (ret->dependencies.unknown_link != 0 || ret->type_unknown)) {
        const uint32_t unknown = ret->dependencies.unknown_link != 0 ? ret->dependencies.unknown_link : ret->index;

        if (unknown == link.index)
            break;
        error = netns_learn_link(netns, unknown, &link);
        if (error != 0 || link.index == 0)
            break;
        error = netns_evaluate(netns, questions, extras, ret);
    }
    if (error == 0 && ret->type_unknown && link.index == ret->index)
        ret->type = link.type;
    return error;
}

int full_path_query(struct netns *netns, const struct questions *questions, unsigned extras, struct path *ret)
{
    struct round_cache cache = ROUND_CACHE_EMPTY;
    int                error = query_and_learn_links(netns, questions, extras | QUERY_SOURCE, ret);

    if (error == 0)
        error = follow_peers(netns, &cache, questions, ret);
    if (error == 0)
        error = netns_settle_flow(netns, questions, ret);
    round_cache_clear(&cache);
    return error;
}
