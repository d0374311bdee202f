/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_FILESTAMP_H
#define REACHABILITY_FILESTAMP_H

/* A file's identity: another one means that it changed. */

#include <stdbool.h>
#include <sys/stat.h>

struct filestamp {
    dev_t           device;
    ino_t           inode;
    off_t           size;
    struct timespec modified, changed; /* contents; those, or who may read them */
    bool            settled; /* false: it was written a moment before, and could be again without looking otherwise */
};

/* Whether an errno says that there is no such file, or none for us, rather than that it could not be looked at. */
bool filestamp_means_absent(int error);

/* One that is not there has a stamp, too. 0, or an errno: it could not be looked at. */
int filestamp_read(const char *path, struct filestamp *ret);

bool filestamp_looks_same(const struct filestamp *now, const struct filestamp *before);

/* Whether a file is certainly as it was. */
bool filestamp_is_same(const struct filestamp *now, const struct filestamp *before);

#endif
