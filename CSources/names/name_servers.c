/* SPDX-License-Identifier: MIT */
/*
 * The name servers of the resolver's files.
 *
 * What this file must never do: wait for anything but the disk, or treat a file that could not be read as one that does
 * not exist.
 */
#ifdef __linux__
#include "names/name_servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define FILE_LIMIT (4 * 1024 * 1024) /* bytes to read of one file */

/* An absent file has no servers, and leaves *ret_count. */
static int read_servers(const char *path, struct name_server ret[CONFFILE_SERVERS], size_t *ret_count)
{
    char *bytes;
    size_t length;
    const int error = reach_file_read(path, FILE_LIMIT, &bytes, &length);

    if (error != 0)
        return error == EAGAIN ? kSCStatusReachabilityUnknown : error; /* another process has a lease on it */
    if (bytes != NULL)
        *ret_count = reach_conffile_servers(bytes, length, ret);
    free(bytes);
    return 0;
}

/* systemd-resolved's stub listens on the first address. On the second, it passes queries on unchanged. */
static bool is_stub(const struct name_server *server)
{
    static const struct address stubs[] = { { AF_INET, { 127, 0, 0, 53 } }, { AF_INET, { 127, 0, 0, 54 } } };

    return reach_address_equal(&server->address, &stubs[0]) || reach_address_equal(&server->address, &stubs[1]);
}

int reach_name_servers_read(struct name_server ret[CONFFILE_SERVERS], size_t *ret_count)
{
    size_t stubs = 0;
    int error;

    *ret_count = 0;
    error = read_servers(NAME_SERVERS_FILE, ret, ret_count);
    while (stubs < *ret_count && is_stub(&ret[stubs]))
        stubs++;
    if (error == 0 && stubs > 0 && stubs == *ret_count)
        error = read_servers(NAME_SERVERS_UPSTREAM, ret, ret_count);
    return error;
}

int reach_name_servers_questions(struct questions **ret)
{
    struct name_server servers[CONFFILE_SERVERS];
    struct question items[CONFFILE_SERVERS] = { 0 };
    size_t count, used = 0;
    const int error = reach_name_servers_read(servers, &count);

    if (error != 0)
        return error;
    for (size_t i = 0; i < count; i++)
        if (!reach_address_is_loopback(&servers[i].address)) /* the network does not affect a local one */
            items[used++] = reach_name_server_question(&servers[i]);
    *ret = reach_questions_create(items, used > 0 ? used : 1,
                                  kSCNetworkReachabilityReasonNone); /* 1: the default path */
    return *ret == NULL ? ENOMEM : 0;
}
#endif
