/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

/* cmocka, with the headers that it wants in front of itself. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Announces a skip as Tests/run counts it, and skips. */
#define SKIP(...) \
    do { \
        print_message("SKIP: " __VA_ARGS__); \
        print_message("\n"); \
        skip(); \
    } while (0)

#endif
