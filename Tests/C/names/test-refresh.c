/* SPDX-License-Identifier: MIT */
/*
 * Look-ups that the clock starts, and system failures at chosen moments. The library uses the test's clock, which stops
 * between two passes. The resolver uses the real clock. The calls are wrapped at link time.
 */
#include <semaphore.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>

#include "pure/question.h"
#include "support/names.h"
#include "support/time_limit.h"

#define START      1000.0 /* seconds */
#define TIME_LIMIT 10     /* seconds: an event that takes longer has failed */

static _Atomic int64_t now_is; /* nanoseconds; used by the resolver threads too */
static atomic_bool threads_fail, inotify_fails, watches_fail;
static atomic_bool open_fails; /* of resolv.conf */
static pthread_t test_thread;
static atomic_bool detains; /* stops the next resolver thread that has a result */
static sem_t detained, released;

/* The library uses CLOCK_BOOTTIME alone, which goes on while the machine sleeps. */
WRAP(int, clock_gettime, clockid_t clock, struct timespec *now)
{
    const int64_t time = now_is;

    if (clock != CLOCK_BOOTTIME)
        return __real_clock_gettime(clock, now);
    now->tv_sec = time / 1000000000;
    now->tv_nsec = time % 1000000000;
    return 0;
}

/* No timer expires: the test makes each pass. */
WRAP(int, timerfd_settime, int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
    (void)fd, (void)flags, (void)value, (void)old;
    return 0;
}

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    return threads_fail ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

WRAP(int, open, const char *path, int flags, ...)
{
    if (!open_fails || strcmp(path, ETC_RESOLV_CONF) != 0)
        return __real_open(path, flags);
    errno = EMFILE;
    return -1;
}

WRAP(int, inotify_init1, int flags)
{
    if (!inotify_fails)
        return __real_inotify_init1(flags);
    errno = EMFILE;
    return -1;
}

WRAP(int, inotify_add_watch, int fd, const char *path, uint32_t events)
{
    if (!watches_fail)
        return __real_inotify_add_watch(fd, path, events);
    errno = ENOSPC;
    return -1;
}

/* Called on a resolver thread that reports a result to a target. */
WRAP(void *, calloc, size_t count, size_t size)
{
    bool expected = true;

    if (size == sizeof(struct question) && !pthread_equal(pthread_self(), test_thread) &&
        atomic_compare_exchange_strong(&detains, &expected, false)) {
        sem_post(&detained);
        sem_wait(&released);
    }
    return __real_calloc(count, size);
}

static struct watcher watcher;

static void set_clock(double seconds)
{
    now_is = (int64_t)((START + seconds) * 1e9 + 0.5);
}

/* Sets the clock, in seconds from the start, and makes the loop do what is due. */
static void drive_at(double seconds)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT);
    struct pollfd poller = { .fd = SCRunLoopGetFileDescriptor(watcher.loop), .events = POLLIN };

    set_clock(seconds);
    do
        assert_true(SCRunLoopPerform(watcher.loop, 0) >= 0 && watcher_now() < end);
    while (poll(&poller, 1, 0) > 0);
}

/* Whether a look-up starts at this time. Drives the loop until it has ended. */
static bool starts_at(const char *name, double seconds)
{
    const unsigned before = names_queried(name);

    drive_at(seconds);
    bool starts = names_is_looking(watcher.target) || names_queried(name) != before;
    names_settle(&watcher);
    return starts;
}

static void begin(void)
{
    threads_fail = inotify_fails = watches_fail = open_fails = false;
    set_clock(0);
    names_begin();
}

/* Also waits until the watches of the previous test are closed. */
static void begin_anew(void)
{
    names_await_no_thread();
    begin();
}

/* Schedules the name and waits for its first result. */
/* The clock stands still: a name that was looked up before is looked up again only after a file event. */
static void resolve(void)
{
    watcher_schedule(&watcher, expect_name("v4only.test"));
    names_settle(&watcher);
}

