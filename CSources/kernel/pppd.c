/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: wait for pppd. It writes to the database by mapping it, under locks that are not taken
 * here: what is half written or not written yet is read again two seconds later.
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

#define FILE_LIMIT 65536 /* bytes: hundreds of links */

static const char *const paths[] = { "/run/pppd2.tdb", "/run/pppd/pppd2.tdb" }; /* of pppd 2.4, and since 2.5 */

static int read_file(const char *path, char *ret, size_t *ret_length)
{
    struct descriptor file;
    int               error = descriptor_open(path, O_NONBLOCK, &file);

    if (error != 0)
        return error;
    error = descriptor_read(&file, ret, FILE_LIMIT, ret_length);
    descriptor_close(&file);
    return error == EISDIR || error == EAGAIN ? 0 : error; /* what is no file is empty */
}

/* "KEY=value;KEY=value": the value of a key. */
static bool find_word(struct span words, const char *key, struct span *ret)
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

/* What was noted by one that was killed stays. */
static bool is_alive(struct span pid)
{
    char        path[32];
    struct stat status;

    snprintf(path, sizeof path, "/proc/%.*s", pid.length > 15 ? 15 : (int)pid.length, pid.start);
    return stat(path, &status) == 0;
}

/* "/dev/ttyUSB0", by the driver of that. */
static bool is_modem(struct span device)
{
    static const char *const drivers[] = { "option1", "qcserial", "sierra", "ipw" }; /* of nothing but modems */
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

/* What is searched for, and found. */
struct notes {
    const char  *interface;
    struct pppd *ret;
};

/* Each pppd has one record, by its number. Those of other network namespaces may have a link of the same name: one that
 * is connected is taken for ours. Addresses, of either family, are noted when it is connected for the first time, and
 * how long it was when that ended. */
static void take_note(void *info, struct span key, struct span note)
{
    struct notes *notes = info;
    struct span   name, word;
    bool          idle;

    if (key.length < 4 || memcmp(key.start, "pppd", 4) != 0 || !find_word(note, "IFNAME", &name) ||
        name.length != strlen(notes->interface) || memcmp(name.start, notes->interface, name.length) != 0 ||
        !find_word(note, "PPPD_PID", &word) || !is_alive(word))
        return;
    idle = (!find_word(note, "IPLOCAL", &word) && !find_word(note, "LLLOCAL", &word)) ||
           find_word(note, "CONNECT_TIME", &word);
    notes->ret->idle = idle && (notes->ret->idle || !notes->ret->noted);
    notes->ret->modem = notes->ret->modem || (find_word(note, "DEVICE", &word) && is_modem(word));
    notes->ret->noted = true;
}

int pppd_read(const char *interface, struct pppd *ret)
{
    struct notes notes = { .interface = interface, .ret = ret };
    char        *bytes = malloc(FILE_LIMIT);
    size_t       length;
    int          error = ENOENT;

    *ret = (struct pppd){ 0 };
    if (bytes == NULL)
        return ENOMEM;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0] && filestamp_means_absent(error); i++)
        error = read_file(paths[i], bytes, &length);
    ret->kept = error == 0;
    if (ret->kept)
        tdb_each(bytes, length, take_note, &notes);
    free(bytes);
    return filestamp_means_absent(error) ? 0 : error;
}
