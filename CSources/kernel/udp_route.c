/* SPDX-License-Identifier: MIT */
/*
 * What a connected UDP socket shows about a route request.
 *
 * What this file must never do: send a packet; take the errno of a sandbox for that of a route; leave the kept socket
 * connected: it would keep its port, and the next request would get its source.
 */
#ifdef __linux__
#include "kernel/udp_route.h"

#include <sys/stat.h>

#include "kernel/dumps.h"
#include "kernel/udp_socket.h"
#include "pure/path.h"

static int apply_options(int fd, const struct route_request *request)
{
    if (request->mark != 0 && setsockopt(fd, SOL_SOCKET, SO_MARK, &request->mark, sizeof request->mark) != 0)
        return errno;
    if (request->oif != 0 && setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &request->oif, sizeof request->oif) != 0)
        return errno;
    if (request->source.family != AF_UNSPEC) {
        const int error = udp_socket_bind(fd, &request->source, request->oif);

        if (error != 0)
            return error;
    }
    return udp_socket_set_class(fd, AF_INET6, request->flow.traffic_class);
}

/* A sandbox can refuse connect(2) with the errno of a prohibited route. Then it refuses ::1, too, to which no rule or
 * route of the request leads. */
static bool is_sandboxed(const struct rtnetlink *rtnetlink, int error)
{
    static const struct address loopback = { AF_INET6, { [15] = 1 } };
    struct descriptor socket;
    bool refused;

    if (error != EACCES || udp_socket_open(rtnetlink->netns, AF_INET6, &socket) != 0)
        return false;
    refused = udp_socket_connect(socket.fd, &loopback, 0, 0) == EACCES;
    descriptor_close(&socket);
    return refused;
}

/* Whether the result of connect(2) is about the route. Another errno is that of a BPF program, for example. */
static bool is_about_route(const struct rtnetlink *rtnetlink, int error)
{
    struct path path;

    return error == 0 || (path_from_error(error, false, &path) && !is_sandboxed(rtnetlink, error));
}

static int connect_socket(const struct rtnetlink *rtnetlink, int fd, const struct route_request *request,
                          struct udp_route *ret)
{
    int error = apply_options(fd, request);

    if (error != 0)
        return error;
    ret->error = udp_socket_connect(fd, &request->destination, request->oif, request->flow.remote_port);
    if (ret->error == 0)
        error = udp_socket_own_address(fd, &ret->source);
    else if (udp_socket_lacks_resources(ret->error))
        error = ret->error;
    ret->is_known = error == 0 && is_about_route(rtnetlink, ret->error);
    return error;
}

/* A socket for one request. */
static int connect_own_socket(const struct rtnetlink *rtnetlink, const struct route_request *request,
                              struct udp_route *ret)
{
    struct descriptor socket;
    int error = udp_socket_open(rtnetlink->netns, AF_INET6, &socket);

    if (error != 0)
        return error;
    error = connect_socket(rtnetlink, socket.fd, request, ret);
    descriptor_close(&socket);
    return error;
}

/* ---- The kept socket -------------------------------------------------------------------------------------------- */

/* A mark, a traffic class and an address that bind(2) set stay with a socket; to clear a mark needs a capability. */
static bool suits_kept_socket(const struct route_request *request)
{
    return request->mark == 0 && request->flow.traffic_class == 0 && request->source.family == AF_UNSPEC;
}

/* Rules for users apply to the user who opened a socket. If it is not the user of the pass, the socket serves one
 * request. */
static bool has_kept_socket(const struct rtnetlink *rtnetlink)
{
    return rtnetlink->user != PROCESS_USER_UNKNOWN && rtnetlink->udp_user == rtnetlink->user &&
           descriptor_is_open(&rtnetlink->udp);
}

/* A BPF program of the control group can bind each new socket to a device ("ip vrf exec"). A disconnect would undo it,
 * so such a socket serves one request. */
static int open_kept_socket(struct rtnetlink *rtnetlink)
{
    struct stat status;
    int error;

    descriptor_close(&rtnetlink->udp);
    rtnetlink->udp_user = PROCESS_USER_UNKNOWN;
    error = udp_socket_open(rtnetlink->netns, AF_INET6, &rtnetlink->udp);
    if (error == 0 && !udp_socket_has_device(rtnetlink->udp.fd) && fstat(rtnetlink->udp.fd, &status) == 0)
        rtnetlink->udp_user = status.st_uid;
    return error;
}

/* The disconnect clears the port, the source and the device for the next request. */
static int connect_kept_socket(struct rtnetlink *rtnetlink, const struct route_request *request, struct udp_route *ret)
{
    int error = 0;

    if (!has_kept_socket(rtnetlink))
        error = open_kept_socket(rtnetlink);
    if (error != 0)
        return error;
    error = connect_socket(rtnetlink, rtnetlink->udp.fd, request, ret);
    if (udp_socket_disconnect(rtnetlink->udp.fd) != 0)
        descriptor_close(&rtnetlink->udp);
    return error;
}

int udp_route_find(struct rtnetlink *rtnetlink, const struct route_request *request, struct udp_route *ret)
{
    int error;

    *ret = (struct udp_route){ 0 };
    error = suits_kept_socket(request) ? connect_kept_socket(rtnetlink, request, ret)
                                       : connect_own_socket(rtnetlink, request, ret);
    return udp_socket_lacks_resources(error) ? error : 0;
}

int udp_route_choose_source(struct rtnetlink *rtnetlink, const struct route_request *request, struct address *ret)
{
    struct udp_route route = { 0 };
    int error = 0;

    if (source_routes_find(rtnetlink) != SOURCE_ROUTES_NONE)
        error = udp_route_find(rtnetlink, request, &route);
    *ret = route.source;
    return error;
}
#endif
