/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer: the input is pppd's database. Each process that it names exists.
 *
 * LINK: file_read stat readlink
 * COVERS: kernel/pppd.c pure/tdb.c
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/pppd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *database;
static size_t database_size;

int __wrap_file_read(const char *path, size_t limit, char **ret, size_t *ret_length);
int __wrap_file_read(const char *path, size_t limit, char **ret, size_t *ret_length)
{
    (void)path;
    *ret_length = database_size < limit ? database_size : limit;
    *ret = malloc(*ret_length > 0 ? *ret_length : 1); /* of the exact size */
    if (*ret == NULL)
        abort();
    memcpy(*ret, database, *ret_length);
    return 0;
}

static void check_path(const char *path)
{
    if (strlen(path) > 127)
        abort();
}

/* libFuzzer calls it, too. */
int __real_stat(const char *path, struct stat *ret);
int __wrap_stat(const char *path, struct stat *ret);
int __wrap_stat(const char *path, struct stat *ret)
{
    if (strncmp(path, "/proc/", 6) != 0)
        return __real_stat(path, ret);
    check_path(path);
    memset(ret, 0, sizeof *ret);
    return 0;
}

ssize_t __wrap_readlink(const char *path, char *ret, size_t size);
ssize_t __wrap_readlink(const char *path, char *ret, size_t size)
{
    static const char driver[] = "../../bus/usb-serial/drivers/option1";

    (void)size;
    check_path(path);
    memcpy(ret, driver, sizeof driver - 1);
    return sizeof driver - 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct pppd_link *link;
    struct pppd pppd = { 0 };

    database = data;
    database_size = size;
    (void)pppd_find(&pppd, "ppp0", &link);
    (void)pppd_find(&pppd, "ppp1", &link);
    pppd_end_round(&pppd);
    database_size /= 2; /* pppd writes to it */
    (void)pppd_begin_round(&pppd);
    (void)pppd_find(&pppd, "ppp0", &link);
    pppd_clear(&pppd);
    return 0;
}
