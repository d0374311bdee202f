/* SPDX-License-Identifier: MIT */
/* What the library sees, for a script: of each address that it is asked about it keeps a scheduled target. Input, a
 * line each, and the line that is the answer:
 *
 *   see ADDRESS    "WiFi Rd None": type, flags, reason, of a fresh target; and the scheduled one's, if they differ
 *   driver NAME    "cdc_ether": what drives an interface, in the kernel's own words; "-": it does not say
 */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <reachability/reachability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define TARGETS  32
#define PATIENCE 10.0 /* seconds until a scheduled target that has not followed is taken to have missed something */

struct watched {
    char                     address[64];
    SCNetworkReachabilityRef target;
};

static struct watched watched[TARGETS];
static SCRunLoopRef   loop;

static void die(const char *what)
{
    fprintf(stderr, "seen: %s: %s\n", what, SCErrorString(SCError()));
    exit(1);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* SEMANTICS' letters. */
static void letters_of(SCNetworkReachabilityFlags flags, char ret[16])
{
    static const struct {
        SCNetworkReachabilityFlags flag;
        char                       letter;
    } names[] = {
        { kSCNetworkReachabilityFlagsReachable, 'R' },
        { kSCNetworkReachabilityFlagsTransientConnection, 't' },
        { kSCNetworkReachabilityFlagsConnectionRequired, 'c' },
        { kSCNetworkReachabilityFlagsConnectionOnTraffic, 'C' },
        { kSCNetworkReachabilityFlagsInterventionRequired, 'i' },
        { kSCNetworkReachabilityFlagsConnectionOnDemand, 'D' },
        { kSCNetworkReachabilityFlagsIsLocalAddress, 'l' },
        { kSCNetworkReachabilityFlagsIsDirect, 'd' },
        { kSCNetworkReachabilityFlagsIsWWAN, 'W' },
    };
    size_t length = 0;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if ((flags & names[i].flag) != 0)
            ret[length++] = names[i].letter;
    if (length == 0)
        ret[length++] = '0';
    ret[length] = '\0';
}

static const char *type_name(SCNetworkReachabilityInterfaceType type)
{
    static const char *const names[] = { "Other",    "Loopback",     "WiredEthernet", "WiFi",
                                         "Cellular", "PointToPoint", "Tunnel",        "Virtual" };

    return type < sizeof names / sizeof names[0] ? names[type] : "?";
}

static const char *reason_name(SCNetworkReachabilityReason reason)
{
    static const char *const names[] = {
        "None",          "NoRoute",           "RouteUnreachable",      "RouteProhibited",         "RouteBlackhole",
        "InterfaceDown", "NoCarrier",         "NoSourceAddress",       "LocalAddressNotAssigned", "NamePending",
        "NameNotFound",  "NameServerFailure", "NameServerUnreachable", "InterfaceMissing"
    };

    return reason < sizeof names / sizeof names[0] ? names[reason] : "?";
}

/* "ADDRESS%INTERFACE" of a link-local address is followed by the interface's name. */
static SCNetworkReachabilityRef make(const char *address)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, address);

    if (target == NULL)
        die(address);
    return target;
}

static struct watched *watch(const char *address)
{
    struct watched *of = watched;

    while (of->target != NULL && strcmp(of->address, address) != 0)
        if (++of == watched + TARGETS)
            die("too many addresses");
    if (of->target != NULL)
        return of;
    snprintf(of->address, sizeof of->address, "%s", address);
    of->target = make(address);
    if (!SCNetworkReachabilityScheduleWithRunLoop(of->target, loop, kSCRunLoopDefaultMode))
        die("it cannot be scheduled");
    return of;
}

static void describe(SCNetworkReachabilityRef target, bool last, char *text, size_t size)
{
    SCNetworkReachabilityPath  path = kSCNetworkReachabilityPathInitializer;
    SCNetworkReachabilityFlags flags;
    char                       letters[16];

    if (!SCNetworkReachabilityGetPath(target, &path) || !SCNetworkReachabilityGetFlags(target, &flags))
        die("it cannot be asked");
    letters_of(last ? flags : path.flags, letters);
    snprintf(text, size, "%s %s %s", type_name(path.interfaceType), letters, reason_name(path.reason));
}

static void see(struct watched *of)
{
    const double end = now() + PATIENCE;
    char         fresh[128], scheduled[128];

    for (;;) {
        SCNetworkReachabilityRef once = make(of->address);

        while (SCRunLoopPerform(loop, 0) > 0)
            continue;
        describe(once, false, fresh, sizeof fresh);
        describe(of->target, true, scheduled, sizeof scheduled);
        SCNetworkReachabilityRelease(once);
        if (strcmp(fresh, scheduled) == 0 || now() > end)
            break;
        SCRunLoopPerform(loop, 0.1);
    }
    if (strcmp(fresh, scheduled) == 0)
        puts(fresh);
    else
        printf("%s, but scheduled: %s\n", fresh, scheduled);
}

static void tell_driver(const char *interface)
{
    struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
    struct ifreq           request = { .ifr_data = (char *)&info };
    const int              fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    snprintf(request.ifr_name, sizeof request.ifr_name, "%.15s", interface);
    puts(ioctl(fd, SIOCETHTOOL, &request) == 0 ? info.driver : "-");
    close(fd);
}

int main(void)
{
    char line[128], word[16], about[64];

    loop = SCRunLoopCreate();
    if (loop == NULL)
        die("no loop");
    for (;;) {
        struct pollfd poller[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                                   { .fd = SCRunLoopGetFileDescriptor(loop), .events = POLLIN } };

        poll(poller, 2, -1);
        SCRunLoopPerform(loop, 0);
        if (poller[0].revents == 0)
            continue;
        if (fgets(line, sizeof line, stdin) == NULL)
            return 0;
        if (sscanf(line, "%15s %63s", word, about) != 2)
            die("what?");
        if (strcmp(word, "driver") == 0)
            tell_driver(about);
        else
            see(watch(about));
        fflush(stdout);
    }
}
