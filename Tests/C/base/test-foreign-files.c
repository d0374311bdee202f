/* SPDX-License-Identifier: MIT */
/*
 * A program that closes all descriptors, as closefrom(3) does, and gets their numbers for files of its own. The library
 * leaves every byte of these files alone, and opens other descriptors: all works as before. The test plants a file of
 * each kind in the place of each descriptor of the library.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include "support/etc.h"
#include "support/queue.h"
#include "support/resolver.h"
#include "support/test.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

#define TIME_LIMIT  20.0 /* seconds: an event that takes longer has failed */
#define PLACES      16   /* at most: descriptors of the library */
#define PLANTS      64
#define WORDS       "bytes that wait for the program"
#define DESTINATION "198.51.100.7"

static struct descriptors before; /* open descriptors that do not belong to the library */
static struct writer writer;

/* ---- Files of the program --------------------------------------------------------------------------------------- */

/* A file of the program's, and what it needs to see whether somebody has used it. */
#define FACTS 2048
struct plant {
    const struct kind *kind;
    int number;
    int other;         /* the other end, or what the file watches; -1: there is none */
    char facts[FACTS]; /* what /proc says of it */
};

struct kind {
    const char *name;
    int (*open)(int *ret_other);                /* returns a file */
    void (*expect_whole)(const struct plant *); /* nobody has used it */
};

/* Away from the numbers that the library may get. */
static int move_high(int fd)
{
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTORS / 2);

    assert_true(high >= 0);
    close(fd);
    return high;
}

static int connected_pair(int protocol, int *ret_other)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, protocol);
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, protocol);

    assert_true(server >= 0 && client >= 0);
    assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(server, 1), 0);
    assert_int_equal(getsockname(server, (struct sockaddr *)&address, &length), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    *ret_other = move_high(accept4(server, NULL, NULL, SOCK_CLOEXEC));
    close(server);
    return client;
}

/* Bytes wait at the end that the test plants. */
static int send_words(int file, int other)
{
    assert_int_equal(write(other, WORDS, sizeof WORDS), sizeof WORDS);
    return file;
}

static int open_tcp(int *ret_other)
{
    const int file = connected_pair(0, ret_other);

    return send_words(file, *ret_other);
}

static int open_mptcp(int *ret_other)
{
    const int file = connected_pair(IPPROTO_MPTCP, ret_other);

    return send_words(file, *ret_other);
}

static int open_unix(int type, int *ret_other)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
    *ret_other = move_high(ends[1]);
    return send_words(ends[0], *ret_other);
}

static int open_stream(int *ret_other)
{
    return open_unix(SOCK_STREAM, ret_other);
}

static int open_datagrams(int *ret_other)
{
    return open_unix(SOCK_DGRAM, ret_other);
}

static int open_packets(int *ret_other)
{
    return open_unix(SOCK_SEQPACKET, ret_other);
}

