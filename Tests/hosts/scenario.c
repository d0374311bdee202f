/* SPDX-License-Identifier: MIT */
/* The scenario that every host runs (scenario.h): the namespace, the changes, the callback and the counts. */
#include "scenario.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/writer.h"

#define TOGGLES     1000 /* of each kind */
#define STAY        20   /* changes during which a callback does not return, so that another could overtake it */
#define LIMIT       20   /* seconds; then something that must happen counts as failed */
#define DESCRIPTORS 1024
#define GATEWAY     "192.0.2.1"
#define THREAD_NAME "reachability"

#define REACHABLE kSCNetworkReachabilityFlagsReachable
#define DIRECT    (REACHABLE | kSCNetworkReachabilityFlagsIsDirect)

static struct {
    struct host host;
    SCNetworkReachabilityRef target;
    struct writer writer;
    unsigned index;
    pthread_t thread, host_thread;
    int tasks[64]; /* the threads that existed before the target */
    size_t task_count;
    bool descriptors[DESCRIPTORS]; /* the same for descriptors */
    unsigned threads;              /* of the library, while the target is scheduled */

    /* Under the lock. */
    SCNetworkReachabilityFlags last;
    unsigned made, seen, calls, strays, inside, changes;
    bool started, bursting, over, ended, settled, disordered, overlapped;
} scenario;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void scenario_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s: errno: %s; SCError: %s\n", file, line, what, strerror(errno), SCErrorString(SCError()));
    fflush(NULL);
    _exit(1);
}

/* ---- The namespace ---------------------------------------------------------------------------------------------- */

static bool write_file(const char *path, const char *format, unsigned number)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written;

    if (fd < 0)
        return false;
    written = dprintf(fd, format, number) > 0;
    close(fd);
    return written;
}

static bool enter_user_namespace(void)
{
    const unsigned uid = geteuid(), gid = getegid();

    return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 && write_file("/proc/self/setgroups", "deny", 0) &&
           write_file("/proc/self/uid_map", "0 %u 1", uid) && write_file("/proc/self/gid_map", "0 %u 1", gid);
}

/* Waits for a carrier. The kernel reports it some time after both ends are up, and a route is usable only then. */
static void await_running(const char *name)
{
    const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct pollfd link = { .events = POLLIN };
    struct ifreq request = { 0 };
    char message[8192];

    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    link.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    MUST(bind(link.fd, (const struct sockaddr *)&address, sizeof address) == 0);
    for (;;) {
        MUST(ioctl(fd, SIOCGIFFLAGS, &request) == 0);
        if ((request.ifr_flags & IFF_RUNNING) != 0)
            break;
        MUST(poll(&link, 1, LIMIT * 1000) == 1);
        MUST(recv(link.fd, message, sizeof message, 0) >= 0);
    }
    close(link.fd);
    close(fd);
}

void scenario_enter(void)
{
    struct writer *writer = &scenario.writer;

    if (unshare(CLONE_NEWNET) != 0 && !enter_user_namespace()) {
        puts("SKIP: no network namespace can be made here");
        exit(77);
    }
    /* IPv6 would add its own addresses a second later, and wake the host. */
    (void)write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1", 0);
    MUST(writer_open(writer) == 0);
    MUST(writer_link_add_pair(writer, "a", "b") == 0);
    scenario.index = writer_index("a");
    MUST(writer_link_up(writer, writer_index("b"), true) == 0);
    MUST(writer_link_up(writer, scenario.index, true) == 0);
    MUST(writer_address(writer, WRITER_ADD, scenario.index, "192.0.2.2/24") == 0);
    await_running("a");
}

/* ---- Threads and descriptors ------------------------------------------------------------------------------------ */

static size_t read_tasks(int *ret, size_t capacity)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    size_t count = 0;

    MUST(folder != NULL);
    while ((entry = readdir(folder)) != NULL && count < capacity)
        if (entry->d_name[0] != '.')
            ret[count++] = atoi(entry->d_name);
    closedir(folder);
    return count;
}

static bool is_host_task(int task)
{
    for (size_t i = 0; i < scenario.task_count; i++)
        if (scenario.tasks[i] == task)
            return true;
    return false;
}

static bool has_library_name(int task)
{
    char path[64], name[32] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%d/comm", task);
    file = fopen(path, "re");
    if (file == NULL)
        return false; /* the thread has ended */
    if (fgets(name, sizeof name, file) == NULL)
        name[0] = '\0';
    fclose(file);
    return strcmp(name, THREAD_NAME "\n") == 0;
}

