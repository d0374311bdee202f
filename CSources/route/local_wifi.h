/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LOCAL_WIFI_H
#define REACHABILITY_LOCAL_WIFI_H

/* 169.254.0.0 stands for the local network, as in Apple's sample code ("local Wi-Fi"). Links decide, not routes. */

#include "route/route_query.h"

/* Whether one of the questions is about the local network. Then the link table must have all links. */
static inline bool local_wifi_concerns(const struct questions *questions)
{
    for (size_t i = 0; i < questions->count; i++)
        if (question_is_local_wifi(&questions->items[i]))
            return true;
    return false;
}

/* Finds the path to the local network, for question_is_local_wifi. Returns 0; `link_error` can be set. */
int local_wifi_find(struct route_query *query, struct path *ret);

#endif
