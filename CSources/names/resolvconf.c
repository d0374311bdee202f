/* SPDX-License-Identifier: MIT */
/*
 * The cache of the contents of the resolver files.
 *
 * What this file must never do: wait for anything but the disk, or treat a file that could not be read as one that does
 * not exist.
 */
#ifdef __linux__
#include "names/resolvconf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "base/file.h"
#include "base/process.h"
#include "pure/conffile.h"

#define RESOLV_CONF "/etc/resolv.conf"
#define HOSTS       "/etc/hosts"
#define NSSWITCH    "/etc/nsswitch.conf"
#define UPSTREAM    "/run/systemd/resolve/resolv.conf" /* the servers behind systemd-resolved's stub */

#define FILE_LIMIT (4 * 1024 * 1024) /* bytes to read of one file */

const char *const resolvconf_paths[RESOLVCONF_FILES] = { RESOLV_CONF, HOSTS, NSSWITCH, UPSTREAM };

/* The questions about the name servers, and the stamps of the files that they are from. */
struct servers {
    struct questions *questions; /* NULL: nothing is cached */
    struct filestamp stamp, upstream_stamp;
    bool used_upstream;
};

/* Under process_lock. */
static struct {
    unsigned users;
    struct servers servers;
} cache;

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

struct file_text {
    struct filestamp stamp;
    char *bytes;
    size_t length;
};

/* An absent file counts as empty. Returns 0, and the caller frees the bytes; or an errno. */
static int read_resolver_file(const char *path, struct file_text *ret)
{
    int error;

    *ret = (struct file_text){ 0 };
    error = filestamp_read(path, &ret->stamp);
    if (error != 0)
        return error;
    error = file_read(path, FILE_LIMIT, &ret->bytes, &ret->length);
    /* An absent file can become readable without another stamp. A file in /proc has a size of 0, and its contents
     * change without another stamp. */
    if (ret->bytes == NULL || ret->length > (size_t)ret->stamp.size)
        ret->stamp.settled = false;
    return error;
}

void resolvconf_retain(void)
{
    process_lock();
    cache.users++;
    process_unlock();
}

void resolvconf_release(void)
{
    struct questions *questions = NULL;

    process_lock();
    if (--cache.users == 0) {
        questions = cache.servers.questions;
        cache.servers.questions = NULL;
    }
    process_unlock();
    questions_release(questions);
}

/* ---- Name servers ----------------------------------------------------------------------------------------------- */

/* Whether all servers are on this machine. No server at all counts as one on this machine. */
static bool are_local(const struct name_server *servers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!address_is_loopback(&servers[i].address) && !address_is_unspecified(&servers[i].address))
            return false;
    return true;
}

static int read_servers(const char *path, struct filestamp *ret_stamp, struct name_server ret[CONFFILE_SERVERS],
                        size_t *ret_count)
{
    struct file_text text;
    const int error = read_resolver_file(path, &text);

    if (error != 0)
        return error;
    *ret_stamp = text.stamp;
    *ret_count = conffile_servers(text.bytes, text.length, ret);
    free(text.bytes);
    return 0;
}

static struct questions *create_server_questions(const struct name_server *servers, size_t count)
{
    struct question items[CONFFILE_SERVERS] = { 0 };
    size_t used = 0;

    if (are_local(servers, count))
        return questions_create(items, 1, kSCNetworkReachabilityReasonNone); /* the default path */
    for (size_t i = 0; i < count; i++) {
        if (are_local(&servers[i], 1)) /* the network does not affect it */
            continue;
        items[used].destination = servers[i].address;
        items[used].scope = servers[i].scope;
        items[used].interface = servers[i].zone[0] != '\0' ? servers[i].zone : NULL;
        used++;
    }
    return questions_create(items, used, kSCNetworkReachabilityReasonNone);
}

static int load_servers(struct servers *ret)
{
    struct name_server servers[CONFFILE_SERVERS];
    size_t count = 0;
    int error;

    *ret = (struct servers){ 0 };
    error = read_servers(RESOLV_CONF, &ret->stamp, servers, &count);
    if (error == 0 && are_local(servers, count)) {
        ret->used_upstream = true;
        error = read_servers(UPSTREAM, &ret->upstream_stamp, servers, &count);
    }
    if (error != 0)
        return error;
    ret->questions = create_server_questions(servers, count);
    return ret->questions == NULL ? ENOMEM : 0;
}

static bool file_is_unchanged(const char *path, const struct filestamp *before)
{
    struct filestamp now;

    return filestamp_read(path, &now) == 0 && filestamp_is_same(&now, before);
}

/* Returns the cached servers, with a reference to the questions. They may be out of date. */
static struct servers cached_servers(void)
{
    struct servers servers;

    process_lock();
    servers = cache.servers;
    if (servers.questions != NULL)
        counted_retain(&servers.questions->counted);
    process_unlock();
    return servers;
}

static bool servers_are_current(const struct servers *servers)
{
    return servers->questions != NULL && file_is_unchanged(RESOLV_CONF, &servers->stamp) &&
           (!servers->used_upstream || file_is_unchanged(UPSTREAM, &servers->upstream_stamp));
}

int resolvconf_server_questions(struct questions **ret)
{
    struct servers servers = cached_servers(), before = { 0 };
    int error;

    if (servers_are_current(&servers)) {
        *ret = servers.questions;
        return 0;
    }
    questions_release(servers.questions);
    error = load_servers(&servers);
    if (error != 0)
        return error == EAGAIN ? kSCStatusReachabilityUnknown : error; /* another process has a lease on a file */
    *ret = servers.questions;
    counted_retain(&servers.questions->counted);
    process_lock();
    if (cache.users > 0) {
        before = cache.servers;
        cache.servers = servers;
    } else {
        before = servers;
    }
    process_unlock();
    questions_release(before.questions);
    return 0;
}

/* systemd-resolved's stub listens on the first address. On the second, it passes queries on unchanged. */
static bool is_stub(const struct name_server *server)
{
    static const struct address stubs[] = { { AF_INET, { 127, 0, 0, 53 } }, { AF_INET, { 127, 0, 0, 54 } } };

    return address_equal(&server->address, &stubs[0]) || address_equal(&server->address, &stubs[1]);
}

/* Whether there are servers and systemd-resolved is all of them. */
static bool are_stubs(const struct name_server *servers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_stub(&servers[i]))
            return false;
    return count > 0;
}

int resolvconf_servers(struct name_server ret[CONFFILE_SERVERS], size_t *ret_count)
{
    struct name_server upstream[CONFFILE_SERVERS];
    struct filestamp stamp;
    size_t count = 0;
    int error = read_servers(RESOLV_CONF, &stamp, ret, ret_count);

    if (error != 0 || !are_stubs(ret, *ret_count))
        return error == EAGAIN ? kSCStatusReachabilityUnknown : error;
    error = read_servers(UPSTREAM, &stamp, upstream, &count);
    if (error != 0 || stamp.inode == 0 /* absent */)
        return error == EAGAIN ? kSCStatusReachabilityUnknown : error;
    memcpy(ret, upstream, count * sizeof *ret);
    *ret_count = count;
    return 0;
}
#endif