static void begin_with(const char *name)
{
    begin();
    watcher_schedule(&watcher, expect_name(name));
    names_settle(&watcher);
    assert_int_equal(watcher.calls, 1);
    assert_int_equal(names_queried(name), 1);
}

static void touch_resolv_conf(void)
{
    etc_replace(ETC_RESOLV_CONF, "# again\nnameserver 192.0.2.2\noptions timeout:5 attempts:1\n");
}

/* ---- Refreshing ------------------------------------------------------------------------------------------------- */

TEST(a_resolved_name_is_looked_up_every_5_minutes)
{
    begin_with("v4only.test");
    for (int i = 0; i < 3; i++) {
        assert_false(starts_at("v4only.test", i * 300 + 299.999));
        assert_true(starts_at("v4only.test", (i + 1) * 300));
    }
    assert_int_equal(watcher.calls, 1); /* an equal result */
}

TEST(a_name_not_found_is_looked_up_every_5_minutes)
{
    begin_with("moves.test");
    assert_int_equal(watcher.flags, 0);
    assert_false(starts_at("moves.test", 299.999));
    nameserver_move(names_server, "198.51.100.7");
    assert_true(starts_at("moves.test", 300));
    assert_int_equal(watcher.calls, 2);
    assert_int_equal(watcher.flags, R);
}

TEST(a_moved_address_is_noticed_by_the_refresh)
{
    begin();
    nameserver_move(names_server, "198.51.100.7");
    watcher_schedule(&watcher, expect_name("moves.test"));
    names_settle(&watcher);
    nameserver_move(names_server, "198.51.100.8");
    assert_false(starts_at("moves.test", 299.999));
    assert_int_equal(watcher.calls, 1);
    assert_true(starts_at("moves.test", 300));
    assert_int_equal(watcher.calls, 2);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.8");
}

TEST(a_refresh_due_during_sleep_is_due)
{
    begin_with("v4only.test");
    assert_true(starts_at("v4only.test", 8 * 3600));
    assert_false(starts_at("v4only.test", 8 * 3600 + 299.999));
    assert_true(starts_at("v4only.test", 8 * 3600 + 300));
}

TEST(an_unscheduled_name_is_not_refreshed)
{
    begin_with("v4only.test");
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
    assert_false(starts_at("v4only.test", 1000));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
    names_settle(&watcher);
    assert_int_equal(names_queried("v4only.test"), 2);
    assert_int_equal(watcher.calls, 2);
}

/* ---- Trying again ----------------------------------------------------------------------------------------------- */

TEST(a_failed_look_up_is_retried_less_and_less_often)
{
    static const double delays[] = { 1, 2, 4, 8, 16, 32, 60, 60 };
    double now = 0;

    begin_with("servfail.test");
    for (size_t i = 0; i < sizeof delays / sizeof delays[0]; i++) {
        now += delays[i];
        assert_false(starts_at("servfail.test", now - 0.001));
        assert_true(starts_at("servfail.test", now));
    }
    assert_int_equal(watcher.calls, 1);
    EXPECT(watcher.target, 0, NameServerFailure);
}

TEST(a_result_ends_the_retries)
{
    begin();
    nameserver_move(names_server, NULL);
    watcher_schedule(&watcher, expect_name("moves.test"));
    names_settle(&watcher);
    assert_true(starts_at("moves.test", 1));
    assert_true(starts_at("moves.test", 3));
    nameserver_move(names_server, "198.51.100.7");
    assert_true(starts_at("moves.test", 7));
    assert_int_equal(watcher.flags, R);
    nameserver_move(names_server, NULL);
    assert_false(starts_at("moves.test", 306.999));
    assert_true(starts_at("moves.test", 307)); /* fails; the old result stays */
    assert_false(starts_at("moves.test", 307.999));
    assert_true(starts_at("moves.test", 308));
    assert_false(starts_at("moves.test", 309.999));
    assert_true(starts_at("moves.test", 310));
    EXPECT(watcher.target, R, None);
    assert_int_equal(watcher.calls, 2);
}

