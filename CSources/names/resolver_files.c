/* SPDX-License-Identifier: MIT */
/*
 * One inotify instance of the process, in the epoll set of each loop that has names. The loop that reads an event wakes
 * the others. Any event means: look at the stamps of the files, and compare.
 *
 * Programs replace these files by renaming, so their directories are watched. Containers mount them one by one and edit
 * them in place, so the files are watched, too. A path can contain symbolic links, and each of these can be replaced,
 * so the directory of each is watched. A mount over a file causes no event: it is noticed with the next change.
 *
 * A half-written file does not count: a change counts when the writer has closed the file or moved it into its place,
 * or 100 ms after the last change, but at most 1 s after the first.
 *
 * The last user's instance is closed 50 ms later, by a thread: the kernel takes 6 to 16 ms for it.
 *
 * What this file must never do: fail because no inotify instance or watch is left.
 */
#ifdef __linux__
#include "names/resolver_files.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/netns_handle.h"
#include "names/name_servers.h"

#define THREAD_NAME "reach-closer"
#define CLOSE_DELAY 50 /* milliseconds in which another user can take the instance */
#define LINKS_LIMIT 8  /* symbolic links to follow in one path */
#define STAMP_READS 4
#define WRITE_TIME  (100 * MILLISECOND) /* a writer that has not closed its file has written all by then */
#define WRITE_LIMIT (1 * SECOND)        /* one that does not stop must not hold up all names */

enum { FILES = 4 };
static const char *const paths[FILES] = { NAME_SERVERS_FILE, "/etc/hosts", "/etc/nsswitch.conf",
                                          NAME_SERVERS_UPSTREAM };

struct watched_file {
    struct filestamp stamp;    /* as of the last look */
    int watch;                 /* of inotify; -1: there is none */
    char target[NAME_MAX + 1]; /* the name of the file behind symbolic links */
    bool touched;              /* by an event since the last stamp */
    bool changed;              /* since the last version */
    bool closed;               /* by its writer, after the last change */
};

/* Under `lock`, but for `era`, which is under the process's. The order of locks: a target's, this one, a loop's, the
 * process's. */
static struct {
    pthread_mutex_t lock;
    unsigned era;
    struct list users;
    struct descriptor inotify;
    bool incomplete; /* a watch could not be added */
    bool has_closer; /* a thread will close the instance */
    struct watched_file files[FILES];
    int64_t changed_at; /* the last change */
    int64_t first_at;   /* the first change that does not count yet */
    int64_t due;        /* see struct resolver_files_user */
    unsigned version;
} state;

/* In a child, another thread of the parent may have held the lock, and there are no users. */
static void lock(void)
{
    process_lock();
    if (state.era != process_era()) {
        pthread_mutex_init(&state.lock, NULL);
        list_init(&state.users);
        state.inotify = DESCRIPTOR_CLOSED;
        state.has_closer = false;
        state.era = process_era();
    }
    process_unlock();
    pthread_mutex_lock(&state.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&state.lock);
}

/* ---- Watches ---------------------------------------------------------------------------------------------------- */

#define DIRECTORY_EVENTS \
    (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_MOVE_SELF | IN_ONLYDIR)
#define FILE_EVENTS (IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

/* Returns the watch, or -1 and errno. A path that does not exist, or that we may not read, needs no watch. Any other
 * error counts: a user has a limited number of watches. */
static int add_watch(const char *path, uint32_t events)
{
    const int watch = inotify_add_watch(state.inotify.fd, path, events);

    state.incomplete = state.incomplete || (watch < 0 && !filestamp_means_absent(errno));
    return watch;
}

/* Watches the directory of the path. If it does not exist, the nearest directory above it: when something is created
 * there, the watches are added again. */
static void watch_directory(const char *path)
{
    char directory[PATH_MAX];
    char *slash;

    strcpy(directory, path);
    while ((slash = strrchr(directory, '/')) != NULL && slash != directory) {
        *slash = '\0';
        if (add_watch(directory, DIRECTORY_EVENTS) >= 0 || errno != ENOENT)
            return;
    }
}

