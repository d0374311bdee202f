/* SPDX-License-Identifier: MIT */
#ifndef TESTS_NOTES_H
#define TESTS_NOTES_H

/* Builds a trivial database as pppd writes it. */

#include <stddef.h>
#include <stdint.h>

struct notes {
    size_t length;
    uint32_t bytes[1024];
};

/* An empty database with this many chains. */
void notes_begin(struct notes *notes, uint32_t chains);

/* Adds a record at the head of a chain; the value includes its NUL. Returns the offset of the record in bytes. */
uint32_t notes_add(struct notes *notes, uint32_t chain, const char *key, const char *value);

#endif
