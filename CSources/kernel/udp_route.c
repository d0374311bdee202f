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

/* Whether the result of connect(2) is about the route: another errno is that of a BPF program, for example. And a
 * sandbox can refuse connect(2) with the errno of a prohibited route. Then it refuses ::1, too, to which no rule or
 * route of the request leads. */
static bool is_about_route(const struct rtnetlink *rtnetlink, int error)
{
    static const struct address loopback = { AF_INET6, { [15] = 1 } };
    struct descriptor socket;
    struct path path;
    bool refused;

    if (error != 0 && !path_from_error(error, false, &path))
        return false;
    if (error != EACCES || udp_socket_open(rtnetlink->netns, AF_INET6, &socket) != 0)
        return true;
    refused = udp_socket_connect(socket.fd, &loopback, 0, 0) == EACCES;
    descriptor_close(&socket);
    return !refused;
}

static int connect_socket(const struct rtnetlink *rtnetlink, int fd, const struct route_request *request,
                          struct udp_route *ret)
{
    int error;

    if (request->mark != 0 && setsockopt(fd, SOL_SOCKET, SO_MARK, &request->mark, sizeof request->mark) != 0)
        return errno;
    if (request->oif != 0 && setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &request->oif, sizeof request->oif) != 0)
        return errno;
    error = request->source.family == AF_UNSPEC ? 0 : udp_socket_bind(fd, &request->source, request->oif);
    if (error == 0)
        error = udp_socket_set_class(fd, AF_INET6, request->flow.traffic_class);
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

/* Opens the kept socket, unless it is open. Rules for users apply to the user who opened a socket: if that is not the
 * user of the pass, it serves one request. So does one that a BPF program of the control group has bound to a device
 * ("ip vrf exec"), which a disconnect would undo. */
static int require_kept_socket(struct rtnetlink *rtnetlink)
{
    struct stat status;
    int error;

    if (rtnetlink->user != PROCESS_USER_UNKNOWN && rtnetlink->udp_user == rtnetlink->user &&
        descriptor_is_open(&rtnetlink->udp))
        return 0;
    descriptor_close(&rtnetlink->udp);
    rtnetlink->udp_user = PROCESS_USER_UNKNOWN;
    error = udp_socket_open(rtnetlink->netns, AF_INET6, &rtnetlink->udp);
    if (error == 0 && !udp_socket_has_device(rtnetlink->udp.fd) && fstat(rtnetlink->udp.fd, &status) == 0)
        rtnetlink->udp_user = status.st_uid;
    return error;
}

/* A mark, a traffic class and an address that bind(2) set stay with a socket, and to clear a mark needs a capability:
 * a request with one has a socket of its own. The disconnect clears the port, the source and the device of the kept
 * one. */
int udp_route_find(struct rtnetlink *rtnetlink, const struct route_request *request, struct udp_route *ret)
{
    const bool keeps = request->mark == 0 && request->flow.traffic_class == 0 && request->source.family == AF_UNSPEC;
    struct descriptor own, *socket = keeps ? &rtnetlink->udp : &own;
    int error = keeps ? require_kept_socket(rtnetlink) : udp_socket_open(rtnetlink->netns, AF_INET6, &own);

    *ret = (struct udp_route){ 0 };
    if (error == 0) {
        error = connect_socket(rtnetlink, socket->fd, request, ret);
        if (!keeps || udp_socket_disconnect(socket->fd) != 0)
            descriptor_close(socket);
    }
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