/* The look-up starts at once. After it, the delay is one second again. */
TEST(a_change_does_not_wait_for_the_next_retry)
{
    begin_with("servfail.test");
    assert_true(starts_at("servfail.test", 1));
    assert_true(starts_at("servfail.test", 3));
    assert_false(starts_at("servfail.test", 3));
    touch_resolv_conf();
    assert_true(starts_at("servfail.test", 3));
    assert_false(starts_at("servfail.test", 3.999));
    assert_true(starts_at("servfail.test", 4));
    assert_true(starts_at("servfail.test", 6));
    namespace_ip("route replace default via 192.0.2.111");
    assert_true(starts_at("servfail.test", 6));
    assert_true(starts_at("servfail.test", 7));
    namespace_ip("route replace prohibit default");
    assert_true(starts_at("servfail.test", 7));
    assert_int_equal(watcher.calls, 1);
}

TEST(a_server_reachable_again_is_queried_at_once)
{
    threads_fail = inotify_fails = watches_fail = false;
    set_clock(0);
    names_begin_far("198.51.100.53");
    namespace_ip("route delete default");
    resolve();
    EXPECT(watcher.target, 0, NameServerUnreachable);
    assert_int_equal(watcher.calls, 1);
    namespace_ip("route add default via 192.0.2.1");
    assert_true(starts_at("v4only.test", 0));
    EXPECT(watcher.target, R, None);
    assert_int_equal(watcher.calls, 2);
}

/* ---- Changes that go on ----------------------------------------------------------------------------------------- */

/* Another default route. */
static void flap_gateway(void)
{
    static unsigned count;

    namespace_ip("route replace default via 192.0.2.%u", 100 + ++count % 2);
}

static void edit_hosts(void)
{
    static unsigned count;

    etc_replace(ETC_HOSTS, unit_text("# %0*d\n", (int)(++count % 20) + 1, 0));
}

/* At once, then after 0.1, 0.2, 0.4, 0.8 and 1.6 seconds. The last state is looked up when the last pause ends. */
TEST(a_gateway_that_flaps_starts_few_look_ups)
{
    unsigned look_ups = 0;

    begin();
    nameserver_move(names_server, "198.51.100.7");
    watcher_schedule(&watcher, expect_name("moves.test"));
    names_settle(&watcher);
    for (int i = 0; i < 50; i++) {
        if (i == 49)
            nameserver_move(names_server, "198.51.100.8");
        flap_gateway();
        look_ups += starts_at("moves.test", i * 0.1);
    }
    assert_int_equal(look_ups, 6);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7");
    assert_false(starts_at("moves.test", 6.299));
    assert_true(starts_at("moves.test", 6.3));
    EXPECT_ADDRESSES(watcher.target, "198.51.100.8");
    assert_false(starts_at("moves.test", 306.299));
    assert_true(starts_at("moves.test", 306.3));
}

TEST(a_pending_name_follows_the_default_path_during_a_pause)
{
    begin();
    (void)namespace_try_ip("-6 route delete default");
    watcher_schedule(&watcher, expect_name("held.test"));
    flap_gateway();
    drive_at(0);
    EXPECT(watcher.target, R, NamePending);
    namespace_ip("route delete default");
    drive_at(0.01);
    EXPECT(watcher.target, 0, NamePending);
    namespace_ip("route add default via 192.0.2.1");
    drive_at(0.02);
    EXPECT(watcher.target, R, NamePending);
}

/* Lets the look-up end that is in progress, if any. */
static void release_look_up(const char *name)
{
    const unsigned before = names_queried(name);

    while (names_is_looking(watcher.target) && names_queried(name) == before) {
        nameserver_release(names_server, name);
        assert_true(SCRunLoopPerform(watcher.loop, 0) >= 0);
        (void)poll(NULL, 0, 1); /* the end of a look-up may not wake the loop */
    }
}

