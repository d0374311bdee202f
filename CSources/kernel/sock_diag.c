/* SPDX-License-Identifier: MIT */
/*
 * Queries of sock_diag(7).
 *
 * What this file must never do: dump all sockets, of which there may be a million. A query for one port finds its
 * socket by the kernel's hash table.
 */
#ifdef __linux__
#include "kernel/sock_diag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "kernel/netlink.h"
#include "pure/attribute.h"

#define DIAG_REQUEST_SIZE 128 /* bytes; more than enough for the one request */

static struct nlmsghdr *put_udp_query(void *buffer, uint16_t port)
{
    struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
    struct inet_diag_req_v2 *request = mnl_nlmsg_put_extra_header(header, sizeof *request);

    header->nlmsg_type = SOCK_DIAG_BY_FAMILY;
    header->nlmsg_flags = NLM_F_REQUEST;
    request->sdiag_family = AF_INET;
    request->sdiag_protocol = IPPROTO_UDP;
    request->idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1);
    request->idiag_states = ~0u;
    /* A query for one UDP socket has its source and destination swapped: udp_dump_one in the kernel. */
    request->id.idiag_dport = htons(port);
    request->id.idiag_cookie[0] = request->id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    return header;
}

static void parse_socket(void *info, const struct nlmsghdr *message)
{
    struct attribute_walk walk = attribute_walk_message(message, sizeof(struct inet_diag_msg));
    const size_t offset = SK_MEMINFO_SNDBUF * sizeof(uint32_t);
    struct attribute attribute;

    while (attribute_next(&walk, &attribute))
        if (attribute.type == INET_DIAG_SKMEMINFO && attribute.length >= offset + sizeof(uint32_t))
            memcpy(info, (const char *)attribute.payload + offset, sizeof(uint32_t));
}

int reach_sock_diag_udp_send_buffer(const struct netns_handle *netns, uint16_t port, uint32_t *ret)
{
    _Alignas(struct nlmsghdr) char request[DIAG_REQUEST_SIZE];
    struct netlink netlink = NETLINK_CLOSED;
    void *buffer = malloc(NETLINK_BUFFER_SIZE);
    uint32_t size = 0;
    int error = buffer == NULL ? ENOMEM : reach_netlink_open_requests(netns, NETLINK_SOCK_DIAG, &netlink);

    if (error == 0)
        error = reach_netlink_exchange(&netlink, put_udp_query(request, port), buffer, parse_socket, &size);
    reach_netlink_close(&netlink);
    free(buffer);
    /* ENOENT: no such socket, or no module for UDP. EINVAL: an old kernel. */
    if (error != 0 && error != ENOENT && error != EINVAL && !netlink_is_withheld(reach_netlink_denial(error)))
        return error;
    *ret = error == 0 ? size : 0;
    return 0;
}
#endif
