/* SPDX-License-Identifier: MIT */
/*
 * What a connected UDP socket shows about a route request: beside the kernel's reply, or in its place.
 *
 * What this file must never do: send a packet; take the errno of a sandbox for that of a route; leave the kept socket
 * connected: it would keep its port, and the next request would get its source.
 */
#ifdef __linux__
#include "kernel/udp_route.h"

#include <linux/rtnetlink.h>
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

    if (error != 0 && !reach_path_from_error(error, false, &path))
        return false;
    if (error != EACCES || reach_udp_socket_open(rtnetlink->netns, AF_INET6, &socket) != 0)
        return true;
    refused = reach_udp_socket_connect(socket.fd, &loopback, 0, 0) == EACCES;
    reach_descriptor_close(&socket);
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
    error = request->source.family == AF_UNSPEC ? 0 : reach_udp_socket_bind(fd, &request->source, request->oif);
    if (error == 0)
        error = reach_udp_socket_set_class(fd, AF_INET6, request->flow.traffic_class);
    if (error != 0)
        return error;
    ret->error = reach_udp_socket_connect(fd, &request->destination, request->oif, request->flow.remote_port);
    if (ret->error == 0)
        error = reach_udp_socket_own_address(fd, &ret->source);
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
    reach_descriptor_close(&rtnetlink->udp);
    rtnetlink->udp_user = PROCESS_USER_UNKNOWN;
    error = reach_udp_socket_open(rtnetlink->netns, AF_INET6, &rtnetlink->udp);
    if (error == 0 && !reach_udp_socket_has_device(rtnetlink->udp.fd) && fstat(rtnetlink->udp.fd, &status) == 0)
        rtnetlink->udp_user = status.st_uid;
    return error;
}

/* A mark, a traffic class and an address that bind(2) set stay with a socket, and to clear a mark needs a capability:
 * a request with one has a socket of its own. The disconnect clears the port, the source and the device of the kept
 * one. */
int reach_udp_route_find(struct rtnetlink *rtnetlink, const struct route_request *request, struct udp_route *ret)
{
    const bool keeps = request->mark == 0 && request->flow.traffic_class == 0 && request->source.family == AF_UNSPEC;
    struct descriptor own, *socket = keeps ? &rtnetlink->udp : &own;
    int error = keeps ? require_kept_socket(rtnetlink) : reach_udp_socket_open(rtnetlink->netns, AF_INET6, &own);

    *ret = (struct udp_route){ 0 };
    if (error == 0) {
        error = connect_socket(rtnetlink, socket->fd, request, ret);
        if (!keeps || reach_udp_socket_disconnect(socket->fd) != 0)
            reach_descriptor_close(socket);
    }
    return udp_socket_lacks_resources(error) ? error : 0;
}

int reach_udp_route_choose_source(struct rtnetlink *rtnetlink, const struct route_request *request, struct address *ret)
{
    struct udp_route route = { 0 };
    int error = 0;

    if (reach_source_routes_find(rtnetlink) != SOURCE_ROUTES_NONE)
        error = reach_udp_route_find(rtnetlink, request, &route);
    *ret = route.source;
    return error;
}

/* ---- In place of netlink ---------------------------------------------------------------------------------------- */

/* To bind to an interface needs no privilege since Linux 5.7. If a sandbox refuses to bind to the address, which is
 * known to be local, the result ignores rules for the source. */
static int prepare_socket(struct rtnetlink *rtnetlink, int fd, const struct route_request *request)
{
    const struct link *link;
    int error;

    if (request->mark != 0 && setsockopt(fd, SOL_SOCKET, SO_MARK, &request->mark, sizeof request->mark) != 0)
        return errno;
    (void)reach_udp_socket_set_class(fd, request->destination.family, request->flow.traffic_class);
    if (request->oif != 0) {
        error = reach_rtnetlink_link(rtnetlink, request->oif, &link);
        if (error != 0 || link == NULL)
            return error != 0 ? error : ENODEV;
        if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, link->name, (socklen_t)strlen(link->name)) != 0 &&
            (errno != EPERM || !reach_address_needs_scope(&request->destination))) /* connect(2) gets the scope, too */
            return errno;
    }
    if (request->source.family != AF_UNSPEC)
        (void)reach_udp_socket_bind(fd, &request->source, request->oif);
    return 0;
}

