/* SPDX-License-Identifier: MIT */
/*
 * Conversions and classes of IP addresses.
 */
#ifdef __linux__
#include "pure/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

struct address reach_address_from_sockaddr(const struct sockaddr *sockaddr, uint32_t *ret_scope)
{
    *ret_scope = 0;
    if (sockaddr->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, sockaddr, sizeof in);
        return address_make(AF_INET, &in.sin_addr, 4);
    }
    if (sockaddr->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, sockaddr, sizeof in6);
        if (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr))
            return address_make(AF_INET, in6.sin6_addr.s6_addr + 12, 4);
        *ret_scope = in6.sin6_scope_id;
        return address_make(AF_INET6, &in6.sin6_addr, 16);
    }
    return (struct address){ 0 };
}

void reach_address_to_sockaddr(const struct address *address, uint32_t scope, struct sockaddr_storage *ret)
{
    memset(ret, 0, sizeof *ret);
    if (address->family == AF_INET) {
        struct sockaddr_in in = { .sin_family = AF_INET };

        memcpy(&in.sin_addr, address->bytes, 4);
        memcpy(ret, &in, sizeof in);
    } else if (address->family == AF_INET6) {
        struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

        memcpy(&in6.sin6_addr, address->bytes, 16);
        if (reach_address_needs_scope(address))
            in6.sin6_scope_id = scope;
        memcpy(ret, &in6, sizeof in6);
    }
}

socklen_t reach_address_sockaddr_length(int family)
{
    return family == AF_INET    ? (socklen_t)sizeof(struct sockaddr_in)
           : family == AF_INET6 ? (socklen_t)sizeof(struct sockaddr_in6)
                                : 0;
}

/* A zone is an interface index if it is a number, else an interface name. */
static bool parse_zone(const char *zone, const char **ret_zone, uint32_t *ret_scope)
{
    const size_t length = strlen(zone);
    unsigned long long number;

    if (length == 0)
        return false;
    if (strspn(zone, "0123456789") == length) {
        if (length > 10 || (number = strtoull(zone, NULL, 10)) > UINT32_MAX)
            return false;
        *ret_scope = (uint32_t)number;
        return true;
    }
    if (length >= LINK_ALIAS_SIZE)
        return false;
    *ret_zone = zone;
    return true;
}

bool reach_address_parse(const char *text, struct address *ret, const char **ret_zone, uint32_t *ret_scope)
{
    char buffer[INET6_ADDRSTRLEN];
    const char *zone = strchr(text, '%');
    const size_t length = zone == NULL ? strlen(text) : (size_t)(zone - text);
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
    struct in_addr in;
    uint32_t scope = 0;

    *ret_zone = NULL;
    *ret_scope = 0;
    /* inet_aton ignores the rest of the text after white space. */
    if (strpbrk(text, " \t\n\v\f\r") != NULL)
        return false;
    if (inet_aton(text, &in) != 0) {
        *ret = address_make(AF_INET, &in, 4);
        return true;
    }
    if (length >= sizeof buffer)
        return false;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    if (inet_pton(AF_INET6, buffer, &in6.sin6_addr) != 1)
        return false;
    if (zone != NULL && !parse_zone(zone + 1, ret_zone, &scope))
        return false;
    *ret = reach_address_from_sockaddr((const struct sockaddr *)&in6, ret_scope);
    *ret_scope = scope;
    return true;
}

void reach_address_format(const struct address *address, char text[46])
{
    if (address->family == AF_UNSPEC || inet_ntop(address->family, address->bytes, text, 46) == NULL)
        memcpy(text, "none", 5);
}

bool reach_address_is_unspecified(const struct address *address)
{
    static const uint8_t zero[16];

    return address->family != AF_UNSPEC && memcmp(address->bytes, zero, 16) == 0;
}

bool reach_address_is_loopback(const struct address *address)
{
    static const uint8_t one[16] = { [15] = 1 };

    return address->family == AF_INET ? address->bytes[0] == 127
                                      : address->family == AF_INET6 && memcmp(address->bytes, one, 16) == 0;
}

struct address reach_address_to_connect(const struct address *address)
{
    static const struct address ipv4 = { AF_INET, { 127, 0, 0, 1 } }, ipv6 = { AF_INET6, { [15] = 1 } };

    if (!reach_address_is_unspecified(address))
        return *address;
    return address->family == AF_INET ? ipv4 : ipv6;
}

bool reach_address_is_link_local(const struct address *address)
{
    return address->family == AF_INET6 && address->bytes[0] == 0xfe && (address->bytes[1] & 0xc0) == 0x80;
}

bool reach_address_needs_scope(const struct address *address)
{
    const unsigned multicast_scope = address->bytes[1] & 0x0f;

    return reach_address_is_link_local(address) ||
           (address->family == AF_INET6 && address->bytes[0] == 0xff && (multicast_scope == 1 || multicast_scope == 2));
}

bool reach_address_is_on_every_link(const struct address *address)
{
    static const uint8_t broadcast[4] = { 255, 255, 255, 255 };

    return address->family == AF_INET &&
           (reach_address_is_multicast(address) || memcmp(address->bytes, broadcast, sizeof broadcast) == 0);
}

bool reach_address_is_multicast(const struct address *address)
{
    return address->family == AF_INET ? (address->bytes[0] & 0xf0) == 0xe0
                                      : address->family == AF_INET6 && address->bytes[0] == 0xff;
}

bool reach_address_equal(const struct address *a, const struct address *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

bool reach_address_in_prefix(const struct address *address, const struct address *prefix, unsigned length)
{
    const unsigned whole = length / 8, rest = length % 8;

    if (address->family != prefix->family || length > address_length(address) * 8)
        return false;
    if (memcmp(address->bytes, prefix->bytes, whole) != 0)
        return false;
    return rest == 0 || ((address->bytes[whole] ^ prefix->bytes[whole]) >> (8 - rest)) == 0;
}

struct address reach_address_truncate(const struct address *address, unsigned length)
{
    struct address first = *address;

    for (unsigned i = 0; i < sizeof first.bytes; i++)
        if (i * 8 >= length)
            first.bytes[i] = 0;
        else if (length - i * 8 < 8)
            first.bytes[i] &= (uint8_t)(0xff00u >> (length - i * 8));
    return first;
}
#endif
