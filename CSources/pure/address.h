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

#define LINK_NAME_SIZE  16  /* bytes of a link's name, with its NUL */
#define LINK_ALIAS_SIZE 128 /* the same, of an alternative name: kernel/link_alias.h */

struct address_prefix {
    struct address address;
    uint8_t length; /* bits */
};

/* Bytes of an address: 4 for AF_INET, 16 for AF_INET6, 0 for other families. Inline, like the next functions: each
 * query uses them. */
static inline size_t address_family_length(int family)
{
    return family == AF_INET ? 4 : family == AF_INET6 ? 16 : 0;
}

/* Makes an address from bytes in network order. Its family is AF_UNSPEC if the length does not fit `family`. */
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

/* Converts a socket address. An IPv4-mapped IPv6 address becomes an IPv4 address; other families become AF_UNSPEC. */
struct address reach_address_from_sockaddr(const struct sockaddr *sockaddr, uint32_t *ret_scope);

/* Converts to a socket address with port 0. AF_UNSPEC gives a zeroed structure. */
void reach_address_to_sockaddr(const struct address *address, uint32_t scope, struct sockaddr_storage *ret);

/* The length of the socket address of a family; 0 for families other than AF_INET and AF_INET6. */
socklen_t reach_address_sockaddr_length(int family);

/* Parses a text that is an address and nothing else: IPv4 by the rules of inet_aton, IPv6 by those of inet_pton with an
 * optional %zone. A numeric zone goes to *ret_scope; *ret_zone is the place of any other in the text (NULL: there is
 * none). Returns false if the text is not an address. */
bool reach_address_parse(const char *text, struct address *ret, const char **ret_zone, uint32_t *ret_scope);

/* Writes the address as text, "none" for AF_UNSPEC. */
void reach_address_format(const struct address *address, char text[46]);

bool reach_address_is_unspecified(const struct address *address); /* 0.0.0.0 or :: */
bool reach_address_is_loopback(const struct address *address);

/* Where connect(2) leads: an unspecified address is this machine, 127.0.0.1 or ::1. For addresses from look-ups and
 * files. From a caller, an unspecified address means the default path. */
struct address reach_address_to_connect(const struct address *address);

bool reach_address_is_link_local(const struct address *address);    /* fe80::/10; IPv4 has no scopes */
bool reach_address_needs_scope(const struct address *address);      /* fe80::/10, ff01::/16, ff02::/16 */
bool reach_address_is_on_every_link(const struct address *address); /* 224.0.0.0/4, 255.255.255.255 */
bool reach_address_is_multicast(const struct address *address);
bool reach_address_equal(const struct address *a, const struct address *b);

/* The first address of a prefix: the bits of `address` after the first `length` are 0. */
struct address reach_address_truncate(const struct address *address, unsigned length);

/* Whether the families are equal, and the first `length` bits too. */
bool reach_address_in_prefix(const struct address *address, const struct address *prefix, unsigned length);

#endif
