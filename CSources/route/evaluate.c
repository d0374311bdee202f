/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: leave an answer whose needs are forgotten. Who waits for it to change would wait for
 * ever.
 */
#include "route/evaluate.h"

#include "route/address_path.h"
#include "route/default_path.h"

static int answer(struct route_query *query, struct path *ret)
{
    bool open;
    int  error = route_query_begin(query, &open, ret);

    if (error != 0 || !open)
        return error;
    return query->question->destination.family == AF_UNSPEC ? default_path_find(query, ret)
                                                            : address_path_find(query, ret);
}

int evaluate_questions(struct rtnetlink *rtnetlink, const struct questions *questions, unsigned extras,
                       struct path *ret)
{
    struct dependencies depends_on = { 0 };

    if (questions->count == 0)
        *ret = path_unreachable(questions->reason);
    for (size_t i = 0; i < questions->count; i++) {
        const struct question *question = &questions->items[i];
        struct route_query     query = route_query_make(rtnetlink, question, extras);
        struct path            other, *path = i == 0 ? ret : &other;
        int                    error;

        error = answer(&query, path);
        if (error == 0)
            error = query.link_error;
        if (error != 0)
            return error;
        path->destination = question->destination;
        if (question->local.family != AF_UNSPEC && path_rank(path) > 0)
            path->source = question->local;
        dependencies_add(&depends_on, &path->depends_on);
        if (path_rank(path) > path_rank(ret))
            *ret = *path;
    }
    /* Of any, chosen or not: another one may be better next time. */
    ret->depends_on = depends_on;
    questions_apply_reason(questions, ret);
    return 0;
}

bool evaluate_route_affects_dependencies(const struct route *route, const struct dependencies *depends_on)
{
    return depends_on->any_route || route_covers(route, &depends_on->outer);
}

bool evaluate_route_affects(const struct route *route, const struct question *question)
{
    if (route_covers(route, &question->local))
        return true;
    return question->destination.family == AF_UNSPEC ? default_path_depends_on(route)
                                                     : route_covers(route, &question->destination);
}