/* Watches the directory of the file, and the directory of each symbolic link that leads there. */
static void watch_directories(const char *path, char ret_target[NAME_MAX + 1])
{
    char at[PATH_MAX], link[PATH_MAX], to[PATH_MAX], rest[PATH_MAX];
    size_t end = 0;
    int links = 0;

    strcpy(at, path);
    while (at[end] != '\0') {
        ssize_t length;

        end += 1 + strcspn(at + end + 1, "/"); /* of the next component */
        snprintf(link, sizeof link, "%.*s", (int)end, at);
        length = readlink(link, to, sizeof to - 1);
        if (length <= 0)
            continue; /* no symbolic link */
        to[length] = '\0';
        watch_directory(link);
        snprintf(rest, sizeof rest, "%s", at + end);
        end = to[0] == '/' ? 0 : (size_t)(strrchr(link, '/') + 1 - link);
        if (++links > LINKS_LIMIT || end + strlen(to) + strlen(rest) >= sizeof at)
            return;
        memcpy(at + end, to, (size_t)length);
        strcpy(at + end + length, rest);
        end = 0;
    }
    watch_directory(at);
    snprintf(ret_target, NAME_MAX + 1, "%s", strrchr(at, '/') + 1);
}

/* Adding a watch twice does no harm. The watch of the directory reports a file that does not exist yet. */
static void add_all_watches(void)
{
    state.incomplete = false;
    for (size_t i = 0; i < FILES; i++) {
        watch_directories(paths[i], state.files[i].target);
        state.files[i].watch = add_watch(paths[i], FILE_EVENTS);
    }
}

static void open_inotify(void)
{
    if (!descriptor_is_open(&state.inotify) &&
        descriptor_adopt(&state.inotify, inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) == 0)
        add_all_watches();
}

/* ---- Changes ---------------------------------------------------------------------------------------------------- */

static void note_event(const struct inotify_event *event)
{
    for (size_t i = 0; i < FILES; i++) {
        struct watched_file *file = &state.files[i];

        if (event->wd != file->watch && (event->len == 0 || (strcmp(event->name, strrchr(paths[i], '/') + 1) != 0 &&
                                                             strcmp(event->name, file->target) != 0)))
            continue;
        file->touched = true;
        file->closed = (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0 ||
                       (file->closed && (event->mask & (IN_MODIFY | IN_CREATE | IN_DELETE)) == 0);
    }
}

/* Returns whether there were events. Then there can be new directories and files to watch. */
static bool read_events(void)
{
    _Alignas(struct inotify_event) char bytes[4096];
    ssize_t length;
    bool any = false;

    while (state.inotify.fd >= 0 && (length = read(state.inotify.fd, bytes, sizeof bytes)) > 0) {
        any = true;
        for (ssize_t at = 0; at < length;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)(bytes + at);

            note_event(event);
            at += (ssize_t)(sizeof *event + event->len);
        }
    }
    if (state.inotify.fd >= 0 && (any || state.incomplete))
        add_all_watches();
    return any;
}

/* Marks a file as changed if its stamp differs from the one before. A file that was written twice in quick succession
 * can have the same stamp, so an event about an unsettled stamp counts as a change. So does an event about a file that
 * cannot be examined: no other event may follow. */
static void look_at(struct watched_file *file, const char *path, int64_t now)
{
    struct filestamp stamp;
    const bool is_known = filestamp_read(path, &stamp) == 0, touched = file->touched;

    file->touched = false;
    if (is_known ? filestamp_looks_same(&stamp, &file->stamp) && (!touched || file->stamp.settled) : !touched)
        return;
    file->changed = true;
    state.changed_at = now;
    if (!is_known)
        return;
    /* It was mounted or linked here, not written. */
    if (stamp.inode != 0 && (stamp.settled || (!touched && file->stamp.inode != 0 && stamp.inode != file->stamp.inode)))
        file->closed = true;
    file->stamp = stamp;
}

/* The other loops run their sources, too. */
static void wake_users(const struct resolver_files_user *but)
{
    list_for_each(node, &state.users) {
        struct resolver_files_user *user = container_of(node, struct resolver_files_user, node);

        if (user == but)
            continue;
        runloop_lock(user->loop);
        runloop_source_due_locked(user->loop, user->source);
        runloop_unlock(user->loop);
    }
}

