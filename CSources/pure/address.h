/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ADDRESS_H
#define REACHABILITY_ADDRESS_H

/* IP addresses as values. Pure: no system call, no clock, no global. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

struct address {
    uint8_t family; /* AF_INET, AF_INET6, or AF_UNSPEC: none */
    uint8_t bytes[16];
};

/* Bytes of an address: 4, 16, or 0 for a family that is not ours. In line, as the next ones: they are part of each
 * question. */
static inline size_t address_family_length(int family)
{
    return family == AF_INET ? 4 : family == AF_INET6 ? 16 : 0;
}

/* From a family and bytes in network order; AF_UNSPEC when the length does not fit the family. */
static inline void address_set(struct address *ret, uint8_t family, const void *bytes, size_t length)
{
    ret->family = AF_UNSPEC;
    memset(ret->bytes, 0, sizeof ret->bytes);
    if (family == AF_INET && length == 4) {
        ret->family = AF_INET;
        memcpy(ret->bytes, bytes, 4);
    } else if (family == AF_INET6 && length == 16) {
        ret->family = AF_INET6;
        memcpy(ret->bytes, bytes, 16);
    }
}

static inline struct address address_make(uint8_t family, const void *bytes, size_t length)
{
    struct address address;

    address_set(&address, family, bytes, length);
    return address;
}

static inline size_t address_length(const struct address *address)
{
    return address_family_length(address->family);
}

/* From a socket address. An IPv4-mapped IPv6 address comes out as IPv4. AF_UNSPEC: another family. */
struct address address_from_sockaddr(const struct sockaddr *sockaddr, uint32_t *ret_scope);

/* With port 0. A family of AF_UNSPEC gives a zeroed structure. */
void address_to_sockaddr(const struct address *address, uint32_t scope, struct sockaddr_storage *ret);

/* The length of the socket address of a family, 0 for one that is not ours. */
socklen_t address_sockaddr_length(int family);

/* An address literal, whole: IPv4 by inet_aton's rules, IPv6 by inet_pton with an optional %zone. A zone is written to
 * ret_zone (16 bytes, "" for none), a numeric one to ret_scope. False: it is none. */
bool address_parse(const char *text, struct address *ret, char ret_zone[16], uint32_t *ret_scope);

/* At most 46 bytes with the NUL. */
void address_format(const struct address *address, char text[46]);

bool address_is_unspecified(const struct address *address); /* 0.0.0.0 or :: */
bool address_is_loopback(const struct address *address);
bool address_is_link_local(const struct address *address);    /* fe80::/10; IPv4 has no scopes */
bool address_is_of_link(const struct address *address);       /* fe80::/10, ff01::/16, ff02::/16: a scope says which */
bool address_is_on_every_link(const struct address *address); /* 224.0.0.0/24, 255.255.255.255 */
bool address_is_multicast(const struct address *address);
bool address_equal(const struct address *a, const struct address *b);

/* Whether the first `length` bits of `prefix` are those of the address, families being equal. */
bool address_in_prefix(const struct address *address, const struct address *prefix, unsigned length);

#endif
