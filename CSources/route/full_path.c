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

/* The kernel drops packets for which there is no peer, or no endpoint of the peer. */
static int apply_peer(struct netns *netns, struct round_cache *cache, const struct wireguard_link *link,
                      struct path *path)
{
    struct tunnel tunnel = { 0 };
    struct path outer = reach_path_unreachable(kSCNetworkReachabilityReasonNoRoute);
    const bool has_peer = reach_wireguard_link_find_peer(link, &path->destination, &tunnel) &&
                          tunnel.remote.family != AF_UNSPEC;
    int error = 0;

    if (has_peer && link->sends_here) {
        const struct question question = { .destination = tunnel.remote, .scope = tunnel.oif, .mark = tunnel.mark };
        struct questions *questions = reach_questions_create(&question, 1, kSCNetworkReachabilityReasonNone);

        error = questions == NULL
                    ? ENOMEM
                    : reach_shared_socket_evaluate_in_round(reach_netns_socket(netns), cache, questions, 0, &outer);
        reach_questions_release(questions);
    }
    if (error != 0)
        return error;
    if (!has_peer || link->sends_here)
        reach_path_apply_outer(path, &tunnel.remote, &outer);
    reach_route_query_recheck_after(path, reach_path_rank(path) == 0 ? UNREACHABLE_PEER_SECONDS : PEER_SECONDS);
    return 0;
}

/* If the path goes over a WireGuard link, applies the path to the peer, if this process may read the peers and the link
 * is known to send in this network namespace. The kernel does not announce that a peer moved, so the path becomes stale
 * after some time. May wait for RTNL. Returns 0 or an errno. */
static int follow_peer(struct netns *netns, struct round_cache *cache, struct path *path)
{
    uint32_t pause;
    int error = 0;

    if (!path->wireguard || reach_path_rank(path) == 0)
        return 0;
    pause = reach_netns_peers_pause(netns, false);
    if (pause == 0 && reach_wireguard_find(&cache->wireguard, path->index) == NULL) /* else this round has read it */
        error = reach_wireguard_read(&cache->wireguard, reach_netns_handle(netns), path->index);
    if (netlink_is_withheld(error))
        pause = reach_netns_peers_pause(netns, true);
    if (pause > 0) {
        reach_route_query_recheck_after(path, pause);
        return 0;
    }
    if (error == 0)
        return apply_peer(netns, cache, reach_wireguard_find(&cache->wireguard, path->index), path);
    /* ENODEV: the link was deleted a moment ago. ENOENT, EOPNOTSUPP: an implementation of WireGuard outside the
     * kernel. */
    return error == ENODEV || error == ENOENT || error == EOPNOTSUPP ? 0 : error;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

static int evaluate(struct rtnetlink *rtnetlink, struct netns *netns, struct round_cache *cache,
                    const struct questions *questions, unsigned extras, struct path *ret)
{
    return rtnetlink != NULL
               ? reach_evaluate_questions(rtnetlink, cache, questions, extras, ret)
               : reach_shared_socket_evaluate_in_round(reach_netns_socket(netns), cache, questions, extras, ret);
}

/* Finds out the type of a link, as far as possible. Returns 0 or an errno. */
static int learn_link(struct rtnetlink *rtnetlink, struct netns *netns, uint32_t index)
{
    struct link_table *const links = rtnetlink == NULL ? NULL : &rtnetlink->links;
    const unsigned version = links == NULL ? 0 : links->version;
    struct link link;
    int error;

    if (links == NULL)
        return reach_shared_socket_learn_link(reach_netns_socket(netns), index, &link);
    error = reach_link_type_query(reach_netns_handle(netns), index, &link);
    if (error == 0) {
        reach_link_table_learn(links, &link, version);
        rtnetlink->refused = rtnetlink->refused || !link.learned;
    } else if (rtnetlink_is_refused(rtnetlink, error)) {
        reach_link_table_give_up(links, index);
    } else if (error != ENODEV) { /* the link was deleted a moment ago */
        return error;
    }
    return 0;
}

/* Where link messages cannot be received, the shared link table keeps nothing that was learned: a link stays
 * unknown. */
int reach_full_path_evaluate(struct rtnetlink *rtnetlink, struct netns *netns, struct round_cache *cache,
                             const struct questions *questions, unsigned extras, struct path *ret)
{
    uint32_t learned = 0;
    int error = evaluate(rtnetlink, netns, cache, questions, extras, ret);

    while (error == 0 && ret->dependencies.unknown_link != 0 && ret->dependencies.unknown_link != learned) {
        learned = ret->dependencies.unknown_link;
        error = learn_link(rtnetlink, netns, learned);
        if (error == 0)
            error = evaluate(rtnetlink, netns, cache, questions, extras, ret);
    }
    if (error == 0)
        error = follow_peer(netns, cache, ret);
    if (error == 0)
        reach_questions_adjust_path(questions, ret); /* the other end of a tunnel may have set another reason */
    return error;
}

/* ---- Next hops -------------------------------------------------------------------------------------------------- */

int reach_full_path_find_next_hop(struct netns *netns, struct path *path)
{
    struct address address;
    uint16_t state;
    int error;

    path->next_hop = kSCNetworkReachabilityNextHopUnknown;
    if (!reach_next_hop_find(path, &address))
        return 0;
    error = reach_neighbours_query_in(reach_netns_handle(netns), path->index, &address, &state);
    if (error == 0)
        path->next_hop = reach_next_hop_from_state(state);
    return error == EOPNOTSUPP || netlink_is_withheld(error) ? 0 : error;
}

/* ---- For one call ------------------------------------------------------------------------------------------------ */

int reach_full_path_query(struct netns *netns, const struct questions *questions, unsigned extras, struct path *ret)
{
    struct round_cache cache = ROUND_CACHE_EMPTY;
    int error = reach_full_path_evaluate(NULL, netns, &cache, questions, extras | QUERY_SOURCE, ret);

    if (error == 0)
        error = reach_shared_socket_learn_types(reach_netns_socket(netns), ret);
    if (error == 0)
        error = reach_shared_socket_settle_flow(reach_netns_socket(netns), questions, ret);
    if (error == 0 && (extras & QUERY_NEXT_HOP) != 0)
        error = reach_full_path_find_next_hop(netns, ret);
    round_cache_end(&cache);
    return error;
}
#endif