/* The server replies slowly: a look-up is still in progress at the next change. */
TEST(a_gateway_that_flaps_during_look_ups_starts_few)
{
    begin();
    watcher_schedule(&watcher, expect_name("held.test"));
    for (int i = 0; i < 50; i++) {
        flap_gateway();
        drive_at(i * 0.1);
        if (i > 0)
            release_look_up("held.test");
    }
    while (names_is_looking(watcher.target))
        release_look_up("held.test");
    assert_true(names_queried("held.test") <= 8);
    EXPECT(watcher.target, R, None);
}

TEST(files_that_keep_changing_start_few_look_ups)
{
    unsigned look_ups = 0;

    begin_with("v4only.test");
    for (int i = 0; i < 50; i++) {
        edit_hosts();
        look_ups += starts_at("v4only.test", i * 0.1);
    }
    assert_int_equal(look_ups, 6);
    assert_true(starts_at("v4only.test", 6.3));
    assert_false(starts_at("v4only.test", 7));
}

TEST(pauses_grow_to_60_seconds)
{
    int last = 0, previous = 0;

    begin_with("v4only.test");
    for (int second = 0; second < 600; second += 5) {
        flap_gateway();
        if (starts_at("v4only.test", second)) {
            previous = last;
            last = second;
        }
    }
    assert_int_equal(last - previous, 60);
}

TEST(a_change_after_a_quiet_time_starts_a_look_up_at_once)
{
    begin_with("v4only.test");
    for (int i = 0; i < 20; i++) {
        flap_gateway();
        (void)starts_at("v4only.test", i * 4);
    }
    flap_gateway();
    assert_false(starts_at("v4only.test", 76));
    (void)starts_at("v4only.test", 105.999);
    flap_gateway();
    assert_true(starts_at("v4only.test", 106));
    flap_gateway();
    assert_false(starts_at("v4only.test", 106.099));
    assert_true(starts_at("v4only.test", 106.1));
}

TEST(edits_by_a_person_start_look_ups_at_once)
{
    begin_with("v4only.test");
    for (int i = 0; i < 6; i++) {
        edit_hosts();
        assert_true(starts_at("v4only.test", i * 2));
    }
}

TEST(a_gateway_that_flaps_does_not_delay_an_edit)
{
    begin_with("v4only.test");
    for (int i = 0; i < 20; i++) {
        flap_gateway();
        (void)starts_at("v4only.test", i * 0.1);
    }
    flap_gateway();
    assert_false(starts_at("v4only.test", 2));
    touch_resolv_conf();
    assert_true(starts_at("v4only.test", 2));
    assert_false(starts_at("v4only.test", 60)); /* that look-up also came after the last change of the gateway */
}

/* ---- Files that are being written -------------------------------------------------------------------------------- */

/* The first half of an edit in place. */
static int begin_to_write(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    return fd;
}

static void write_line(int fd, const char *line)
{
    assert_int_equal(write(fd, line, strlen(line)), (ssize_t)strlen(line));
}

static void expect_change_when_closed(const char *path)
{
    const int fd = begin_to_write(path);

    assert_false(starts_at("v4only.test", 1));
    write_line(fd, "192.0.2.9 other.test\n");
    assert_false(starts_at("v4only.test", 1.099));
    close(fd);
    assert_true(starts_at("v4only.test", 1.099));
    assert_false(starts_at("v4only.test", 2));
}

TEST(a_file_edited_in_place_counts_when_its_writer_closes_it)
{
    begin_with("v4only.test");
    expect_change_when_closed(ETC_HOSTS);
}

TEST(the_target_of_a_symbolic_link_counts_when_its_writer_closes_it)
{
    begin();
    etc_write(ETC_ASIDE "target", "# long\n");
    etc_link(ETC_HOSTS, ETC_ASIDE "target");
    resolve();
    expect_change_when_closed(ETC_ASIDE "target");
}

TEST(a_new_target_of_a_symbolic_link_counts_when_its_writer_closes_it)
{
    begin();
    etc_link(ETC_HOSTS, ETC_ASIDE "target");
    resolve();
    expect_change_when_closed(ETC_ASIDE "target");
}

