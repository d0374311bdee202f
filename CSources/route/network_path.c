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

#include "kernel/source_routes.h"
#include "route/full_path.h"
#include "route/shared_socket.h"

/* The indexes of the questions of network_path_questions. The name servers follow. */
enum { QUESTION_IPV4, QUESTION_IPV6, QUESTION_LOOPBACK_IPV4, QUESTION_LOOPBACK_IPV6, QUESTION_SERVERS };

static const uint8_t families[NETWORK_FAMILIES] = { AF_INET, AF_INET6 };

static void free_network_path(struct counted *counted)
{
    free(container_of(counted, struct network_path, counted));
}

void network_path_release(struct network_path *network)
{
    if (network != NULL)
        counted_release(&network->counted);
}

struct questions *network_path_questions(const struct name_server *servers, size_t count)
{
    const struct address ipv4_loopback = { AF_INET, { 127, 0, 0, 1 } }, ipv6_loopback = { AF_INET6, { [15] = 1 } };
    struct question items[QUESTION_SERVERS + CONFFILE_SERVERS] = {
        [QUESTION_IPV4] = { .family = AF_INET },
        [QUESTION_IPV6] = { .family = AF_INET6 },
        [QUESTION_LOOPBACK_IPV4] = { .destination = ipv4_loopback },
        [QUESTION_LOOPBACK_IPV6] = { .destination = ipv6_loopback },
    };

    for (size_t i = 0; i < count; i++)
        items[QUESTION_SERVERS + i] = name_server_question(&servers[i]);
    return questions_create(items, QUESTION_SERVERS + count, kSCNetworkReachabilityReasonNone);
}

/* ---- One question ----------------------------------------------------------------------------------------------- */

/* The arguments of network_path_find, and what it has found so far. */
struct network_search {
    struct rtnetlink *rtnetlink;
    struct netns *netns;
    struct round_cache *cache;
    struct dependencies dependencies;
    size_t count, capacity;
    struct network_way *ways;
};

static int evaluate_with_extras(struct network_search *search, const struct questions *questions, struct path *ret)
{
    const unsigned extras = QUERY_EXPIRY | QUERY_SOURCE;

    if (search->rtnetlink == NULL)
        return shared_socket_evaluate_in_round(netns_socket(search->netns), search->cache, questions, extras, ret);
    return full_path_evaluate(search->rtnetlink, search->netns, search->cache, questions, extras, ret);
}

/* Finds out the types that are not known yet. */
static int learn_types(struct network_search *search, struct path *path)
{
    struct link link = { 0 };
    int error = 0;

    if (path->type_unknown)
        error = shared_socket_learn_link(netns_socket(search->netns), path->index, &link);
    if (error == 0 && link.index != 0) {
        path->type = link.type;
        path->type_unknown = !link_type_is_known(&link);
        path->cable = link_is_cable(&link);
    }
    if (error == 0 && path->unknown_carrier != 0)
        error = shared_socket_learn_link(netns_socket(search->netns), path->unknown_carrier, &link);
    if (error == 0 && path->unknown_carrier != 0 && link.index != 0)
        path->carriers |= path_carrier_bits(link.type, link_is_cable(&link));
    return error;
}

static int evaluate_one(struct network_search *search, const struct question *question, struct path *ret)
{
    struct questions *questions = questions_create(question, 1, kSCNetworkReachabilityReasonNone);
    int error = questions == NULL ? ENOMEM : evaluate_with_extras(search, questions, ret);

    questions_release(questions);
    if (error == 0 && search->rtnetlink != NULL)
        error = learn_types(search, ret);
    if (error != 0)
        return error;
    dependencies_add(&search->dependencies, &ret->dependencies);
    round_cache_hold_gateway(search->cache, ret->index, &ret->gateway);
    return 0;
}

/* ---- Ways ------------------------------------------------------------------------------------------------------- */

static struct network_way *find_way(struct network_search *search, uint32_t index)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->ways[i].index == index)
            return &search->ways[i];
    return NULL;
}

static struct network_way *append_way(struct network_search *search, uint32_t index)
{
    if (search->count == search->capacity) {
        const size_t capacity = search->capacity == 0 ? 4 : 2 * search->capacity;
        struct network_way *ways = realloc(search->ways, capacity * sizeof *ways);

        if (ways == NULL)
            return NULL;
        search->ways = ways;
        search->capacity = capacity;
    }
    search->ways[search->count] = (struct network_way){ .index = index };
    return &search->ways[search->count++];
}

