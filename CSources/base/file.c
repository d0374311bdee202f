/* SPDX-License-Identifier: MIT */
/*
 * Reads whole files, which can be on a disk or on a file server.
 *
 * What this file must never do: register its descriptor in process.c. A child would close it, and wait: a FUSE server
 * handles each close(2). So a child that is forked while a file is read keeps the descriptor, until it executes another
 * program. It also does not use st_size: that is 0 for files in /proc.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/filestamp.h"

#define FIRST_SIZE 4096

struct contents {
    char  *bytes;
    size_t length, size;
};

/* O_NONBLOCK: opening a FIFO must not wait for a writer. */
static int open_to_read(const char *path)
{
    int fd;

    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static bool make_room(struct contents *contents, size_t limit)
{
    size_t size = contents->size == 0 ? FIRST_SIZE : 2 * contents->size;
    char  *bytes;

    if (size > limit)
        size = limit;
    bytes = realloc(contents->bytes, size);
    if (bytes == NULL)
        return false;
    contents->bytes = bytes;
    contents->size = size;
    return true;
}

static int read_to_end(int fd, size_t limit, struct contents *contents)
{
    while (contents->length < limit) {
        ssize_t got;

        if (contents->length == contents->size && !make_room(contents, limit))
            return ENOMEM;
        got = read(fd, contents->bytes + contents->length, contents->size - contents->length);
        if (got == 0)
            break;
        if (got > 0)
            contents->length += (size_t)got;
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

int file_read(const char *path, size_t limit, char **ret, size_t *ret_length)
{
    struct contents contents = { 0 };
    const int       fd = open_to_read(path);
    int             error;

    if (fd < 0 && !filestamp_means_absent(errno))
        return errno;
    if (fd >= 0) {
        error = read_to_end(fd, limit, &contents);
        close(fd);
        if (error != 0 && error != EISDIR && error != EAGAIN) {
            free(contents.bytes);
            return error;
        }
    }
    *ret = contents.bytes;
    *ret_length = contents.length;
    return 0;
}