TEST(a_file_that_stays_open_counts_100_ms_after_the_last_change)
{
    begin_with("v4only.test");
    const int fd = begin_to_write(ETC_HOSTS);

    assert_false(starts_at("v4only.test", 0));
    write_line(fd, "# 1\n");
    assert_false(starts_at("v4only.test", 0.05));
    assert_false(starts_at("v4only.test", 0.149));
    assert_true(starts_at("v4only.test", 0.15));
    assert_false(starts_at("v4only.test", 1));
    close(fd);
}

/* It must not hold up the look-ups of all names. */
TEST(a_file_that_is_written_all_the_time_counts_after_1_s)
{
    begin_with("v4only.test");
    const int fd = begin_to_write(ETC_HOSTS);

    for (int i = 0; i < 20; i++) {
        write_line(fd, "# 1\n");
        assert_false(starts_at("v4only.test", 0.05 * i));
    }
    write_line(fd, "# 1\n");
    assert_true(starts_at("v4only.test", 1));
    close(fd);
}

/* One file is whole, the other is not. */
TEST(a_half_written_file_delays_the_effect_of_another)
{
    begin_with("v4only.test");
    const int fd = begin_to_write(ETC_RESOLV_CONF);

    edit_hosts();
    assert_false(starts_at("v4only.test", 0));
    write_line(fd, "nameserver 192.0.2.2\noptions timeout:5 attempts:1\n");
    close(fd);
    assert_true(starts_at("v4only.test", 0));
}

TEST(a_look_up_that_is_due_waits_for_a_writer)
{
    begin_with("v4only.test");
    const int fd = begin_to_write(ETC_HOSTS);

    assert_false(starts_at("v4only.test", 299.95));
    assert_false(starts_at("v4only.test", 300));
    close(fd);
    assert_true(starts_at("v4only.test", 300));
}

TEST(a_look_up_before_an_edit_does_not_delay_the_next)
{
    begin();
    etc_set_servers("192.0.2.2", 30);
    watcher_schedule(&watcher, expect_name("held.test"));
    names_await_queries("held.test", 1);
    etc_write(ETC_HOSTS, "192.0.2.9 held.test\n");
    drive_at(0);
    names_settle(&watcher);
    assert_int_equal(watcher.calls, 1);
    EXPECT_ADDRESSES(watcher.target, "192.0.2.9");
    assert_true(names_count_threads() > 0); /* the first look-up goes on */
    nameserver_release(names_server, "held.test");
    names_await_no_thread();
    drive_at(0);
    assert_int_equal(watcher.calls, 1);
    EXPECT_ADDRESSES(watcher.target, "192.0.2.9");
}

/* ---- Results that come late ------------------------------------------------------------------------------------- */

static void reschedule(void)
{
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
}

/* The next result is held back until `released`. */
static void detain(void)
{
    sem_init(&detained, 0, 0);
    sem_init(&released, 0, 0);
    detains = true;
}

static void await_detained(void)
{
    time_limit_await(&detained, "no result was detained");
}

/* Schedules a name whose look-up is done, and detained. */
static void begin_detained(const char *name)
{
    begin();
    detain();
    nameserver_move(names_server, "198.51.100.7");
    watcher_schedule(&watcher, expect_name(name));
    if (strncmp(name, "held", 4) == 0) {
        names_await_queries(name, 1);
        nameserver_release(names_server, "held");
    }
    await_detained();
}

TEST(an_older_result_after_a_newer_one_is_dropped)
{
    begin_detained("moves.test");
    nameserver_move(names_server, "192.0.2.9");
    reschedule();
    names_settle(&watcher);
    assert_int_equal(watcher.calls, 1);
    EXPECT(watcher.target, R | D, None);
    sem_post(&released);
    names_await_no_thread();
    names_settle(&watcher);
    assert_int_equal(watcher.calls, 1);
    EXPECT_ADDRESSES(watcher.target, "192.0.2.9");
    assert_false(starts_at("moves.test", 299.999));
    assert_true(starts_at("moves.test", 300));
}

