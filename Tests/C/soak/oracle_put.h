/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_ORACLE_PUT_H
#define TESTS_SOAK_ORACLE_PUT_H

/* Adds an attribute to a request of an oracle. The oracles share no code with the library, so also none with libmnl. */

#include <linux/rtnetlink.h>
#include <stddef.h>
#include <string.h>

static inline void oracle_put(struct nlmsghdr *header, unsigned short type, const void *value, size_t length)
{
    struct rtattr *attribute = (struct rtattr *)((char *)header + NLMSG_ALIGN(header->nlmsg_len));

    attribute->rta_type = type;
    attribute->rta_len = (unsigned short)RTA_LENGTH(length);
    memcpy(RTA_DATA(attribute), value, length);
    header->nlmsg_len = NLMSG_ALIGN(header->nlmsg_len) + RTA_ALIGN(attribute->rta_len);
}

#endif
