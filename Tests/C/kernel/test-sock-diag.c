/* SPDX-License-Identifier: MIT */
/* The send buffers of UDP sockets, by sock_diag(7). */
#include "kernel/sock_diag.h"
#include "support/test.h"

#define PORT 51820

/* The kernel doubles it. */
static int open_bound(int family, const char *address, int port, int send_buffer)
{
    const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1;
    struct sockaddr_storage own = expect_sockaddr(address);

    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer), 0);
    if (family == AF_INET6)
        assert_int_equal(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one), 0);
    ((struct sockaddr_in *)&own)->sin_port = htons((uint16_t)port); /* sin6_port is in the same place */
    assert_int_equal(bind(fd, (struct sockaddr *)&own, family == AF_INET ? 16 : 28), 0);
    return fd;
}

static uint32_t send_buffer_of(uint16_t port)
{
    uint32_t size = 7;

    assert_int_equal(reach_sock_diag_udp_send_buffer(NULL, port, &size), 0);
    return size;
}

TEST(the_socket_of_a_port_is_found)
{
    namespace_require_lo();
    int fd = open_bound(AF_INET, "0.0.0.0", PORT, 50000);
    if (send_buffer_of(PORT) == 0)
        SKIP("this kernel has no udp_diag");
    int other = open_bound(AF_INET, "0.0.0.0", PORT + 1, 60000);
    assert_int_equal(send_buffer_of(PORT), 100000);
    assert_int_equal(send_buffer_of(PORT + 1), 120000);
    assert_int_equal(send_buffer_of(PORT + 2), 0);
    close(fd);
    assert_int_equal(send_buffer_of(PORT), 0);
    int ipv6 = open_bound(AF_INET6, "::", PORT, 50000);
    assert_int_equal(send_buffer_of(PORT), 0);
    close(ipv6);
    close(other);
}

TEST(a_socket_of_another_namespace_is_not_found)
{
    namespace_require_lo();
    int fd = open_bound(AF_INET, "0.0.0.0", PORT, 50000);
    assert_true(namespace_enter());
    assert_int_equal(send_buffer_of(PORT), 0);
    close(fd);
}

/* A program can come close to the send buffer of WireGuard's sockets, and not reach it. */
TEST(a_program_cannot_have_the_largest_send_buffer)
{
    const int size = INT32_MAX;

    namespace_require_lo();
    int fd = open_bound(AF_INET, "0.0.0.0", PORT, INT32_MAX);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size);
    assert_true(send_buffer_of(PORT) < INT32_MAX);
    close(fd);
}