static int open_udp(int *ret_other)
{
    struct sockaddr_in addresses[2];
    int ends[2];

    for (int i = 0; i < 2; i++) {
        socklen_t length = sizeof addresses[i];

        addresses[i] = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        ends[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(ends[i], (struct sockaddr *)&addresses[i], sizeof addresses[i]), 0);
        assert_int_equal(getsockname(ends[i], (struct sockaddr *)&addresses[i], &length), 0);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(connect(ends[i], (struct sockaddr *)&addresses[1 - i], sizeof addresses[0]), 0);
    *ret_other = move_high(ends[1]);
    return send_words(ends[0], *ret_other);
}

/* Reads what waits at one end, without waiting. */
static ssize_t take(int fd, char *bytes, size_t size)
{
    ssize_t length;

    assert_true(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0);
    do
        length = read(fd, bytes, size);
    while (length < 0 && errno == EINTR);
    return length;
}

static void expect_whole_connection(const struct plant *plant)
{
    char bytes[1024];

    assert_int_equal(take(plant->number, bytes, sizeof bytes), sizeof WORDS);
    assert_string_equal(bytes, WORDS);
    assert_int_equal(take(plant->number, bytes, sizeof bytes), -1);
    assert_int_equal(take(plant->other, bytes, sizeof bytes), -1);
    assert_int_equal(errno, EAGAIN);
    send_words(0, plant->other); /* for the next look */
}

static int open_pipe(int *ret_other)
{
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    *ret_other = move_high(ends[1]);
    return send_words(ends[0], *ret_other);
}

static void expect_whole_pipe(const struct plant *plant)
{
    char bytes[1024];

    assert_int_equal(take(plant->number, bytes, sizeof bytes), sizeof WORDS);
    assert_string_equal(bytes, WORDS);
    assert_int_equal(take(plant->number, bytes, sizeof bytes), -1);
    send_words(0, plant->other);
}

static int open_write_end(int *ret_other)
{
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    *ret_other = move_high(ends[0]);
    return ends[1];
}

static void expect_nothing_written(const struct plant *plant)
{
    char byte;

    assert_int_equal(take(plant->other, &byte, 1), -1);
    assert_int_equal(errno, EAGAIN);
}

static int open_file(int *ret_other)
{
    char path[] = "/tmp/foreign-XXXXXX";
    const int file = mkstemp(path);

    *ret_other = -1;
    unlink(path);
    assert_int_equal(write(file, WORDS, sizeof WORDS), sizeof WORDS);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    return file;
}

static void expect_whole_file(const struct plant *plant)
{
    struct stat status;

    assert_int_equal(fstat(plant->number, &status), 0);
    assert_int_equal(status.st_size, sizeof WORDS);
    assert_int_equal(lseek(plant->number, 0, SEEK_CUR), 0);
}

/* libnl in a daemon, for example: the reply to a query waits. */
static void query_link(int file)
{
    struct {
        struct nlmsghdr header;
        struct ifinfomsg info;
    } request = { .header = { .nlmsg_len = sizeof request,
                              .nlmsg_type = RTM_GETLINK,
                              .nlmsg_flags = NLM_F_REQUEST,
                              .nlmsg_seq = 7 },
                  .info = { .ifi_index = 1 } };

    assert_int_equal(send(file, &request, sizeof request, 0), sizeof request);
}

static int open_route_socket(int *ret_other)
{
    const int file = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    *ret_other = -1;
    query_link(file);
    return file;
}

/* The reply is there, and no other: nobody has sent a request. */
static void expect_whole_route_socket(const struct plant *plant)
{
    _Alignas(struct nlmsghdr) char bytes[16384];
    const struct nlmsghdr *header = (const struct nlmsghdr *)(const void *)bytes;

    assert_true(take(plant->number, bytes, sizeof bytes) > (ssize_t)sizeof *header);
    assert_int_equal(header->nlmsg_type, RTM_NEWLINK);
    assert_int_equal(header->nlmsg_seq, 7);
    assert_int_equal(take(plant->number, bytes, sizeof bytes), -1);
    assert_int_equal(errno, EAGAIN);
    query_link(plant->number);
}

static int open_eventfd(int *ret_other)
{
    *ret_other = -1;
    return eventfd(5, EFD_CLOEXEC | EFD_NONBLOCK);
}

static void expect_whole_eventfd(const struct plant *plant)
{
    uint64_t value = 0;

    assert_int_equal(read(plant->number, &value, sizeof value), sizeof value);
    assert_int_equal(value, 5);
    assert_int_equal(write(plant->number, &value, sizeof value), sizeof value);
}

#define TIMER_SECONDS 100000

static int open_timer(int *ret_other)
{
    const struct itimerspec timer = { .it_value.tv_sec = TIMER_SECONDS, .it_interval.tv_sec = TIMER_SECONDS };
    const int file = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

    *ret_other = -1;
    assert_int_equal(timerfd_settime(file, 0, &timer, NULL), 0);
    return file;
}

static void expect_whole_timer(const struct plant *plant)
{
    struct itimerspec timer;

    assert_int_equal(timerfd_gettime(plant->number, &timer), 0);
    assert_int_equal(timer.it_interval.tv_sec, TIMER_SECONDS);
    assert_true(timer.it_value.tv_sec > TIMER_SECONDS - 1000);
}

/* It watches one file, which is ready. */
static int open_epoll(int *ret_other)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u64 = 42 };
    const int file = epoll_create1(EPOLL_CLOEXEC);

    *ret_other = move_high(eventfd(1, EFD_CLOEXEC));
    assert_int_equal(epoll_ctl(file, EPOLL_CTL_ADD, *ret_other, &event), 0);
    return file;
}

