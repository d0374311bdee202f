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
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINKS_LIMIT 8 /* symbolic links that are followed */

/* An instance, which may be handed from one watch to the next. */
struct inotify {
    struct list       node;
    struct descriptor descriptor;
};

/* ---- What is watched -------------------------------------------------------------------------------------------- */

#define DIRECTORY_EVENTS (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ONLYDIR)
#define FILE_EVENTS      (IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

/* Whether it is there. What is not, or not for us, need not be watched; but there are only so many watches a user. */
static bool add_watch(struct confwatch *watch, const char *path, uint32_t events)
{
    if (inotify_add_watch(watch->inotify->descriptor.fd, path, events) >= 0)
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

/* Closing one takes the kernel milliseconds, in which it waits for those who read its watches: a thread does it, unless
 * somebody wants the instance before. Under process_lock. */
static struct {
    unsigned    era;
    struct list instances;
    bool        closing; /* the thread is there */
} retired;

static void check_retired_locked(void)
{
    if (retired.instances.next != NULL && retired.era == process_era())
        return;
    list_init(&retired.instances); /* a child's copies are closed */
    retired.closing = false;
    retired.era = process_era();
}

static struct inotify *take_retired_locked(void)
{
    struct list *node;

    check_retired_locked();
    node = list_pop(&retired.instances);
    return node == NULL ? NULL : container_of(node, struct inotify, node);
}

static struct inotify *next_to_close(void)
{
    struct inotify *inotify;

    process_lock();
    inotify = take_retired_locked();
    if (inotify == NULL)
        retired.closing = false;
    process_unlock();
    return inotify;
}

/* Another file takes the number before it is given back, and that takes so long: not under the lock then, and a child
 * that is forked meanwhile still knows the number for one of ours. */
static void close_slowly(struct inotify *inotify)
{
    struct descriptor other;
    int               error;

    process_lock();
    error = descriptor_keep_locked(&other, eventfd(0, EFD_CLOEXEC));
    process_unlock();
    if (error == 0) {
        (void)dup3(other.fd, inotify->descriptor.fd, O_CLOEXEC);
        descriptor_close(&other);
    }
    descriptor_close(&inotify->descriptor);
    free(inotify);
}

static void close_retired(void)
{
    struct inotify *inotify;

    while ((inotify = next_to_close()) != NULL)
        close_slowly(inotify);
}

static void *close_on_thread(void *unused)
{
    (void)pthread_setname_np(pthread_self(), "reach-closer");
    close_retired();
    return unused;
}

static void retire(struct inotify *inotify)
{
    pthread_t thread;
    bool      is_first;

    process_lock();
    check_retired_locked();
    list_append(&retired.instances, &inotify->node);
    is_first = !retired.closing;
    retired.closing = true;
    process_unlock();
    if (is_first && process_start_thread(close_on_thread, NULL, true, &thread) != 0)
        close_retired();
}

static struct inotify *inotify_open(void)
{
    struct inotify *inotify;
    int             error;

    process_lock();
    inotify = take_retired_locked();
    process_unlock();
    if (inotify != NULL)
        return inotify;
    inotify = calloc(1, sizeof *inotify);
    if (inotify == NULL)
        return NULL;
    process_lock();
    error = descriptor_keep_locked(&inotify->descriptor, inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    process_unlock();
    if (error == 0)
        return inotify;
    free(inotify);
    return NULL;
}

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

void confwatch_open(struct confwatch *ret)
{
    ret->inotify = inotify_open();
    if (ret->inotify != NULL) {
        add_watches(ret);
        (void)drain(ret->inotify->descriptor.fd); /* what another watch has left there */
    }
    (void)note_stamps(ret, false);
}

void confwatch_close(struct confwatch *watch)
{
    if (watch->inotify != NULL)
        retire(watch->inotify);
}

int confwatch_descriptor(const struct confwatch *watch)
{
    return watch->inotify != NULL ? watch->inotify->descriptor.fd : -1;
}

bool confwatch_is_quiet(const struct confwatch *watch)
{
    int waiting;

    return watch->inotify != NULL && !atomic_load(&watch->deaf) &&
           ioctl(watch->inotify->descriptor.fd, FIONREAD, &waiting) == 0 && waiting == 0;
}

bool confwatch_changed(struct confwatch *watch)
{
    bool touched = false;

    if (watch->inotify != NULL) {
        touched = drain(watch->inotify->descriptor.fd);
        add_watches(watch);
    }
    return note_stamps(watch, touched);
}