/* Returns the number of threads of the library. */
static unsigned count_threads(bool by_name)
{
    int tasks[256];
    size_t count = read_tasks(tasks, sizeof tasks / sizeof tasks[0]);
    unsigned ours = 0;

    for (size_t i = 0; i < count; i++)
        ours += !is_host_task(tasks[i]) && (!by_name || has_library_name(tasks[i]));
    return ours;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* Returns the number of open descriptors that are not the host's. */
static unsigned count_descriptors(void)
{
    unsigned count = 0;

    for (int fd = 0; fd < DESCRIPTORS; fd++)
        count += is_open(fd) && !scenario.descriptors[fd];
    return count;
}

static void print_descriptors(void)
{
    char path[64], what[256];
    ssize_t length;

    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        if (!is_open(fd) || scenario.descriptors[fd])
            continue;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        length = readlink(path, what, sizeof what - 1);
        what[length < 0 ? 0 : length] = '\0';
        fprintf(stderr, "%s: %s\n", scenario.host.name, what);
    }
}

static struct timespec deadline_after(time_t seconds)
{
    struct timespec deadline;

    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += seconds;
    return deadline;
}

static bool is_past(const struct timespec *deadline)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > deadline->tv_sec || (now.tv_sec == deadline->tv_sec && now.tv_nsec > deadline->tv_nsec);
}

/* Waits until the library has the expected number of threads. This polls, as no event says that a thread has ended or
 * has set its name. Until it does, a new thread has the name of the thread that created it. */
static unsigned await_threads(unsigned expected)
{
    const struct timespec deadline = deadline_after(LIMIT);
    unsigned count;

    while ((count = count_threads(scenario.host.has_workers)) != expected && !is_past(&deadline))
        sched_yield();
    return count;
}

/* The same for descriptors: a thread of the host may still be returning from the last callback. */
static unsigned await_descriptors(void)
{
    const struct timespec deadline = deadline_after(LIMIT);
    unsigned count;

    while ((count = count_descriptors()) != 0 && !is_past(&deadline))
        sched_yield();
    return count;
}

/* ---- The callback ----------------------------------------------------------------------------------------------- */

static void stay_in_callback_locked(void)
{
    const unsigned until = scenario.changes + STAY;
    const struct timespec deadline = deadline_after(LIMIT);

    while (scenario.bursting && scenario.changes < until)
        if (pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &deadline) != 0)
            break;
}

static void record_callback(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    const bool is_right_thread = scenario.host.is_callback_thread != NULL
                                     ? scenario.host.is_callback_thread()
                                     : pthread_equal(pthread_self(), scenario.host_thread);

    (void)target, (void)info;
    pthread_mutex_lock(&lock);
    scenario.calls++;
    scenario.overlapped |= ++scenario.inside > 1;
    scenario.disordered |= flags ==
                           scenario.last; /* each callback must report flags that differ from the previous ones */
    scenario.strays += !is_right_thread;
    scenario.last = flags;
    pthread_cond_broadcast(&changed);
    stay_in_callback_locked();
    scenario.inside--;
    pthread_mutex_unlock(&lock);
}

/* Waits until a callback reports these flags. Returns false if none does in time. */
static bool await_flags_locked(SCNetworkReachabilityFlags flags)
{
    const struct timespec deadline = deadline_after(LIMIT);

    while (scenario.last != flags)
        if (pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &deadline) != 0)
            return false;
    return true;
}

/* ---- The changes ------------------------------------------------------------------------------------------------ */

static void set_default_route(SCNetworkReachabilityFlags flags)
{
    const struct writer_route route = { .prefix = "0.0.0.0/0",
                                        .index = scenario.index,
                                        .gateway = flags == REACHABLE ? GATEWAY : NULL };

    MUST(writer_route(&scenario.writer, flags == 0 ? WRITER_DELETE : WRITER_REPLACE, &route) == 0);
}

static bool toggle_one_by_one(void)
{
    bool seen = true;

    for (unsigned i = 0; seen && i < TOGGLES; i++) {
        const SCNetworkReachabilityFlags flags = i % 2 == 0 ? REACHABLE : 0;

        set_default_route(flags);
        pthread_mutex_lock(&lock);
        scenario.made++;
        seen = await_flags_locked(flags);
        scenario.seen += seen;
        scenario.disordered |= scenario.calls != scenario.seen; /* one call for each change */
        pthread_mutex_unlock(&lock);
    }
    return seen;
}