static void expect_whole_epoll(const struct plant *plant)
{
    struct epoll_event events[8], again = { .events = EPOLLIN | EPOLLET, .data.u64 = 42 };

    assert_int_equal(epoll_wait(plant->number, events, 8, 0), 1);
    assert_int_equal(events[0].data.u64, 42);
    assert_int_equal(epoll_ctl(plant->number, EPOLL_CTL_MOD, plant->other, &again), 0);
}

static int open_inotify(int *ret_other)
{
    const int file = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

    assert_true(inotify_add_watch(file, "/run", IN_CREATE) >= 0);
    *ret_other = move_high(open("/run/foreign", O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    unlink("/run/foreign");
    return file;
}

static void expect_whole_inotify(const struct plant *plant)
{
    int unread = 0;

    assert_int_equal(ioctl(plant->number, FIONREAD, &unread), 0);
    assert_true(unread > 0);
}

/* Of another network namespace, which no thread may enter by mistake: 198.51.100.7 has no route there. */
static int open_namespace(int *ret_other)
{
    const int home = namespace_keep();

    *ret_other = -1;
    assert_int_equal(unshare(CLONE_NEWNET), 0);
    int file = namespace_keep();
    namespace_go(home);
    close(home);
    return file;
}

static void expect_whole_namespace(const struct plant *plant)
{
    assert_true(fcntl(plant->number, F_GETFD) >= 0);
}

static const struct kind kinds[] = {
    { "tcp", open_tcp, expect_whole_connection },
    { "mptcp", open_mptcp, expect_whole_connection },
    { "udp", open_udp, expect_whole_connection },
    { "unix_stream", open_stream, expect_whole_connection },
    { "unix_datagrams", open_datagrams, expect_whole_connection },
    { "unix_packets", open_packets, expect_whole_connection },
    { "pipe", open_pipe, expect_whole_pipe },
    { "write_end", open_write_end, expect_nothing_written },
    { "file", open_file, expect_whole_file },
    { "route_socket", open_route_socket, expect_whole_route_socket },
    { "eventfd", open_eventfd, expect_whole_eventfd },
    { "timer", open_timer, expect_whole_timer },
    { "epoll", open_epoll, expect_whole_epoll },
    { "inotify", open_inotify, expect_whole_inotify },
    { "namespace", open_namespace, expect_whole_namespace },
};

/* What the kernel says of a file: what it watches, its counter, its offset. Not the time that is left of a timer. */
static void read_facts(int number, char ret[FACTS])
{
    char path[64], line[256];
    size_t length = 0;

    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", number);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    ret[0] = '\0';
    while (fgets(line, sizeof line, file) != NULL && length + sizeof line < FACTS)
        if (strncmp(line, "it_value", 8) != 0)
            length += (size_t)snprintf(ret + length, FACTS - length, "%s", line);
    fclose(file);
}

/* ---- Planting --------------------------------------------------------------------------------------------------- */

static struct plant plants[PLANTS];
static size_t plant_count;

/* Puts a file of this kind in the place of a descriptor: the program has closed it, and got its number. */
static void plant(const struct kind *kind, int number)
{
    int other;
    const int file = kind->open(&other);

    assert_true(plant_count < PLANTS);
    assert_int_equal(dup3(file, number, O_CLOEXEC), number);
    close(file);
    assert_int_equal(fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK), 0);
    plants[plant_count] = (struct plant){ .kind = kind, .number = number, .other = other };
    read_facts(number, plants[plant_count++].facts);
}

/* The numbers of the library's descriptors. Returns how many. */
static size_t find_descriptors(int ret_numbers[PLANTS])
{
    size_t count = 0;
    const struct descriptors now = descriptors_now();

    for (int fd = 0; fd <= now.highest; fd++)
        if (now.open[fd] && !before.open[fd] && count < PLANTS)
            ret_numbers[count++] = fd;
    return count;
}

static int find_last_descriptor(void)
{
    int numbers[PLANTS];
    const size_t count = find_descriptors(numbers);

    return numbers[count - 1];
}

static void expect_all_whole(void)
{
    for (size_t i = 0; i < plant_count; i++) {
        char facts[FACTS];

        read_facts(plants[i].number, facts);
        assert_string_equal(facts, plants[i].facts);
        plants[i].kind->expect_whole(&plants[i]);
    }
}

/* ---- A program that uses everything ----------------------------------------------------------------------------- */

struct uses {
    SCNetworkReachabilityRef asked, without_route; /* for the latter, a UDP socket is open */
    struct watcher address, name;
    SCRunLoopRef loop;
    SCNetworkReachabilityRef queued;
    struct queue queue;
};

static const struct writer_route default_route = { .prefix = "0.0.0.0/0", .gateway = "192.0.2.1" };

static void set_default_route(bool exists)
{
    assert_int_equal(writer_route(&writer, exists ? WRITER_REPLACE : WRITER_DELETE, &default_route), 0);
}

static struct resolver_reply find_name(const char *name)
{
    (void)name;
    return (struct resolver_reply){ .addresses = "198.51.100.9" };
}

static void schedule_on_queue(struct queue *queue, SCNetworkReachabilityRef target)
{
    assert_true(SCNetworkReachabilitySetCallback(target, ignore_call, NULL));
    assert_true(queue_set(queue, target));
}

static void begin_uses(struct uses *uses)
{
    resolver_begin(find_name);
    set_default_route(true);
    uses->asked = expect_target(DESTINATION);
    EXPECT(uses->asked, R, None);
    uses->without_route = expect_target("2001:db8:7::7");
    EXPECT(uses->without_route, 0, NoRoute);
    uses->loop = SCRunLoopCreate();
    watcher_schedule_on(&uses->address, expect_target(DESTINATION), uses->loop);
    watcher_schedule_on(&uses->name, expect_name("name.example"), uses->loop);
    queue_open(&uses->queue, 0);
    uses->queued = expect_target(DESTINATION);
    schedule_on_queue(&uses->queue, uses->queued);
    while (uses->name.calls == 0)
        assert_true(SCRunLoopPerform(uses->loop, TIME_LIMIT) >= 0);
    (void)idle_perform(uses->loop);
    /* No thread is between a look at its descriptor and the use. */
    assert_true(resolver_await_threads(0));
    assert_true(idle_await_threads(1));
}

/* Every call, and each thing that the library does by itself. */
static void use_all(struct uses *uses)
{
    SCNetworkReachabilityFlags flags;
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    struct sockaddr_storage addresses[4];
    char text[4096];

    EXPECT(uses->asked, R, None);
    EXPECT(uses->without_route, 0, NoRoute);
    EXPECT_ADDRESS(DESTINATION, R, None);
    EXPECT_BOUND(DESTINATION, "a", R, None);
    EXPECT_ADDRESS("169.254.0.0", R | D, None);
    assert_true(SCNetworkReachabilityGetFlags(uses->address.target, &flags));
    assert_true(SCNetworkReachabilityGetPath(uses->address.target, &path));
    assert_true(SCNetworkReachabilityGetFlags(uses->queued, &flags));
    (void)SCNetworkReachabilityGetResolvedAddresses(uses->name.target, addresses, 4);
    (void)SCNetworkReachabilityGetDescription(uses->name.target, text, sizeof text);
    SCRunLoopWakeUp(uses->loop);
    SCRunLoopStop(uses->loop);
    assert_true(SCRunLoopPerform(uses->loop, 0) >= 0);
    assert_true(SCRunLoopPerform(uses->loop, 0) >= 0);
}

/* Changes are reported to old and new targets. Those on schedulers must be scheduled again: their thread waits for ever
 * for events of the closed descriptors. */
static void expect_changes(struct uses *uses)
{
    struct watcher fresh = { 0 };
    SCNetworkReachabilityRef queued = expect_target(DESTINATION);
    struct queue queue;
    const unsigned long performs = queue_performs(&uses->queue);
    struct pollfd ready = { .events = POLLIN };

    watcher_schedule_on(&fresh, expect_target(DESTINATION), uses->loop);
    queue_open(&queue, 0);
    schedule_on_queue(&queue, queued);
    assert_true(SCNetworkReachabilitySetScheduler(uses->queued, NULL));
    schedule_on_queue(&uses->queue, uses->queued);
    while (SCRunLoopPerform(uses->loop, 0) > 0)
        continue;
    uses->address.calls = uses->name.calls = 0;
    set_default_route(false);
    ready.fd = SCRunLoopGetFileDescriptor(uses->loop);
    assert_int_equal(poll(&ready, 1, (int)(TIME_LIMIT * 1000)), 1);
    while (uses->address.calls == 0 || fresh.calls == 0 || uses->name.calls == 0)
        assert_true(SCRunLoopPerform(uses->loop, TIME_LIMIT) > 0);
    assert_int_equal(uses->address.flags, 0);
    assert_int_equal(uses->name.flags, 0);
    queue_await(&queue, 1);
    queue_await(&uses->queue, performs + 1);
    EXPECT(uses->asked, 0, NoRoute);
    unsigned looked_up = resolver_calls("name.example");
    etc_write(ETC_HOSTS, "192.0.2.9 another.example\n");
    while (resolver_calls("name.example") == looked_up) /* the same addresses make no callback */
        assert_true(SCRunLoopPerform(uses->loop, 0.01) >= 0);
    etc_write(ETC_HOSTS, "");
    assert_true(SCNetworkReachabilitySetScheduler(queued, NULL));
    SCNetworkReachabilityRelease(queued);
    watcher_stop(&fresh);
    set_default_route(true);
    EXPECT(uses->asked, R, None);
}

static void end_uses(struct uses *uses)
{
    assert_true(SCNetworkReachabilitySetScheduler(uses->queued, NULL));
    SCNetworkReachabilityRelease(uses->queued);
    watcher_stop(&uses->name);
    watcher_stop(&uses->address);
    SCNetworkReachabilityRelease(uses->without_route);
    SCNetworkReachabilityRelease(uses->asked);
    SCRunLoopRelease(uses->loop);
}

static const struct kind *current_kind;
static size_t current_place;

#define NAME 64

/* What a descriptor is open for. */
static void read_name(int number, char ret[NAME])
{
    ssize_t length = readlink(unit_text("/proc/self/fd/%d", number), ret, NAME - 1);
    assert_true(length > 0);
    ret[length] = '\0';
}

/* Plants in `places` places, from the current one. */
static void plant_and_use(size_t places)
{
    struct uses uses = { 0 };
    int numbers[PLANTS];
    char names[PLANTS][NAME], name[NAME];

    begin_uses(&uses);
    size_t count = find_descriptors(numbers);
    assert_true(count >= 12 && count <= PLACES);
    for (size_t i = 0; i < count; i++)
        read_name(numbers[i], names[i]);
    for (size_t i = current_place; i < count && i < current_place + places; i++)
        plant(current_kind, numbers[i]);
    use_all(&uses);
    expect_all_whole();
    for (size_t i = 0; i < count; i++) {
        read_name(numbers[i], name);
        /* Those of a loop stay: another thread may be about to write to one. Sockets are used by one thread. */
        if ((i < current_place || i >= current_place + places) && strncmp(names[i], "anon_inode:", 11) == 0)
            assert_string_equal(name, names[i]);
    }
    expect_changes(&uses);
    expect_all_whole();
    end_uses(&uses);
    expect_all_whole();
}

static void plant_in_one_place(void)
{
    plant_and_use(1);
}

static void plant_in_all_places(void)
{
    plant_and_use(PLANTS);
}

static void require_kind(const struct kind *kind)
{
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_MPTCP);

    if (file < 0 && kind->open == open_mptcp)
        SKIP("this kernel has no MPTCP");
    close(file);
    current_kind = kind;
}

