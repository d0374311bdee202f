/* SPDX-License-Identifier: MIT */
#ifndef TESTS_LITERAL_H
#define TESTS_LITERAL_H

/* Addresses in tables. */

#include "pure/address.h"
#include "support/unit.h"

/* The address of a literal. NULL: no address. */
static inline struct address make(const char *text)
{
    struct address address = { 0 };
    char           zone[16];
    uint32_t       scope;

    if (text != NULL && !address_parse(text, &address, zone, &scope))
        fail_msg("%s is no address", text);
    return address;
}

#endif
