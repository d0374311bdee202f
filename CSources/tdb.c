/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: follow an offset that it has not checked, or follow them for ever. The file may be
 * written to while it is copied.
 */
#include "tdb.h"

#include <stdint.h>
#include <string.h>

/* The file, in words of the machine that wrote it: a header, where the chains of records begin, records. */
#define MAGIC        "TDB file\n"
#define CHAINS_WORD  9  /* of the header: how many chains there are */
#define HEADER_WORDS 42 /* behind them the chain of what is free, and the others */

#define RECORD_MAGIC 0x26011999u /* of one that is in use */
struct record {
    uint32_t next, size, key_length, data_length, hash, magic;
};

struct file {
    const char *bytes;
    size_t      length;
};

static bool read_at(const struct file *file, size_t offset, void *ret, size_t size)
{
    if (offset > file->length || size > file->length - offset)
        return false;
    memcpy(ret, file->bytes + offset, size);
    return true;
}

static bool get_span(const struct file *file, size_t offset, size_t length, struct span *ret)
{
    if (offset > file->length || length > file->length - offset)
        return false;
    *ret = (struct span){ .start = file->bytes + offset, .length = length };
    return true;
}

static bool is_key(const struct file *file, const struct record *record, size_t offset, struct span key)
{
    struct span own;

    return record->magic == RECORD_MAGIC && record->key_length == key.length &&
           get_span(file, offset + sizeof *record, record->key_length, &own) &&
           memcmp(own.start, key.start, key.length) == 0;
}

/* A chain that leads in a circle ends when all have taken as many steps as there can be records. */
static bool find_in_chain(const struct file *file, uint32_t offset, size_t *steps, struct span key, struct span *ret)
{
    struct record record;

    for (; offset != 0 && *steps > 0; offset = record.next, --*steps) {
        if (!read_at(file, offset, &record, sizeof record))
            return false;
        if (is_key(file, &record, offset, key))
            return get_span(file, offset + sizeof record + record.key_length, record.data_length, ret);
    }
    return false;
}

bool tdb_find(const void *bytes, size_t length, struct span key, struct span *ret)
{
    const struct file file = { .bytes = bytes, .length = length };
    size_t            steps = length / sizeof(struct record);
    uint32_t          chains, offset;

    if (length < sizeof MAGIC || memcmp(bytes, MAGIC, sizeof MAGIC - 1) != 0 ||
        !read_at(&file, CHAINS_WORD * sizeof chains, &chains, sizeof chains))
        return false;
    for (size_t i = 1; i <= chains; i++) {
        if (!read_at(&file, (HEADER_WORDS + i) * sizeof offset, &offset, sizeof offset))
            return false;
        if (find_in_chain(&file, offset, &steps, key, ret))
            return true;
    }
    return false;
}
