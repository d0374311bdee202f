/* SPDX-License-Identifier: MIT */
/*
 * The inotify watches of the resolver files, and their file stamps. Programs replace these files by renaming, so their
 * directories are watched. Containers mount them one by one and edit them in place, so the files are watched, too. A
 * path can contain symbolic links, and each of these can be replaced, so the directory of each symbolic link is
 * watched. A mount over one of them causes no event of inotify: the list of mounts reports it. A process without /proc
 * has no such list, and notices a mount with the next change. So does one whose list cannot be polled.
 *
 * A half-written file is no state: a change counts when the writer has closed the file or moved it into its place, or
 * 100 ms after the last change.
 *
 * What this file must never do: fail because no inotify instance or watch is left.
 */
#ifdef __linux__
#include "names/resolver_files.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"

#define MOUNTS      "/proc/thread-self/mountinfo"
#define LINKS_LIMIT 8 /* symbolic links to follow in one path */
#define STAMP_READS 4
#define WRITE_TIME  (100 * MILLISECOND) /* a writer that has not closed its file has written all by then */

/* ---- Watches ---------------------------------------------------------------------------------------------------- */

#define DIRECTORY_EVENTS \
    (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_MOVE_SELF | IN_ONLYDIR)
#define FILE_EVENTS (IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

/* Returns the watch, or -1 and errno. A path that does not exist, or that we may not read, needs no watch. Any other
 * error counts: a user has a limited number of watches. */
static int add_watch(struct resolver_files *files, const char *path, uint32_t events)
{
    const int watch = inotify_add_watch(files->inotify->descriptor.fd, path, events);

    if (watch < 0 && !filestamp_means_absent(errno))
        files->watch_failed = true;
    return watch;
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
        if (add_watch(files, directory, DIRECTORY_EVENTS) >= 0 || errno != ENOENT)
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
static void watch_directories(struct resolver_files *files, const char *path, char ret_target[NAME_MAX + 1])
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
    snprintf(ret_target, NAME_MAX + 1, "%s", strrchr(at, '/') + 1);
}

/* Adding a watch twice does no harm. The watch of the directory reports a file that does not exist yet. */
static void add_all_watches(struct resolver_files *files)
{
    files->watch_failed = false;
    for (size_t i = 0; i < RESOLVCONF_FILES; i++) {
        watch_directories(files, resolvconf_paths[i], files->files[i].target);
        files->files[i].watch = add_watch(files, resolvconf_paths[i], FILE_EVENTS);
    }
    atomic_store(&files->incomplete, files->watch_failed);
}

/* ---- Events ----------------------------------------------------------------------------------------------------- */

static bool is_event_of_file(const struct inotify_event *event, const struct watched_file *file, const char *path)
{
    return event->wd == file->watch || (event->len > 0 && (strcmp(event->name, strrchr(path, '/') + 1) == 0 ||
                                                           strcmp(event->name, file->target) == 0));
}

/* Returns whether one of the events was about one of the files. */
static bool read_all_events(struct resolver_files *files)
{
    _Alignas(struct inotify_event) char bytes[4096];
    ssize_t length;
    bool touched = false;

    while ((length = read(files->inotify->descriptor.fd, bytes, sizeof bytes)) > 0)
        for (ssize_t at = 0; at < length;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)(bytes + at);

            for (size_t i = 0; i < RESOLVCONF_FILES; i++) {
                struct watched_file *file = &files->files[i];

                if (!is_event_of_file(event, file, resolvconf_paths[i]))
                    continue;
                touched = file->touched = true;
                file->closed = (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0 ||
                               (file->closed && (event->mask & (IN_MODIFY | IN_CREATE | IN_DELETE)) == 0);
            }
            at += (ssize_t)(sizeof *event + event->len);
        }
    return touched;
}

/* Marks a file as changed if its stamp differs from the one before. A file that was written twice in quick succession
 * can have the same stamp, so an event about an unsettled stamp counts as a change. So does an event about a file that
 * cannot be examined: no other event may follow. */
static void update_stamp(struct resolver_files *files, struct watched_file *file, const char *path, int64_t now)
{
    struct filestamp stamp;
    const bool is_known = filestamp_read(path, &stamp) == 0;
    const bool touched = file->touched;
    bool is_another;

    file->touched = false;
    if (is_known ? filestamp_looks_same(&stamp, &file->stamp) && (!touched || file->stamp.settled) : !touched)
        return;
    is_another = stamp.inode != file->stamp.inode || stamp.device != file->stamp.device;
    file->changed = true;
    files->changed_at = now;
    if (!is_known)
        return;
    /* It was mounted or linked here. */
    if (stamp.inode != 0 && (stamp.settled || (!touched && file->stamp.inode != 0 && is_another)))
        file->closed = true;
    file->stamp = stamp;
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
        (void)read_all_events(ret); /* inotify_open can return an instance that was in use */
    }
    for (size_t i = 0; i < RESOLVCONF_FILES; i++) {
        (void)filestamp_read(resolvconf_paths[i], &ret->files[i].stamp);
        ret->files[i].touched = ret->files[i].closed = false;
    }
    ret->due = NEVER;
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

/* The events of a change may come after its stamp: stamps are read until no event follows. */
bool resolver_files_check(struct resolver_files *files, int64_t now)
{
    const bool has_events = can_receive_events(files);
    bool changed = false, whole = true;

    if (has_events) {
        (void)read_all_events(files);
        add_all_watches(files);
    }
    for (int i = 0; i < STAMP_READS && (i == 0 || (has_events && read_all_events(files))); i++)
        for (size_t j = 0; j < RESOLVCONF_FILES; j++)
            update_stamp(files, &files->files[j], resolvconf_paths[j], now);
    for (size_t i = 0; i < RESOLVCONF_FILES; i++) {
        struct watched_file *file = &files->files[i];

        file->closed = file->closed && file->changed;
        changed = changed || file->changed;
        whole = whole && file->closed == file->changed;
    }
    files->due = whole ? NEVER : files->changed_at + WRITE_TIME;
    if (!changed || (!whole && files->due > now))
        return false;
    for (size_t i = 0; i < RESOLVCONF_FILES; i++)
        files->files[i].changed = files->files[i].closed = false;
    files->due = NEVER;
    return true;
}
#endif
