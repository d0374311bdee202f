/* SPDX-License-Identifier: MIT */
/*
 * The inotify watches of the resolver files, and their file stamps. Programs replace these files by renaming, so their
 * directories are watched. Containers mount them one by one and edit them in place, so the files are watched, too. A
 * path can contain symbolic links, and each of these can be replaced, so the directory of each symbolic link is
 * watched. A mount over one of them causes no event of inotify: the list of mounts reports it. A process without /proc
 * has no such list, and notices a mount with the next change. So does one whose list cannot be polled.
 *
 * What this file must never do: fail because no inotify instance or watch is left.
 */
#ifdef __linux__
#include "names/resolver_files.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define MOUNTS      "/proc/thread-self/mountinfo"
#define LINKS_LIMIT 8 /* symbolic links to follow in one path */

/* ---- Watches ---------------------------------------------------------------------------------------------------- */

#define DIRECTORY_EVENTS \
    (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_MOVE_SELF | IN_ONLYDIR)
#define FILE_EVENTS (IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

/* Returns whether the path exists. A path that does not exist, or that we may not read, needs no watch. Any other error
 * counts: a user has a limited number of watches. */
static bool add_watch(struct resolver_files *files, const char *path, uint32_t events)
{
    if (inotify_add_watch(files->inotify->descriptor.fd, path, events) >= 0)
        return true;
    if (!filestamp_means_absent(errno))
        files->watch_failed = true;
    return errno != ENOENT;
}

/* Watches the directory of the path. If it does not exist, the nearest directory above it: when something is created
 * there, add_all_watches runs again. */
static void watch_parent_directory(struct resolver_files *files, const char *path)
{
    char directory[PATH_MAX];
    char *slash;

    if (strlen(path) >= sizeof directory)
        return;
    strcpy(directory, path);
    while ((slash = strrchr(directory, '/')) != NULL && slash != directory) {
        *slash = '\0';
        if (add_watch(files, directory, DIRECTORY_EVENTS))
            return;
    }
}

/* Returns the target of a symbolic link. False: the path is not a symbolic link. */
static bool read_symbolic_link(const char *path, char ret[PATH_MAX])
{
    const ssize_t length = readlink(path, ret, PATH_MAX - 1);

    if (length <= 0)
        return false;
    ret[length] = '\0';
    return true;
}

/* The path begins with the link. Replaces the link by its target. False: the result is too long. */
static bool replace_symbolic_link(char path[PATH_MAX], const char *link, const char *to)
{
    const char *rest = path + strlen(link);
    const size_t start = to[0] == '/' ? 0 : (size_t)(strrchr(link, '/') + 1 - link);

    if (start + strlen(to) + strlen(rest) >= PATH_MAX)
        return false;
    memmove(path + start + strlen(to), rest, strlen(rest) + 1);
    memcpy(path + start, to, strlen(to));
    return true;
}

static void copy_prefix(char ret[PATH_MAX], const char *path, size_t length)
{
    memcpy(ret, path, length);
    ret[length] = '\0';
}

/* Watches the directory of the file, and the directory of each symbolic link that leads there. */
static void watch_directories(struct resolver_files *files, const char *path)
{
    char at[PATH_MAX], link[PATH_MAX], to[PATH_MAX];
    size_t length = 0;
    int links = 0;

    strcpy(at, path);
    while (at[length] != '\0') {
        length += 1 + strcspn(at + length + 1, "/");
        copy_prefix(link, at, length);
        if (!read_symbolic_link(link, to))
            continue;
        watch_parent_directory(files, link);
        if (++links > LINKS_LIMIT || !replace_symbolic_link(at, link, to))
            return;
        length = 0;
    }
    watch_parent_directory(files, at);
}

/* Adding a watch twice does no harm. The watch of the directory reports a file that does not exist yet. */
static void add_all_watches(struct resolver_files *files)
{
    files->watch_failed = false;
    for (size_t i = 0; i < RESOLVCONF_FILES; i++) {
        watch_directories(files, resolvconf_paths[i]);
        (void)add_watch(files, resolvconf_paths[i], FILE_EVENTS);
    }
    atomic_store(&files->incomplete, files->watch_failed);
}

