/* SPDX-License-Identifier: MIT */
/*
 * The descriptors of a loop: its epoll set, eventfd and timerfd, and those of its sources. The program may have closed
 * them, as closefrom(3) does, and have files of its own with their numbers. Then others are opened in their place.
 *
 * What this file must never do: close a descriptor that another thread may be about to write to.
 */
#ifdef __linux__
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "loop/runloop.h"
#include "loop/runloop_state.h"

bool runloop_is_whole(SCRunLoopRef loop)
{
    return descriptor_is_ours(&loop->epoll) && descriptor_is_ours(&loop->wake) &&
           (!loop->timed || descriptor_is_ours(&loop->timer));
}

void loop_descriptors_close(SCRunLoopRef loop)
{
    descriptor_close(&loop->epoll);
    descriptor_close(&loop->wake);
    descriptor_close(&loop->timer);
}

/* Returns 0 or an errno. */
static int epoll_add(SCRunLoopRef loop, const struct descriptor *descriptor, uint32_t events, void *pointer)
{
    struct epoll_event event = { .events = events, .data = { .ptr = pointer } };
    const int fd = descriptor->fd;

    if (epoll_ctl(loop->epoll.fd, EPOLL_CTL_ADD, fd, &event) == 0)
        return 0;
    /* EEXIST: an earlier removal of this descriptor failed. An inotify instance is not closed then, but used again. */
    return errno == EEXIST && epoll_ctl(loop->epoll.fd, EPOLL_CTL_MOD, fd, &event) == 0 ? 0 : errno;
}

