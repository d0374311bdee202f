/* SPDX-License-Identifier: MIT */
/*
 * The program of a socket filter for route messages.
 *
 * What this file must never do: drop a message that is about neither a route nor a neighbour, or a route message
 * without a destination.
 */
#ifdef __linux__
#include "pure/route_filter.h"

#include <arpa/inet.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <string.h>

enum { TYPE_OFFSET = 4, FAMILY_OFFSET = 16, PREFIX_LENGTH_OFFSET = 17, SOURCE_LENGTH_OFFSET = 18 };
enum { ROUTE_TYPE_OFFSET = 23 };
enum { ATTRIBUTES_OFFSET = 28, PAYLOAD_OFFSET = 4 };
enum { NEIGHBOUR_STATE_OFFSET = 24 };

/* Words of the filter's memory: the first 32 bits of the first address in the message's prefix, and of the last one. */
enum { FIRST, LAST };

#define PASS UINT32_MAX

static void add_jump(struct route_filter *filter, unsigned code, uint32_t k, uint8_t if_true, uint8_t if_false)
{
    filter->code[filter->length++] = (struct sock_filter)BPF_JUMP((uint16_t)code, k, if_true, if_false);
}

static void add_instruction(struct route_filter *filter, unsigned code, uint32_t k)
{
    add_jump(filter, code, k, 0, 0);
}

/* Adds a jump to where end_jump is called with the returned position. BPF_JA always jumps. Other jumps are taken if the
 * comparison is false. */
static unsigned begin_jump(struct route_filter *filter, unsigned comparison, uint32_t k)
{
    add_instruction(filter, BPF_JMP | comparison, k);
    return filter->length;
}

static void end_jump(struct route_filter *filter, unsigned position)
{
    struct sock_filter *jump = &filter->code[position - 1];
    const unsigned distance = filter->length - position;

    if (BPF_OP(jump->code) == BPF_JA)
        jump->k = distance;
    else
        jump->jf = (uint8_t)distance;
}

static void add_pass(struct route_filter *filter)
{
    add_instruction(filter, BPF_RET | BPF_K, PASS);
}

static void pass_if_equal(struct route_filter *filter, uint32_t k)
{
    const unsigned over = begin_jump(filter, BPF_JEQ, k);

    add_pass(filter);
    end_jump(filter, over);
}

/* These skip the next instruction if the loaded value is `a`, or one of two. */
static void skip_next_if(struct route_filter *filter, uint32_t a)
{
    add_jump(filter, BPF_JMP | BPF_JEQ, a, 1, 0);
}

static void skip_next_if_one_of(struct route_filter *filter, uint32_t a, uint32_t b)
{
    add_jump(filter, BPF_JMP | BPF_JEQ, a, 2, 0);
    skip_next_if(filter, b);
}

static void load_prefix_length(struct route_filter *filter)
{
    add_instruction(filter, BPF_LD | BPF_B | BPF_ABS, PREFIX_LENGTH_OFFSET);
}

static void drop(struct route_filter *filter)
{
    add_instruction(filter, BPF_RET | BPF_K, 0);
}

static void load_from_address(struct route_filter *filter, uint32_t word)
{
    add_instruction(filter, BPF_LD | BPF_W | BPF_IND, PAYLOAD_OFFSET + 4 * word);
}

/* Stores the address of an IPv6 neighbour as the first and the last address of a prefix. Loads the last word of the
 * address, of IPv4 the only one. The attributes begin where those of a route do, and NDA_DST has the number of
 * RTA_DST. */
static void load_neighbour(struct route_filter *filter)
{
    unsigned other_family, end;

    add_instruction(filter, BPF_LDX | BPF_IMM, NDA_DST);
    add_instruction(filter, BPF_LD | BPF_IMM, ATTRIBUTES_OFFSET);
    add_instruction(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_NLATTR));
    add_instruction(filter, BPF_MISC | BPF_TAX, 0);
    add_instruction(filter, BPF_LD | BPF_B | BPF_ABS, FAMILY_OFFSET);
    other_family = begin_jump(filter, BPF_JEQ, AF_INET6);
    load_from_address(filter, 0);
    add_instruction(filter, BPF_ST, FIRST);
    add_instruction(filter, BPF_ST, LAST);
    load_from_address(filter, 3);
    end = begin_jump(filter, BPF_JA, 0);
    end_jump(filter, other_family);
    skip_next_if(filter, AF_INET);
    drop(filter);
    load_from_address(filter, 0);
    end_jump(filter, end);
}

