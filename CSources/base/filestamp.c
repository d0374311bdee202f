/* SPDX-License-Identifier: MIT */
#include "base/filestamp.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"

#define SETTLED_AFTER (100 * MILLISECOND)

/* File times move on by some milliseconds at a time. One that lies ahead is equal again only if nothing changed. */
static bool is_settled(struct timespec modified)
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

static int look(const char *path, struct stat *ret)
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
    if (look(path, &status) != 0)
        return filestamp_means_absent(errno) ? 0 : errno;
    *ret = (struct filestamp){ .device = status.st_dev,
                               .inode = status.st_ino,
                               .size = status.st_size,
                               .modified = status.st_mtim,
                               .changed = status.st_ctim,
                               .settled = is_settled(status.st_mtim) };
    return 0;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool filestamp_looks_same(const struct filestamp *now, const struct filestamp *before)
{
    return now->device == before->device && now->inode == before->inode && now->size == before->size &&
           is_same_time(now->modified, before->modified) && is_same_time(now->changed, before->changed);
}

bool filestamp_is_same(const struct filestamp *now, const struct filestamp *before)
{
    return before->settled && filestamp_looks_same(now, before);
}