/* Reads all events, and looks at all files. The events of a change may come after its stamp: stamps are read until no
 * event follows. `user`: NULL or who does it. */
static void look(const struct resolver_files_user *user, int64_t now)
{
    const int64_t before = state.due;
    bool changed = false, whole = true;

    (void)read_events();
    for (int i = 0; i < STAMP_READS && (i == 0 || read_events()); i++)
        for (size_t j = 0; j < FILES; j++)
            look_at(&state.files[j], paths[j], now);
    for (size_t i = 0; i < FILES; i++) {
        struct watched_file *file = &state.files[i];

        file->closed = file->closed && file->changed;
        changed = changed || file->changed;
        whole = whole && file->closed == file->changed;
    }
    if (before == NEVER)
        state.first_at = now;
    state.due = whole ? NEVER : clock_earlier(state.changed_at + WRITE_TIME, state.first_at + WRITE_LIMIT);
    if (changed && (whole || state.due <= now)) {
        for (size_t i = 0; i < FILES; i++)
            state.files[i].changed = state.files[i].closed = false;
        state.due = NEVER;
        state.version++;
        wake_users(user);
    } else if (before == NEVER && state.due != NEVER) {
        wake_users(user);
    }
}

/* ---- Users ------------------------------------------------------------------------------------------------------ */

void resolver_files_join(struct resolver_files_user *user, SCRunLoopRef loop, struct source *source)
{
    lock();
    open_inotify();
    if (list_is_empty(&state.users) && state.inotify.fd >= 0)
        add_all_watches(); /* a file may have been mounted */
    look(NULL, clock_now());
    if (list_is_empty(&state.users)) {
        state.due = NEVER;
        for (size_t i = 0; i < FILES; i++)
            state.files[i].changed = state.files[i].closed = false;
    }
    *user = (struct resolver_files_user){ .loop = loop, .source = source, .version = state.version, .due = state.due };
    list_append(&state.users, &user->node);
    source->descriptor = state.inotify.fd >= 0 ? &state.inotify : NULL;
    unlock();
}

static void *run_closer(void *argument)
{
    (void)pthread_setname_np(pthread_self(), THREAD_NAME);
    netns_enter_process_namespace();
    (void)poll(NULL, 0, CLOSE_DELAY);
    lock();
    if (list_is_empty(&state.users))
        descriptor_close(&state.inotify);
    state.has_closer = false;
    unlock();
    return argument;
}

void resolver_files_leave(struct resolver_files_user *user)
{
    if (user->loop == NULL)
        return;
    lock();
    list_remove(&user->node);
    list_for_each(node, &state.users) {
        struct resolver_files_user *other = container_of(node, struct resolver_files_user, node);

        if (other->loop == user->loop) { /* an epoll set has a descriptor once, and the source has removed it */
            runloop_lock(other->loop);
            (void)runloop_watch_locked(other->loop, other->source);
            runloop_unlock(other->loop);
        }
    }
    if (list_is_empty(&state.users) && state.inotify.fd >= 0 && !state.has_closer) {
        state.has_closer = process_start_thread(run_closer, NULL, NULL) == 0;
        if (!state.has_closer)
            descriptor_close(&state.inotify);
    }
    unlock();
}

bool resolver_files_check(struct resolver_files_user *user, int64_t now)
{
    bool changed, is_open;

    lock();
    if (!list_is_empty(&state.users))
        open_inotify();
    look(user, now);
    changed = user->version != state.version;
    user->version = state.version;
    user->due = state.due;
    is_open = state.inotify.fd >= 0;
    user->is_watched = is_open && !state.incomplete;
    unlock();
    if (is_open && user->source->descriptor == NULL) {
        runloop_lock(user->loop);
        user->source->descriptor = &state.inotify;
        if (runloop_watch_locked(user->loop, user->source) != 0)
            user->source->descriptor = NULL; /* the next check tries again */
        runloop_unlock(user->loop);
    }
    return changed;
}
#endif
