/* SPDX-License-Identifier: MIT */
/*
 * One inotify instance of the process, in the epoll set of each loop that has names. The loop that reads an event wakes
 * the others. Any event means: look at the stamps of the files, and compare.
 *
 * Programs replace these files by renaming, so their directories are watched. Containers mount them one by one and edit
 * them in place, so the files are watched, too. A file can be a symbolic link to another, so the directory of each is
 * watched. A mount over a file, and another link in the middle of a path, cause no event: they are noticed with the
 * next change.
 *
 * A half-written file does not count: a change counts when the writer has closed the file or moved it into its place,
 * or 100 ms after the last change, but at most 1 s after the first.
 *
 * A thread closes the last user's instance: the kernel takes 6 to 16 ms for it.
 *
 * What this file must never do: fail because no inotify instance or watch is left.
 */
#ifdef __linux__
#include "names/resolver_files.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#include "base/clock.h"
#include "base/file.h"
#include "names/name_servers.h"

#define THREAD_NAME "reach-closer"
#define LINKS_LIMIT 8 /* symbolic links to follow from one file */
#define STAMP_READS 4
#define WRITE_TIME  (100 * MILLISECOND) /* a writer that has not closed its file has written all by then */
#define WRITE_LIMIT (1 * SECOND)        /* one that does not stop must not hold up all names */

enum { FILES = 4 };
static const char *const paths[FILES] = { NAME_SERVERS_FILE, "/etc/hosts", "/etc/nsswitch.conf",
                                          NAME_SERVERS_UPSTREAM };

struct watched_file {
    struct filestamp stamp; /* as of the last look */
    int watch;              /* of inotify; -1: there is none */
    bool touched;           /* by an event since the last stamp */
    bool changed;           /* since the last version */
    bool written;           /* its writer has not closed it, as far as is known */
};

/* Under `lock`, but for `era`, which is under the process's. The order of locks: a target's, this one, a loop's, the
 * process's. */
static struct {
    pthread_mutex_t lock;
    unsigned era;
    struct list users;
    struct descriptor *inotify; /* NULL: none */
    bool incomplete;            /* a watch could not be added */
    struct watched_file files[FILES];
    int64_t changed_at; /* the last change */
    int64_t first_at;   /* the first change that does not count yet */
    int64_t due;        /* see struct resolver_files_user */
    unsigned version;
} state;

/* In a child, another thread of the parent may have held the lock, and there are no users. */
static void lock(void)
{
    reach_process_lock();
    if (state.era != process_era()) {
        pthread_mutex_init(&state.lock, NULL);
        list_init(&state.users);
        free(state.inotify); /* the child has closed it */
        state.inotify = NULL;
        state.era = process_era();
    }
    reach_process_unlock();
    pthread_mutex_lock(&state.lock);
}

/* ---- Watches ---------------------------------------------------------------------------------------------------- */

#define DIRECTORY_EVENTS \
    (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_MOVE_SELF | IN_ONLYDIR)
#define FILE_EVENTS (IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

/* Returns the watch, or -1 and errno. A path that does not exist, or that we may not read, needs no watch. Any other
 * error counts: a user has a limited number of watches. */
static int add_watch(const char *path, uint32_t events)
{
    const int watch = inotify_add_watch(state.inotify->fd, path, events);

    state.incomplete = state.incomplete || (watch < 0 && !reach_filestamp_means_absent(errno));
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

/* Watches the directory of the file, and while it is a symbolic link, that of the next one. */
static void watch_directories(const char *path)
{
    char at[PATH_MAX], to[PATH_MAX];

    strcpy(at, path);
    for (int i = 0; i <= LINKS_LIMIT; i++) {
        ssize_t length = readlink(at, to, sizeof to - 1);
        size_t kept = length > 0 && to[0] != '/' ? (size_t)(strrchr(at, '/') + 1 - at) : 0;

        watch_directory(at);
        if (length <= 0 || kept + (size_t)length >= sizeof at)
            break;
        to[length] = '\0';
        strcpy(at + kept, to);
    }
}

/* Adding a watch twice does no harm. The watch of the directory reports a file that does not exist yet. */
static void add_all_watches(void)
{
    state.incomplete = false;
    for (size_t i = 0; i < FILES; i++) {
        watch_directories(paths[i]);
        state.files[i].watch = add_watch(paths[i], FILE_EVENTS);
    }
}

static void open_inotify(void)
{
    struct descriptor *fresh = state.inotify == NULL ? malloc(sizeof *fresh) : NULL;

    if (fresh == NULL)
        return;
    if (reach_descriptor_adopt(fresh, inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) != 0) {
        free(fresh);
        return;
    }
    state.inotify = fresh;
    add_all_watches();
}

/* ---- Changes ---------------------------------------------------------------------------------------------------- */

static void note_event(const struct inotify_event *event)
{
    for (size_t i = 0; i < FILES; i++) {
        struct watched_file *file = &state.files[i];

        if (event->wd != file->watch && (event->len == 0 || strcmp(event->name, strrchr(paths[i], '/') + 1) != 0))
            continue;
        file->touched = true;
        file->written = (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) == 0 &&
                        (file->written || (event->mask & (IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM)) != 0);
    }
}

/* Returns whether there were events. Then there can be new directories and files to watch. */
static bool read_events(void)
{
    _Alignas(struct inotify_event) char bytes[4096];
    ssize_t length;
    bool any = false;

    while (state.inotify != NULL && (length = read(state.inotify->fd, bytes, sizeof bytes)) > 0) {
        any = true;
        for (ssize_t at = 0; at < length;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)(bytes + at);

            note_event(event);
            at += (ssize_t)(sizeof *event + event->len);
        }
    }
    if (state.inotify != NULL && (any || state.incomplete))
        add_all_watches();
    return any;
}

