/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer: the input is what sysfs contains. Each file, symbolic link and folder that the library reads is the next
 * part of the input: two bytes with its length, the lower one first, then its bytes. Length 0xffff: it does not exist.
 *
 * LINK: reach_file_open read close readlink getdents64 ioctl
 * COVERS: kernel/device.c
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "kernel/device.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *next;
static size_t left;

/* The next part; at the end of the input, nothing exists. */
static bool take_part(const uint8_t **ret, size_t *ret_length)
{
    size_t length;

    if (left < 2)
        return false;
    length = next[0] | (size_t)next[1] << 8;
    next += 2;
    left -= 2;
    if (length == 0xffff)
        return false;
    *ret = next;
    *ret_length = length < left ? length : left;
    next += *ret_length;
    left -= *ret_length;
    return true;
}

int __wrap_reach_file_open(const char *path, int flags);
int __wrap_reach_file_open(const char *path, int flags)
{
    (void)flags;
    if (memchr(path, '\0', 4096) == NULL)
        abort();
    errno = ENOENT;
    return left < 2 ? -1 : 0;
}

ssize_t __wrap_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    const uint8_t *part;
    size_t length;

    (void)fd;
    if (!take_part(&part, &length)) {
        errno = EINVAL;
        return -1;
    }
    if (length > size)
        length = size;
    memcpy(bytes, part, length);
    return (ssize_t)length;
}

int __wrap_close(int fd);
int __wrap_close(int fd)
{
    (void)fd;
    return 0;
}

ssize_t __wrap_readlink(const char *path, char *ret, size_t size);
ssize_t __wrap_readlink(const char *path, char *ret, size_t size)
{
    const uint8_t *part;
    size_t length;

    (void)path;
    if (!take_part(&part, &length)) {
        errno = ENOENT;
        return -1;
    }
    memcpy(ret, part, length < size ? length : size);
    return (ssize_t)(length < size ? length : size);
}

/* The part is the name of one entry. */
ssize_t __wrap_getdents64(int fd, void *ret, size_t size);
ssize_t __wrap_getdents64(int fd, void *ret, size_t size)
{
    struct dirent64 *entry = ret;
    const uint8_t *part;
    size_t length;

    (void)fd;
    if (!take_part(&part, &length))
        return 0;
    if (length > 255)
        length = 255;
    memset(ret, 0xaa, size);
    memcpy(entry->d_name, part, length);
    entry->d_name[length] = '\0';
    entry->d_reclen = (unsigned short)((offsetof(struct dirent64, d_name) + length + 1 + 7) & ~(size_t)7);
    return entry->d_reclen;
}

/* Each link has the hardware address 0:0:0:0:0:0 and is not running. */
int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...)
{
    (void)fd, (void)request;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct link link = { .index = 5, .hardware = 1, .name = "a", .complete = size % 2 == 0 };

    next = data;
    left = size;
    (void)reach_sysfs_read_device(-1, &link);
    return 0;
}
