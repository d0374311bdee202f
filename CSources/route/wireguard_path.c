/* SPDX-License-Identifier: MIT */
/*
 * Paths over WireGuard links.
 *
 * What this file must never do: report a path as not reachable because it cannot read the peers (only administrators
 * may read them), or because of a path in this network namespace if the link may send in another one.
 */
#include "route/wireguard_path.h"

#include <errno.h>

#define PEER_SECONDS             30 /* until a path over a peer is stale: the peer may have moved */
#define UNREACHABLE_PEER_SECONDS 2  /* the same, if there is no path to the peer */

struct read_link_call {
    struct wireguard *wireguard;
    uint32_t          index;
};

static int read_wireguard_link(void *argument)
{
    const struct read_link_call *call = argument;

    return wireguard_read(call->wireguard, call->index);
}

/* Reads the link, unless this round has read it. */
static int find_wireguard_link(struct netns *netns, struct round_cache *cache, uint32_t index,
                               const struct wireguard_link **ret)
{
    struct read_link_call call = { .wireguard = &cache->wireguard, .index = index };
    int                   error = 0;

    if (wireguard_find(&cache->wireguard, index) == NULL)
        error = netns_run(netns, read_wireguard_link, &call);
    *ret = wireguard_find(&cache->wireguard, index);
    return error;
}

static int apply_path_to_peer(struct netns *netns, struct round_cache *cache, const struct tunnel *tunnel,
                              struct path *path)
{
    const struct question question = { .destination = tunnel->remote, .scope = tunnel->oif, .mark = tunnel->mark };
    struct questions     *questions = questions_create(&question, 1, kSCNetworkReachabilityReasonNone);
    struct path           outer;
    const int error = questions == NULL ? ENOMEM : netns_evaluate_in_round(netns, cache, questions, 0, &outer);

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
    struct path   outer = path_unreachable(kSCNetworkReachabilityReasonNoRoute);
    int           error = 0;

    if (!wireguard_link_find_peer(link, &path->destination, &tunnel) || tunnel.remote.family == AF_UNSPEC)
        path_apply_outer(path, &tunnel.remote, &outer);
    else if (link->sends_here)
        error = apply_path_to_peer(netns, cache, &tunnel, path);
    if (error == 0)
        route_query_recheck_after(path, path_rank(path) == 0 ? UNREACHABLE_PEER_SECONDS : PEER_SECONDS);
    return error;
}

int wireguard_path_follow(struct netns *netns, struct round_cache *cache, struct path *path)
{
    const struct wireguard_link *link;
    int                          error;

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