TEST(an_outdated_result_before_the_newer_one_is_dropped)
{
    begin_detained("held.test");
    reschedule();
    names_await_queries("held.test", 2);
    sem_post(&released);
    while (names_count_threads() > 1)
        (void)poll(NULL, 0, 1);
    assert_true(names_is_looking(watcher.target));
    EXPECT(watcher.target, R, NamePending);
    touch_resolv_conf(); /* a new look-up starts at once, and the result of this one is dropped */
    assert_int_equal(SCRunLoopPerform(watcher.loop, 0), 0);
    names_await_queries("held.test", 3);
    nameserver_release(names_server, "held");
    names_settle(&watcher);
    assert_int_equal(watcher.calls, 1);
    EXPECT(watcher.target, R, None);
}

/* No thread drives the loop meanwhile. A file changes while the first result is being delivered: it is dropped, and the
 * flags do not change. The first callback comes even so. */
TEST(a_second_result_does_not_cancel_the_first_callback)
{
    begin();
    etc_set_servers("127.0.0.1", 5);
    detain();
    watcher_schedule(&watcher, expect_name("turns.test"));
    await_detained();
    assert_int_equal(SCRunLoopPerform(watcher.loop, 0), 0);
    etc_write(ETC_HOSTS, "# touched\n");
    assert_int_equal(SCRunLoopPerform(watcher.loop, 0), 0);
    sem_post(&released);
    names_await_result(watcher.target);
    assert_int_equal(names_queried("turns.test"), 2);
    names_settle(&watcher);
    assert_int_equal(watcher.calls, 1);
    assert_int_equal(watcher.flags, R);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7 203.0.113.7");
}

TEST(a_result_may_arrive_after_the_target_was_released)
{
    begin_detained("moves.test");
    watcher_stop(&watcher);
    sem_post(&released);
}

/* ---- Scarcity --------------------------------------------------------------------------------------------------- */

TEST(a_look_up_without_a_thread_is_retried)
{
    begin();
    threads_fail = true;
    watcher_schedule(&watcher, expect_name("v4only.test"));
    assert_false(names_is_looking(watcher.target));
    assert_int_equal(SCRunLoopPerform(watcher.loop, 0), 0);
    EXPECT(watcher.target, R, NamePending);
    set_clock(1);
    assert_int_equal(SCRunLoopPerform(watcher.loop, 0), 0);
    assert_false(names_is_looking(watcher.target));
    threads_fail = false;
    assert_false(starts_at("v4only.test", 2.999));
    assert_true(starts_at("v4only.test", 3));
    assert_int_equal(watcher.calls, 1);
    EXPECT(watcher.target, R, None);
}

static unsigned count_inotify(void)
{
    unsigned count = 0;

    for (int fd = 0; fd < 256; fd++) {
        char file[32] = "";

        (void)readlink(unit_text("/proc/self/fd/%d", fd), file, sizeof file - 1);
        count += strcmp(file, "anon_inode:inotify") == 0;
    }
    return count;
}

static void begin_without_inotify(void)
{
    begin_anew();
    inotify_fails = true;
    nameserver_move(names_server, "198.51.100.7");
    watcher_schedule(&watcher, expect_name("moves.test"));
    names_settle(&watcher);
    assert_int_equal(watcher.calls, 1);
}

TEST(without_inotify_the_files_are_read_every_2_seconds)
{
    begin_without_inotify();
    drive_at(1);
    etc_write(ETC_HOSTS, "192.0.2.9 moves.test\n");
    drive_at(2.999);
    assert_int_equal(watcher.calls, 1);
    drive_at(3);
    drive_at(3.1); /* no event says that the writer has closed the file */
    names_settle(&watcher);
    assert_int_equal(watcher.calls, 2);
    EXPECT_ADDRESSES(watcher.target, "192.0.2.9");
}