/* In a child: a thread of the library may wait for ever for events of descriptors that were closed. */
TEST_EACH(files_in_the_place_of_all_descriptors_stay_whole_and_all_works_as_before, kinds)
{
    require_kind(row);
    current_place = 0;
    child_run(plant_in_all_places);
}

TEST_EACH(a_file_in_the_place_of_one_descriptor_stays_whole_and_all_works_as_before, kinds)
{
    /* Tools are slow: some places for each kind. */
    const size_t step = unit_is_under("valgrind") ? 15 : unit_is_under(NULL) ? 5 : 1;

    require_kind(row);
    for (current_place = (size_t)(row - kinds) % step; current_place < PLACES; current_place += step)
        child_run(plant_in_one_place);
}

/* The loop is whole, but events of its monitor can no longer come. */
TEST_BY(child_run, the_next_pass_of_a_loop_sees_that_the_descriptors_of_its_monitor_were_closed)
{
    SCRunLoopRef loop = SCRunLoopCreate();
    const int last = find_last_descriptor();
    struct watcher watcher;

    set_default_route(true);
    watcher_schedule_on(&watcher, expect_target(DESTINATION), loop);
    (void)idle_perform(loop);
    for (int fd = last + 1; fd <= find_last_descriptor(); fd++)
        if (fd != writer.fd)
            close(fd);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    set_default_route(false);
    assert_int_equal(SCRunLoopPerform(loop, TIME_LIMIT), 1);
    assert_int_equal(watcher.flags, 0);
}

