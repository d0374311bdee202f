/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_FILE_H
#define REACHABILITY_FILE_H

/* Whole files of text, and file stamps. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* open(2) for reading, repeated while a signal interrupts it. */
int reach_file_open(const char *path, int flags);

/* Reads a file to its end, or the first `limit` bytes. A directory counts as empty, and so does a FIFO without data.
 * Returns 0 and the bytes, which the caller frees (NULL: the file is absent, see below); or an errno. Can wait
 * for a disk or a file server; takes no lock. */
int reach_file_read(const char *path, size_t limit, char **ret, size_t *ret_length);

/* A file stamp: a file's identity and times. A different stamp means that the file changed. */

struct filestamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified; /* the contents */
    struct timespec changed;  /* the contents, or the owner or permissions */
    bool settled;             /* false: it was just written, so another write may leave the same stamp */
};

/* Whether an errno means that the file is absent (it does not exist, or this process may not read it). Other errnos are
 * failures. */
bool reach_filestamp_means_absent(int error);

/* Reads the stamp of a file. An absent file has a stamp too: all zero. Returns 0, or an errno if it cannot be read. */
int reach_filestamp_read(const char *path, struct filestamp *ret);

/* Whether the stamps are equal. The file may have changed all the same if `before` is not settled. */
bool reach_filestamp_looks_same(const struct filestamp *now, const struct filestamp *before);

#endif
