/* SPDX-License-Identifier: MIT */
#include "support/router.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "support/namespace.h"
#include "support/time_limit.h"
#include "support/unit.h"
#include "support/watcher.h"

#define TIME_LIMIT       20.0 /* seconds */
#define HOP_LIMIT        255  /* of every advertisement: it was not forwarded */
#define PREFIX_BITS      64
#define OPTION_ROUTE     24 /* route information: see RFC 4191 */
#define ROUTE_OPTION_LEN 3  /* in units of 8 bytes */

struct route_option {
    uint8_t type, length, prefix_length, preference;
    uint32_t lifetime;
    struct in6_addr prefix;
};

static void close_descriptor(void *fd)
{
    close((int)(intptr_t)fd);
}

static void set_sysctl(const char *interface, const char *name, const char *value)
{
    char path[80];

    snprintf(path, sizeof path, "net.ipv6.conf.%s.%s", interface, name);
    namespace_sysctl(path, value);
}

int router_start(struct router *ret, const char *interface, const char *other)
{
    const int hops = HOP_LIMIT;

    set_sysctl(interface, "accept_ra", "0");
    set_sysctl(other, "accept_ra", "2");
    set_sysctl(other, "accept_ra_rt_info_max_plen", "64");
    ret->index = if_nametoindex(interface);
    ret->fd = socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6);
    return ret->fd < 0 || setsockopt(ret->fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hops, sizeof hops) != 0 ? errno : 0;
}

void router_open(struct router *ret, const char *interface, const char *other)
{
    unit_check(router_start(ret, interface, other), "router");
    unit_defer(close_descriptor, (void *)(intptr_t)ret->fd);
}

static size_t put_prefix(char *buffer, const char *prefix, unsigned lifetime)
{
    struct nd_opt_prefix_info option = { .nd_opt_pi_type = ND_OPT_PREFIX_INFORMATION,
                                         .nd_opt_pi_len = sizeof option / 8,
                                         .nd_opt_pi_prefix_len = PREFIX_BITS,
                                         .nd_opt_pi_flags_reserved = ND_OPT_PI_FLAG_ONLINK,
                                         .nd_opt_pi_valid_time = htonl(lifetime),
                                         .nd_opt_pi_preferred_time = htonl(lifetime) };

    if (prefix == NULL)
        return 0;
    assert_int_equal(inet_pton(AF_INET6, prefix, &option.nd_opt_pi_prefix), 1);
    memcpy(buffer, &option, sizeof option);
    return sizeof option;
}

static size_t put_route(char *buffer, const struct router_advertisement *advertisement)
{
    struct route_option option = { .type = OPTION_ROUTE,
                                   .length = ROUTE_OPTION_LEN,
                                   .prefix_length = PREFIX_BITS,
                                   .preference = (uint8_t)(advertisement->route_preference << 3),
                                   .lifetime = htonl(advertisement->route_lifetime) };

    if (advertisement->route == NULL)
        return 0;
    assert_int_equal(inet_pton(AF_INET6, advertisement->route, &option.prefix), 1);
    memcpy(buffer, &option, sizeof option);
    return sizeof option;
}

int router_send(const struct router *router, const struct router_advertisement *advertisement)
{
    struct nd_router_advert header = { .nd_ra_type = ND_ROUTER_ADVERT };
    struct sockaddr_in6 all_nodes = { .sin6_family = AF_INET6, .sin6_scope_id = router->index };
    char packet[128];
    size_t length = sizeof header;

    header.nd_ra_router_lifetime = htons((uint16_t)advertisement->router_lifetime);
    memcpy(packet, &header, sizeof header);
    length += put_prefix(packet + length, advertisement->prefix, advertisement->prefix_lifetime);
    length += put_route(packet + length, advertisement);
    assert_int_equal(inet_pton(AF_INET6, "ff02::1", &all_nodes.sin6_addr), 1);
    return sendto(router->fd, packet, length, 0, (struct sockaddr *)&all_nodes, sizeof all_nodes) < 0 ? errno : 0;
}

void router_advertise(const struct router *router, const struct router_advertisement *advertisement)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT);
    int error;

    do
        error = router_send(router, advertisement);
    while (error == ENETUNREACH && watcher_now() < end); /* the link gets IPv6 a moment after its carrier */
    unit_check(error, "router advertisement");
}

int router_send_redirect(const struct router *router, const char *source, const char *address)
{
    struct nd_redirect packet = { .nd_rd_type = ND_REDIRECT };
    struct sockaddr_in6 own = { .sin6_family = AF_INET6, .sin6_scope_id = router->index }, all_nodes = own;

    assert_int_equal(inet_pton(AF_INET6, source, &own.sin6_addr), 1);
    assert_int_equal(inet_pton(AF_INET6, "ff02::1", &all_nodes.sin6_addr), 1);
    assert_int_equal(inet_pton(AF_INET6, address, &packet.nd_rd_target), 1);
    packet.nd_rd_dst = packet.nd_rd_target;
    if (bind(router->fd, (struct sockaddr *)&own, sizeof own) != 0)
        return errno;
    return sendto(router->fd, &packet, sizeof packet, 0, (struct sockaddr *)&all_nodes, sizeof all_nodes) < 0 ? errno
                                                                                                              : 0;
}

void router_redirect(const struct router *router, const char *source, const char *address)
{
    unit_check(router_send_redirect(router, source, address), "redirect");
}
