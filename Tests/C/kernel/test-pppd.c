/* SPDX-License-Identifier: MIT */
/* A ppp link, and the notes of pppd about it in a database of the test. Tests/VM has real ppp links; here a tun device
 * has their hardware type. */
#include <linux/if_arp.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/timerfd.h>

#include "support/etc.h"
#include "support/namespace.h"
#include "support/notes.h"
#include "support/watcher.h"

#define DATABASE "/run/pppd2.tdb"
#define LATER    "/run/pppd/pppd2.tdb"

enum { C = kSCNetworkReachabilityFlagsConnectionRequired, ON_TRAFFIC = kSCNetworkReachabilityFlagsConnectionOnTraffic };

/* Makes ppp0 with 10.9.0.1 and the default route. Returns the descriptor of its tun device. */
static int begin(void)
{
    namespace_require();
    etc_require("127.0.0.1");
    int tun = namespace_add_tun("ppp0");
    if (tun < 0 || ioctl(tun, TUNSETLINK, ARPHRD_PPP) != 0)
        SKIP("no /dev/net/tun here");
    namespace_ip("address add 10.9.0.1 peer 10.9.0.2 dev ppp0");
    namespace_set_up("ppp0");
    namespace_ip("route add default dev ppp0");
    return tun;
}

static void write_notes(const char *path, const struct notes *notes)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(notes->bytes, notes->length, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static void add_note(struct notes *notes, uint32_t chain, unsigned pid, const char *what)
{
    char key[16], value[512];

    snprintf(key, sizeof key, "pppd%u", pid);
    snprintf(value, sizeof value, "ORIG_UID=0;PPPLOGNAME=root;PPPD_PID=%u;IFNAME=ppp0;%s", pid, what);
    notes_add(notes, chain, key, value);
    notes_add(notes, chain, "IFNAME=ppp0", key);
}

/* Writes the note of the pppd with this process ID. */
static void note(const char *path, unsigned pid, const char *what)
{
    struct notes notes;

    notes_begin(&notes, 7);
    add_note(&notes, 3, pid, what);
    write_notes(path, &notes);
}

TEST(ppp_is_idle_until_pppd_notes_a_connection)
{
    static const struct {
        const char *note;
        SCNetworkReachabilityFlags flags;
    } rows[] = {
        { "UNIT=0", R | T | C | ON_TRAFFIC },
        { "UNIT=0;SPEED=38400", R | T | C | ON_TRAFFIC }, /* it is dialled for the first time */
        { "UNIT=0;SPEED=38400;IPLOCAL=10.9.0.1;IPREMOTE=10.9.0.2", R | T },
        { "UNIT=0;SPEED=38400;LLLOCAL=fe80::1;LLREMOTE=fe80::2", R | T }, /* by IPv6 alone */
        { "UNIT=0;IPLOCAL=10.9.0.1;IPREMOTE=10.9.0.2;CONNECT_TIME=3;BYTES_SENT=0", R | T | C | ON_TRAFFIC },
        { "IPLOCAL=;XIPLOCAL=1;CONNECT_TIMES=4", R | T },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int tun = begin();

        note(DATABASE, (unsigned)getpid(), rows[i].note);
        SCNetworkReachabilityRef target = expect_target("198.51.100.7");
        EXPECT(target, rows[i].flags, None);
        EXPECT_TYPE(target, PointToPoint);
        SCNetworkReachabilityRelease(target);
        target = expect_target("0.0.0.0");
        EXPECT(target, rows[i].flags, None);
        SCNetworkReachabilityRelease(target);
        close(tun);
    }
}

/* There is no database; it is empty; its note is of a killed pppd, or of another link. */
TEST(ppp_without_a_note_is_connected)
{
    const int tun = begin();
    SCOPED_TARGET target = expect_target("198.51.100.7");

    EXPECT(target, R | T, None);
    etc_write(DATABASE, "");
    EXPECT(target, R | T, None);
    etc_write(DATABASE, "TDB file\n");
    EXPECT(target, R | T, None);
    note(DATABASE, 4000000, "UNIT=0");
    EXPECT(target, R | T, None);
    note(DATABASE, (unsigned)getpid(), "UNIT=0");
    namespace_ip("link set dev ppp0 down; link set dev ppp0 name ppp1; link set dev ppp1 up");
    AFTER("route add default dev ppp1", EXPECT(target, R | T, None));
    close(tun);
}

/* A killed pppd, or a pppd in another network namespace, may have a note for a link of the same name. */
TEST(notes_of_other_processes_do_not_make_ppp_idle)
{
    static const char *const connected = "IPLOCAL=10.9.0.1", *const idle = "UNIT=0";
    struct notes notes;
    const int tun = begin();
    SCOPED_TARGET target = expect_target("198.51.100.7");

    for (uint32_t chain = 0; chain < 2; chain++) {
        notes_begin(&notes, 2);
        add_note(&notes, chain, (unsigned)getpid(), connected);
        add_note(&notes, 1 - chain, (unsigned)getppid(), idle);
        write_notes(DATABASE, &notes);
        EXPECT(target, R | T, None);
        notes_begin(&notes, 2);
        add_note(&notes, chain, (unsigned)getpid(), idle);
        add_note(&notes, 1 - chain, 4000000, connected);
        write_notes(DATABASE, &notes);
        EXPECT(target, R | T | C | ON_TRAFFIC, None);
    }
    close(tun);
}

TEST(the_database_of_newer_pppds_is_read)
{
    const int tun = begin();

    etc_make_directory("/run/pppd");
    note(LATER, (unsigned)getpid(), "UNIT=0");
    EXPECT_ADDRESS("198.51.100.7", R | T | C | ON_TRAFFIC, None);
    close(tun);
}

/* There is no message: the library reads the database every two seconds. */
TEST(dialling_is_noticed)
{
    struct watcher watcher;
    const int tun = begin();

    note(DATABASE, (unsigned)getpid(), "UNIT=0");
    watcher_start(&watcher, expect_target("198.51.100.7"));
    assert_int_equal(expect_flags_of(watcher.target), R | T | C | ON_TRAFFIC);
    note(DATABASE, (unsigned)getpid(), "UNIT=0;IPLOCAL=10.9.0.1");
    EXPECT_CHANGE(&watcher, R | T);
    note(DATABASE, (unsigned)getpid(), "UNIT=0;IPLOCAL=10.9.0.1;CONNECT_TIME=3");
    EXPECT_CHANGE(&watcher, R | T | C | ON_TRAFFIC);
    watcher_stop(&watcher);
    close(tun);
}

/* The link exists before its first note. While pppd replaces a note, there is no note. */
TEST(a_late_note_is_noticed)
{
    struct watcher watcher;
    const int tun = begin();

    note(DATABASE, 4000000, "UNIT=0"); /* of another process */
    watcher_start(&watcher, expect_target("198.51.100.7"));
    assert_int_equal(expect_flags_of(watcher.target), R | T);
    note(DATABASE, (unsigned)getpid(), "UNIT=0");
    EXPECT_CHANGE(&watcher, R | T | C | ON_TRAFFIC);
    watcher_stop(&watcher);
    close(tun);
}

/* ---- How often the database is read ----------------------------------------------------------------------------- */

/* The test counts calls and has its own clock. They are wrapped at link time. */

#define TARGETS 50

static unsigned reads;
static double now_is; /* seconds; 0: the clock is the kernel's */
static int calls;

WRAP(int, open, const char *path, int flags, ...)
{
    va_list more;

    va_start(more, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    reads += strcmp(path, DATABASE) == 0;
    return __real_open(path, flags, mode);
}

WRAP(int, clock_gettime, clockid_t clock, struct timespec *now)
{
    if (now_is == 0)
        return __real_clock_gettime(clock, now);
    now->tv_sec = (time_t)now_is;
    now->tv_nsec = (long)((now_is - (double)now->tv_sec) * 1e9);
    return 0;
}

/* A timer fires at once, and the clock then decides what is due. */
WRAP(int, timerfd_settime, int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
    const struct itimerspec at_once = { .it_value = { .tv_nsec = 1 } };
    const bool is_set = value->it_value.tv_sec != 0 || value->it_value.tv_nsec != 0;

    return __real_timerfd_settime(fd, flags, is_set && now_is != 0 ? &at_once : value, old);
}

static void count_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags, (void)info;
    calls++;
}

/* Makes one pass at this time. Returns how often it read the database. */
static unsigned reads_at(SCRunLoopRef loop, double time)
{
    reads = 0;
    calls = 0;
    now_is = 1000 + time;
    (void)SCRunLoopPerform(loop, 0);
    return reads;
}

TEST(many_targets_read_the_database_once_a_round)
{
    SCNetworkReachabilityRef targets[TARGETS];
    SCRunLoopRef loop = SCRunLoopCreate();
    unsigned long evaluations;
    const int tun = begin();

    note(DATABASE, (unsigned)getpid(), "UNIT=0;IPLOCAL=10.9.0.1");
    now_is = 1000;
    for (int i = 0; i < TARGETS; i++) {
        targets[i] = expect_target(unit_text("198.51.100.%d", i + 1));
        assert_true(SCNetworkReachabilitySetCallback(targets[i], count_call, NULL));
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(targets[i], loop, kSCRunLoopDefaultMode));
    }
    assert_int_equal(reads_at(loop, 0), 1);
    assert_int_equal(reads_at(loop, 1.999), 0);
    evaluations = expect_counters_of(targets[7]).evaluations;
    assert_int_equal(reads_at(loop, 2), 1);
    assert_int_equal(expect_counters_of(targets[7]).evaluations, evaluations + 1);
    assert_int_equal(reads_at(loop, 3.999), 0);
    note(DATABASE, (unsigned)getpid(), "UNIT=0");
    assert_int_equal(reads_at(loop, 4), 1);
    assert_int_equal(calls, TARGETS);
    assert_int_equal(expect_flags_of(targets[7]), R | T | C | ON_TRAFFIC);

    /* A round that another change caused reads it, too, for the targets that the change affects. */
    note(DATABASE, (unsigned)getpid(), "UNIT=0;IPLOCAL=10.9.0.1");
    namespace_ip("route add 198.51.100.8 dev ppp0");
    assert_int_equal(reads_at(loop, 5), 1);
    assert_int_equal(calls, 1);
    assert_int_equal(reads_at(loop, 6), 1);
    assert_int_equal(calls, TARGETS - 1);

    /* No path depends on the database any more. */
    namespace_ip("link set dev ppp0 down");
    (void)reads_at(loop, 8);
    assert_int_equal(calls, TARGETS);
    (void)reads_at(loop, 9); /* the second evaluation after a change of a link */
    assert_int_equal(reads_at(loop, 100), 0);
    for (int i = 0; i < TARGETS; i++) {
        SCNetworkReachabilityUnscheduleFromRunLoop(targets[i], loop, kSCRunLoopDefaultMode);
        SCNetworkReachabilityRelease(targets[i]);
    }
    SCRunLoopRelease(loop);
    now_is = 0;
    close(tun);
}

