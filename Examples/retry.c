/* Connects to an address, again and again: after pauses that double, or at once when the way to it has changed. Ends
 * when it is connected. */
#include <arpa/inet.h>
#include <reachability/reachability.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SECOND         UINT64_C(1000000000) /* in nanoseconds */
#define SHORTEST_PAUSE (1 * SECOND)         /* also between two attempts that a change has caused */
#define LONGEST_PAUSE  (120 * SECOND)

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_BOOTTIME, &time);
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

/* The callback, with NotifyPath. It comes for more than what is worth an attempt: the library decides. With many
 * clients of one server, the last argument should be a random part of 250 milliseconds. */
static void path_changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *retry)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    (void)flags;
    if (SCNetworkReachabilityGetLastPath(target, &path))
        SCNetworkReachabilityRetryObserve(retry, &path, now(), 0);
}

/* Sleeps until `end`, or until a change is worth an attempt. Changes during the attempt count, too. SCRunLoopPerform is
 * the one timer; in your own event loop, use its timer. */
static SCNetworkReachabilityWake sleep_until_worth_it(SCRunLoopRef loop, SCNetworkReachabilityRetry *retry,
                                                      uint64_t end)
{
    SCNetworkReachabilityWake wake;

    while ((wake = SCNetworkReachabilityRetryTake(retry, now(), end)) == kSCNetworkReachabilityWakeNone) {
        const uint64_t due = SCNetworkReachabilityRetryGetDue(retry), next = due < end ? due : end, time = now();

        SCRunLoopPerform(loop, next > time ? (double)(next - time) / SECOND : 0);
    }
    return wake;
}

static int try_to_connect(const struct sockaddr_in *address)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) == 0)
        return fd;
    perror("connect");
    close(fd);
    return -1;
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    SCNetworkReachabilityContext context = kSCNetworkReachabilityContextInitializer;
    SCNetworkReachabilityRetry retry;
    uint64_t pause = SHORTEST_PAUSE;
    int fd;

    if (argc != 3 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1)
        return fputs("retry ADDRESS PORT\n", stderr), 64;
    address.sin_port = htons((uint16_t)atoi(argv[2]));
    options.remoteAddress = (const struct sockaddr *)&address;
    options.options = kSCNetworkReachabilityOptionNotifyPath;
    context.info = &retry;

    SCNetworkReachabilityRetryInit(&retry, SHORTEST_PAUSE);
    SCRunLoopRef loop = SCRunLoopCreate();
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
    SCNetworkReachabilitySetCallback(target, path_changed, &context);
    if (!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode))
        return fprintf(stderr, "%s %s\n", SCErrorString(SCError()), SCErrorDetail()), 1;
    path_changed(target, 0, &retry); /* what is so now: only changes call back */

    while ((fd = try_to_connect(&address)) < 0) {
        if (sleep_until_worth_it(loop, &retry, now() + pause) != kSCNetworkReachabilityWakeTime)
            pause = SHORTEST_PAUSE;
        else
            pause = pause * 2 < LONGEST_PAUSE ? pause * 2 : LONGEST_PAUSE;
    }
    puts("connected");
    close(fd);
    SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
    return 0;
}
