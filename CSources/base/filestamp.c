/* SPDX-License-Identifier: MIT */
/* Reads and compares file stamps: a file's identity and times. */
#include "base/filestamp.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"

#define SETTLED_AFTER (100 * MILLISECOND)

/* The clock of file times moves in steps of some milliseconds: a second write within the same step leaves the same
 * time. So a recent time proves nothing. A time in the future does: a later write would set the present time. */
static bool mtime_is_settled(struct timespec modified)
{
    struct timespec now;
    int64_t         age;

    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec - modified.tv_sec > 1 || modified.tv_sec - now.tv_sec > 1)
        return true;
    age = (now.tv_sec - modified.tv_sec) * SECOND + now.tv_nsec - modified.tv_nsec;
    return age < 0 || age > SETTLED_AFTER;
}

bool filestamp_means_absent(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EACCES || error == EPERM;
}

/* stat(2), repeated while a signal interrupts it: some network file systems allow that. */
static int stat_file(const char *path, struct stat *ret)
{
    int result;

    do
        result = stat(path, ret);
    while (result != 0 && errno == EINTR);
    return result;
}

int filestamp_read(const char *path, struct filestamp *ret)
{
    struct stat status;

    *ret = (struct filestamp){ .settled = true };
    if (stat_file(path, &status) != 0)
        return filestamp_means_absent(errno) ? 0 : errno;
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

bool filestamp_looks_same(const struct filestamp *now, const struct filestamp *before)
{
    return now->device == before->device && now->inode == before->inode && now->size == before->size &&
           times_equal(now->modified, before->modified) && times_equal(now->changed, before->changed);
}

bool filestamp_is_same(const struct filestamp *now, const struct filestamp *before)
{
    return before->settled && filestamp_looks_same(now, before);
}
