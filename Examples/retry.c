/* Connects to an address, again and again: after pauses that double, or at once when the way to it has changed. Ends
 * when it is connected. */
#include <arpa/inet.h>
#include <reachability/reachability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SHORTEST_PAUSE 1.0 /* seconds; also between two attempts that a change has caused */
#define LONGEST_PAUSE  120.0

struct retry {
    SCNetworkReachabilityPath last; /* over which packets left; size 0: none yet */
    SCBoolean was_lost;             /* since then the target was not reachable */
    SCBoolean changed;              /* it is worth an attempt */
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_BOOTTIME, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The callback, with NotifyPath. It comes for more than what matters here: for the reason, or the addresses of a
 * name. */
static void path_changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct retry *retry = info;
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    (void)flags;
    if (!SCNetworkReachabilityGetLastPath(target, &path) || path.reason == kSCNetworkReachabilityReasonNamePending)
        return;
    if (!(path.flags & kSCNetworkReachabilityFlagsReachable)) {
        retry->was_lost = 1;
        retry->changed = 0;
        return;
    }
    if (retry->was_lost ||
        (retry->last.size != 0 && (retry->last.interfaceIndex != path.interfaceIndex ||
                                   memcmp(&retry->last.gateway, &path.gateway, sizeof path.gateway) != 0 ||
                                   memcmp(&retry->last.source, &path.source, sizeof path.source) != 0)))
        retry->changed = 1;
    retry->was_lost = 0;
    retry->last = path;
}

/* Sleeps for `pause` seconds, or until a change. Changes during the attempt count, too. If they go on, they cause one
 * attempt per SHORTEST_PAUSE. SCRunLoopPerform is the one timer; in your own event loop, use its timer. Returns
 * whether a change ended it. */
static SCBoolean sleep_until_worth_it(SCRunLoopRef loop, struct retry *retry, double pause, double *not_before)
{
    const double end = now() + pause;
    double left;
    SCBoolean changed;

    do {
        left = (retry->changed && *not_before < end ? *not_before : end) - now();
    } while (left > 0 && SCRunLoopPerform(loop, left) >= 0);
    changed = retry->changed;
    if (changed)
        *not_before = now() + SHORTEST_PAUSE;
    retry->changed = 0;
    return changed;
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
    struct retry retry = { .was_lost = 0 };
    double pause = SHORTEST_PAUSE, not_before = 0;
    int fd;

    if (argc != 3 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1)
        return fputs("retry ADDRESS PORT\n", stderr), 64;
    address.sin_port = htons((uint16_t)atoi(argv[2]));
    options.remoteAddress = (const struct sockaddr *)&address;
    options.options = kSCNetworkReachabilityOptionNotifyPath;
    context.info = &retry;

    SCRunLoopRef loop = SCRunLoopCreate();
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
    SCNetworkReachabilitySetCallback(target, path_changed, &context);
    if (!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode))
        return fprintf(stderr, "%s %s\n", SCErrorString(SCError()), SCErrorDetail()), 1;
    path_changed(target, 0, &retry); /* what is so now: only changes call back */

    while ((fd = try_to_connect(&address)) < 0) {
        if (sleep_until_worth_it(loop, &retry, pause, &not_before))
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