/* The last change gives flags that did not occur before: once they are reported, all earlier changes are, too. */
static bool toggle_at_once(void)
{
    for (unsigned i = 0; i < TOGGLES; i++) {
        set_default_route(i == TOGGLES - 1 ? DIRECT : i % 2 == 0 ? REACHABLE : 0);
        pthread_mutex_lock(&lock);
        scenario.bursting = i < TOGGLES - 1;
        scenario.changes++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    scenario.settled = await_flags_locked(DIRECT);
    pthread_mutex_unlock(&lock);
    return scenario.settled;
}

static const char *yes_or_no(bool yes)
{
    return yes ? "yes" : "no";
}

static int print_failure(const char *what)
{
    fprintf(stderr, "%s: %s\n", scenario.host.name, what);
    return 1;
}

/* Prints the row and the failures. Returns the exit status. A negative count is unknown: the host did not end. */
static int print_row(int threads_after, int descriptors_after)
{
    const bool in_order = !scenario.disordered;
    int status = 0;
    char after[2][16] = { "?", "?" };

    if (threads_after >= 0)
        snprintf(after[0], sizeof after[0], "%d", threads_after);
    if (descriptors_after >= 0)
        snprintf(after[1], sizeof after[1], "%d", descriptors_after);
    printf("| %s | %u/%u | %s | %s | %s | %s | %u | %s | %s |\n", scenario.host.name, scenario.made, scenario.seen,
           yes_or_no(scenario.settled), yes_or_no(in_order), yes_or_no(scenario.overlapped),
           yes_or_no(scenario.strays == 0), scenario.threads, after[0], after[1]);
    if (scenario.made != TOGGLES || scenario.seen != TOGGLES)
        status = print_failure("a toggle was not seen");
    if (!scenario.settled)
        status = print_failure("the last callback did not report the final flags");
    if (!in_order)
        status = print_failure("there was not one callback for each change, in order");
    if (scenario.overlapped)
        status = print_failure("callbacks overlapped");
    if (scenario.strays != 0)
        status = print_failure("a callback ran on a wrong thread");
    if (scenario.threads != scenario.host.threads)
        status = print_failure("wrong number of threads while scheduled");
    if (threads_after < 0)
        status = print_failure("the host did not end");
    if (threads_after > 0)
        status = print_failure("threads remain");
    if (descriptors_after > 0) {
        status = print_failure("descriptors remain");
        print_descriptors();
    }
    fflush(NULL);
    return status;
}

/* Wakes the host, and waits for its end. Returns false if it does not end in time. */
static bool end_host(void)
{
    const struct timespec deadline = deadline_after(LIMIT);
    bool ended;

    pthread_mutex_lock(&lock);
    scenario.over = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (scenario.host.wake != NULL)
        scenario.host.wake(scenario.host.loop);
    pthread_mutex_lock(&lock);
    while (!scenario.ended && pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &deadline) == 0)
        continue;
    ended = scenario.ended;
    pthread_mutex_unlock(&lock);
    return ended;
}

static void *make_changes(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!scenario.started)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    if (!toggle_one_by_one() || !toggle_at_once())
        _exit(print_row(-1, -1));
    if (scenario.threads == scenario.host.threads) /* check that none was created later */
        scenario.threads = await_threads(scenario.host.threads);
    if (!end_host())
        _exit(print_row(-1, -1));
    return unused;
}

/* ---- What hosts call -------------------------------------------------------------------------------------------- */

SCNetworkReachabilityRef scenario_target(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET };

    MUST(pthread_create(&scenario.thread, NULL, make_changes, NULL) == 0);
    scenario.task_count = read_tasks(scenario.tasks, sizeof scenario.tasks / sizeof scenario.tasks[0]);
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        scenario.descriptors[fd] = is_open(fd);
    inet_pton(AF_INET, "198.51.100.1", &address.sin_addr);
    scenario.target = SCNetworkReachabilityCreateWithAddress(NULL, (const struct sockaddr *)&address);
    MUST(scenario.target != NULL);
    MUST(SCNetworkReachabilitySetCallback(scenario.target, record_callback, NULL));
    return scenario.target;
}

void scenario_run(const struct host *host)
{
    scenario.host = *host;
    scenario.host_thread = pthread_self();
    scenario.threads = await_threads(host->threads);
    pthread_mutex_lock(&lock);
    scenario.started = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

bool scenario_is_over(void)
{
    bool over;

    pthread_mutex_lock(&lock);
    over = scenario.over;
    pthread_mutex_unlock(&lock);
    return over;
}

void scenario_wait(void)
{
    pthread_mutex_lock(&lock);
    while (!scenario.over)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

int scenario_end(void)
{
    unsigned threads, descriptors;

    SCNetworkReachabilityRelease(scenario.target);
    pthread_mutex_lock(&lock);
    scenario.ended = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    MUST(pthread_join(scenario.thread, NULL) == 0);
    threads = await_threads(0);
    descriptors = await_descriptors();
    writer_close(&scenario.writer);
    pthread_mutex_lock(&lock);
    scenario.settled &= scenario.last == DIRECT;
    pthread_mutex_unlock(&lock);
    return print_row((int)threads, (int)descriptors);
}
