/* SPDX-License-Identifier: MIT */
/*
 * What a connected UDP socket shows about a route request.
 *
 * What this file must never do: send a packet, or take the errno of a sandbox for that of a route.
 */
#ifdef __linux__
#include "kernel/udp_route.h"

#include "base/netns_handle.h"
#include "kernel/udp_socket.h"
#include "pure/path.h"

/* The arguments of connect_in_namespace. */
struct udp_request {
    const struct route_request *request;
    struct udp_route *route;
};

static int apply_options(int fd, const struct route_request *request)
{
    if (request->mark != 0 && setsockopt(fd, SOL_SOCKET, SO_MARK, &request->mark, sizeof request->mark) != 0)
        return errno;
    if (request->oif != 0 && setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &request->oif, sizeof request->oif) != 0)
        return errno;
    return udp_socket_set_class(fd, AF_INET6, request->flow.traffic_class);
}

static int open_bound_socket(const struct route_request *request, struct descriptor *ret)
{
    int error = udp_socket_open(AF_INET6, ret);

    if (error != 0)
        return error;
    error = apply_options(ret->fd, request);
    if (error == 0 && request->source.family != AF_UNSPEC)
        error = udp_socket_bind(ret->fd, &request->source, request->oif);
    if (error != 0)
        descriptor_close(ret);
    return error;
}

/* A sandbox can refuse connect(2) with the errno of a prohibited route. Then it refuses ::1, too, to which no rule or
 * route of the request leads. */
static bool is_sandboxed(int error)
{
    static const struct address loopback = { AF_INET6, { [15] = 1 } };
    struct descriptor socket;
    bool refused;

    if (error != EACCES || udp_socket_open(AF_INET6, &socket) != 0)
        return false;
    refused = udp_socket_connect(socket.fd, &loopback, 0, 0) == EACCES;
    descriptor_close(&socket);
    return refused;
}

/* Whether the result of connect(2) is about the route. Another errno is that of a BPF program, for example. */
static bool is_about_route(int error)
{
    struct path path;

    return error == 0 || (path_from_error(error, false, &path) && !is_sandboxed(error));
}

static int connect_in_namespace(void *argument)
{
    const struct udp_request *udp = argument;
    struct udp_route *route = udp->route;
    struct descriptor socket;
    int error = open_bound_socket(udp->request, &socket);

    if (error != 0)
        return error;
    route->error = udp_socket_connect(socket.fd, &udp->request->destination, udp->request->oif,
                                      udp->request->flow.remote_port);
    if (route->error == 0)
        error = udp_socket_own_address(socket.fd, &route->source);
    else if (udp_socket_lacks_resources(route->error))
        error = route->error;
    route->is_known = error == 0 && is_about_route(route->error);
    descriptor_close(&socket);
    return error;
}

int udp_route_find(const struct rtnetlink *rtnetlink, const struct route_request *request, struct udp_route *ret)
{
    struct udp_request udp = { .request = request, .route = ret };
    int error = 0;

    *ret = (struct udp_route){ 0 };
    if (rtnetlink->netns != NULL)
        error = netns_handle_run(rtnetlink->netns, connect_in_namespace, &udp);
    return udp_socket_lacks_resources(error) ? error : 0;
}
#endif