/* connect(2) returns EACCES for a broadcast address without SO_BROADCAST. */
static int connect_like(int fd, const struct route_request *request, struct route *route)
{
    const struct address *const to = &request->destination;
    const int one = 1;
    int error = reach_udp_socket_connect(fd, to, request->oif, request->flow.remote_port);

    route->type = reach_address_is_multicast(to) ? RTN_MULTICAST : RTN_UNICAST;
    if (error == EACCES && setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof one) == 0) {
        error = reach_udp_socket_connect(fd, to, request->oif, request->flow.remote_port);
        route->type = RTN_BROADCAST;
    }
    if (error == EPERM) /* a BPF program of the control group refuses */
        return EACCES;
    if (error == EINVAL && request->oif == 0 && reach_address_needs_scope(to)) /* multicast without its scope */
        return ENETUNREACH;
    return error == 0 ? reach_udp_socket_own_address(fd, &route->source) : error;
}

/* Whether an address belongs to this machine. For a local destination the kernel uses the same address as source,
 * except for some IPv4 addresses: a second address in a subnet, and 127.0.0.2. A socket that is bound to one of these
 * can connect to it. With the sysctl ip_nonlocal_bind, any address can be bound, but connect(2) refuses others. Returns
 * 0 or an errno. */
static int check_local_address(const struct netns_handle *netns, const struct address *address, uint32_t scope,
                               bool *ret)
{
    struct address own = { 0 };
    struct descriptor socket;
    int error = reach_udp_socket_open(netns, address->family, &socket);

    if (error != 0)
        return error;
    if (address->family == AF_INET)
        error = reach_udp_socket_bind(socket.fd, address, 0);
    if (!udp_socket_lacks_resources(error)) {
        error = 0;
        if (reach_udp_socket_connect(socket.fd, address, scope, 0) == 0)
            error = reach_udp_socket_own_address(socket.fd, &own);
    }
    *ret = reach_address_equal(&own, address);
    reach_descriptor_close(&socket);
    return error;
}

static int query_udp(struct rtnetlink *rtnetlink, const struct route_request *request, struct route *ret)
{
    const struct address *const to = &request->destination;
    struct route route = { .family = to->family, .oif = request->oif };
    bool is_local = reach_address_is_loopback(to);
    struct descriptor socket;
    int error = reach_udp_socket_open(rtnetlink->netns, to->family, &socket);

    if (error != 0)
        return error == EACCES ? kSCStatusAccessError : error; /* that is not the errno of a route */
    error = prepare_socket(rtnetlink, socket.fd, request);
    if (error == 0)
        error = connect_like(socket.fd, request, &route);
    reach_descriptor_close(&socket);
    is_local = is_local || (request->source.family == AF_UNSPEC && reach_address_equal(&route.source, to));
    if (error == 0 && route.type == RTN_UNICAST && !is_local)
        error = check_local_address(rtnetlink->netns, to, request->oif, &is_local);
    if (error != 0)
        return error;
    if (is_local && route.type == RTN_UNICAST) {
        route.type = RTN_LOCAL;
        route.table = RT_TABLE_LOCAL;
        route.prefix_length = to->family == AF_INET ? 32 : 128;
    }
    *ret = route;
    return 0;
}

int reach_udp_route_open(struct rtnetlink *ret, const struct netns_handle *netns)
{
    int error;

    *ret = RTNETLINK_CLOSED;
    ret->netns = netns;
    ret->query_udp = query_udp;
    ret->groups_refused = true;
    ret->source_routes = SOURCE_ROUTES_NONE; /* the socket's packets use them */
    error = reach_udp_socket_open(netns, AF_INET, &ret->requests.socket);
    return error == EAFNOSUPPORT ? reach_udp_socket_open(netns, AF_INET6, &ret->requests.socket) : error;
}
#endif
