/* SPDX-License-Identifier: MIT */
/*
 * Paths over WireGuard links.
 *
 * What this file must never do: report a path as not reachable because it cannot read the peers. Only administrators
 * may read them.
 */
#include "route/wireguard_path.h"

#include <errno.h>

#define PEER_SECONDS             30 /* until a path over a peer is stale: the peer may have moved */
#define UNREACHABLE_PEER_SECONDS 2  /* the same, if there is no path to the peer */

struct read_peers_call {
    struct wireguard_peers *peers;
    uint32_t                index;
};

static int read_link_peers(void *argument)
{
    const struct read_peers_call *call = argument;

    return wireguard_read(call->peers, call->index);
}

static int evaluate_path_to_peer(struct netns *netns, const struct tunnel *tunnel, struct path *ret)
{
    const struct question question = { .destination = tunnel->remote, .scope = tunnel->oif, .mark = tunnel->mark };
    struct questions     *questions = questions_create(&question, 1, kSCNetworkReachabilityReasonNone);
    const int             error = questions == NULL ? ENOMEM : netns_evaluate(netns, questions, 0, ret);

    questions_release(questions);
    return error;
}

/* The kernel drops packets for which there is no peer, or no endpoint of the peer. */
static int apply_peer(struct netns *netns, const struct wireguard_peers *peers, struct path *path)
{
    struct tunnel tunnel = { 0 };
    struct path   outer = path_unreachable(kSCNetworkReachabilityReasonNoRoute);
    int           error = 0;

    if (wireguard_find_peer(peers, &path->destination, &tunnel) && tunnel.remote.family != AF_UNSPEC)
        error = evaluate_path_to_peer(netns, &tunnel, &outer);
    if (error != 0)
        return error;
    path_apply_outer(path, &tunnel.remote, &outer);
    route_query_recheck_after(path, path_rank(path) == 0 ? UNREACHABLE_PEER_SECONDS : PEER_SECONDS);
    return 0;
}

int wireguard_path_follow(struct netns *netns, struct wireguard_peers *peers, struct path *path)
{
    struct read_peers_call call = { .peers = peers, .index = path->index };
    int                    error = 0;

    if (!path->wireguard || path_rank(path) == 0 || netns_hides_peers(netns))
        return 0;
    if (peers->index != path->index)
        error = netns_run(netns, read_link_peers, &call);
    if (error == 0)
        return apply_peer(netns, peers, path);
    if (netlink_is_withheld(error))
        netns_set_hides_peers(netns);
    /* ENODEV: the link was deleted a moment ago. ENOENT, EOPNOTSUPP: an implementation of WireGuard outside the
     * kernel. */
    return netlink_is_withheld(error) || error == ENODEV || error == ENOENT || error == EOPNOTSUPP ? 0 : error;
}
