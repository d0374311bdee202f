/* SPDX-License-Identifier: MIT */
/*
 * UDP sockets.
 *
 * What this file must never do: send a packet.
 */
#ifdef __linux__
#include "kernel/udp_socket.h"

#include <netinet/in.h>

#define DISCARD_PORT 9 /* no packet is sent to it; connect(2) does not accept port 0 */

int reach_udp_socket_open(const struct netns_handle *netns, int family, struct descriptor *ret)
{
    return reach_netns_handle_socket(netns, family, SOCK_DGRAM, 0, ret);
}

int reach_udp_socket_bind(int fd, const struct address *source, uint32_t scope)
{
    struct sockaddr_storage local;

    reach_address_to_sockaddr(source, scope, &local);
    return bind(fd, (const struct sockaddr *)&local, reach_address_sockaddr_length(source->family)) == 0 ? 0 : errno;
}

int reach_udp_socket_set_class(int fd, uint8_t family, uint8_t traffic_class)
{
    const int value = traffic_class;
    const int level = family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;

    if (traffic_class == 0)
        return 0;
    return setsockopt(fd, level, family == AF_INET ? IP_TOS : IPV6_TCLASS, &value, sizeof value) == 0 ? 0 : errno;
}

int reach_udp_socket_connect(int fd, const struct address *destination, uint32_t scope, uint16_t port)
{
    const uint16_t network_port = htons(port != 0 ? port : DISCARD_PORT);
    struct sockaddr_storage remote;

    reach_address_to_sockaddr(destination, scope, &remote);
    if (destination->family == AF_INET)
        ((struct sockaddr_in *)&remote)->sin_port = network_port;
    else
        ((struct sockaddr_in6 *)&remote)->sin6_port = network_port;
    return connect(fd, (const struct sockaddr *)&remote, reach_address_sockaddr_length(destination->family)) == 0
               ? 0
               : errno;
}

bool reach_udp_socket_has_device(int fd)
{
    int index = 0;
    socklen_t length = sizeof index;

    return getsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &index, &length) == 0 && index != 0;
}

int reach_udp_socket_disconnect(int fd)
{
    const struct sockaddr none = { .sa_family = AF_UNSPEC };

    return connect(fd, &none, sizeof none) == 0 ? 0 : errno;
}

int reach_udp_socket_own_address(int fd, struct address *ret)
{
    struct sockaddr_storage own;
    socklen_t length = sizeof own;
    uint32_t scope;

    if (getsockname(fd, (struct sockaddr *)&own, &length) != 0)
        return errno;
    *ret = reach_address_from_sockaddr((const struct sockaddr *)&own, &scope);
    return 0;
}
#endif