/* Marks a file as changed if its stamp differs from the one before. A file that was written twice in quick succession
 * can have the same stamp, so an event about an unsettled stamp counts as a change. So does an event about a file that
 * cannot be examined: no other event may follow. */
static void look_at(struct watched_file *file, const char *path, int64_t now)
{
    struct filestamp stamp;
    const bool is_known = reach_filestamp_read(path, &stamp) == 0, touched = file->touched;

    file->touched = false;
    if (is_known ? reach_filestamp_looks_same(&stamp, &file->stamp) && (!touched || file->stamp.settled) : !touched)
        return;
    file->changed = true;
    state.changed_at = now;
    if (!is_known)
        return;
    if (!touched && !stamp.settled)
        file->written = true; /* an event is late, or none comes */
    file->stamp = stamp;
}

/* The sources of all users run, or of those on one loop. */
static void wake_users(SCRunLoopRef loop)
{
    list_for_each(node, &state.users) {
        struct resolver_files_user *user = container_of(node, struct resolver_files_user, node);

        if (loop != NULL && user->loop != loop)
            continue;
        runloop_lock(user->loop);
        reach_runloop_source_due_locked(user->loop, user->source);
        runloop_unlock(user->loop);
    }
}

/* All files count as they are. */
static void accept_changes(void)
{
    for (size_t i = 0; i < FILES; i++)
        state.files[i].changed = false;
    state.due = NEVER;
}

/* Reads all events, and looks at all files. The events of a change may come after its stamp: stamps are read until no
 * event follows. */
static void look(int64_t now)
{
    const int64_t before = state.due;
    const unsigned version = state.version;
    bool changed = false, written = false;

    for (int i = 0; (read_events() || i == 0) && i < STAMP_READS; i++)
        for (size_t j = 0; j < FILES; j++)
            look_at(&state.files[j], paths[j], now);
    for (size_t i = 0; i < FILES; i++) {
        changed = changed || state.files[i].changed;
        written = written || (state.files[i].changed && state.files[i].written);
    }
    if (before == NEVER)
        state.first_at = now;
    state.due = written ? clock_earlier(state.changed_at + WRITE_TIME, state.first_at + WRITE_LIMIT) : NEVER;
    if (changed && (!written || state.due <= now)) {
        accept_changes();
        state.version++;
    }
    if (state.version != version || (before == NEVER && state.due != NEVER))
        wake_users(NULL);
}

/* ---- Users ------------------------------------------------------------------------------------------------------ */

void reach_resolver_files_join(struct resolver_files_user *user, SCRunLoopRef loop, struct source *source)
{
    lock();
    open_inotify();
    look(clock_now());
    if (list_is_empty(&state.users))
        accept_changes();
    *user = (struct resolver_files_user){ .loop = loop, .source = source, .version = state.version, .due = state.due };
    list_append(&state.users, &user->node);
    pthread_mutex_unlock(&state.lock);
}

static void *close_inotify(void *argument)
{
    (void)pthread_setname_np(pthread_self(), THREAD_NAME);
    reach_descriptor_close(argument);
    free(argument);
    return NULL;
}

/* An epoll set has a descriptor once, and the source has removed it: another source of the loop adds it again. */
void reach_resolver_files_leave(struct resolver_files_user *user)
{
    struct descriptor *unused = NULL;

    lock();
    list_remove(&user->node);
    wake_users(user->loop);
    if (list_is_empty(&state.users)) {
        unused = state.inotify;
        state.inotify = NULL;
    }
    pthread_mutex_unlock(&state.lock);
    if (unused != NULL && reach_process_start_small_thread(close_inotify, unused) != 0) {
        reach_descriptor_close(unused);
        free(unused);
    }
}

bool reach_resolver_files_check(struct resolver_files_user *user, int64_t now)
{
    bool changed;

    lock();
    if (!list_is_empty(&state.users))
        open_inotify();
    look(now);
    changed = user->version != state.version;
    user->version = state.version;
    user->due = state.due;
    user->is_watched = state.inotify != NULL && !state.incomplete;
    runloop_lock(user->loop);
    if (!list_is_empty(&user->source->node)) { /* still a source of the loop */
        user->source->descriptor = state.inotify;
        user->is_watched = reach_runloop_watch_locked(user->loop, user->source) == 0 && user->is_watched;
    }
    runloop_unlock(user->loop);
    pthread_mutex_unlock(&state.lock);
    return changed;
}
#endif