static void ask_from_another_namespace(void)
{
    SCNetworkReachabilityFlags flags = 42;
    const int home = move_high(namespace_keep());
    int numbers[PLANTS];

    set_default_route(true);
    SCNetworkReachabilityRef target = expect_target(DESTINATION);
    EXPECT(target, R, None);
    size_t count = find_descriptors(numbers);
    assert_int_equal(count, 4); /* with `home`, and the socket for neighbours */
    for (size_t i = 0; i < count; i++)
        if (numbers[i] != home)
            plant(current_kind, numbers[i]);
    assert_int_equal(unshare(CLONE_NEWNET), 0);
    assert_false(SCNetworkReachabilityGetFlags(target, &flags));
    assert_int_equal(SCError(), EBADF);
    assert_int_equal(flags, 42);
    namespace_go(home);
    EXPECT(target, R, None);
    assert_int_equal(unshare(CLONE_NEWNET), 0);
    EXPECT(target, R, None);
    SCNetworkReachabilityRelease(target);
    expect_all_whole();
}

TEST_EACH(the_library_goes_to_no_namespace_of_the_program, kinds)
{
    require_kind(row);
    child_run(ask_from_another_namespace);
}

static void begin(void)
{
    namespace_require_pair();
    etc_require("192.0.2.53");
    assert_int_equal(writer_open(&writer), 0);
    descriptors_read(&before);
}

static void finish(void)
{
    writer_close(&writer);
}

UNIT(.setup = begin, .teardown = finish)
