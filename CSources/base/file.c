/* SPDX-License-Identifier: MIT */
/*
 * Reads whole files, which can be on a disk or on a file server, and their stamps.
 *
 * What this file must never do: register its descriptor in process.c. A child would close it, and wait: a FUSE server
 * handles each close(2). So a child that is forked while a file is read keeps the descriptor, until it executes another
 * program. It also does not use st_size: that is 0 for files in /proc.
 */
#ifdef __linux__
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

#define FIRST_SIZE    4096
#define SETTLED_AFTER (100 * MILLISECOND)

/* ---- Contents --------------------------------------------------------------------------------------------------- */

struct contents {
    char *bytes;
    size_t length, size;
};

int reach_file_open(const char *path, int flags)
{
    int fd;

    do
        fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Reads up to the end of the file, or to `limit`. */
static int read_to_end(int fd, size_t limit, struct contents *contents)
{
    while (contents->length < limit) {
        ssize_t got;

        if (contents->length == contents->size) {
            const size_t more = contents->size == 0 ? FIRST_SIZE : 2 * contents->size,
                         size = more < limit ? more : limit;
            char *bytes = realloc(contents->bytes, size);

            if (bytes == NULL)
                return ENOMEM;
            contents->bytes = bytes;
            contents->size = size;
        }
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

int reach_file_read(const char *path, size_t limit, char **ret, size_t *ret_length)
{
    struct contents contents = { 0 };
    const int fd = reach_file_open(path, O_NONBLOCK); /* opening a FIFO must not wait for a writer */
    int error;

    if (fd < 0 && !reach_filestamp_means_absent(errno))
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

/* ---- Stamps ----------------------------------------------------------------------------------------------------- */

/* The clock of file times moves in steps of some milliseconds: a second write within the same step leaves the same
 * time. So a recent time proves nothing. A time in the future does: a later write would set the present time. */
static bool mtime_is_settled(struct timespec modified)
{
    struct timespec now;
    int64_t age;

    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec - modified.tv_sec > 1 || modified.tv_sec - now.tv_sec > 1)
        return true;
    age = (now.tv_sec - modified.tv_sec) * SECOND + now.tv_nsec - modified.tv_nsec;
    return age < 0 || age > SETTLED_AFTER;
}

bool reach_filestamp_means_absent(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EACCES || error == EPERM;
}

int reach_filestamp_read(const char *path, struct filestamp *ret)
{
    struct stat status;
    int result;

    *ret = (struct filestamp){ .settled = true };
    do
        result = stat(path, &status);
    while (result != 0 && errno == EINTR); /* some network file systems allow that */
    if (result != 0)
        return reach_filestamp_means_absent(errno) ? 0 : errno;
    *ret = (struct filestamp){ .device = status.st_dev,
                               .inode = status.st_ino,
                               .size = status.st_size,
                               .modified = status.st_mtim,
                               .changed = status.st_ctim,
                               .settled = mtime_is_settled(status.st_mtim) };
    return 0;
}

static bool times_equal(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool reach_filestamp_looks_same(const struct filestamp *now, const struct filestamp *before)
{
    return now->device == before->device && now->inode == before->inode && now->size == before->size &&
           times_equal(now->modified, before->modified) && times_equal(now->changed, before->changed);
}
#endif
