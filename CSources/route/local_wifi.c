/* SPDX-License-Identifier: MIT */
/* The path to the local network. */
#include "route/local_wifi.h"

int local_wifi_find(struct route_query *query, struct path *ret)
{
    const struct link *link = link_table_find_local(&query->rtnetlink->links);

    if (link != NULL)
        link = route_query_link(query, link->index); /* reads its device, and its flags if they may be stale */
    if (link != NULL)
        path_evaluate_local(link, ret);
    else
        *ret = path_unreachable(kSCNetworkReachabilityReasonNoRoute);
    return 0;
}