/* ---- Events ----------------------------------------------------------------------------------------------------- */

static bool is_event_of_file(const struct inotify_event *event)
{
    if (event->len == 0) /* from a file's own watch */
        return true;
    for (size_t i = 0; i < RESOLVCONF_FILES; i++)
        if (strcmp(event->name, strrchr(resolvconf_paths[i], '/') + 1) == 0)
            return true;
    return false;
}

/* Returns whether one of the events was about one of the files. */
static bool read_all_events(int fd)
{
    _Alignas(struct inotify_event) char bytes[4096];
    ssize_t length;
    bool touched = false;

    while ((length = read(fd, bytes, sizeof bytes)) > 0)
        for (ssize_t at = 0; at < length;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)(bytes + at);

            touched = touched || is_event_of_file(event);
            at += (ssize_t)(sizeof *event + event->len);
        }
    return touched;
}

/* Returns whether a stamp differs from the one before. A file that was written twice in quick succession can have the
 * same stamp, so an event about an unsettled stamp counts as a change. So does an event about a file that cannot be
 * examined: no other event may follow. */
static bool update_stamps(struct resolver_files *files, bool touched)
{
    bool changed = false;
    struct filestamp now;

    for (size_t i = 0; i < RESOLVCONF_FILES; i++) {
        if (filestamp_read(resolvconf_paths[i], &now) != 0) {
            changed = changed || touched;
            continue;
        }
        changed = changed || !filestamp_looks_same(&now, &files->stamps[i]) || (touched && !files->stamps[i].settled);
        files->stamps[i] = now;
    }
    return changed;
}

/* Mounts that are not watched for another reason stay so: there is no /proc, or its files cannot be polled. */
static bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOSPC;
}

/* Returns whether there is a descriptor. */
static bool open_mounts(struct resolver_files *files)
{
    const int error = descriptor_adopt(&files->mounts, file_open(MOUNTS, 0));

    atomic_store(&files->mounts_missing, is_shortage(error));
    return error == 0;
}

void resolver_files_open(struct resolver_files *ret, struct source *source)
{
    ret->mounts = DESCRIPTOR_CLOSED;
    (void)open_mounts(ret);
    ret->inotify = inotify_open();
    if (ret->inotify != NULL) {
        add_all_watches(ret);
        (void)read_all_events(ret->inotify->descriptor.fd); /* inotify_open can return an instance that was in use */
    }
    (void)update_stamps(ret, false);
    source->descriptor = ret->inotify != NULL ? &ret->inotify->descriptor : NULL;
    source->edges = &ret->mounts;
}

void resolver_files_close(struct resolver_files *files)
{
    descriptor_close(&files->mounts);
    inotify_close(files->inotify);
}

static bool can_receive_events(const struct resolver_files *files)
{
    return files->inotify != NULL;
}

/* If the mounts could not be watched for a shortage, tries again. */
void resolver_files_repair(struct resolver_files *files, SCRunLoopRef loop, struct source *source)
{
    runloop_lock(loop);
    if (descriptor_is_open(&files->mounts) ? is_shortage(source->edges_error)
                                           : atomic_load(&files->mounts_missing) && open_mounts(files))
        (void)runloop_watch_locked(loop, source);
    if (descriptor_is_open(&files->mounts))
        atomic_store(&files->mounts_missing, is_shortage(source->edges_error));
    runloop_unlock(loop);
}

bool resolver_files_are_watched(const struct resolver_files *files)
{
    return can_receive_events(files) && !atomic_load(&files->incomplete) && !atomic_load(&files->mounts_missing);
}

bool resolver_files_check(struct resolver_files *files)
{
    bool touched = false;

    if (can_receive_events(files)) {
        touched = read_all_events(files->inotify->descriptor.fd);
        add_all_watches(files);
    }
    return update_stamps(files, touched);
}
#endif
