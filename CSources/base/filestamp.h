/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_FILESTAMP_H
#define REACHABILITY_FILESTAMP_H

/* A file stamp: a file's identity and times. A different stamp means that the file changed. */

#include <stdbool.h>
#include <sys/stat.h>

struct filestamp {
    dev_t           device;
    ino_t           inode;
    off_t           size;
    struct timespec modified; /* the contents */
    struct timespec changed;  /* the contents, or the owner or permissions */
    bool            settled;  /* false: it was just written, so another write may leave the same stamp */
};

/* Whether an errno means that the file is absent (it does not exist, or this process may not read it). Other errnos are
 * failures. */
bool filestamp_means_absent(int error);

/* Reads the stamp of a file. An absent file has a stamp too: all zero. Returns 0, or an errno if it cannot be read. */
int filestamp_read(const char *path, struct filestamp *ret);

/* Whether the stamps are equal. The file may have changed all the same if `before` is not settled. */
bool filestamp_looks_same(const struct filestamp *now, const struct filestamp *before);

/* Whether the file is certainly unchanged. */
bool filestamp_is_same(const struct filestamp *now, const struct filestamp *before);

#endif
