/* SPDX-License-Identifier: MIT */
/*
 * Route requests to UDP sockets.
 *
 * What this file must never do: send a packet, or take the errno of a sandbox for that of a route.
 */
#include "kernel/udp_route.h"

#include "base/netns_handle.h"
#include "kernel/udp_socket.h"
#include "pure/path.h"

/* The arguments of the functions that run in the namespace. These return 0 or an errno. */
struct udp_request {
    const struct route_request *request;
    struct udp_route           *route;
    bool                        is_bound;
};

static int apply_options(int fd, const struct route_request *request)
{
    if (request->mark != 0 && setsockopt(fd, SOL_SOCKET, SO_MARK, &request->mark, sizeof request->mark) != 0)
        return errno;
    if (request->oif != 0 && setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &request->oif, sizeof request->oif) != 0)
        return errno;
    return 0;
}

static int bind_to_source(int fd, const struct route_request *request)
{
    struct sockaddr_storage local;

    if (request->source.family == AF_UNSPEC)
        return 0;
    address_to_sockaddr(&request->source, request->oif, &local);
    return bind(fd, (const struct sockaddr *)&local, address_sockaddr_length(request->source.family)) == 0 ? 0 : errno;
}

static int open_bound_socket(const struct route_request *request, struct descriptor *ret)
{
    int error = udp_socket_open(AF_INET6, ret);

    if (error != 0)
        return error;
    error = apply_options(ret->fd, request);
    if (error == 0)
        error = bind_to_source(ret->fd, request);
    if (error != 0)
        descriptor_close(ret);
    return error;
}

/* Any other errno is that of a sandbox, or of a BPF program. */
static bool is_about_route(int error)
{
    struct path path;

    return error == 0 || path_from_error(error, false, &path);
}

static int connect_in_namespace(void *argument)
{
    const struct udp_request *udp = argument;
    struct udp_route         *route = udp->route;
    struct descriptor         socket;
    int                       error = open_bound_socket(udp->request, &socket);

    if (error != 0)
        return error;
    route->error = udp_socket_connect(socket.fd, &udp->request->destination, udp->request->oif);
    if (route->error == 0)
        error = udp_socket_own_address(socket.fd, &route->source);
    else if (udp_socket_lacks_resources(route->error))
        error = route->error;
    route->is_known = error == 0 && is_about_route(route->error);
    descriptor_close(&socket);
    return error;
}

static int bind_in_namespace(void *argument)
{
    struct udp_request *udp = argument;
    struct descriptor   socket;
    const int           error = open_bound_socket(udp->request, &socket);

    if (error == 0)
        descriptor_close(&socket);
    udp->is_bound = error != EADDRNOTAVAIL;
    return error;
}

static int run(const struct rtnetlink *rtnetlink, int (*function)(void *argument), struct udp_request *udp)
{
    const int error = rtnetlink->netns != NULL ? netns_handle_run(rtnetlink->netns, function, udp) : 0;

    return udp_socket_lacks_resources(error) ? error : 0;
}

int udp_route_find(const struct rtnetlink *rtnetlink, const struct route_request *request, struct udp_route *ret)
{
    *ret = (struct udp_route){ 0 };
    return run(rtnetlink, connect_in_namespace, &(struct udp_request){ .request = request, .route = ret });
}

int udp_route_can_bind(const struct rtnetlink *rtnetlink, const struct route_request *request, bool *ret)
{
    struct udp_request udp = { .request = request, .is_bound = true };
    const int          error = run(rtnetlink, bind_in_namespace, &udp);

    *ret = udp.is_bound;
    return error;
}
