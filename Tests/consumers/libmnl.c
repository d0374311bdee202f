/* SPDX-License-Identifier: MIT */
/* The functions of libmnl that the library calls, for a C library for which there is no libmnl. They write and walk
 * netlink messages in memory; libmnl.h says what each does. */
#include <libmnl/libmnl.h>
#include <string.h>

static void *append(struct nlmsghdr *header, size_t size)
{
    void *place = (char *)header + NLMSG_ALIGN(header->nlmsg_len);

    memset(place, 0, NLMSG_ALIGN(size));
    header->nlmsg_len = (uint32_t)(NLMSG_ALIGN(header->nlmsg_len) + NLMSG_ALIGN(size));
    return place;
}

struct nlmsghdr *mnl_nlmsg_put_header(void *buffer)
{
    struct nlmsghdr *header = buffer;

    memset(header, 0, NLMSG_HDRLEN);
    header->nlmsg_len = NLMSG_HDRLEN;
    return header;
}

void *mnl_nlmsg_put_extra_header(struct nlmsghdr *header, size_t size)
{
    return append(header, size);
}

bool mnl_nlmsg_ok(const struct nlmsghdr *header, int length)
{
    return length >= (int)sizeof *header && header->nlmsg_len >= sizeof *header && (int)header->nlmsg_len <= length;
}

struct nlmsghdr *mnl_nlmsg_next(const struct nlmsghdr *header, int *length)
{
    *length -= (int)NLMSG_ALIGN(header->nlmsg_len);
    return (struct nlmsghdr *)((char *)header + NLMSG_ALIGN(header->nlmsg_len));
}

void mnl_attr_put(struct nlmsghdr *header, uint16_t type, size_t size, const void *bytes)
{
    struct nlattr *attribute = append(header, NLA_HDRLEN + size);

    attribute->nla_type = type;
    attribute->nla_len = (uint16_t)(NLA_HDRLEN + size);
    memcpy((char *)attribute + NLA_HDRLEN, bytes, size);
}

void mnl_attr_put_u32(struct nlmsghdr *header, uint16_t type, uint32_t value)
{
    mnl_attr_put(header, type, sizeof value, &value);
}

struct nlattr *mnl_attr_nest_start(struct nlmsghdr *header, uint16_t type)
{
    struct nlattr *nest = append(header, NLA_HDRLEN);

    nest->nla_type = NLA_F_NESTED | type;
    return nest;
}

void mnl_attr_nest_end(struct nlmsghdr *header, struct nlattr *nest)
{
    nest->nla_len = (uint16_t)((char *)header + NLMSG_ALIGN(header->nlmsg_len) - (char *)nest);
}
