/* SPDX-License-Identifier: MIT */
#include "support/descriptors.h"

#include "support/time_limit.h"
#include "support/watcher.h"

#define TIME_LIMIT 10.0 /* seconds */

/* One call for all: a test that reads them thousands of times would spend most of its time in fcntl(2). It refuses more
 * descriptors than RLIMIT_NOFILE allows. Not poll(2), which some tests replace. */
void descriptors_read(struct descriptors *ret)
{
    struct pollfd polled[DESCRIPTORS];

    memset(ret, 0, sizeof *ret);
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        polled[fd] = (struct pollfd){ .fd = fd };
    bool is_polled = ppoll(polled, DESCRIPTORS, &(struct timespec){ 0 }, NULL) >= 0;
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        ret->open[fd] = is_polled ? (polled[fd].revents & POLLNVAL) == 0 : fcntl(fd, F_GETFD) >= 0;
        if (ret->open[fd])
            ret->highest = fd;
    }
}

struct descriptors descriptors_now(void)
{
    struct descriptors now;

    descriptors_read(&now);
    return now;
}

void descriptors_expect(const struct descriptors *then)
{
    struct descriptors now;
    char path[32], what[256];
    ssize_t length;

    descriptors_read(&now);
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        if (now.open[fd] == then->open[fd])
            continue;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        length = readlink(path, what, sizeof what - 1);
        what[length < 0 ? 0 : length] = '\0';
        fail_msg("descriptor %d was %s: %s", fd, now.open[fd] ? "left open" : "closed", what);
    }
}

void descriptors_await(const struct descriptors *then)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT);
    struct descriptors now;

    do {
        descriptors_read(&now);
        sched_yield();
    } while (memcmp(now.open, then->open, sizeof now.open) != 0 && watcher_now() < end);
    descriptors_expect(then);
}

void descriptors_close_others(const struct descriptors *then)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (!then->open[fd])
            close(fd);
}