/* Adds a path to the way over its interface. Returns 0 or ENOMEM. */
static int add_path(struct network_search *search, size_t family, const struct path *path)
{
    struct network_way *way;

    if (path_rank(path) == 0 || path->index == 0)
        return 0;
    way = find_way(search, path->index);
    if (way == NULL)
        way = append_way(search, path->index);
    if (way == NULL)
        return ENOMEM;
    way->paths[family] = *path;
    return 0;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

/* A link and a family that may have a default route. */
struct candidate {
    uint32_t index;
    uint8_t family; /* NETWORK_... */
    char name[16];
};

/* Packets leave over the bridge or bond, not over its ports. */
static bool is_port(const struct link_table *links, const struct link *link)
{
    const struct link *master = link->master == 0 ? NULL : link_table_find(links, link->master);

    return master != NULL && master->vrf_table == 0;
}

/* Packets of a VRF leave over its ports, which are ways of their own. Without a route of its own, they leave by one of
 * the table "main", with an address of the VRF: that is not the path of other packets over that interface. */
static bool may_be_a_way(const struct link_table *links, const struct link *link)
{
    return link_is_usable(link) && !link_is_loopback(link) && link->vrf_table == 0 && !is_port(links, link);
}

/* Returns the candidates, to be freed; NULL: no memory. A copy, as queries change the link table. */
static struct candidate *list_candidates(const struct network_search *search, const struct path *chosen,
                                         size_t *ret_count)
{
    const struct link_table *links = &search->rtnetlink->links;
    struct candidate *candidates = calloc(NETWORK_FAMILIES * links->count + 1, sizeof *candidates);
    size_t count = 0;

    for (size_t i = 0; i < links->count && candidates != NULL; i++) {
        const struct link *link = &links->items[i];

        if (!may_be_a_way(links, link))
            continue;
        for (uint8_t family = 0; family < NETWORK_FAMILIES; family++) {
            if (path_rank(&chosen[family]) > 0 && chosen[family].index == link->index)
                continue;
            candidates[count] = (struct candidate){ .index = link->index, .family = family };
            memcpy(candidates[count++].name, link->name, sizeof link->name);
        }
    }
    *ret_count = count;
    return candidates;
}

/* The same samples as for the default path out of the interface. Each can show a route that the others do not: routes
 * can lead to one half of the addresses alone, and refusals or routes for packets from a prefix can hide them. */
enum { SAMPLES = DEFAULT_PATH_SAMPLES / NETWORK_FAMILIES };

static void default_route_requests(const struct candidate *candidate, struct route_request ret[SAMPLES])
{
    for (size_t i = 0; i < SAMPLES; i++)
        ret[i] = (struct route_request){ .destination = *default_path_sample(candidate->family * SAMPLES + i),
                                         .oif = candidate->index,
                                         .fib_match = true };
}

static bool means_no_route(int error)
{
    return error == ENETUNREACH || error == EHOSTUNREACH || error == ENODEV;
}

/* Adds the path of a candidate for which the kernel has a route of some kind. Returns 0 or an errno. */
static int add_candidate(struct network_search *search, const struct candidate *candidate)
{
    struct question question = { .family = families[candidate->family] };
    struct path path;
    int error;

    memcpy(question.interface, candidate->name, sizeof question.interface);
    error = evaluate_one(search, &question, &path);
    return error == 0 ? add_path(search, candidate->family, &path) : error;
}

/* Whether the queries for a candidate show that there is no default route. A source-specific one can be there in spite
 * of that. Returns 0 or an errno. */
static int find_no_route(struct network_search *search, const struct route_request requests[SAMPLES],
                         const int errors[SAMPLES], bool *ret_none)
{
    struct address source = { 0 };
    bool refused = true;
    int error = 0;

    for (size_t i = 0; i < SAMPLES; i++)
        refused = refused && means_no_route(errors[i]);
    for (size_t i = 0; i < SAMPLES && refused && error == 0 && source.family == AF_UNSPEC; i++)
        if (requests[i].destination.family == AF_INET6)
            error = source_routes_choose(search->rtnetlink, &requests[i], &source);
    *ret_none = refused && source.family == AF_UNSPEC;
    return error;
}

#define BATCH (RTNETLINK_QUERY_LIMIT / SAMPLES) /* candidates */

/* Most links have no default route: one send queries many of them. */
static int add_batch(struct network_search *search, const struct candidate *candidates, size_t count)
{
    struct route_request requests[RTNETLINK_QUERY_LIMIT];
    int errors[RTNETLINK_QUERY_LIMIT];
    int error;

    for (size_t i = 0; i < count; i++)
        default_route_requests(&candidates[i], &requests[SAMPLES * i]);
    error = rtnetlink_query_each(search->rtnetlink, requests, SAMPLES * count, errors);
    for (size_t i = 0; i < count && error == 0; i++) {
        bool none;

        error = find_no_route(search, &requests[SAMPLES * i], &errors[SAMPLES * i], &none);
        if (error == 0 && !none)
            error = add_candidate(search, &candidates[i]);
    }
    return error;
}

static int add_other_ways(struct network_search *search, const struct path *chosen)
{
    size_t count;
    struct candidate *candidates = list_candidates(search, chosen, &count);
    int error = candidates == NULL ? ENOMEM : 0;

    for (size_t i = 0; i < count && error == 0; i += BATCH) {
        const size_t left = count - i;

        error = add_batch(search, &candidates[i], left < BATCH ? left : BATCH);
    }
    free(candidates);
    return error;
}

/* ---- Order ------------------------------------------------------------------------------------------------------ */

static uint32_t metric_of_way(const struct network_way *way)
{
    return way->paths[path_rank(&way->paths[NETWORK_IPV4]) > 0 ? NETWORK_IPV4 : NETWORK_IPV6].metric;
}

static int compare_ways(const void *left, const void *right)
{
    const struct network_way *a = left, *b = right;
    const uint32_t a_metric = metric_of_way(a), b_metric = metric_of_way(b);

    if (a_metric != b_metric)
        return a_metric < b_metric ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* The kernel's choices were added first. */
static void sort_ways(struct network_search *search, size_t chosen)
{
    if (search->count > chosen + 1)
        qsort(search->ways + chosen, search->count - chosen, sizeof *search->ways, compare_ways);
}

/* ---- All -------------------------------------------------------------------------------------------------------- */

static struct network_path *make_network_path(const struct network_search *search)
{
    const size_t size = search->count * sizeof *search->ways;
    struct network_path *network = calloc(1, sizeof *network + size);

    if (network == NULL)
        return NULL;
    counted_init(&network->counted, free_network_path);
    network->count = search->count;
    if (size > 0)
        memcpy(network->ways, search->ways, size);
    return network;
}

/* A name server's address, as its question has it. The scope is that of its zone now. */
static struct name_server server_of_question(const struct network_search *search, const struct question *question)
{
    struct name_server server = { .address = question->destination, .scope = question->scope };

    memcpy(server.zone, question->interface, sizeof server.zone);
    if (server.zone[0] != '\0')
        server.scope = shared_socket_link_index(netns_socket(search->netns), server.zone);
    return server;
}

static int add_servers(struct network_search *search, const struct questions *questions, struct network_path *network)
{
    for (size_t i = QUESTION_SERVERS; i < questions->count; i++) {
        struct path path;
        const int error = evaluate_one(search, &questions->items[i], &path);

        if (error != 0)
            return error;
        network->servers[network->server_count++] = server_of_question(search, &questions->items[i]);
        if (i == QUESTION_SERVERS || path_rank(&path) > path_rank(&network->server_path))
            network->server_path = path;
    }
    network->server_is_reachable = path_rank(&network->server_path) > 0;
    return 0;
}

static int search_ways(struct network_search *search, const struct questions *questions, bool all_ways,
                       struct path *chosen)
{
    size_t count;
    int error = 0;

    for (size_t i = 0; i < NETWORK_FAMILIES && error == 0; i++) {
        error = evaluate_one(search, &questions->items[i], &chosen[i]);
        if (error == 0)
            error = add_path(search, i, &chosen[i]);
    }
    count = search->count;
    if (error == 0 && search->rtnetlink != NULL && all_ways)
        error = add_other_ways(search, chosen);
    sort_ways(search, count);
    return error;
}

int network_path_find(struct rtnetlink *rtnetlink, struct netns *netns, struct round_cache *cache,
                      const struct questions *questions, bool all_ways, struct network_path **ret,
                      struct dependencies *ret_dependencies)
{
    struct network_search search = { .rtnetlink = rtnetlink, .netns = netns, .cache = cache };
    struct path chosen[NETWORK_FAMILIES];
    struct network_path *network = NULL;
    int error = search_ways(&search, questions, all_ways, chosen);

    if (error == 0) {
        network = make_network_path(&search);
        error = network == NULL ? ENOMEM : 0;
    }
    if (error == 0) {
        memcpy(network->paths, chosen, sizeof chosen);
        error = evaluate_one(&search, &questions->items[QUESTION_LOOPBACK_IPV4], &network->loopback[NETWORK_IPV4]);
    }
    if (error == 0)
        error = evaluate_one(&search, &questions->items[QUESTION_LOOPBACK_IPV6], &network->loopback[NETWORK_IPV6]);
    if (error == 0)
        error = add_servers(&search, questions, network);
    free(search.ways);
    if (error != 0) {
        network_path_release(network);
        return error;
    }
    *ret_dependencies = search.dependencies;
    *ret = network;
    return 0;
}

/* If messages are lost, the table of links is cleared, and a search finds no way over them: ENOBUFS. Each search has a
 * socket of its own, because a dump on the last one may not have ended. */
static int find_over_netlink(struct netns *netns, struct round_cache *cache, const struct questions *questions,
                             struct network_path **ret)
{
    struct dependencies ignored;
    struct rtnetlink rtnetlink;
    int error = netns_open_rtnetlink(netns, RTNETLINK_LINKS, &rtnetlink);

    if (error != 0)
        return error;
    (void)rtnetlink_set_user(&rtnetlink, process_user());
    error = rtnetlink_read_links(&rtnetlink);
    if (error == 0)
        error = network_path_find(&rtnetlink, netns, cache, questions, true, ret, &ignored);
    if (error == 0 && rtnetlink.overruns > 0) {
        network_path_release(*ret);
        error = ENOBUFS;
    }
    rtnetlink_close(&rtnetlink);
    return error;
}

#define SEARCHES 3 /* tries, while messages are lost */

int network_path_query(struct netns *netns, const struct questions *questions, struct network_path **ret)
{
    struct round_cache cache = ROUND_CACHE_EMPTY;
    struct dependencies ignored;
    int error = ENOBUFS;

    for (int tries = 0; tries < SEARCHES && error == ENOBUFS; tries++) {
        round_cache_clear(&cache);
        error = find_over_netlink(netns, &cache, questions, ret);
    }
    if (error == NETLINK_DENIED)
        error = network_path_find(NULL, netns, &cache, questions, false, ret, &ignored);
    if (error == 0)
        (*ret)->whole = true;
    round_cache_clear(&cache);
    return error;
}

/* ---- Comparison ------------------------------------------------------------------------------------------------- */

static bool paths_look_equal(const struct path *a, const struct path *b)
{
    return a->index == b->index && a->type == b->type && a->type_unknown == b->type_unknown && a->cable == b->cable &&
           a->carriers == b->carriers && a->metric == b->metric && strcmp(a->name, b->name) == 0 &&
           a->evidence == b->evidence && !path_differs(a, b);
}

static bool all_paths_look_equal(const struct path *a, const struct path *b)
{
    return paths_look_equal(&a[NETWORK_IPV4], &b[NETWORK_IPV4]) && paths_look_equal(&a[NETWORK_IPV6], &b[NETWORK_IPV6]);
}

bool network_path_servers_equal(const struct network_path *a, const struct network_path *b)
{
    if (a->server_count != b->server_count)
        return false;
    for (size_t i = 0; i < a->server_count; i++)
        if (!address_equal(&a->servers[i].address, &b->servers[i].address) ||
            a->servers[i].scope != b->servers[i].scope || strcmp(a->servers[i].zone, b->servers[i].zone) != 0)
            return false;
    return true;
}

bool network_path_equal(const struct network_path *a, const struct network_path *b)
{
    if (a->count != b->count || !network_path_servers_equal(a, b) || a->server_is_reachable != b->server_is_reachable ||
        a->loopback[NETWORK_IPV4].flags != b->loopback[NETWORK_IPV4].flags ||
        a->loopback[NETWORK_IPV6].flags != b->loopback[NETWORK_IPV6].flags || !all_paths_look_equal(a->paths, b->paths))
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->ways[i].index != b->ways[i].index || !all_paths_look_equal(a->ways[i].paths, b->ways[i].paths))
            return false;
    return true;
}
#endif
