/* SPDX-License-Identifier: MIT */
/*
 * Reads the database of pppd(8).
 *
 * What this file must never do: wait for pppd. It locks the database to write it, and we read without the lock: if a
 * record is incomplete or missing, the next read finds it.
 */
#include "kernel/pppd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/filestamp.h"
#include "base/process.h"
#include "base/text.h"
#include "pure/tdb.h"

#define DATABASE_LIMIT 65536 /* bytes: hundreds of links */

static const char *const database_paths[] = { "/run/pppd2.tdb", "/run/pppd/pppd2.tdb" }; /* pppd 2.4; since 2.5 */

static int read_database(const char *path, char *ret, size_t *ret_length)
{
    struct descriptor file;
    int               error = descriptor_open(path, O_NONBLOCK, &file);

    if (error != 0)
        return error;
    error = descriptor_read(&file, ret, DATABASE_LIMIT, ret_length);
    descriptor_close(&file);
    return error == EISDIR || error == EAGAIN ? 0 : error; /* what is not a regular file counts as empty */
}

/* Finds the value of a key in "KEY=value;KEY=value". */
static bool find_value(struct span words, const char *key, struct span *ret)
{
    const size_t length = strlen(key);

    while (words.length > 0) {
        const char  *end = memchr(words.start, ';', words.length);
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
    char        path[32];
    struct stat status;

    snprintf(path, sizeof path, "/proc/%.*s", pid.length > 15 ? 15 : (int)pid.length, pid.start);
    return stat(path, &status) == 0;
}

/* Whether the driver of a tty, such as "/dev/ttyUSB0", is one for cellular modems only. */
static bool is_modem_tty(struct span device)
{
    static const char *const drivers[] = { "option1", "qcserial", "sierra", "ipw" };
    static const char        folder[] = "/dev/";
    const int                skipped = sizeof folder - 1, length = device.length > 31 ? 31 : (int)device.length;
    char                     path[96], target[256];
    const char              *name;
    ssize_t                  size;

    if (length <= skipped || memcmp(device.start, folder, (size_t)skipped) != 0)
        return false;
    snprintf(path, sizeof path, "/sys/class/tty/%.*s/device/driver", length - skipped, device.start + skipped);
    size = readlink(path, target, sizeof target - 1);
    target[size > 0 ? size : 0] = '\0';
    name = strrchr(target, '/');
    return name != NULL && TEXT_IS_ONE_OF(name + 1, drivers);
}

/* The link to look for, and what was found. */
struct record_search {
    const char  *interface;
    struct pppd *ret;
};

/* Each pppd has one record; its key is "pppd" and a number. A pppd of another network namespace may have a link of the
 * same name: if any of them is connected, the link counts as connected. A record gets addresses when the link first
 * connects, and CONNECT_TIME when the connection ends. */
static void apply_record(void *info, struct span key, struct span record)
{
    struct record_search *search = info;
    struct span           name, value;
    bool                  idle;

    if (key.length < 4 || memcmp(key.start, "pppd", 4) != 0 || !find_value(record, "IFNAME", &name) ||
        name.length != strlen(search->interface) || memcmp(name.start, search->interface, name.length) != 0 ||
        !find_value(record, "PPPD_PID", &value) || !process_exists(value))
        return;
    idle = (!find_value(record, "IPLOCAL", &value) && !find_value(record, "LLLOCAL", &value)) ||
           find_value(record, "CONNECT_TIME", &value);
    search->ret->idle = idle && (search->ret->idle || !search->ret->has_record);
    search->ret->modem = search->ret->modem || (find_value(record, "DEVICE", &value) && is_modem_tty(value));
    search->ret->has_record = true;
}

int pppd_read(const char *interface, struct pppd *ret)
{
    struct record_search search = { .interface = interface, .ret = ret };
    char                *bytes = malloc(DATABASE_LIMIT);
    size_t               length;
    int                  error = ENOENT;

    *ret = (struct pppd){ 0 };
    if (bytes == NULL)
        return ENOMEM;
    for (size_t i = 0; i < sizeof database_paths / sizeof database_paths[0] && filestamp_means_absent(error); i++)
        error = read_database(database_paths[i], bytes, &length);
    ret->has_database = error == 0;
    if (ret->has_database)
        tdb_each(bytes, length, apply_record, &search);
    free(bytes);
    return filestamp_means_absent(error) ? 0 : error;
}
