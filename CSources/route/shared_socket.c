/* SPDX-License-Identifier: MIT */
/*
 * The socket that the targets of a namespace share for queries outside run loops.
 *
 * What this file must never do: wait for RTNL with the lock. All threads would wait for one that changes a link.
 */
#ifdef __linux__
#include "route/shared_socket.h"

#include <errno.h>

#include "base/netns_handle.h"
#include "kernel/device.h"
#include "kernel/dumps.h"
#include "kernel/link_alias.h"
#include "kernel/udp_route.h"

/* ---- The socket ------------------------------------------------------------------------------------------------- */

int reach_shared_socket_init(struct shared_socket *shared, const struct netns_handle *netns)
{
    *shared = (struct shared_socket){ .netns = netns, .rtnetlink = RTNETLINK_CLOSED };
    return pthread_mutex_init(&shared->lock, NULL);
}

/* In a fork's child, the lock can belong to a thread of the parent, and `rtnetlink` can be half changed: leave it. */
void reach_shared_socket_close(struct shared_socket *shared)
{
    if (pthread_mutex_trylock(&shared->lock) == 0) {
        pthread_mutex_unlock(&shared->lock);
        reach_rtnetlink_close(&shared->rtnetlink);
    }
    pthread_mutex_destroy(&shared->lock);
}

static bool can_query_locked(const struct shared_socket *shared)
{
    return descriptor_is_open(&shared->rtnetlink.requests.socket);
}

/* Opens the socket if it is closed, or another one is better. Netlink may be allowed now. */
static int open_locked(struct shared_socket *shared)
{
    struct rtnetlink *rtnetlink = &shared->rtnetlink;

    if (can_query_locked(shared)) {
        if (!reach_rtnetlink_should_reopen(rtnetlink, RTNETLINK_LINKS, &shared->reopen))
            return 0;
        reach_rtnetlink_close(rtnetlink);
    }
    return reach_rtnetlink_open(rtnetlink, RTNETLINK_LINKS, shared->netns);
}

int reach_shared_socket_open(struct shared_socket *shared)
{
    int error;

    pthread_mutex_lock(&shared->lock);
    error = open_locked(shared);
    pthread_mutex_unlock(&shared->lock);
    return error == NETLINK_DENIED ? 0 : error;
}

/* ---- Evaluation ------------------------------------------------------------------------------------------------- */

static void add_incomplete(const struct questions *questions, const struct rule_knowledge *rules, struct path *path)
{
    path->flow_unsettled = path->flow_unsettled || !rules->known;
    if (rules->known && reach_questions_are_incomplete(questions, path, rules->selectors))
        path->flow |= kSCNetworkReachabilityFlowIncomplete;
}

static int evaluate_locked(struct shared_socket *shared, struct round_cache *cache, const struct questions *questions,
                           unsigned extras, struct path *ret)
{
    int error;

    (void)rtnetlink_set_user(&shared->rtnetlink, process_user());
    reach_rtnetlink_clear_unwatched(&shared->rtnetlink);
    error = reach_evaluate_questions(&shared->rtnetlink, cache, questions, extras, ret);
    if (error == 0 && (extras & QUERY_FLOW) != 0)
        add_incomplete(questions, &shared->rtnetlink.rules, ret);
    return error;
}

/* Over a socket of its own. The shared link table has only the links of earlier questions, and no call may wait for
 * RTNL with the shared socket's lock. `udp`: netlink is denied. */
static int evaluate_apart(const struct shared_socket *shared, bool udp, struct round_cache *cache,
                          const struct questions *questions, unsigned extras, struct path *ret)
{
    struct rtnetlink rtnetlink;
    int error = udp ? reach_udp_route_open(&rtnetlink, shared->netns)
                    : reach_rtnetlink_open(&rtnetlink, RTNETLINK_LINKS, shared->netns);

    if (error != 0)
        return error;
    (void)rtnetlink_set_user(&rtnetlink, process_user());
    if (!udp)
        error = reach_rtnetlink_read_links(&rtnetlink);
    if (error == 0)
        error = reach_evaluate_questions(&rtnetlink, cache, questions, extras, ret);
    reach_rtnetlink_close(&rtnetlink);
    return error;
}

int reach_shared_socket_evaluate_in_round(struct shared_socket *shared, struct round_cache *cache,
                                          const struct questions *questions, unsigned extras, struct path *ret)
{
    int error;

    if (reach_evaluate_may_wait(questions)) {
        error = evaluate_apart(shared, false, cache, questions, extras, ret);
    } else {
        pthread_mutex_lock(&shared->lock);
        error = open_locked(shared);
        if (error == 0)
            error = evaluate_locked(shared, cache, questions, extras, ret);
        pthread_mutex_unlock(&shared->lock);
    }
    return error == NETLINK_DENIED ? evaluate_apart(shared, true, cache, questions, extras, ret) : error;
}

