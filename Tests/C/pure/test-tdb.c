/* SPDX-License-Identifier: MIT */
/* Parsing of trivial databases, whole and broken. No file. */
#include "pure/tdb.h"
#include "support/exact.h"
#include "support/notes.h"

static void fill(struct notes *notes)
{
    notes_begin(notes, 3);
    notes_add(notes, 0, "one", "1");
    notes_add(notes, 1, "two", "2");
    notes_add(notes, 1, "three", "3");
    notes_add(notes, 1, "tw", "no");
}

struct route_query {
    struct span wanted, found;
    unsigned count;
};

static void take(void *info, struct span key, struct span value)
{
    struct route_query *search = info;

    search->count++;
    if (key.length == search->wanted.length && memcmp(key.start, search->wanted.start, key.length) == 0)
        search->found = value;
}

/* "": the key is missing. */
static void expect(const struct notes *notes, size_t length, const char *key, const char *value)
{
    struct route_query search = { .wanted = { .start = key, .length = strlen(key) },
                                  .found = { .start = "", .length = 1 } };
    void *exact = exact_copy(notes->bytes, length);

    tdb_each(exact, length, take, &search);
    assert_int_equal(search.found.length, strlen(value) + 1);
    assert_memory_equal(search.found.start, value, search.found.length);
    free(exact);
}

TEST(keys_are_found)
{
    struct notes notes;

    fill(&notes);
    expect(&notes, notes.length, "one", "1");
    expect(&notes, notes.length, "two", "2");
    expect(&notes, notes.length, "three", "3");
    expect(&notes, notes.length, "four", "");
    expect(&notes, notes.length, "thre", "");
    expect(&notes, notes.length, "", "");
}

TEST(deleted_keys_are_not_found)
{
    struct notes notes;

    fill(&notes);
    uint32_t place = notes_add(&notes, 2, "five", "5");
    expect(&notes, notes.length, "five", "5");
    notes.bytes[place / 4 + 5] = 0xd9fee666; /* free, and still in its chain */
    expect(&notes, notes.length, "five", "");
}

TEST(any_length_is_safe)
{
    struct notes notes;

    fill(&notes);
    for (size_t length = 0; length < notes.length; length++) {
        struct route_query search = { .wanted = { .start = "" } };
        void *exact = exact_copy(notes.bytes, length);

        tdb_each(exact, length, take, &search);
        assert_true(search.count <= 4);
        free(exact);
    }
    expect(&notes, notes.length - 4, "tw", ""); /* the last record has lost a byte */
}

/* Each word in turn gets another value. */
TEST(any_offset_is_safe)
{
    static const uint32_t values[] = { 0, 1, 4, 172, 0x7fffffff, 0xfffffff0, 0xffffffff };
    struct notes notes;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        fill(&notes);
        for (size_t word = 8; word < notes.length / 4; word++) {
            const uint32_t before = notes.bytes[word];
            struct route_query search = { .wanted = { .start = "" } };

            notes.bytes[word] = values[i];
            tdb_each(notes.bytes, notes.length, take, &search);
            assert_true(search.count <= notes.length / 24);
            notes.bytes[word] = before;
        }
    }
}

TEST(a_circular_chain_ends)
{
    struct notes notes;

    notes_begin(&notes, 1);
    uint32_t place = notes_add(&notes, 0, "one", "1");
    notes.bytes[place / 4] = place;
    expect(&notes, notes.length, "two", "");
    expect(&notes, notes.length, "one", "1");
}
