/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: follow an offset that it has not checked, or follow them for ever. The file may be
 * written to while it is copied.
 */
#include "pure/tdb.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

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

static bool get_span(const struct file *file, size_t offset, size_t length, struct span *ret)
{
    if (offset > file->length || length > file->length - offset)
        return false;
    *ret = (struct span){ .start = file->bytes + offset, .length = length };
    return true;
}

static bool read_at(const struct file *file, size_t offset, void *ret, size_t size)
{
    struct span span;

    if (!get_span(file, offset, size, &span))
        return false;
    memcpy(ret, span.start, size);
    return true;
}

static void take_record(const struct file *file, uint32_t offset, const struct record *record,
                        void (*take)(void *, struct span, struct span), void *info)
{
    struct span key, value;

    offset += (uint32_t)sizeof *record;
    if (record->magic == RECORD_MAGIC && get_span(file, offset, record->key_length, &key) &&
        get_span(file, offset + (size_t)record->key_length, record->data_length, &value))
        take(info, key, value);
}

void tdb_each(const void *bytes, size_t length, void (*take)(void *info, struct span key, struct span value),
              void *info)
{
    const struct file file = { .bytes = bytes, .length = length };
    size_t            steps = length / sizeof(struct record); /* for a chain that leads in a circle */
    struct record     record;
    uint32_t          chains, offset;

    if (length < sizeof MAGIC || memcmp(bytes, MAGIC, sizeof MAGIC - 1) != 0 ||
        !read_at(&file, CHAINS_WORD * sizeof chains, &chains, sizeof chains))
        return;
    for (size_t i = 1; i <= chains && read_at(&file, (HEADER_WORDS + i) * sizeof offset, &offset, sizeof offset); i++)
        for (; offset != 0 && steps > 0 && read_at(&file, offset, &record, sizeof record); steps--) {
            take_record(&file, offset, &record, take, info);
            offset = record.next;
        }
}
