/* SPDX-License-Identifier: MIT */
/*
 * The default paths of a network namespace: of each family, and of each interface that has one.
 *
 * What this file must never do: read a routing table. For each link the kernel is queried for the default route out of
 * it.
 */
#ifdef __linux__
#include "route/network_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "kernel/query_batch.h"
#include "route/full_path.h"
#include "route/shared_socket.h"

/* The indexes of the questions of reach_network_path_questions. The name servers follow. */
enum { QUESTION_IPV4, QUESTION_IPV6, QUESTION_LOOPBACK_IPV4, QUESTION_LOOPBACK_IPV6, QUESTION_SERVERS };

static const uint8_t families[NETWORK_FAMILIES] = { AF_INET, AF_INET6 };

static void free_network_path(struct counted *counted)
{
    free(container_of(counted, struct network_path, counted));
}

void reach_network_path_release(struct network_path *network)
{
    if (network != NULL)
        counted_release(&network->counted);
}

struct questions *reach_network_path_questions(const struct name_server *servers, size_t count)
{
    const struct address ipv4_loopback = { AF_INET, { 127, 0, 0, 1 } }, ipv6_loopback = { AF_INET6, { [15] = 1 } };
    struct question items[QUESTION_SERVERS + CONFFILE_SERVERS] = {
        [QUESTION_IPV4] = { .family = AF_INET },
        [QUESTION_IPV6] = { .family = AF_INET6 },
        [QUESTION_LOOPBACK_IPV4] = { .destination = ipv4_loopback },
        [QUESTION_LOOPBACK_IPV6] = { .destination = ipv6_loopback },
    };

    for (size_t i = 0; i < count; i++)
        items[QUESTION_SERVERS + i] = reach_name_server_question(&servers[i]);
    return reach_questions_create(items, QUESTION_SERVERS + count, kSCNetworkReachabilityReasonNone);
}

/* ---- One question ----------------------------------------------------------------------------------------------- */

/* The arguments of reach_network_path_find, and what it has found so far. */
struct network_search {
    struct rtnetlink *rtnetlink;
    struct netns *netns;
    struct round_cache *cache;
    const struct network_path *before;
    struct dependencies dependencies;
    struct network_path *network;
};

static int evaluate_one(struct network_search *search, const struct question *question, struct path *ret)
{
    const unsigned extras = QUERY_EXPIRY | QUERY_SOURCE;
    struct questions *questions = reach_questions_create(question, 1, kSCNetworkReachabilityReasonNone);
    int error = questions == NULL ? ENOMEM : 0;

    if (error == 0 && search->rtnetlink == NULL)
        error = reach_shared_socket_evaluate_in_round(reach_netns_socket(search->netns), search->cache, questions,
                                                      extras, ret);
    else if (error == 0)
        error = reach_full_path_evaluate(search->rtnetlink, search->netns, search->cache, questions, extras, ret);
    reach_questions_release(questions);
    if (error == 0 && search->rtnetlink != NULL && (ret->type_unknown || ret->unknown_underlay != 0))
        error = reach_shared_socket_learn_types(reach_netns_socket(search->netns), ret);
    if (error != 0)
        return error;
    reach_dependencies_add(&search->dependencies, &ret->dependencies);
    round_cache_hold_gateway(search->cache, ret->index, &ret->gateway);
    return 0;
}

/* ---- Uplinks -------------------------------------------------------------------------------------------------------
 * */

/* Adds a path to the uplink over its interface. Returns 0 or ENOMEM. */
static int add_path(struct network_search *search, size_t family, const struct path *path)
{
    struct network_path *network = search->network;
    size_t i = 0;

    if (reach_path_rank(path) == 0 || path->index == 0)
        return 0;
    while (i < network->count && network->uplinks[i].index != path->index)
        i++;
    if (i == network->count) {
        network = realloc(network, sizeof *network + (i + 1) * sizeof *network->uplinks);
        if (network == NULL)
            return ENOMEM;
        search->network = network;
        network->uplinks[network->count++] = (struct network_uplink){ .index = path->index };
    }
    network->uplinks[i].paths[family] = *path;
    return 0;
}

/* Packets leave over the bridge or bond, not over its ports. */
static bool is_port(const struct link_table *links, const struct link *link)
{
    const struct link *master = link->master == 0 ? NULL : reach_link_table_find(links, link->master);

    return master != NULL && master->vrf_table == 0;
}

static bool may_be_an_uplink(const struct link_table *links, const struct link *link)
{
    return reach_link_is_usable(link) && !reach_link_is_loopback(link) && !is_port(links, link);
}

#define LATE (100 * MILLISECOND) /* the kernel finishes a change this long after its message, at most */

static bool may_have_changed(const struct network_path *before, const struct link *link)
{
    if (before == NULL || link->changed >= before->found_at - LATE)
        return true;
    for (size_t i = 0; i < before->count; i++)
        if (before->uplinks[i].index == link->index)
            return true;
    return false;
}