/* ---- Modems ----------------------------------------------------------------------------------------------------- */

/* The driver of the tty is a link in sysfs. */
TEST(the_tty_driver_identifies_a_modem)
{
    static const struct {
        const char *note, *driver;
        SCNetworkReachabilityFlags flags;
    } rows[] = {
        { "IPLOCAL=10.9.0.1;DEVICE=/dev/ttyUSB0", "option1", R | T | W },
        { "DEVICE=/dev/ttyUSB0", "qcserial", R | T | W | C | ON_TRAFFIC },
        { "IPLOCAL=10.9.0.1;DEVICE=/dev/ttyUSB0", "ftdi_sio", R | T }, /* a serial cable */
        { "IPLOCAL=10.9.0.1;DEVICE=/dev/ttyS9", "option1", R | T },
        { "IPLOCAL=10.9.0.1;DEVICE=ttyUSB0", "option1", R | T },
        { "IPLOCAL=10.9.0.1;DEVICE=/dev/a-name-of-very-many-characters-and-some-more", "option1", R | T },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char driver[64];
        const int tun = begin();

        etc_make_directory("/run/tty");
        etc_make_directory("/run/tty/ttyUSB0");
        etc_make_directory("/run/tty/ttyUSB0/device");
        snprintf(driver, sizeof driver, "../../../bus/usb-serial/drivers/%s", rows[i].driver);
        etc_link("/run/tty/ttyUSB0/device/driver", driver);
        if (mount("/run/tty", "/sys/class/tty", "none", MS_BIND, NULL) != 0)
            SKIP("nothing can be mounted in /sys here");
        note(DATABASE, (unsigned)getpid(), rows[i].note);
        SCNetworkReachabilityRef target = expect_target("198.51.100.7");
        EXPECT(target, rows[i].flags, None);
        SCNetworkReachabilityRelease(target);
        assert_int_equal(umount("/sys/class/tty"), 0);
        close(tun);
    }
}