/* Other neighbours with the same last word pass, too. */
static void pass_gateways(struct route_filter *filter, const struct route_filter_gateway *gateways, size_t count,
                          bool every)
{
    for (size_t i = 0; i < count; i++) {
        const struct address *address = &gateways[i].address;
        uint32_t word;

        memcpy(&word, address->bytes + address_length(address) - sizeof word, sizeof word);
        if (gateways[i].every == every)
            pass_if_equal(filter, ntohl(word));
    }
}

/* Drops messages about neighbours, but for those of the gateways, and of IPv6 neighbours that respond. For these,
 * end_jump must be called with the returned position. */
static unsigned add_neighbours(struct route_filter *filter, const struct route_filter_gateway *gateways, size_t count)
{
    unsigned others, other_states, responding;

    add_instruction(filter, BPF_LD | BPF_IMM, 0);
    add_instruction(filter, BPF_ST, FIRST); /* the kernel wants all words to be stored on all ways */
    add_instruction(filter, BPF_ST, LAST);
    add_instruction(filter, BPF_LD | BPF_H | BPF_ABS, TYPE_OFFSET); /* BPF loads are big-endian, the header is not */
    skip_next_if_one_of(filter, htons(RTM_NEWNEIGH), htons(RTM_DELNEIGH));
    others = begin_jump(filter, BPF_JA, 0);
    if (count > ROUTE_FILTER_GATEWAYS) {
        add_pass(filter); /* all: what follows is not reached */
        count = 0;
    }
    load_neighbour(filter);
    pass_gateways(filter, gateways, count, true);
    add_instruction(filter, BPF_MISC | BPF_TAX, 0);
    add_instruction(filter, BPF_LD | BPF_H | BPF_ABS, NEIGHBOUR_STATE_OFFSET);
    skip_next_if(filter, htons(NUD_FAILED));
    other_states = begin_jump(filter, BPF_JA, 0); /* a conditional jump is not long enough */
    add_instruction(filter, BPF_MISC | BPF_TXA, 0);
    pass_gateways(filter, gateways, count, false);
    drop(filter);
    end_jump(filter, other_states);
    skip_next_if_one_of(filter, htons(NUD_STALE), htons(NUD_REACHABLE));
    drop(filter);
    add_instruction(filter, BPF_LD | BPF_B | BPF_ABS, FAMILY_OFFSET);
    skip_next_if(filter, AF_INET6);
    drop(filter);
    responding = begin_jump(filter, BPF_JA, 0);
    end_jump(filter, others);
    return responding;
}

static void pass_other_types(struct route_filter *filter)
{
    add_instruction(filter, BPF_LD | BPF_H | BPF_ABS, TYPE_OFFSET);
    skip_next_if_one_of(filter, htons(RTM_NEWROUTE), htons(RTM_DELROUTE));
    add_pass(filter);
}

/* Stores the first and the last address of the message's prefix: in the last one, the bits after the prefix are ones.
 * Passes a default route. */
static void store_range(struct route_filter *filter)
{
    load_prefix_length(filter);
    pass_if_equal(filter, 0);
    add_instruction(filter, BPF_LDX | BPF_IMM, RTA_DST);
    add_instruction(filter, BPF_LD | BPF_IMM, ATTRIBUTES_OFFSET);
    add_instruction(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_NLATTR));
    pass_if_equal(filter, 0);
    add_instruction(filter, BPF_MISC | BPF_TAX, 0);
    load_from_address(filter, 0);
    add_instruction(filter, BPF_ST, FIRST);
    load_prefix_length(filter);
    add_jump(filter, BPF_JMP | BPF_JGT, 32, 0, 1);
    add_instruction(filter, BPF_LD | BPF_IMM, 32);
    add_instruction(filter, BPF_ALU | BPF_SUB | BPF_K, 1); /* a shift by 32 is undefined */
    add_instruction(filter, BPF_MISC | BPF_TAX, 0);
    add_instruction(filter, BPF_LD | BPF_IMM, UINT32_MAX >> 1);
    add_instruction(filter, BPF_ALU | BPF_RSH | BPF_X, 0);
    add_instruction(filter, BPF_LDX | BPF_MEM, FIRST);
    add_instruction(filter, BPF_ALU | BPF_OR | BPF_X, 0);
    add_instruction(filter, BPF_ST, LAST);
}

