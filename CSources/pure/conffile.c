/* SPDX-License-Identifier: MIT */
/*
 * A parser for resolv.conf(5), as glibc reads it.
 */
#ifdef __linux__
#include "pure/conffile.h"

#include <netinet/in.h>
#include <string.h>

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

static bool parse_server(struct span word, struct name_server *ret)
{
    char text[64];
    const char *zone;

    if (word.length >= sizeof text)
        return false;
    memcpy(text, word.start, word.length);
    text[word.length] = '\0';
    memset(ret, 0, sizeof *ret);
    if (!reach_address_parse(text, &ret->address, &zone, &ret->scope))
        return false;
    ret->address = reach_address_to_connect(&ret->address);
    if (zone != NULL && strlen(zone) < sizeof ret->zone) /* the resolver does not know a longer one */
        memcpy(ret->zone, zone, strlen(zone));
    if (!reach_address_needs_scope(&ret->address)) { /* a zone means nothing for other addresses */
        ret->zone[0] = '\0';
        ret->scope = 0;
    }
    return true;
}

/* glibc wants the keyword in lower case, at the start of the line. */
size_t reach_conffile_servers(const char *text, size_t length, struct name_server ret[CONFFILE_SERVERS])
{
    static const char keyword[] = "nameserver";
    struct span rest = { text, length }, line, word;
    size_t count = 0;

    while (count < CONFFILE_SERVERS && next_line(&rest, "#;", &line))
        if (line.length > 0 && !is_blank(*line.start) && next_word(&line, &word) && word.length == sizeof keyword - 1 &&
            memcmp(word.start, keyword, word.length) == 0 && next_word(&line, &word) && parse_server(word, &ret[count]))
            count++;
    return count;
}

struct question reach_name_server_question(const struct name_server *server)
{
    return (struct question){ .destination = server->address,
                              .scope = server->scope,
                              .interface = server->zone[0] != '\0' ? server->zone : NULL,
                              .flow = { .protocol = IPPROTO_UDP, .remote_port = 53 } };
}
#endif
