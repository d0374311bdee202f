/* SPDX-License-Identifier: MIT */
/*
 * The evaluation of questions.
 *
 * What this file must never do: lose a dependency of any path. A watch would not notice that its path is stale.
 */
#ifdef __linux__
#include "route/evaluate.h"

#include "route/address_path.h"
#include "route/default_path.h"
#include "route/flow_path.h"

static bool is_cached(const struct route_query *query)
{
    const struct round_cache *cache = query->cache;

    return cache->has_default_path && cache->default_family == query->question->family &&
           cache->default_extras == query->extras;
}

/* A path that is not complete is evaluated again when more is known about its link. */
static void keep_in_cache(const struct route_query *query, const struct path *path)
{
    struct round_cache *cache = query->cache;

    if (query->unknown_link != 0 || query->link_error != 0 || path->dependencies.unknown_link != 0 ||
        path->type_unknown)
        return;
    cache->has_default_path = true;
    cache->default_family = query->question->family;
    cache->default_extras = query->extras;
    cache->default_path = *path;
}

/* Many names can wait for their first answer. Until then, the path of each is the default path. */
static int find_default_path(struct route_query *query, struct path *ret)
{
    const bool is_plain = question_is_default_path(query->question);
    int error;

    if (is_plain && is_cached(query)) {
        *ret = query->cache->default_path;
        return 0;
    }
    error = default_path_find(query, ret);
    if (error == 0 && is_plain)
        keep_in_cache(query, ret);
    return error;
}

/* 169.254.0.0 stands for the local network. Links decide, not routes. `link_error` can be set. */
static void find_local_wifi(struct route_query *query, struct path *ret)
{
    const struct link *link = link_table_find_local(&query->rtnetlink->links);

    if (link != NULL)
        link = route_query_link(query, link->index); /* reads its device, and its flags if they may be stale */
    if (link != NULL)
        path_evaluate_local(link, ret);
    else
        *ret = path_unreachable(kSCNetworkReachabilityReasonNoRoute);
}

static int evaluate_question(struct route_query *query, struct path *ret)
{
    bool open;
    int error;

    if (question_is_local_wifi(query->question)) {
        find_local_wifi(query, ret);
        return 0;
    }
    error = route_query_begin(query, &open, ret);
    if (error != 0 || !open)
        return error;
    if (query->question->destination.family == AF_UNSPEC)
        return find_default_path(query, ret);
    error = address_path_find(query, ret);
    return error == 0 && (query->extras & QUERY_FLOW) != 0 ? flow_path_find(query, ret) : error;
}

bool evaluate_needs_all_links(const struct questions *questions)
{
    for (size_t i = 0; i < questions->count; i++)
        if (question_is_local_wifi(&questions->items[i]))
            return true;
    return false;
}

int evaluate_questions(struct rtnetlink *rtnetlink, struct round_cache *cache, const struct questions *questions,
                       unsigned extras, struct path *ret)
{
    struct dependencies dependencies = { 0 };

    if (questions->count == 0)
        *ret = path_unreachable(questions->reason);
    for (size_t i = 0; i < questions->count; i++) {
        const struct question *question = &questions->items[i];
        struct route_query query = route_query_make(rtnetlink, cache, question, extras);
        struct path other, *path = i == 0 ? ret : &other;
        int error;

        error = evaluate_question(&query, path);
        if (error == 0)
            error = route_query_end(&query, path);
        if (error != 0)
            return error;
        path->destination = question->destination;
        if (question->local.family != AF_UNSPEC && path_rank(path) > 0)
            path->source = question->local;
        dependencies_add(&dependencies, &path->dependencies);
        if (path_rank(path) > path_rank(ret))
            *ret = *path;
    }
    /* Of all paths: later another path can be the best. */
    ret->dependencies = dependencies;
    questions_adjust_path(questions, ret);
    return 0;
}
#endif
