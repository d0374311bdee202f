/* SPDX-License-Identifier: MIT */
#include "support/notes.h"

#include "support/unit.h"

enum { CHAINS = 9, FIRST_CHAIN = 43, IN_USE = 0x26011999 };

void notes_begin(struct notes *notes, uint32_t chains)
{
    memset(notes, 0, sizeof *notes);
    memcpy(notes->bytes, "TDB file\n", 9);
    notes->bytes[CHAINS] = chains;
    notes->length = (FIRST_CHAIN + chains) * sizeof notes->bytes[0];
}

uint32_t notes_add(struct notes *notes, uint32_t chain, const char *key, const char *value)
{
    const uint32_t place = (uint32_t)notes->length, key_length = (uint32_t)strlen(key);
    const uint32_t value_length = (uint32_t)strlen(value) + 1, size = (key_length + value_length + 3) / 4 * 4;
    const uint32_t head[] = { notes->bytes[FIRST_CHAIN + chain], size, key_length, value_length, 0, IN_USE };
    char *at = (char *)notes->bytes + place;

    assert_true(place + sizeof head + size <= sizeof notes->bytes);
    memcpy(at, head, sizeof head);
    memcpy(at + sizeof head, key, key_length);
    memcpy(at + sizeof head + key_length, value, value_length);
    notes->bytes[FIRST_CHAIN + chain] = place;
    notes->length += sizeof head + size;
    return place;
}
