/* SPDX-License-Identifier: MIT */
/*
 * The full path of questions: evaluate, read about the links on the way, evaluate again, then follow a WireGuard tunnel
 * to its peer. One tunnel can be behind another tunnel, so reading and evaluating can repeat. And the next hop.
 *
 * What this file must never do: repeat for a link that stays unknown; or report a path as not reachable because it
 * cannot read the peers (only administrators may read them), or because of a path in this network namespace if the link
 * may send in another one.
 */
#ifdef __linux__
#include "route/full_path.h"

#include <errno.h>

#include "kernel/device.h"
#include "kernel/dumps.h"
#include "pure/next_hop.h"
#include "route/evaluate.h"
#include "route/shared_socket.h"

#define PEER_SECONDS             30 /* until a path over a peer is stale: the peer may have moved */
#define UNREACHABLE_PEER_SECONDS 2  /* the same, if there is no path to the peer */

/* ---- WireGuard: such a path is only as good as the path to the peer ---------------------------------------------- */

/* Reads the link, unless this round has read it. */
static int find_wireguard_link(struct netns *netns, struct round_cache *cache, uint32_t index,
                               const struct wireguard_link **ret)
{
    int error = 0;

    if (wireguard_find(&cache->wireguard, index) == NULL)
        error = wireguard_read(&cache->wireguard, netns_handle(netns), index);
    *ret = wireguard_find(&cache->wireguard, index);
    return error;
}

static int apply_path_to_peer(struct netns *netns, struct round_cache *cache, const struct tunnel *tunnel,
                              struct path *path)
{
    const struct question question = { .destination = tunnel->remote, .scope = tunnel->oif, .mark = tunnel->mark };
    struct questions *questions = questions_create(&question, 1, kSCNetworkReachabilityReasonNone);
    struct path outer;
    const int error = questions == NULL
                          ? ENOMEM
                          : shared_socket_evaluate_in_round(netns_socket(netns), cache, questions, 0, &outer);

    questions_release(questions);
    if (error == 0)
        path_apply_outer(path, &tunnel->remote, &outer);
    return error;
}

/* The kernel drops packets for which there is no peer, or no endpoint of the peer. */
static int apply_peer(struct netns *netns, struct round_cache *cache, const struct wireguard_link *link,
                      struct path *path)
{
    struct tunnel tunnel = { 0 };
    struct path outer = path_unreachable(kSCNetworkReachabilityReasonNoRoute);
    int error = 0;

    if (!wireguard_link_find_peer(link, &path->destination, &tunnel) || tunnel.remote.family == AF_UNSPEC)
        path_apply_outer(path, &tunnel.remote, &outer);
    else if (link->sends_here)
        error = apply_path_to_peer(netns, cache, &tunnel, path);
    if (error == 0)
        route_query_recheck_after(path, path_rank(path) == 0 ? UNREACHABLE_PEER_SECONDS : PEER_SECONDS);
    return error;
}

/* If the path goes over a WireGuard link, applies the path to the peer, if this process may read the peers and the link
 * is known to send in this network namespace. The kernel does not announce that a peer moved, so the path becomes stale
 * after some time. May wait for RTNL. Returns 0 or an errno. */
static int follow_tunnel(struct netns *netns, struct round_cache *cache, struct path *path)
{
    const struct wireguard_link *link;
    int error;

    if (!path->wireguard || path_rank(path) == 0 || netns_hides_peers(netns))
        return 0;
    error = find_wireguard_link(netns, cache, path->index, &link);
    if (error == 0)
        return apply_peer(netns, cache, link, path);
    if (netlink_is_withheld(error))
        netns_set_hides_peers(netns);
    /* ENODEV: the link was deleted a moment ago. ENOENT, EOPNOTSUPP: an implementation of WireGuard outside the
     * kernel. */
    return netlink_is_withheld(error) || error == ENODEV || error == ENOENT || error == EOPNOTSUPP ? 0 : error;
}

static int follow_peers(struct netns *netns, struct round_cache *cache, const struct questions *questions,
                        struct path *path)
{
    const int error = follow_tunnel(netns, cache, path);

    if (error == 0)
        questions_adjust_path(questions, path); /* the other end of a tunnel may have set another reason */
    return error;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

/* Finds out the type of a link, as far as possible. Returns 0 or an errno. */
static int learn_link(struct link_table *links, struct netns *netns, uint32_t index)
{
    const unsigned version = links->version;
    struct link link;
    const int error = link_type_query(netns_handle(netns), index, &link);

    if (error == 0)
        link_table_learn(links, &link, version);
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
    int error = evaluate_questions(rtnetlink, cache, questions, extras, ret);

    while (error == 0 && ret->dependencies.unknown_link != 0 && ret->dependencies.unknown_link != learned) {
        learned = ret->dependencies.unknown_link;
        error = learn_link(&rtnetlink->links, netns, learned);
        if (error == 0)
            error = evaluate_questions(rtnetlink, cache, questions, extras, ret);
    }
    return error == 0 ? follow_peers(netns, cache, questions, ret) : error;
}

/* ---- Next hops -------------------------------------------------------------------------------------------------- */

int full_path_find_next_hop(struct netns *netns, struct path *path)
{
    struct address address;
    uint16_t state;
    int error;

    path->next_hop = kSCNetworkReachabilityNextHopUnknown;
    if (!next_hop_find(path, &address))
        return 0;
    error = neighbours_query_in(netns_handle(netns), path->index, &address, &state);
    if (error == 0)
        path->next_hop = next_hop_from_state(state);
    return error == EOPNOTSUPP || netlink_is_withheld(error) ? 0 : error;
}

/* ---- For one call ------------------------------------------------------------------------------------------------ */

/* Ends if the same link stays unknown: where link messages cannot be received, the shared link table keeps nothing that
 * was learned. */
static int query_and_learn_links(struct netns *netns, const struct questions *questions, unsigned extras,
                                 struct path *ret)
{
    struct link link = { 0 };
    int error = shared_socket_evaluate(netns_socket(netns), questions, extras, ret);

    while (error == 0 && (ret->dependencies.unknown_link != 0 || ret->type_unknown)) {
        const uint32_t unknown = ret->dependencies.unknown_link != 0 ? ret->dependencies.unknown_link : ret->index;

        if (unknown == link.index)
            break;
        error = shared_socket_learn_link(netns_socket(netns), unknown, &link);
        if (error != 0 || link.index == 0)
            break;
        error = shared_socket_evaluate(netns_socket(netns), questions, extras, ret);
    }
    if (error == 0 && ret->type_unknown && link.index == ret->index)
        ret->type = link.type;
    return error;
}

int full_path_query(struct netns *netns, const struct questions *questions, unsigned extras, struct path *ret)
{
    struct round_cache cache = ROUND_CACHE_EMPTY;
    int error = query_and_learn_links(netns, questions, extras | QUERY_SOURCE, ret);

    if (error == 0)
        error = follow_peers(netns, &cache, questions, ret);
    if (error == 0)
        error = shared_socket_settle_flow(netns_socket(netns), questions, ret);
    if (error == 0 && (extras & QUERY_NEXT_HOP) != 0)
        error = full_path_find_next_hop(netns, ret);
    round_cache_clear(&cache);
    return error;
}
#endif
