/* SPDX-License-Identifier: MIT */
/*
 * Parsers for resolv.conf(5), as glibc reads it, and hosts(5).
 */
#include "pure/conffile.h"

#include <stdlib.h>

#include "base/text.h"

/* Removes the next line from the text and returns it without its comment. Any of the characters in `comments` starts a
 * comment. False: there is no line left. */
static bool next_line(struct span *text, const char *comments, struct span *ret)
{
    const char *end;

    if (text->length == 0)
        return false;
    end = memchr(text->start, '\n', text->length);
    ret->start = text->start;
    ret->length = end == NULL ? text->length : (size_t)(end - text->start);
    text->length -= end == NULL ? text->length : ret->length + 1;
    text->start += end == NULL ? ret->length : ret->length + 1;
    for (; *comments != '\0'; comments++) {
        end = memchr(ret->start, *comments, ret->length);
        if (end != NULL)
            ret->length = (size_t)(end - ret->start);
    }
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Removes the next word from the line. False: there is no word left. */
static bool next_word(struct span *line, struct span *ret)
{
    while (line->length > 0 && is_blank(*line->start)) {
        line->start++;
        line->length--;
    }
    *ret = (struct span){ .start = line->start };
    while (line->length > 0 && !is_blank(*line->start)) {
        line->start++;
        line->length--;
        ret->length++;
    }
    return ret->length > 0;
}

/* glibc wants the keyword in lower case, at the start of the line. */
static bool skip_nameserver_keyword(struct span *line)
{
    static const char keyword[] = "nameserver";
    struct span       word;

    return line->length > 0 && !is_blank(*line->start) && next_word(line, &word) && word.length == sizeof keyword - 1 &&
           memcmp(word.start, keyword, word.length) == 0;
}

static bool parse_server(struct span word, struct name_server *ret)
{
    char text[64];

    if (word.length >= sizeof text)
        return false;
    memcpy(text, word.start, word.length);
    text[word.length] = '\0';
    memset(ret, 0, sizeof *ret);
    if (!address_parse(text, &ret->address, ret->zone, &ret->scope))
        return false;
    if (!address_needs_scope(&ret->address)) { /* a zone means nothing for other addresses */
        ret->zone[0] = '\0';
        ret->scope = 0;
    }
    return true;
}

size_t conffile_servers(const char *text, size_t length, struct name_server ret[CONFFILE_SERVERS])
{
    struct span rest = { text, length }, line, word;
    size_t      count = 0;

    while (count < CONFFILE_SERVERS && next_line(&rest, "#;", &line))
        if (skip_nameserver_keyword(&line) && next_word(&line, &word) && parse_server(word, &ret[count]))
            count++;
    return count;
}

/* ---- Hosts ------------------------------------------------------------------------------------------------------ */

/* FNV-1a of the name in lower case, without a final dot. Never 0. */
static uint32_t hash_host_name(struct span name)
{
    uint32_t hash = 2166136261u;

    if (name.length > 0 && name.start[name.length - 1] == '.')
        name.length--;
    for (size_t i = 0; i < name.length; i++) {
        const unsigned char c = (unsigned char)name.start[i];

        hash = (hash ^ (c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c)) * 16777619u;
    }
    return hash == 0 ? 1 : hash;
}

/* The place of a hash, or the empty place for it. */
static size_t place_of_hash(const struct hosts_index *index, uint32_t hash)
{
    size_t place = hash & index->mask;

    while (index->hashes[place] != 0 && index->hashes[place] != hash)
        place = (place + 1) & index->mask;
    return place;
}

/* Adds every name to the index, if it is not NULL. Returns the number of names. */
static size_t read_host_names(const char *text, size_t length, struct hosts_index *index)
{
    struct span rest = { text, length }, line, word;
    size_t      count = 0;

    while (next_line(&rest, "#", &line)) {
        if (!next_word(&line, &word)) /* the address */
            continue;
        for (; next_word(&line, &word); count++)
            if (index != NULL)
                index->hashes[place_of_hash(index, hash_host_name(word))] = hash_host_name(word);
    }
    return count;
}

struct hosts_index *conffile_index_hosts(const char *text, size_t length)
{
    const size_t        count = read_host_names(text, length, NULL);
    size_t              places = 16;
    struct hosts_index *index;

    while (places < 2 * count)
        places *= 2;
    index = calloc(1, sizeof *index + places * sizeof index->hashes[0]);
    if (index == NULL)
        return NULL;
    index->mask = places - 1;
    (void)read_host_names(text, length, index);
    return index;
}

bool hosts_index_has(const struct hosts_index *index, const char *name)
{
    return index->hashes[place_of_hash(index, hash_host_name((struct span){ name, strlen(name) }))] != 0;
}