/* Returns the questions about the links that may have a default route of their own, to be freed; NULL: no memory. */
static struct question *list_candidates(const struct network_search *search, size_t *ret_count)
{
    const struct link_table *links = &search->rtnetlink->links;
    struct question *candidates = calloc(NETWORK_FAMILIES * links->count + 1, sizeof *candidates);
    size_t count = 0;

    for (size_t i = 0; i < links->count && candidates != NULL; i++) {
        const struct link *link = &links->items[i];

        if (!may_be_an_uplink(links, link) || !may_have_changed(search->before, link))
            continue;
        for (size_t family = 0; family < NETWORK_FAMILIES; family++) {
            const struct path *chosen = &search->network->paths[family];

            if (reach_path_rank(chosen) == 0 || chosen->index != link->index)
                candidates[count++] = (struct question){ .family = families[family], .scope = link->index };
        }
    }
    *ret_count = count;
    return candidates;
}

enum { SAMPLES = DEFAULT_PATH_SAMPLES / NETWORK_FAMILIES, BATCH = QUERY_BATCH_LIMIT / SAMPLES };

/* Most links have no default route: the queries for many go to the kernel in one send. */
static void begin_batch(struct rtnetlink *rtnetlink, const struct question *candidates, size_t count)
{
    struct route_request requests[BATCH * SAMPLES];

    for (size_t i = 0; i < count * SAMPLES; i++) {
        const struct question *candidate = &candidates[i / SAMPLES];
        const size_t family = candidate->family == AF_INET6 ? NETWORK_IPV6 : NETWORK_IPV4;

        requests[i] = (struct route_request){ .destination = *reach_default_path_sample(family * SAMPLES + i % SAMPLES),
                                              .oif = candidate->scope,
                                              .fib_match = true };
    }
    reach_rtnetlink_begin_batch(rtnetlink, requests, count * SAMPLES);
}

/* Packets of a VRF leave over its ports, which are uplinks of their own. Without a route of its own, they leave by one
 * of the table "main", with an address of the VRF: that is not the path of other packets over that interface. On Linux
 * 5.10, those of a port leave over any interface to which the VRF has a route. */
static int add_other_uplinks(struct network_search *search)
{
    size_t count;
    struct question *candidates = list_candidates(search, &count);
    int error = candidates == NULL ? ENOMEM : 0;

    for (size_t i = 0; i < count && error == 0; i++) {
        struct path path;

        if (i % BATCH == 0)
            begin_batch(search->rtnetlink, &candidates[i], count - i < BATCH ? count - i : BATCH);
        error = evaluate_one(search, &candidates[i], &path);
        if (error == 0 && path.index == candidates[i].scope)
            error = add_path(search, candidates[i].family == AF_INET6 ? NETWORK_IPV6 : NETWORK_IPV4, &path);
    }
    reach_rtnetlink_end_batch(search->rtnetlink);
    free(candidates);
    return error;
}

static uint32_t metric_of_uplink(const struct network_uplink *uplink)
{
    return uplink->paths[reach_path_rank(&uplink->paths[NETWORK_IPV4]) > 0 ? NETWORK_IPV4 : NETWORK_IPV6].metric;
}

