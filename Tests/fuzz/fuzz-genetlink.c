/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer: the input is what generic netlink and sock_diag sockets receive: the families, WireGuard links and their
 * peers, Wi-Fi interfaces, UDP sockets. Its first byte chooses what the library reads.
 *
 * LINK: reach_netlink_open_requests send recvfrom explicit_bzero ioctl
 * COVERS: kernel/genetlink.c kernel/wireguard.c kernel/sock_diag.c kernel/device.c kernel/netlink.c
 */
#include <stdlib.h>

#include "kernel/device.h"
#include "kernel/genetlink.h"
#include "kernel/sock_diag.h"
#include "kernel/wireguard.h"
#include "replies.h"

static void read_wireguard(void)
{
    static const struct address destinations[] = { { AF_INET, { 198, 51, 100, 7 } }, { AF_INET6, { 0x20, 1 } }, { 0 } };
    struct wireguard wireguard = { 0 };
    const struct wireguard_link *link;
    struct tunnel tunnel;

    (void)reach_wireguard_read(&wireguard, NULL, 5);
    link = reach_wireguard_find(&wireguard, 5);
    for (size_t i = 0; link != NULL && i < sizeof destinations / sizeof destinations[0]; i++)
        (void)reach_wireguard_link_find_peer(link, &destinations[i], &tunnel);
    reach_wireguard_clear(&wireguard);
}

static void read_wifi(void)
{
    struct genetlink nl80211 = GENETLINK_CLOSED;
    bool is_wifi;

    (void)reach_genetlink_is_wifi(NULL, &nl80211, 5, &is_wifi);
    reach_genetlink_close(&nl80211);
}

static void read_sockets(void)
{
    uint32_t size;

    (void)reach_sock_diag_udp_send_buffer(NULL, 51820, &size);
}

static void read_link_type(void)
{
    struct link link;

    (void)reach_link_type_query(NULL, 5, &link);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const actions[])(void) = { read_wireguard, read_wifi, read_sockets, read_link_type };

    if (size == 0)
        return 0;
    replies_begin(data + 1, size - 1);
    actions[*data % 4]();
    return 0;
}
