/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: fail for want of an inotify instance (there are 128 a user), or let a caller wait until
 * one is closed. Directories are watched because the files are replaced by renaming, and the files themselves because
 * in containers they are mounted one by one and edited in place.
 */
#include "confwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "process.h"
#include "resolvconf.h"
#include "stamp.h"

#define LINKS_LIMIT 8   /* symbolic links that are followed */
#define KEPT_FOR    100 /* milliseconds: what was closed, for who comes next */

struct confwatch {
    struct list       node;
    struct descriptor inotify; /* closed: none could be had */
    bool              failed;  /* the one who watches could not add a watch */
    atomic_bool       deaf;    /* so not everything is watched: what is not heard may have changed; read by any thread */
    struct stamp      stamps[RESOLVCONF_FILES]; /* as they were seen last */
};

/* ---- What is watched -------------------------------------------------------------------------------------------- */

#define DIRECTORY_EVENTS (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ONLYDIR)
#define FILE_EVENTS      (IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

/* Whether it is there. What is not, or not for us, need not be watched; but there are only so many watches a user. */
static bool add_watch(struct confwatch *watch, const char *path, uint32_t events)
{
    if (inotify_add_watch(watch->inotify.fd, path, events) >= 0)
        return true;
    if (!stamp_says_absent(errno))
        watch->failed = true;
    return errno != ENOENT;
}

/* Or the nearest one above it that is there: what comes in it is looked at again. */
static void watch_directory_of(struct confwatch *watch, const char *path)
{
    char  directory[PATH_MAX];
    char *slash;

    if (strlen(path) >= sizeof directory)
        return;
    strcpy(directory, path);
    while ((slash = strrchr(directory, '/')) != NULL && slash != directory) {
        *slash = '\0';
        if (add_watch(watch, directory, DIRECTORY_EVENTS))
            return;
    }
}

/* Where `link`, which is a symbolic link, leads to. False: it is none, or that is too long. */
static bool follow(char link[PATH_MAX])
{
    char          to[PATH_MAX];
    const ssize_t length = readlink(link, to, sizeof to - 1);
    size_t        start = 0;

    if (length <= 0)
        return false;
    to[length] = '\0';
    if (to[0] != '/')
        start = (size_t)(strrchr(link, '/') + 1 - link);
    if (start + (size_t)length >= PATH_MAX)
        return false;
    memcpy(link + start, to, (size_t)length + 1);
    return true;
}

/* That of the path, and those of all links on the way. */
static void watch_directories_of(struct confwatch *watch, const char *path)
{
    char at[PATH_MAX];
    int  links = 0;

    strcpy(at, path);
    do
        watch_directory_of(watch, at);
    while (links++ < LINKS_LIMIT && follow(at));
}

/* Adding a watch twice changes nothing. What is not there yet is seen by its directory. */
static void add_watches(struct confwatch *watch)
{
    char resolved[PATH_MAX];

    watch->failed = false;
    for (size_t i = 0; i < RESOLVCONF_FILES; i++) {
        watch_directories_of(watch, resolvconf_paths[i]);
        (void)add_watch(watch, resolvconf_paths[i], FILE_EVENTS);
        if (realpath(resolvconf_paths[i], resolved) != NULL)
            watch_directory_of(watch, resolved);
    }
    atomic_store(&watch->deaf, watch->failed);
}

/* ---- What is heard ---------------------------------------------------------------------------------------------- */

static bool is_about_file(const struct inotify_event *event)
{
    if (event->len == 0) /* of the file itself */
        return true;
    for (size_t i = 0; i < RESOLVCONF_FILES; i++)
        if (strcmp(event->name, strrchr(resolvconf_paths[i], '/') + 1) == 0)
            return true;
    return false;
}

/* Takes what has been told. Whether one of the files was touched. */
static bool drain(int fd)
{
    _Alignas(struct inotify_event) char bytes[4096];
    ssize_t                             length;
    bool                                touched = false;

    while ((length = read(fd, bytes, sizeof bytes)) > 0)
        for (ssize_t at = 0; at < length;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)(bytes + at);

            touched = touched || is_about_file(event);
            at += (ssize_t)(sizeof *event + event->len);
        }
    return touched;
}

/* One that was touched and looks as before is another if it was written to a moment before already. What cannot be
 * looked at is as it was. */
