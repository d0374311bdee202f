/* SPDX-License-Identifier: MIT */
#include "support/resolver.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "support/time_limit.h"
#include "support/wrap.h"

#define TIME_LIMIT 20 /* seconds: an event that takes longer has failed */
#define NAME_SIZE  1025

/* A look-up in progress, on the stack of its thread. */
struct call {
    struct call *next;
    const char *name;
    char namespace[64];
    bool hangs;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    resolver_rule *rule;
    struct call *calls;
    unsigned count, hanging;
    bool none_hangs, may_overtake;
    char log[RESOLVER_LOG][NAME_SIZE];
    long lists;
    const char *complaint;
} resolver = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* In a child: another thread of the parent may have held the lock, and waiters are gone. */
static void renew_in_child(void)
{
    static pid_t owner;

    if (owner != 0 && owner != getpid()) {
        pthread_mutex_init(&resolver.lock, NULL);
        pthread_cond_init(&resolver.changed, NULL);
    }
    owner = getpid();
}

void resolver_begin(resolver_rule *rule)
{
    renew_in_child();
    pthread_mutex_lock(&resolver.lock);
    resolver.rule = rule;
    resolver.calls = NULL;
    resolver.count = resolver.hanging = 0;
    resolver.none_hangs = resolver.may_overtake = false;
    memset(resolver.log, 0, sizeof resolver.log);
    resolver.lists = 0;
    resolver.complaint = NULL;
    pthread_mutex_unlock(&resolver.lock);
}

static void complain_if_locked(bool wrong, const char *what)
{
    if (wrong)
        resolver.complaint = what;
}

/* ---- The result ------------------------------------------------------------------------------------------------- */

struct entry {
    struct addrinfo info; /* first: its address is the address of the allocation */
    struct sockaddr_un address;
};

static void fill_entry(struct entry *entry, char *word)
{
    struct sockaddr_in *in = (struct sockaddr_in *)(void *)&entry->address;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)(void *)&entry->address;
    char *zone = strchr(word, '%');

    if (zone != NULL)
        *zone++ = '\0';
    if (inet_pton(AF_INET, word, &in->sin_addr) == 1) {
        in->sin_family = AF_INET;
        entry->info.ai_addrlen = sizeof *in;
    } else if (inet_pton(AF_INET6, word, &in6->sin6_addr) == 1) {
        in6->sin6_family = AF_INET6;
        in6->sin6_scope_id = zone == NULL ? 0 : (uint32_t)strtoul(zone, NULL, 10);
        entry->info.ai_addrlen = sizeof *in6;
    } else {
        memset(&entry->address, 'x', sizeof entry->address);
        entry->address.sun_family = AF_UNIX;
        entry->info.ai_addrlen = sizeof(struct sockaddr_un);
    }
    entry->info.ai_family = entry->address.sun_family;
    entry->info.ai_socktype = SOCK_STREAM;
    entry->info.ai_addr = (struct sockaddr *)&entry->address;
}

static struct addrinfo *make_list(const char *addresses)
{
    char *text = strdup(addresses), *rest = NULL;
    struct addrinfo *list = NULL, **end = &list;

    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        struct entry *entry = calloc(1, sizeof *entry);

        fill_entry(entry, word);
        *end = &entry->info;
        end = &entry->info.ai_next;
    }
    free(text);
    return list;
}

WRAP(void, freeaddrinfo, struct addrinfo *list)
{
    pthread_mutex_lock(&resolver.lock);
    complain_if_locked(--resolver.lists < 0, "a list was freed that was never given");
    pthread_mutex_unlock(&resolver.lock);
    while (list != NULL) {
        struct addrinfo *next = list->ai_next;

        free(list);
        list = next;
    }
}

/* ---- Look-ups --------------------------------------------------------------------------------------------------- */

static bool has_all_signals_blocked(void)
{
    sigset_t mask;
    bool blocked = true;

    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    for (int signal = 1; signal <= SIGRTMAX; signal++)
        if (signal != SIGKILL && signal != SIGSTOP &&
            (signal < 32 || signal >= SIGRTMIN)) /* others are the C library's */
            blocked = blocked && sigismember(&mask, signal) == 1;
    return blocked;
}

static void begin_locked(struct call *call, const struct addrinfo *hints)
{
    for (const struct call *other = resolver.calls; other != NULL; other = other->next)
        complain_if_locked(!resolver.may_overtake && strcmp(other->name, call->name) == 0 &&
                               strcmp(other->namespace, call->namespace) == 0,
                           "a name is looked up twice at a time");
    complain_if_locked(hints == NULL || hints->ai_family != AF_UNSPEC || hints->ai_socktype != SOCK_STREAM ||
                           (hints->ai_flags & ~AI_IDN) != 0,
                       "the resolver got other hints");
    complain_if_locked(!has_all_signals_blocked(), "a resolver's thread takes signals");
    call->next = resolver.calls;
    resolver.calls = call;
    snprintf(resolver.log[resolver.count++ % RESOLVER_LOG], NAME_SIZE, "%s", call->name);
    pthread_cond_broadcast(&resolver.changed);
}