/* Passes the message if it is about an address in one of the prefixes of the family. Else drops it. */
static void pass_prefixes(struct route_filter *filter, uint8_t family, const struct address_prefix *prefixes,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t after = prefixes[i].length >= 32 ? 0 : UINT32_MAX >> prefixes[i].length;
        uint32_t first;

        if (prefixes[i].address.family != family)
            continue;
        memcpy(&first, prefixes[i].address.bytes, sizeof first);
        first = ntohl(first) & ~after;
        add_instruction(filter, BPF_LD | BPF_MEM, FIRST);
        add_jump(filter, BPF_JMP | BPF_JGT, first | after, 3, 0);
        add_instruction(filter, BPF_LD | BPF_MEM, LAST);
        add_jump(filter, BPF_JMP | BPF_JGE, first, 0, 1);
        add_pass(filter);
    }
    drop(filter);
}

/* Passes routes with an end: see the table in watch/answers.c. */
static void pass_if_expires(struct route_filter *filter)
{
    add_instruction(filter, BPF_LDX | BPF_IMM, RTA_CACHEINFO);
    add_instruction(filter, BPF_LD | BPF_IMM, ATTRIBUTES_OFFSET);
    add_instruction(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_NLATTR));
    add_jump(filter, BPF_JMP | BPF_JEQ, 0, 4, 0);
    add_instruction(filter, BPF_MISC | BPF_TAX, 0);
    add_instruction(filter, BPF_LD | BPF_W | BPF_IND, PAYLOAD_OFFSET + offsetof(struct rta_cacheinfo, rta_expires));
    skip_next_if(filter, 0);
    add_pass(filter);
}

/* Passes multicast routes (see reach_route_is_link_multicast), source-specific ones (see kernel/dumps.h), and those
 * with an end. */
static void pass_special_ipv6(struct route_filter *filter)
{
    pass_if_expires(filter);
    add_instruction(filter, BPF_LD | BPF_B | BPF_ABS, ROUTE_TYPE_OFFSET);
    pass_if_equal(filter, RTN_MULTICAST);
    add_instruction(filter, BPF_LD | BPF_B | BPF_ABS, SOURCE_LENGTH_OFFSET);
    skip_next_if(filter, 0);
    add_pass(filter);
}

/* The rest of the program is shorter than 200 instructions. A gateway takes 2. */
_Static_assert(ADDRESS_TREE_PREFIXES * 5 + ROUTE_FILTER_GATEWAYS * 2 + 200 <=
                   sizeof((struct route_filter *)0)->code / sizeof(struct sock_filter),
               "a prefix takes 5 instructions");

void reach_route_filter_build_open(struct route_filter *ret, const struct route_filter_gateway *gateways, size_t count)
{
    unsigned responding;

    ret->length = 0;
    responding = add_neighbours(ret, gateways, count);
    end_jump(ret, responding);
    add_pass(ret);
}

void reach_route_filter_build(struct route_filter *ret, const struct route_filter_gateway *gateways,
                              size_t gateway_count, const struct address_prefix *prefixes, size_t count,
                              bool all_routes)
{
    unsigned responding, not_ipv6, ipv6;

    ret->length = 0;
    responding = add_neighbours(ret, gateways, gateway_count);
    if (all_routes) {
        add_pass(ret);
    } else {
        pass_other_types(ret);
        add_instruction(ret, BPF_LD | BPF_B | BPF_ABS, FAMILY_OFFSET);
        not_ipv6 = begin_jump(ret, BPF_JEQ, AF_INET6);
        pass_special_ipv6(ret);
        end_jump(ret, not_ipv6);
        add_instruction(ret, BPF_LD | BPF_B | BPF_ABS, FAMILY_OFFSET);
        skip_next_if_one_of(ret, AF_INET, AF_INET6);
        add_pass(ret);
        store_range(ret);
        add_instruction(ret, BPF_LD | BPF_B | BPF_ABS, FAMILY_OFFSET);
        skip_next_if(ret, AF_INET);
        ipv6 = begin_jump(ret, BPF_JA, 0);
        pass_prefixes(ret, AF_INET, prefixes, count);
        end_jump(ret, ipv6);
    }
    end_jump(ret, responding);
    pass_prefixes(ret, AF_INET6, prefixes, count);
}
#endif