static int compare_uplinks(const void *left, const void *right)
{
    const struct network_uplink *a = left, *b = right;
    const uint32_t a_metric = metric_of_uplink(a), b_metric = metric_of_uplink(b);

    if (a_metric != b_metric)
        return a_metric < b_metric ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* The kernel's choices come first. */
static int search_uplinks(struct network_search *search, const struct questions *questions, bool all_uplinks)
{
    size_t chosen;
    int error = 0;

    for (size_t i = 0; i < NETWORK_FAMILIES && error == 0; i++) {
        struct path path;

        error = evaluate_one(search, &questions->items[i], &path);
        if (error == 0)
            error = add_path(search, i, &path);
        if (error == 0)
            search->network->paths[i] = path;
    }
    chosen = search->network->count;
    if (error == 0 && search->rtnetlink != NULL && all_uplinks)
        error = add_other_uplinks(search);
    if (search->network->count > chosen + 1)
        qsort(search->network->uplinks + chosen, search->network->count - chosen, sizeof(struct network_uplink),
              compare_uplinks);
    return error;
}

/* ---- All -------------------------------------------------------------------------------------------------------- */

/* The scope of a zone is that of its interface now. */
static int add_server(struct network_search *search, const struct question *question)
{
    struct network_path *const network = search->network;
    struct name_server *const server = &network->servers[network->server_count];
    struct path path;
    const int error = evaluate_one(search, question, &path);

    if (error != 0)
        return error;
    *server = (struct name_server){ .address = question->destination, .scope = question->scope };
    if (question->interface != NULL) {
        memcpy(server->zone, question->interface, strnlen(question->interface, sizeof server->zone - 1));
        server->scope = reach_shared_socket_link_index(reach_netns_socket(search->netns), server->zone);
    }
    if (network->server_count++ == 0 || reach_path_rank(&path) > reach_path_rank(&network->server_path))
        network->server_path = path;
    network->server_is_reachable = reach_path_rank(&network->server_path) > 0;
    return 0;
}

int reach_network_path_find(struct rtnetlink *rtnetlink, struct netns *netns, struct round_cache *cache,
                            const struct questions *questions, bool all_uplinks, const struct network_path *before,
                            struct network_path **ret, struct dependencies *ret_dependencies)
{
    struct network_search search = {
        .rtnetlink = rtnetlink, .netns = netns, .cache = cache, .before = before, .network = calloc(1, sizeof **ret)
    };
    int error = ENOMEM;

    if (search.network == NULL)
        return error;
    counted_init(&search.network->counted, free_network_path);
    search.network->found_at = clock_now();
    error = search_uplinks(&search, questions, all_uplinks);
    for (size_t i = 0; i < NETWORK_FAMILIES && error == 0; i++)
        error = evaluate_one(&search, &questions->items[QUESTION_LOOPBACK_IPV4 + i], &search.network->loopback[i]);
    for (size_t i = QUESTION_SERVERS; i < questions->count && error == 0; i++)
        error = add_server(&search, &questions->items[i]);
    if (error != 0) {
        reach_network_path_release(search.network);
        return error;
    }
    *ret_dependencies = search.dependencies;
    *ret = search.network;
    return 0;
}

/* If messages are lost, the table of links is cleared, and a search finds no way over them: ENOBUFS. Each search has a
 * socket of its own, because a dump on the last one may not have ended. */
static int find_over_netlink(struct netns *netns, struct round_cache *cache, const struct questions *questions,
                             struct network_path **ret)
{
    struct dependencies ignored;
    struct rtnetlink rtnetlink;
    int error = reach_rtnetlink_open(&rtnetlink, RTNETLINK_LINKS, reach_netns_handle(netns));

    if (error != 0)
        return error;
    (void)rtnetlink_set_user(&rtnetlink, process_user());
    error = reach_rtnetlink_read_links(&rtnetlink);
    if (error == 0)
        error = reach_network_path_find(&rtnetlink, netns, cache, questions, true, NULL, ret, &ignored);
    if (error == 0 && rtnetlink.overruns > 0) {
        reach_network_path_release(*ret);
        error = ENOBUFS;
    }
    reach_rtnetlink_close(&rtnetlink);
    return error;
}

#define SEARCHES 3 /* tries, while messages are lost */

int reach_network_path_query(struct netns *netns, const struct questions *questions, struct network_path **ret)
{
    struct round_cache cache = ROUND_CACHE_EMPTY;
    struct dependencies ignored;
    int error = ENOBUFS;

    for (int tries = 0; tries < SEARCHES && error == ENOBUFS; tries++)
        error = find_over_netlink(netns, &cache, questions, ret);
    if (error == NETLINK_DENIED)
        error = reach_network_path_find(NULL, netns, &cache, questions, false, NULL, ret, &ignored);
    if (error == 0)
        (*ret)->whole = true;
    round_cache_end(&cache);
    return error;
}

/* ---- Comparison ------------------------------------------------------------------------------------------------- */

static bool paths_look_equal(const struct path *a, const struct path *b)
{
    return a->index == b->index && a->type == b->type && a->type_unknown == b->type_unknown &&
           a->leads_out == b->leads_out && a->underlay == b->underlay && a->metric == b->metric &&
           strcmp(a->name, b->name) == 0 && a->evidence == b->evidence && !reach_path_differs(a, b);
}

static bool all_paths_look_equal(const struct path *a, const struct path *b)
{
    return paths_look_equal(&a[NETWORK_IPV4], &b[NETWORK_IPV4]) && paths_look_equal(&a[NETWORK_IPV6], &b[NETWORK_IPV6]);
}

bool reach_network_path_servers_equal(const struct network_path *a, const struct network_path *b)
{
    if (a->server_count != b->server_count)
        return false;
    for (size_t i = 0; i < a->server_count; i++)
        if (!reach_address_equal(&a->servers[i].address, &b->servers[i].address) ||
            a->servers[i].scope != b->servers[i].scope || strcmp(a->servers[i].zone, b->servers[i].zone) != 0)
            return false;
    return true;
}

bool reach_network_path_equal(const struct network_path *a, const struct network_path *b)
{
    if (a->count != b->count || !reach_network_path_servers_equal(a, b) ||
        a->server_is_reachable != b->server_is_reachable ||
        a->loopback[NETWORK_IPV4].flags != b->loopback[NETWORK_IPV4].flags ||
        a->loopback[NETWORK_IPV6].flags != b->loopback[NETWORK_IPV6].flags || !all_paths_look_equal(a->paths, b->paths))
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->uplinks[i].index != b->uplinks[i].index ||
            !all_paths_look_equal(a->uplinks[i].paths, b->uplinks[i].paths))
            return false;
    return true;
}
#endif
