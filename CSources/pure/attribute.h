/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ATTRIBUTE_H
#define REACHABILITY_ATTRIBUTE_H

/*
 * Readers for the attributes of netlink messages. They are inline and do not call libmnl: reading attributes is a large
 * part of the time that a query takes in user space. All code reads attributes through these functions, which check
 * every length.
 */

#include <linux/netlink.h>
#include <string.h>

#include "pure/address.h"

/* The attributes that are not read yet. */
struct attribute_walk {
    const char *next;
    size_t left;
};

struct attribute {
    uint16_t type;
    const void *payload;
    size_t length;
};

/* Reads the next attribute. False: there is no whole attribute left. */
static inline bool attribute_next(struct attribute_walk *walk, struct attribute *ret)
{
    struct nlattr header;
    size_t step;

    if (walk->left < sizeof header)
        return false;
    memcpy(&header, walk->next, sizeof header);
    if (header.nla_len < sizeof header || header.nla_len > walk->left)
        return false;
    *ret = (struct attribute){ .type = (uint16_t)(header.nla_type & NLA_TYPE_MASK),
                               .payload = walk->next + sizeof header,
                               .length = header.nla_len - sizeof header };
    step = NLA_ALIGN((size_t)header.nla_len);
    if (step > walk->left)
        step = walk->left;
    walk->next += step;
    walk->left -= step;
    return true;
}

/* Whether the message has room for the header of its type, of `own` bytes (struct rtmsg, for example). */
static inline bool message_has(const struct nlmsghdr *message, size_t own)
{
    return message->nlmsg_len >= NLMSG_HDRLEN + own;
}

/* The attributes of a message, which follow the header of its type. */
static inline struct attribute_walk attribute_walk_message(const struct nlmsghdr *message, size_t own)
{
    const size_t skipped = NLMSG_HDRLEN + NLMSG_ALIGN(own);

    return (struct attribute_walk){ .next = (const char *)message + skipped,
                                    .left = message->nlmsg_len > skipped ? message->nlmsg_len - skipped : 0 };
}

static inline struct attribute_walk attribute_walk_nest(const struct attribute *nest)
{
    return (struct attribute_walk){ .next = nest->payload, .left = nest->length };
}

/* Sets table[type] for the attributes whose type is in the table, an array; of several with one type, to the last. The
 * others have no payload. */
#define attributes_parse(walk, table) attributes_parse_some(walk, table, sizeof(table) / sizeof *(table))
static inline void attributes_parse_some(struct attribute_walk walk, struct attribute *table, size_t count)
{
    struct attribute attribute;

    memset(table, 0, count * sizeof *table);
    while (attribute_next(&walk, &attribute))
        if (attribute.type < count)
            table[attribute.type] = attribute;
}

static inline bool attribute_u16(const struct attribute *attribute, uint16_t *ret)
{
    if (attribute->length != sizeof *ret)
        return false;
    memcpy(ret, attribute->payload, sizeof *ret);
    return true;
}

static inline bool attribute_u32(const struct attribute *attribute, uint32_t *ret)
{
    if (attribute->length != sizeof *ret)
        return false;
    memcpy(ret, attribute->payload, sizeof *ret);
    return true;
}

/* Returns the number; 0: there is none. */
static inline uint32_t attribute_number(const struct attribute *attribute)
{
    uint32_t number = 0;

    (void)attribute_u32(attribute, &number);
    return number;
}

/* Reads a name of 1 to 15 bytes, with or without a NUL. */
static inline bool attribute_name(const struct attribute *attribute, char ret[16])
{
    const size_t length = attribute->payload == NULL ? 0 : strnlen(attribute->payload, attribute->length);

    if (length == 0 || length > 15)
        return false;
    memset(ret, 0, 16);
    memcpy(ret, attribute->payload, length);
    return true;
}

static inline bool attribute_address(const struct attribute *attribute, uint8_t family, struct address *ret)
{
    address_set(ret, family, attribute->payload, attribute->length);
    return ret->family != AF_UNSPEC;
}

/* The length of the attribute decides the family. */
static inline bool attribute_any_address(const struct attribute *attribute, struct address *ret)
{
    return attribute_address(attribute, attribute->length == 4 ? AF_INET : AF_INET6, ret);
}

#endif
