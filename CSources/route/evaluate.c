/* SPDX-License-Identifier: MIT */
/*
 * The evaluation of questions.
 *
 * What this file must never do: lose a dependency of any path. A watch would not notice that its path is stale.
 */
#include "route/evaluate.h"

#include "route/address_path.h"
#include "route/default_path.h"
#include "route/local_wifi.h"

static int evaluate_question(struct route_query *query, struct path *ret)
{
    bool open;
    int  error;

    if (question_is_local_wifi(query->question))
        return local_wifi_find(query, ret);
    error = route_query_begin(query, &open, ret);
    if (error != 0 || !open)
        return error;
    return query->question->destination.family == AF_UNSPEC ? default_path_find(query, ret)
                                                            : address_path_find(query, ret);
}

int evaluate_questions(struct rtnetlink *rtnetlink, struct round_cache *cache, const struct questions *questions,
                       unsigned extras, struct path *ret)
{
    struct dependencies dependencies = { 0 };

    if (questions->count == 0)
        *ret = path_unreachable(questions->reason);
    for (size_t i = 0; i < questions->count; i++) {
        const struct question *question = &questions->items[i];
        struct route_query     query = route_query_make(rtnetlink, cache, question, extras);
        struct path            other, *path = i == 0 ? ret : &other;
        int                    error;

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