int reach_shared_socket_evaluate(struct shared_socket *shared, const struct questions *questions, unsigned extras,
                                 struct path *ret)
{
    struct round_cache cache = ROUND_CACHE_EMPTY;
    const int error = reach_shared_socket_evaluate_in_round(shared, &cache, questions, extras, ret);

    round_cache_end(&cache);
    return error;
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

int reach_shared_socket_settle_flow(struct shared_socket *shared, const struct questions *questions, struct path *path)
{
    struct rule_knowledge rules, *known = &shared->rtnetlink.rules;
    int error;

    if (!path->flow_unsettled)
        return 0;
    pthread_mutex_lock(&shared->lock);
    rules = *known;
    pthread_mutex_unlock(&shared->lock);
    error = reach_rules_read_selectors(shared->netns, rules.selectors);
    if (error != 0 && !netlink_is_withheld(error))
        return error;
    pthread_mutex_lock(&shared->lock);
    rules.known = true;
    if (error == 0 && rules.version == known->version) /* else the next call reads them again */
        *known = rules;
    pthread_mutex_unlock(&shared->lock);
    path->flow_unsettled = false;
    add_incomplete(questions, &rules, path);
    return 0;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

/* A new link can have the index and the name of one that the shared table still has: it is updated first. */
void reach_shared_socket_lend_devices(struct shared_socket *shared, struct link_table *links)
{
    struct rtnetlink *rtnetlink = &shared->rtnetlink;

    pthread_mutex_lock(&shared->lock);
    if (!rtnetlink->groups_refused && reach_link_table_take_devices(links, &rtnetlink->links, false) &&
        can_query_locked(shared)) {
        reach_rtnetlink_update_links(rtnetlink);
        (void)reach_link_table_take_devices(links, &rtnetlink->links, true);
    }
    pthread_mutex_unlock(&shared->lock);
}

/* Reads a link from the shared link table, or from the kernel without waiting for RTNL, and the table's `version`. */
static bool read_shared_link(struct shared_socket *shared, uint32_t index, struct link *ret, unsigned *ret_version)
{
    const struct link *link = NULL;

    pthread_mutex_lock(&shared->lock);
    if (can_query_locked(shared)) {
        reach_rtnetlink_update_links(&shared->rtnetlink);
        (void)reach_rtnetlink_link(&shared->rtnetlink, index, &link);
        *ret_version = shared->rtnetlink.links.version;
    }
    if (link != NULL)
        *ret = *link;
    pthread_mutex_unlock(&shared->lock);
    return link != NULL;
}

/* The link was deleted a moment ago, or the kernel refuses to say more. */
static bool nothing_more_to_learn(int error)
{
    return error == ENODEV || netlink_is_withheld(error);
}

int reach_shared_socket_learn_link(struct shared_socket *shared, uint32_t index, struct link *ret)
{
    unsigned version = 0;
    struct link found;
    int error;

    *ret = (struct link){ 0 };
    if (index == 0 || !read_shared_link(shared, index, ret, &version) ||
        (reach_link_type_is_known(ret) && ret->complete))
        return 0;
    error = reach_link_type_query(shared->netns, index, &found);
    if (error != 0)
        return nothing_more_to_learn(error) ? 0 : error;
    *ret = found;
    pthread_mutex_lock(&shared->lock);
    reach_link_table_learn(&shared->rtnetlink.links, ret, version);
    shared->rtnetlink.refused = shared->rtnetlink.refused || !found.learned;
    pthread_mutex_unlock(&shared->lock);
    return 0;
}

int reach_shared_socket_learn_types(struct shared_socket *shared, struct path *path)
{
    struct link link = { 0 };
    int error = path->type_unknown ? reach_shared_socket_learn_link(shared, path->index, &link) : 0;

    if (error == 0 && link.index != 0) {
        path->type = link.type;
        path->type_unknown = !reach_link_type_is_known(&link);
        path->leads_out = reach_link_leads_out(&link);
    }
    if (error != 0 || path->unknown_underlay == 0)
        return error;
    error = reach_shared_socket_learn_link(shared, path->unknown_underlay, &link);
    if (error == 0 && link.index != 0)
        path->underlay |= path_underlay_bits(link.type, reach_link_leads_out(&link));
    return error;
}

/* ---- Names of links --------------------------------------------------------------------------------------------- */

uint32_t reach_shared_socket_link_index(struct shared_socket *shared, const char *name)
{
    uint32_t index = 0;
    struct rtnetlink udp;
    bool can_query;

    if (link_alias_is(name)) {
        (void)reach_link_alias_index(shared->netns, name, &index);
        return index;
    }
    pthread_mutex_lock(&shared->lock);
    can_query = can_query_locked(shared);
    if (can_query)
        (void)reach_rtnetlink_link_index(&shared->rtnetlink, name, &index);
    pthread_mutex_unlock(&shared->lock);
    if (can_query || reach_udp_route_open(&udp, shared->netns) != 0)
        return index;
    (void)reach_rtnetlink_link_index(&udp, name, &index);
    reach_rtnetlink_close(&udp);
    return index;
}
#endif