static void end_locked(struct call *call)
{
    struct call **place = &resolver.calls;

    while (*place != call)
        place = &(*place)->next;
    *place = call->next;
}

static void hang_locked(struct call *call)
{
    call->hangs = true;
    resolver.hanging++;
    pthread_cond_broadcast(&resolver.changed);
    while (call->hangs)
        pthread_cond_wait(&resolver.changed, &resolver.lock);
    resolver.hanging--;
    pthread_cond_broadcast(&resolver.changed);
}

WRAP(int, getaddrinfo, const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
    struct call call = { .name = name };

    if (readlink("/proc/thread-self/ns/net", call.namespace, sizeof call.namespace - 1) < 0)
        call.namespace[0] = '\0';
    pthread_mutex_lock(&resolver.lock);
    complain_if_locked(service != NULL, "the resolver got a service");
    begin_locked(&call, hints);
    struct resolver_reply reply = resolver.rule(name);
    if (reply.hangs && !resolver.none_hangs) {
        hang_locked(&call);
        reply = resolver.rule(name);
    }
    end_locked(&call);
    resolver.lists += reply.error == 0;
    pthread_mutex_unlock(&resolver.lock);
    if (reply.error == 0)
        *ret = make_list(reply.addresses);
    else if (reply.error == EAI_SYSTEM)
        errno = ETIMEDOUT;
    return reply.error;
}

void resolver_allow_overtaking(void)
{
    pthread_mutex_lock(&resolver.lock);
    resolver.may_overtake = true;
    pthread_mutex_unlock(&resolver.lock);
}

void resolver_release(const char *name)
{
    pthread_mutex_lock(&resolver.lock);
    for (struct call *call = resolver.calls; call != NULL; call = call->next)
        if (name == NULL || strcmp(call->name, name) == 0)
            call->hangs = false;
    resolver.none_hangs = resolver.none_hangs || name == NULL;
    pthread_cond_broadcast(&resolver.changed);
    pthread_mutex_unlock(&resolver.lock);
}

/* ---- State for tests -------------------------------------------------------------------------------------------- */

static unsigned calls_locked(const char *name)
{
    unsigned calls = 0;

    if (name == NULL)
        return resolver.count;
    for (unsigned i = 0; i < RESOLVER_LOG; i++)
        calls += strcmp(resolver.log[i], name) == 0;
    return calls;
}

unsigned resolver_calls(const char *name)
{
    pthread_mutex_lock(&resolver.lock);
    unsigned calls = calls_locked(name);
    pthread_mutex_unlock(&resolver.lock);
    return calls;
}

const char *resolver_call(unsigned number)
{
    return resolver.log[number % RESOLVER_LOG];
}

static struct timespec in_time_limit(void)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += time_limit_of(TIME_LIMIT);
    return end;
}

bool resolver_await_calls(const char *name, unsigned calls)
{
    const struct timespec end = in_time_limit();
    bool come;

    pthread_mutex_lock(&resolver.lock);
    while (!(come = calls_locked(name) >= calls))
        if (pthread_cond_timedwait(&resolver.changed, &resolver.lock, &end) != 0)
            break;
    pthread_mutex_unlock(&resolver.lock);
    return come;
}

bool resolver_await_hanging(unsigned count)
{
    const struct timespec end = in_time_limit();
    bool come;

    pthread_mutex_lock(&resolver.lock);
    while (!(come = resolver.hanging == count))
        if (pthread_cond_timedwait(&resolver.changed, &resolver.lock, &end) != 0)
            break;
    pthread_mutex_unlock(&resolver.lock);
    return come;
}

/* A new thread still has another name. A thread that is about to end still has this name. */
unsigned resolver_threads(void)
{
    DIR *directory = opendir("/proc/self/task");
    unsigned count = 0;

    if (directory == NULL)
        return 0;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char path[300], comm[32] = "";

        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "re");
        if (file == NULL)
            continue;
        count += fgets(comm, sizeof comm, file) != NULL && strcmp(comm, "reach-resolver\n") == 0;
        fclose(file);
    }
    closedir(directory);
    return count;
}

/* There is no event for the end of a detached thread. */
bool resolver_await_threads(unsigned count)
{
    const time_t end = time(NULL) + time_limit_of(TIME_LIMIT);

    while (resolver_threads() != count) {
        if (time(NULL) > end)
            return false;
        sched_yield();
    }
    return true;
}

const char *resolver_complaint(void)
{
    const char *complaint;

    pthread_mutex_lock(&resolver.lock);
    complaint = resolver.complaint;
    pthread_mutex_unlock(&resolver.lock);
    return complaint;
}

bool resolver_has_its_lists(void)
{
    pthread_mutex_lock(&resolver.lock);
    bool has = resolver.lists == 0;
    pthread_mutex_unlock(&resolver.lock);
    return has;
}
