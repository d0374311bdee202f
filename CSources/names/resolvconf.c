/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: wait for anything but the disk, or take a file that could not be looked at for one that
 * is not there.
 */
#include "names/resolvconf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "base/filestamp.h"
#include "base/process.h"
#include "pure/conffile.h"

#define RESOLV_CONF "/etc/resolv.conf"
#define HOSTS       "/etc/hosts"
#define NSSWITCH    "/etc/nsswitch.conf"
#define UPSTREAM    "/run/systemd/resolve/resolv.conf" /* whom the stub of systemd-resolved asks */

#define FILE_LIMIT (4 * 1024 * 1024) /* bytes of one file that are looked at */

const char *const resolvconf_paths[RESOLVCONF_FILES] = { RESOLV_CONF, HOSTS, NSSWITCH, UPSTREAM };

/* What was read last, and of which files. */
struct servers {
    struct questions *questions; /* NULL: nothing was read */
    struct filestamp  stamp, upstream;
    bool              used_upstream;
};

struct hosts {
    struct counted      counted; /* as it is searched without the lock */
    struct filestamp    stamp;
    struct hosts_index *index;
};

static struct {
    unsigned       users;
    struct servers servers;
    struct hosts  *hosts;
    unsigned       doubts; /* how often `hosts` was doubted */
} known;                   /* under process_lock */

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

struct text {
    struct filestamp stamp;
    char            *bytes;
    size_t           length;
};

static int open_file(const char *path, struct descriptor *ret)
{
    int fd, error;

    /* Not under the lock, as a file may be on a server that does not answer. A fork in between leaves it to a child. */
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    process_lock();
    error = descriptor_keep_locked(ret, fd);
    process_unlock();
    return error;
}

/* A file that is not there is an empty one, and so is a directory. 0, and the bytes are to be freed, or an errno. */
static int read_file(const char *path, struct text *ret)
{
    int               error = filestamp_read(path, &ret->stamp);
    const size_t      size = ret->stamp.size > FILE_LIMIT ? FILE_LIMIT : (size_t)ret->stamp.size;
    struct descriptor file;

    if (error != 0)
        return error;
    ret->length = 0;
    ret->bytes = malloc(size + 1);
    if (ret->bytes == NULL)
        return ENOMEM;
    error = open_file(path, &file);
    if (error == 0) {
        error = descriptor_read(&file, ret->bytes, size, &ret->length);
        if (error == EISDIR || error == EAGAIN)
            error = 0;
        descriptor_close(&file);
    } else if (filestamp_means_absent(error)) {
        ret->stamp.settled = false; /* it may be let us have without another stamp */
        error = 0;
    }
    if (error != 0)
        free(ret->bytes);
    return error;
}

void resolvconf_retain(void)
{
    process_lock();
    known.users++;
    process_unlock();
}

static void hosts_free(struct counted *counted)
{
    struct hosts *hosts = container_of(counted, struct hosts, counted);

    free(hosts->index);
    free(hosts);
}

static void hosts_release(struct hosts *hosts)
{
    if (hosts != NULL)
        counted_release(&hosts->counted);
}

void resolvconf_release(void)
{
    struct questions *questions = NULL;
    struct hosts     *hosts = NULL;

    process_lock();
    if (--known.users == 0) {
        questions = known.servers.questions;
        hosts = known.hosts;
        known.servers.questions = NULL;
        known.hosts = NULL;
    }
    process_unlock();
    questions_release(questions);
    hosts_release(hosts);
}

/* ---- Name servers ----------------------------------------------------------------------------------------------- */

/* No server at all stands for one on this machine. */
static bool is_stub(const struct server *servers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!address_is_loopback(&servers[i].address) && !address_is_unspecified(&servers[i].address))
            return false;
    return true;
}

static int read_servers(const char *path, struct filestamp *ret_stamp, struct server ret[CONFFILE_SERVERS],
                        size_t *ret_count)
{
    struct text text;
    const int   error = read_file(path, &text);

    if (error != 0)
        return error;
    *ret_stamp = text.stamp;
    *ret_count = conffile_servers(text.bytes, text.length, ret);
    free(text.bytes);
    return 0;
}

static struct questions *make_questions(const struct server *servers, size_t count)
{
    struct question items[CONFFILE_SERVERS] = { 0 };
    size_t          asked = 0;

    if (is_stub(servers, count))
        return questions_create(items, 1, kSCNetworkReachabilityReasonNamePending); /* the default path */
    for (size_t i = 0; i < count; i++) {
        if (is_stub(&servers[i], 1)) /* says nothing of the network */
            continue;
        items[asked].destination = servers[i].address;
        items[asked].scope = servers[i].scope;
        memcpy(items[asked].interface, servers[i].zone, sizeof items[asked].interface);
        asked++;
    }
    return questions_create(items, asked, kSCNetworkReachabilityReasonNamePending);
}