static int register_timer_locked(struct descriptor *ret)
{
    return descriptor_register_locked(ret, timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
}

/* Opens those that are not open, and those that the program has closed. The others stay: another thread may be about to
 * write to the eventfd. */
int loop_descriptors_open(SCRunLoopRef loop)
{
    int error = 0;

    process_lock();
    if (!descriptor_is_ours(&loop->epoll)) {
        descriptor_forget_locked(&loop->epoll);
        error = descriptor_register_locked(&loop->epoll, epoll_create1(EPOLL_CLOEXEC));
    }
    if (error == 0 && !descriptor_is_ours(&loop->wake)) {
        descriptor_forget_locked(&loop->wake);
        error = descriptor_register_locked(&loop->wake, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    }
    if (error == 0 && loop->timed && !descriptor_is_ours(&loop->timer)) {
        descriptor_forget_locked(&loop->timer);
        error = register_timer_locked(&loop->timer);
    }
    process_unlock();
    /* All are ours: there is no need to check it once more. */
    if (error == 0)
        error = epoll_add(loop, &loop->wake, EPOLLIN, &loop->wake);
    if (error == 0 && loop->timed)
        error = epoll_add(loop, &loop->timer, EPOLLIN, &loop->timer);
    return error;
}

static int open_timer_locked(SCRunLoopRef loop)
{
    int error;

    if (!descriptor_is_ours(&loop->epoll))
        return EBADF; /* loop_descriptors_repair comes first */
    process_lock();
    error = register_timer_locked(&loop->timer);
    process_unlock();
    if (error == 0)
        error = epoll_add(loop, &loop->timer, EPOLLIN, &loop->timer);
    if (error != 0)
        descriptor_close(&loop->timer);
    loop->timed = error == 0;
    return error;
}

/* Skips the system calls if the timerfd is set to the nearest deadline already. */
int loop_descriptors_arm_timer_locked(SCRunLoopRef loop)
{
    const int64_t nearest = runloop_deadline_locked(loop);
    struct itimerspec timer = { 0 };
    int error = 0;

    if (nearest == loop->armed && (loop->timed || !loop->polled))
        return 0;
    if (!loop->timed)
        error = open_timer_locked(loop);
    if (nearest != NEVER) {
        timer.it_value.tv_sec = (time_t)(nearest / SECOND);
        timer.it_value.tv_nsec = (long)(nearest % SECOND);
    }
    if (error == 0 && descriptor_is_ours(&loop->timer) &&
        timerfd_settime(loop->timer.fd, TFD_TIMER_ABSTIME, &timer, NULL) == 0)
        loop->armed = nearest;
    return error;
}

static bool is_in_use(const struct descriptor *descriptor)
{
    return descriptor != NULL && descriptor_is_ours(descriptor);
}

static void epoll_remove(SCRunLoopRef loop, const struct descriptor *descriptor)
{
    if (is_in_use(descriptor))
        epoll_ctl(loop->epoll.fd, EPOLL_CTL_DEL, descriptor->fd, NULL);
}

void loop_descriptors_remove_source(SCRunLoopRef loop, const struct source *source)
{
    if (!descriptor_is_ours(&loop->epoll))
        return;
    epoll_remove(loop, source->descriptor);
    epoll_remove(loop, source->edges);
}

/* A file that cannot be polled, as all of /proc in some sandboxes, is no error: see edges_error. The kernel reports
 * a mount once to each open /proc/self/mountinfo, to the first poll that asks for it: a program's own poll(2) of
 * the loop's descriptor would take the report away. So the loop asks for edges, which only its own epoll_wait(2)
 * takes. A mount anywhere in the namespace costs a loop with names 33 us. */
int loop_descriptors_add_source(SCRunLoopRef loop, struct source *source)
{
    int error = 0;

    /* If one is not ours, loop_descriptors_repair or runloop_source_reopened_locked does it later. */
    if (!descriptor_is_ours(&loop->epoll))
        return 0;
    if (is_in_use(source->descriptor))
        error = epoll_add(loop, source->descriptor, EPOLLIN, source);
    source->edges_error = error;
    if (error == 0 && is_in_use(source->edges))
        source->edges_error = epoll_add(loop, source->edges, EPOLLIN | EPOLLET, source);
    return error;
}

static int repair_locked(SCRunLoopRef loop)
{
    int error = loop_descriptors_open(loop);

    list_for_each(node, &loop->sources) {
        struct source *source = container_of(node, struct source, node);

        if (error == 0)
            error = loop_descriptors_add_source(loop, source);
        if (source->edges_error != 0)
            source->due = true; /* it may try again */
    }
    if (error != 0)
        descriptor_close(&loop->epoll); /* the next call tries again */
    loop->armed = NEVER;
    return error;
}

int loop_descriptors_repair(SCRunLoopRef loop)
{
    int error;

    if (runloop_is_whole(loop))
        return 0;
    runloop_lock(loop);
    error = repair_locked(loop);
    runloop_unlock(loop);
    runloop_signal(loop); /* another thread may have signalled meanwhile, to a descriptor that was closed */
    return error;
}

void runloop_source_closing_locked(SCRunLoopRef loop, const struct source *source)
{
    loop_descriptors_remove_source(loop, source);
}

int runloop_source_reopened_locked(SCRunLoopRef loop, struct source *source)
{
    return list_is_empty(&source->node) ? 0 : loop_descriptors_add_source(loop, source);
}

static bool is_lost(const struct descriptor *descriptor)
{
    return descriptor != NULL && descriptor->fd >= 0 && !descriptor_is_ours(descriptor);
}

static bool has_lost_descriptor(const struct source *source)
{
    return is_lost(source->descriptor) || is_lost(source->edges);
}

/* Makes the sources due whose descriptors the program has closed: no event would. If the process has another user, all:
 * the kernel may find other routes for it. */
void loop_descriptors_check_sources(SCRunLoopRef loop)
{
    const uid_t user = process_user();

    runloop_lock(loop);
    list_for_each(node, &loop->sources) {
        struct source *source = container_of(node, struct source, node);

        source->is_lost = has_lost_descriptor(source);
        if (user != loop->user || source->is_lost)
            source->due = true;
    }
    loop->user = user;
    runloop_unlock(loop);
}

void loop_descriptors_read_counter(const struct descriptor *descriptor)
{
    uint64_t value;

    if (descriptor_is_ours(descriptor))
        (void)!read(descriptor->fd, &value, sizeof value);
}
#endif