/* For example, another program had all instances of the user. */
TEST(an_instance_that_was_refused_is_opened_later)
{
    begin_without_inotify();
    inotify_fails = false;
    drive_at(2);
    assert_int_equal(count_inotify(), 1);
    etc_write(ETC_HOSTS, "192.0.2.9 moves.test\n");
    drive_at(2);
    names_settle(&watcher);
    EXPECT_ADDRESSES(watcher.target, "192.0.2.9");
}

TEST(without_a_thread_the_instance_is_closed_all_the_same)
{
    begin_anew();
    resolve();
    names_await_threads(0);
    assert_int_equal(count_inotify(), 1);
    threads_fail = true;
    watcher_stop(&watcher);
    assert_int_equal(count_inotify(), 0);
}

/* The servers change, and the library cannot read the new ones at first. When it can, it looks the name up again. */
TEST(without_descriptors_servers_are_read_again_until_it_succeeds)
{
    begin_with("v4only.test");
    touch_resolv_conf();
    open_fails = true;
    assert_true(starts_at("v4only.test", 0));
    assert_false(starts_at("v4only.test", 1));
    open_fails = false;
    assert_false(starts_at("v4only.test", 1.999));
    assert_true(starts_at("v4only.test", 2));
    assert_false(starts_at("v4only.test", 3));
}

/* The user has used up all inotify watches, so no file event arrives. The name servers of GetNetwork are read again
 * every 2 seconds. */
TEST(without_watches_the_servers_of_the_network_are_read_again)
{
    SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer;

    begin_anew();
    watches_fail = true;
    watcher_schedule(&watcher, expect_option("0.0.0.0", kSCNetworkReachabilityOptionNotifyNetwork));
    drive_at(0);
    watcher.calls = 0;
    etc_replace(ETC_RESOLV_CONF, "# none\n");
    drive_at(2);
    drive_at(2.1); /* no event says that the file is whole */
    assert_int_equal(watcher.calls, 1);
    assert_true(SCNetworkReachabilityGetNetwork(watcher.target, &network, NULL, 0, 0));
    assert_int_equal(network.nameServerCount, 0);
    watcher_stop(&watcher);
    watches_fail = false;
}

/* ---- One after another ------------------------------------------------------------------------------------------ */

TEST(a_change_while_nothing_is_watched_is_noticed)
{
    begin_anew();
    resolve();
    watcher_stop(&watcher);
    etc_write(ETC_HOSTS, "192.0.2.9 v4only.test\n");
    resolve();
    EXPECT_ADDRESSES(watcher.target, "192.0.2.9");
    etc_replace(ETC_HOSTS, "192.0.2.10 v4only.test\n");
    names_settle(&watcher);
    EXPECT_ADDRESSES(watcher.target, "192.0.2.10");
    watcher_stop(&watcher);
}

static void expect_look_up(void)
{
    names_drive_until(&watcher, "v4only.test", names_queried("v4only.test") + 1);
    names_settle(&watcher);
    watcher_stop(&watcher);
}

/* A mount causes no event. */
TEST(a_mount_while_nothing_is_watched_is_watched)
{
    begin_anew();
    resolve();
    watcher_stop(&watcher);
    etc_write(ETC_ASIDE "resolv.conf", "nameserver 192.0.2.2\noptions timeout:1 attempts:1\n");
    etc_mount(ETC_RESOLV_CONF, ETC_ASIDE "resolv.conf");
    resolve();
    etc_write(ETC_ASIDE "resolv.conf", "# again\nnameserver 192.0.2.2\noptions timeout:1 attempts:1\n");
    expect_look_up();
}

/* At first no watch is left. Later there are some. */
TEST(a_later_target_is_notified_though_the_previous_was_not)
{
    begin_anew();
    watches_fail = true;
    resolve();
    watcher_stop(&watcher);
    watches_fail = false;
    resolve();
    touch_resolv_conf();
    expect_look_up();
}

static void start(void)
{
    test_thread = pthread_self();
}

UNIT(.start = start, .cleanup = names_end, .end = names_end_group)
