/* SPDX-License-Identifier: MIT */
/*
 * Directories are watched because the files are replaced by renaming, and the files themselves because in containers
 * they are mounted one by one and edited in place. On the way to a file each link may turn.
 *
 * What this file must never do: fail for want of an inotify instance, or of watches.
 */
#include "names/resolver_files.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINKS_LIMIT 8 /* symbolic links that are followed */

/* ---- What is watched -------------------------------------------------------------------------------------------- */

#define DIRECTORY_EVENTS \
    (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_MOVE_SELF | IN_ONLYDIR)
#define FILE_EVENTS (IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

/* Whether it is there. What is not, or not for us, need not be watched; but there are only so many watches a user. */
static bool add_watch(struct resolver_files *watch, const char *path, uint32_t events)
{
    if (inotify_add_watch(watch->inotify->descriptor.fd, path, events) >= 0)
        return true;
    if (!filestamp_means_absent(errno))
        watch->failed = true;
    return errno != ENOENT;
}

/* Or the nearest one above it that is there: what comes in it is looked at again. */
static void watch_directory_of(struct resolver_files *watch, const char *path)
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

/* Where a symbolic link leads to. False: it is none. */
static bool read_link(const char *path, char ret[PATH_MAX])
{
    const ssize_t length = readlink(path, ret, PATH_MAX - 1);

    if (length <= 0)
        return false;
    ret[length] = '\0';
    return true;
}

/* What a link at the beginning of a path leads to takes its place. False: that is too long. */
static bool replace_link(char path[PATH_MAX], const char *link, const char *to)
{
    const char  *rest = path + strlen(link);
    const size_t start = to[0] == '/' ? 0 : (size_t)(strrchr(link, '/') + 1 - link);

    if (start + strlen(to) + strlen(rest) >= PATH_MAX)
        return false;
    memmove(path + start + strlen(to), rest, strlen(rest) + 1);
    memcpy(path + start, to, strlen(to));
    return true;
}

/* The first so many bytes of a path. */
static void copy_beginning(char ret[PATH_MAX], const char *path, size_t length)
{
    memcpy(ret, path, length);
    ret[length] = '\0';
}

/* The directory that a file is in, and those of all links on the way there. */
static void watch_way_to(struct resolver_files *watch, const char *path)
{
    char   at[PATH_MAX], link[PATH_MAX], to[PATH_MAX];
    size_t length = 0;
    int    links = 0;

    strcpy(at, path);
    while (at[length] != '\0') {
        length += 1 + strcspn(at + length + 1, "/");
        copy_beginning(link, at, length);
        if (!read_link(link, to))
            continue;
        watch_directory_of(watch, link);
        if (++links > LINKS_LIMIT || !replace_link(at, link, to))
            return;
        length = 0;
    }
    watch_directory_of(watch, at);
}

/* Adding a watch twice changes nothing. What is not there yet is seen by its directory. */
static void add_watches(struct resolver_files *watch)
{
    watch->failed = false;
    for (size_t i = 0; i < RESOLVCONF_FILES; i++) {
        watch_way_to(watch, resolvconf_paths[i]);
        (void)add_watch(watch, resolvconf_paths[i], FILE_EVENTS);
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
static bool note_stamps(struct resolver_files *watch, bool touched)
{
    bool             changed = false;
    struct filestamp now;

    for (size_t i = 0; i < RESOLVCONF_FILES; i++) {
        if (filestamp_read(resolvconf_paths[i], &now) != 0)
            continue;
        changed = changed || !filestamp_looks_same(&now, &watch->stamps[i]) || (touched && !watch->stamps[i].settled);
        watch->stamps[i] = now;
    }
    return changed;
}

void resolver_files_open(struct resolver_files *ret)
{
    ret->inotify = inotify_open();
    if (ret->inotify != NULL) {
        add_watches(ret);
        (void)drain(ret->inotify->descriptor.fd); /* what another watch has left there */
    }
    (void)note_stamps(ret, false);
}

void resolver_files_close(struct resolver_files *watch)
{
    inotify_close(watch->inotify);
}

int resolver_files_descriptor(const struct resolver_files *watch)
{
    return watch->inotify != NULL ? watch->inotify->descriptor.fd : -1;
}

bool resolver_files_are_unchanged(const struct resolver_files *watch)
{
    int waiting;

    return watch->inotify != NULL && !atomic_load(&watch->deaf) &&
           ioctl(watch->inotify->descriptor.fd, FIONREAD, &waiting) == 0 && waiting == 0;
}

bool resolver_files_changed(struct resolver_files *watch)
{
    bool touched = false;

    if (watch->inotify != NULL) {
        touched = drain(watch->inotify->descriptor.fd);
        add_watches(watch);
    }
    return note_stamps(watch, touched);
}
