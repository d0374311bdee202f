/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_FILE_H
#define REACHABILITY_FILE_H

/* Reads whole files of text. */

#include <stddef.h>

/* Reads a file to its end, or the first `limit` bytes. A directory counts as empty, and so does a FIFO without data.
 * Returns 0 and the bytes, which the caller frees (NULL: the file is absent, see filestamp.h); or an errno. Can wait
 * for a disk or a file server; takes no lock. */
int file_read(const char *path, size_t limit, char **ret, size_t *ret_length);

#endif
