/* SPDX-License-Identifier: MIT */
/*
 * Reads the database of pppd(8).
 *
 * What this file must never do: wait for pppd. It locks the database to write it, and we read without the lock: if a
 * record is incomplete or missing, the next read finds it.
 */
#ifdef __linux__
#include "kernel/pppd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "pure/tdb.h"

#define DATABASE_LIMIT 65536 /* bytes: hundreds of links */

static const char *const database_paths[] = { "/run/pppd2.tdb", "/run/pppd/pppd2.tdb" }; /* pppd 2.4; since 2.5 */

/* Finds the value of a key in "KEY=value;KEY=value". */
static bool find_value(struct span words, const char *key, struct span *ret)
{
    const size_t length = strlen(key);

    while (words.length > 0) {
        const char *end = memchr(words.start, ';', words.length);
        const size_t word = end == NULL ? strnlen(words.start, words.length) : (size_t)(end - words.start);

        if (word > length && memcmp(words.start, key, length) == 0 && words.start[length] == '=') {
            *ret = (struct span){ .start = words.start + length + 1, .length = word - length - 1 };
            return true;
        }
        if (end == NULL)
            return false;
        words.length -= word + 1;
        words.start = end + 1;
    }
    return false;
}

/* The record of a pppd that was killed stays in the database. */
static bool process_exists(struct span pid)
{
    char path[32];
    struct stat status;

    snprintf(path, sizeof path, "/proc/%.*s", pid.length > 15 ? 15 : (int)pid.length, pid.start);
    return stat(path, &status) == 0;
}

/* Whether the driver of a tty, such as "/dev/ttyUSB0", is one for cellular modems only. */
static bool is_modem_tty(struct span device)
{
    static const char *const drivers[] = { "option1", "qcserial", "sierra", "ipw" };
    static const char folder[] = "/dev/";
    const int skipped = sizeof folder - 1, length = device.length > 31 ? 31 : (int)device.length;
    char path[96], target[256];
    const char *name;
    ssize_t size;

    if (length <= skipped || memcmp(device.start, folder, (size_t)skipped) != 0)
        return false;
    snprintf(path, sizeof path, "/sys/class/tty/%.*s/device/driver", length - skipped, device.start + skipped);
    size = readlink(path, target, sizeof target - 1);
    target[size > 0 ? size : 0] = '\0';
    name = strrchr(target, '/');
    return name != NULL && TEXT_IS_ONE_OF(name + 1, drivers);
}

/* The links whose states are read from the database. */
struct link_states {
    struct pppd_link *links;
    size_t count;
};

static struct pppd_link *find_link_state(const struct link_states *states, struct span interface)
{
    for (size_t i = 0; i < states->count; i++)
        if (interface.length == strlen(states->links[i].interface) &&
            memcmp(interface.start, states->links[i].interface, interface.length) == 0)
            return &states->links[i];
    return NULL;
}

/* Each pppd has one record; its key is "pppd" and a number. A pppd of another network namespace may have a link of the
 * same name: if any of them is connected, the link counts as connected. A record gets addresses when the link first
 * connects, and CONNECT_TIME when the connection ends. */
static void apply_record(void *info, struct span key, struct span record)
{
    struct pppd_link *link;
    struct span name, value;
    bool idle;

    if (key.length < 4 || memcmp(key.start, "pppd", 4) != 0 || !find_value(record, "IFNAME", &name) ||
        (link = find_link_state(info, name)) == NULL || !find_value(record, "PPPD_PID", &value) ||
        !process_exists(value))
        return;
    idle = (!find_value(record, "IPLOCAL", &value) && !find_value(record, "LLLOCAL", &value)) ||
           find_value(record, "CONNECT_TIME", &value);
    link->idle = idle && (link->idle || !link->has_record);
    link->modem = link->modem || (find_value(record, "DEVICE", &value) && is_modem_tty(value));
    link->has_record = true;
}

/* ---- Rounds ----------------------------------------------------------------------------------------------------- */

static int read_first_database(struct pppd *pppd)
{
    int error = 0;

    free(pppd->database);
    pppd->database = NULL;
    for (size_t i = 0; i < sizeof database_paths / sizeof database_paths[0] && error == 0 && pppd->database == NULL;
         i++)
        error = file_read(database_paths[i], DATABASE_LIMIT, &pppd->database, &pppd->length);
    pppd->has_database = pppd->database != NULL;
    pppd->was_read = error == 0;
    return error;
}

static void read_link_states(const struct pppd *pppd, struct link_states *states)
{
    if (pppd->has_database)
        tdb_each(pppd->database, pppd->length, apply_record, states);
}

static struct pppd_link link_without_state(const char *interface)
{
    struct pppd_link link = { 0 };

    memcpy(link.interface, interface, strnlen(interface, sizeof link.interface - 1));
    return link;
}

static bool link_state_differs(const struct pppd_link *a, const struct pppd_link *b)
{
    return a->idle != b->idle || a->modem != b->modem;
}

/* Whether a link's state has changed, or that is not known. */
static bool a_link_has_changed(const struct pppd *pppd)
{
    struct link_states now = { .links = malloc(pppd->count * sizeof *now.links), .count = pppd->count };
    bool changed = now.links == NULL;

    if (changed)
        return true;
    for (size_t i = 0; i < now.count; i++)
        now.links[i] = link_without_state(pppd->links[i].interface);
    read_link_states(pppd, &now);
    for (size_t i = 0; i < now.count; i++)
        changed = changed || link_state_differs(&now.links[i], &pppd->links[i]);
    free(now.links);
    return changed;
}

bool pppd_begin_round(struct pppd *pppd)
{
    bool changed;

    if (pppd->count == 0)
        return false;
    changed = read_first_database(pppd) != 0 || a_link_has_changed(pppd);
    if (changed)
        pppd->count = 0; /* links that still matter are found again */
    return changed;
}

void pppd_end_round(struct pppd *pppd)
{
    free(pppd->database);
    pppd->database = NULL;
    pppd->was_read = false;
}

void pppd_clear(struct pppd *pppd)
{
    free(pppd->database);
    free(pppd->links);
    *pppd = (struct pppd){ 0 };
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

static int add_pppd_link(struct pppd *pppd, const char *interface)
{
    if (pppd->count == pppd->capacity) {
        const size_t capacity = pppd->capacity == 0 ? 4 : pppd->capacity * 2;
        struct pppd_link *links = realloc(pppd->links, capacity * sizeof *links);

        if (links == NULL)
            return ENOMEM;
        pppd->links = links;
        pppd->capacity = capacity;
    }
    pppd->links[pppd->count] = link_without_state(interface);
    read_link_states(pppd, &(struct link_states){ .links = &pppd->links[pppd->count++], .count = 1 });
    return 0;
}

int pppd_find(struct pppd *pppd, const char *interface, const struct pppd_link **ret)
{
    size_t place = 0;
    int error = pppd->was_read ? 0 : read_first_database(pppd);

    if (error != 0)
        return error;
    while (place < pppd->count && strcmp(pppd->links[place].interface, interface) != 0)
        place++;
    if (place == pppd->count)
        error = add_pppd_link(pppd, interface);
    if (error == 0)
        *ret = &pppd->links[place];
    return error;
}
#endif
