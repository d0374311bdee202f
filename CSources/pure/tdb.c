/* SPDX-License-Identifier: MIT */
/*
 * The reader of trivial databases.
 *
 * What this file must never do: follow an offset without a check, or follow offsets for ever. pppd may write to the
 * file during the copy.
 */
#ifdef __linux__
#include "pure/tdb.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

/* The file consists of words in the byte order of the machine: a header, the offset at which each chain of records
 * starts, and the records. */
#define TDB_MAGIC    "TDB file\n"
#define CHAINS_WORD  9  /* the word of the header that holds the number of chains */
#define HEADER_WORDS 42 /* the next word is the chain of free records; then come the other chains */

#define RECORD_MAGIC 0x26011999u /* of a record in use */
struct tdb_record {
    uint32_t next, size, key_length, data_length, hash, magic;
};

struct tdb_file {
    const char *bytes;
    size_t length;
};

static bool get_tdb_span(const struct tdb_file *file, size_t offset, size_t length, struct span *ret)
{
    if (offset > file->length || length > file->length - offset)
        return false;
    *ret = (struct span){ .start = file->bytes + offset, .length = length };
    return true;
}

static bool read_tdb_bytes(const struct tdb_file *file, size_t offset, void *ret, size_t size)
{
    struct span span;

    if (!get_tdb_span(file, offset, size, &span))
        return false;
    memcpy(ret, span.start, size);
    return true;
}

static void report_record(const struct tdb_file *file, uint32_t offset, const struct tdb_record *record,
                          void (*report)(void *, struct span, struct span), void *info)
{
    struct span key, value;

    offset += (uint32_t)sizeof *record;
    if (record->magic == RECORD_MAGIC && get_tdb_span(file, offset, record->key_length, &key) &&
        get_tdb_span(file, offset + (size_t)record->key_length, record->data_length, &value))
        report(info, key, value);
}

void tdb_each(const void *bytes, size_t length, void (*report)(void *info, struct span key, struct span value),
              void *info)
{
    const struct tdb_file file = { .bytes = bytes, .length = length };
    size_t steps = length / sizeof(struct tdb_record); /* ends a chain that is a circle */
    struct tdb_record record;
    uint32_t chains, offset;

    if (length < sizeof TDB_MAGIC || memcmp(bytes, TDB_MAGIC, sizeof TDB_MAGIC - 1) != 0 ||
        !read_tdb_bytes(&file, CHAINS_WORD * sizeof chains, &chains, sizeof chains))
        return;
    for (size_t i = 1; i <= chains && read_tdb_bytes(&file, (HEADER_WORDS + i) * sizeof offset, &offset, sizeof offset);
         i++)
        for (; offset != 0 && steps > 0 && read_tdb_bytes(&file, offset, &record, sizeof record); steps--) {
            report_record(&file, offset, &record, report, info);
            offset = record.next;
        }
}
#endif