static int make_servers(struct servers *ret)
{
    struct server servers[CONFFILE_SERVERS];
    size_t        count = 0;
    int           error;

    *ret = (struct servers){ 0 };
    error = read_servers(RESOLV_CONF, &ret->stamp, servers, &count);
    if (error == 0 && is_stub(servers, count)) {
        ret->used_upstream = true;
        error = read_servers(UPSTREAM, &ret->upstream, servers, &count);
    }
    if (error != 0)
        return error;
    ret->questions = make_questions(servers, count);
    return ret->questions == NULL ? ENOMEM : 0;
}

static bool is_as_it_was(const char *path, const struct filestamp *before)
{
    struct filestamp now;

    return filestamp_read(path, &now) == 0 && filestamp_is_same(&now, before);
}

/* What is known, with a reference. */
static struct servers known_servers(void)
{
    struct servers servers;

    process_lock();
    servers = known.servers;
    if (servers.questions != NULL)
        counted_retain(&servers.questions->counted);
    process_unlock();
    return servers;
}

struct questions *resolvconf_last_pending_questions(void)
{
    return known_servers().questions;
}

int resolvconf_pending_questions(struct questions **ret)
{
    struct servers servers = known_servers(), before = { 0 };
    int            error;

    *ret = servers.questions;
    if (servers.questions != NULL && is_as_it_was(RESOLV_CONF, &servers.stamp) &&
        (!servers.used_upstream || is_as_it_was(UPSTREAM, &servers.upstream)))
        return 0;
    questions_release(servers.questions);
    error = make_servers(&servers);
    if (error != 0)
        return error == EAGAIN ? kSCStatusReachabilityUnknown : error; /* somebody has a lease on a file */
    *ret = servers.questions;
    counted_retain(&servers.questions->counted);
    process_lock();
    if (known.users > 0) {
        before = known.servers;
        known.servers = servers;
    } else {
        before = servers;
    }
    process_unlock();
    questions_release(before.questions);
    return 0;
}

/* ---- Hosts ------------------------------------------------------------------------------------------------------ */

/* NULL: it could not be looked at. */
static struct hosts *make_hosts(void)
{
    struct hosts *hosts = malloc(sizeof *hosts);
    struct text   text;

    if (hosts == NULL || read_file(HOSTS, &text) != 0) {
        free(hosts);
        return NULL;
    }
    counted_init(&hosts->counted, hosts_free);
    hosts->stamp = text.stamp;
    hosts->index = conffile_index_hosts(text.bytes, text.length);
    free(text.bytes);
    if (hosts->index != NULL)
        return hosts;
    free(hosts);
    return NULL;
}

/* What is known, with a reference, or NULL. */
static struct hosts *known_hosts(bool trusted)
{
    struct hosts *hosts;

    process_lock();
    hosts = known.hosts;
    if (hosts != NULL)
        counted_retain(&hosts->counted);
    process_unlock();
    if (hosts == NULL || trusted || is_as_it_was(HOSTS, &hosts->stamp))
        return hosts;
    hosts_release(hosts);
    return NULL;
}

/* Takes over a reference; NULL: forgets. `since`: unless somebody doubted it since. */
static void know_hosts(struct hosts *hosts, const unsigned *since)
{
    struct hosts *before = hosts;

    process_lock();
    if (known.users > 0 && (since == NULL || *since == known.doubts)) {
        before = known.hosts;
        known.hosts = hosts;
    }
    process_unlock();
    hosts_release(before);
}

void resolvconf_doubt_hosts(void)
{
    struct hosts *hosts;

    process_lock();
    known.doubts++;
    process_unlock();
    hosts = known_hosts(false);
    if (hosts == NULL)
        know_hosts(NULL, NULL);
    hosts_release(hosts);
}

static bool hosts_has(struct hosts *hosts, const char *name)
{
    const bool has = hosts_index_has(hosts->index, name);

    hosts_release(hosts);
    return has;
}

enum hosts_verdict resolvconf_check_hosts(const char *name, bool trusted)
{
    struct hosts *hosts = known_hosts(trusted);

    if (hosts == NULL)
        return HOSTS_UNREAD;
    return hosts_has(hosts, name) ? HOSTS_HAS : HOSTS_HAS_NOT;
}

bool resolvconf_hosts_has(const char *name)
{
    struct hosts *hosts = known_hosts(false);
    unsigned      doubts;

    if (hosts != NULL)
        return hosts_has(hosts, name);
    process_lock();
    doubts = known.doubts;
    process_unlock();
    hosts = make_hosts();
    if (hosts == NULL)
        return false;
    counted_retain(&hosts->counted);
    know_hosts(hosts, &doubts);
    return hosts_has(hosts, name);
}
