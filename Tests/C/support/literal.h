/* SPDX-License-Identifier: MIT */
#ifndef TESTS_LITERAL_H
#define TESTS_LITERAL_H

/* Addresses for tests. */

#include <stdlib.h>

#include "pure/address.h"
#include "support/unit.h"

/* The address of a literal. NULL: no address. */
static inline struct address make(const char *text)
{
    struct address address = { 0 };
    const char *zone;
    uint32_t scope;

    if (text != NULL && !reach_address_parse(text, &address, &zone, &scope))
        fail_msg("%s is no address", text);
    return address;
}

/* A random address with few set bits, so that equal addresses and long common prefixes are frequent. */
static inline struct address make_random(void)
{
    struct address address = { .family = random() % 2 != 0 ? AF_INET : AF_INET6 };

    for (size_t i = 0; i < address_length(&address); i++)
        if (random() % 4 == 0)
            address.bytes[i] = (uint8_t)(1u << random() % 8);
    return address;
}

#endif
