/* SPDX-License-Identifier: MIT */
/* libdispatch: a serial queue, or a concurrent one if the argument is "concurrent". This is C and C++, for gcc and
 * clang. */
#include <reachability/dispatch.h>
#include <string.h>

#include "scenario.h"

#if defined(__clang__) && defined(__cplusplus)
#define COMPILER "clang++"
#elif defined(__clang__)
#define COMPILER "clang"
#elif defined(__cplusplus)
#define COMPILER "g++"
#else
#define COMPILER "gcc"
#endif

static char key;

static bool is_on_queue(void)
{
    return dispatch_get_specific(&key) == &key;
}

static void signal_semaphore(void *semaphore)
{
    if (semaphore != NULL)
        dispatch_semaphore_signal((dispatch_semaphore_t)semaphore);
}

/* libdispatch opens descriptors of its own when it first waits for a timer. They must not count as the library's, so
 * this starts a timer of an hour, and waits for two short ones. */
static void open_libdispatch_descriptors(dispatch_queue_t queue)
{
    dispatch_semaphore_t semaphore = dispatch_semaphore_create(0);

    dispatch_after_f(dispatch_time(DISPATCH_TIME_NOW, 3600 * (int64_t)NSEC_PER_SEC), queue, NULL, signal_semaphore);
    for (int i = 0; i < 2; i++) {
        dispatch_after_f(dispatch_time(DISPATCH_TIME_NOW, (int64_t)NSEC_PER_MSEC), queue, semaphore, signal_semaphore);
        dispatch_semaphore_wait(semaphore, DISPATCH_TIME_FOREVER);
    }
    dispatch_release(semaphore);
}

int main(int count, char **arguments)
{
    const bool is_concurrent = count > 1 && strcmp(arguments[1], "concurrent") == 0;
    const struct host host = { is_concurrent ? "libdispatch, concurrent, " COMPILER : "libdispatch, serial, " COMPILER,
                               1,
                               true,
                               is_on_queue,
                               NULL,
                               NULL };
    SCNetworkReachabilityRef target;
    dispatch_queue_t queue;

    scenario_enter();
    queue = dispatch_queue_create("callbacks", is_concurrent ? DISPATCH_QUEUE_CONCURRENT : DISPATCH_QUEUE_SERIAL);
    dispatch_queue_set_specific(queue, &key, &key, NULL);
    open_libdispatch_descriptors(queue);
    target = scenario_target();

    MUST(SCNetworkReachabilitySetDispatchQueue(target, queue));
    scenario_run(&host);
    scenario_wait();
    MUST(SCNetworkReachabilitySetDispatchQueue(target, NULL));

    dispatch_release(queue);
    return scenario_end();
}
