/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETWORK_PATH_H
#define REACHABILITY_NETWORK_PATH_H

/* The default paths of a network namespace: of each family, and of each interface that has one. */

#include "base/counted.h"
#include "pure/conffile.h"
#include "route/evaluate.h"
#include "route/netns.h"

enum { NETWORK_IPV4, NETWORK_IPV6, NETWORK_FAMILIES };

/* An interface with a usable default path. */
struct network_uplink {
    uint32_t index;
    struct path paths[NETWORK_FAMILIES]; /* out of this interface; reach_path_rank 0: there is none */
};

/* Constant. */
struct network_path {
    struct counted counted;
    struct path paths[NETWORK_FAMILIES];    /* the uplinks that the kernel chooses */
    struct path loopback[NETWORK_FAMILIES]; /* to 127.0.0.1 and ::1 */
    struct name_server servers[CONFFILE_SERVERS];
    size_t server_count;
    struct path server_path;  /* to the first that is reachable, else to the first; zeroed: there is no server */
    bool server_is_reachable; /* at least one */
    bool whole;               /* all uplinks that can be known are known. The caller sets it */
    int64_t found_at;         /* when its evaluation began, by clock_now */
    size_t count;
    struct network_uplink uplinks[]; /* that of `paths` for IPv4 first, then for IPv6, then by metric and index */
};

void reach_network_path_release(struct network_path *network); /* NULL: does nothing */

/* The questions that reach_network_path_find evaluates. NULL: no memory. */
struct questions *reach_network_path_questions(const struct name_server *servers, size_t count);

/* Evaluates the questions for a monitor, over its socket and with its link table. `rtnetlink` NULL: over the socket
 * that the namespace's targets share; does not wait for RTNL. `all_uplinks` false, or no rtnetlink: only the uplinks
 * that the kernel chooses. `before`: only the links that are uplinks there, or that messages have named since, are
 * looked at; NULL: all. Returns 0, NETLINK_DENIED or an errno. *ret_dependencies: of all that was evaluated. */
int reach_network_path_find(struct rtnetlink *rtnetlink, struct netns *netns, struct round_cache *cache,
                            const struct questions *questions, bool all_uplinks, const struct network_path *before,
                            struct network_path **ret, struct dependencies *ret_dependencies);

/* Over sockets of its own: for a call, or where a sandbox refuses all messages. May wait for RTNL. Returns 0 or an
 * errno. */
int reach_network_path_query(struct netns *netns, const struct questions *questions, struct network_path **ret);

bool reach_network_path_servers_equal(const struct network_path *a, const struct network_path *b);

/* Whether there is no difference that a program may see. */
bool reach_network_path_equal(const struct network_path *a, const struct network_path *b);

#endif