static bool note_stamps(struct confwatch *watch, bool touched)
{
    bool         changed = false;
    struct stamp now;

    for (size_t i = 0; i < RESOLVCONF_FILES; i++) {
        if (stamp_read(resolvconf_paths[i], &now) != 0)
            continue;
        changed = changed || !stamp_looks_same(&now, &watch->stamps[i]) || (touched && !watch->stamps[i].settled);
        watch->stamps[i] = now;
    }
    return changed;
}

int confwatch_descriptor(const struct confwatch *watch)
{
    return watch->inotify.fd;
}

bool confwatch_is_quiet(const struct confwatch *watch)
{
    int waiting;

    return watch->inotify.fd >= 0 && !atomic_load(&watch->deaf) &&
           ioctl(watch->inotify.fd, FIONREAD, &waiting) == 0 && waiting == 0;
}

bool confwatch_changed(struct confwatch *watch)
{
    bool touched = false;

    if (watch->inotify.fd >= 0) {
        touched = drain(watch->inotify.fd);
        add_watches(watch);
    }
    return note_stamps(watch, touched);
}

/* ---- Closing ---------------------------------------------------------------------------------------------------- */

/* Closing an instance takes the kernel milliseconds, in which it waits for those who read its watches: a thread does
 * it. It lets some time pass before, as starting one takes longer than all else that whoever leaves has to do, and as
 * whoever comes meanwhile can have what is there. Under process_lock. */
static struct {
    unsigned    era;
    struct list watches;
    bool        closing; /* the thread is there */
} retired;

static void check_retired_locked(void)
{
    if (retired.watches.next != NULL && retired.era == process_era())
        return;
    list_init(&retired.watches); /* a child's copies are closed */
    retired.closing = false;
    retired.era = process_era();
}

static struct confwatch *take_retired_locked(void)
{
    struct list *node;

    check_retired_locked();
    node = list_pop(&retired.watches);
    return node == NULL ? NULL : container_of(node, struct confwatch, node);
}

static struct confwatch *next_to_close(void)
{
    struct confwatch *watch;

    process_lock();
    watch = take_retired_locked();
    if (watch == NULL)
        retired.closing = false;
    process_unlock();
    return watch;
}

/* Another file takes the number before it is given back, and that takes so long: not under the lock then, and a child
 * that is forked meanwhile still knows the number for one of ours. */
static void close_slowly(struct confwatch *watch)
{
    struct descriptor other;
    int               error;

    process_lock();
    error = descriptor_keep_locked(&other, eventfd(0, EFD_CLOEXEC));
    process_unlock();
    if (error == 0) {
        (void)dup3(other.fd, watch->inotify.fd, O_CLOEXEC);
        descriptor_close(&other);
    }
    descriptor_close(&watch->inotify);
    free(watch);
}

static void close_retired(void)
{
    struct confwatch *watch;

    while ((watch = next_to_close()) != NULL)
        close_slowly(watch);
}

static void *close_later(void *unused)
{
    (void)pthread_setname_np(pthread_self(), "reach-closer");
    (void)poll(NULL, 0, KEPT_FOR);
    close_retired();
    return unused;
}

static void retire(struct confwatch *watch)
{
    pthread_t thread;
    bool      is_first;

    process_lock();
    check_retired_locked();
    list_append(&retired.watches, &watch->node);
    is_first = !retired.closing;
    retired.closing = true;
    process_unlock();
    if (is_first && process_start_thread(close_later, NULL, true, &thread) != 0)
        close_retired();
}

void confwatch_close(struct confwatch *watch)
{
    if (watch != NULL && watch->inotify.fd >= 0)
        retire(watch);
    else
        free(watch);
}

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

static struct confwatch *take_retired(void)
{
    struct confwatch *watch;

    process_lock();
    watch = take_retired_locked();
    process_unlock();
    return watch;
}

static struct confwatch *create(void)
{
    struct confwatch *watch = calloc(1, sizeof *watch);

    if (watch == NULL)
        return NULL;
    process_lock();
    (void)descriptor_keep_locked(&watch->inotify, inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    process_unlock();
    return watch;
}

struct confwatch *confwatch_open(void)
{
    struct confwatch *watch = take_retired();
    const bool        is_retired = watch != NULL;

    if (!is_retired)
        watch = create();
    if (watch == NULL)
        return NULL;
    /* What is mounted over a file is not told. */
    if (!is_retired || note_stamps(watch, false))
        (void)confwatch_changed(watch);
    return watch;
}
