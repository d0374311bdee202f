/* SPDX-License-Identifier: MIT */
#ifndef TESTS_NOTES_H
#define TESTS_NOTES_H

/* A trivial database of a test's own, as pppd keeps one. */

#include <stddef.h>
#include <stdint.h>

struct notes {
    size_t   length;
    uint32_t bytes[1024];
};

/* None yet, in this many chains. */
void notes_begin(struct notes *notes, uint32_t chains);

/* Adds a record at the head of a chain; the value ends with its NUL. Returns where it lies, in bytes. */
uint32_t notes_add(struct notes *notes, uint32_t chain, const char *key, const char *value);

#endif
