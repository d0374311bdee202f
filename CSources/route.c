/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: leave an answer whose needs are forgotten. Who waits for it to change would wait for
 * ever.
 */
#include "route.h"

#include "defaultpath.h"

static int answer(struct search *search, struct path *ret)
{
    bool open;
    int  error = search_begin(search, &open, ret);

    if (error != 0 || !open)
        return error;
    return search->question->destination.family == AF_UNSPEC ? defaultpath_find(search, ret)
                                                             : search_address(search, ret);
}

int route_find(struct view *view, const struct questions *questions, unsigned extras, struct path *ret)
{
    struct needs needs = { 0 };

    if (questions->count == 0)
        *ret = path_without(questions->reason);
    for (size_t i = 0; i < questions->count; i++) {
        const struct question *question = &questions->items[i];
        struct search          search = search_make(view, question, extras);
        struct path            other, *path = i == 0 ? ret : &other;
        int                    error;

        view->link_error = 0;
        error = answer(&search, path);
        if (error == 0)
            error = view->link_error;
        if (error != 0)
            return error;
        path->destination = question->destination;
        if (question->local.family != AF_UNSPEC && path_rank(path) > 0)
            path->source = question->local;
        needs_add(&needs, &path->needs);
        if (path_rank(path) > path_rank(ret))
            *ret = *path;
    }
    /* Of any, chosen or not: another one may be better next time. */
    ret->needs = needs;
    questions_conclude(questions, ret);
    return 0;
}

bool route_touches_needs(const struct route *route, const struct needs *needs)
{
    return needs->any_route || route_covers(route, &needs->outer);
}

bool route_touches(const struct route *route, const struct question *question)
{
    if (route_covers(route, &question->local))
        return true;
    return question->destination.family == AF_UNSPEC ? defaultpath_hangs_on(route)
                                                     : route_covers(route, &question->destination);
}
