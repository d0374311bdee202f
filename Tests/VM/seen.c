/* SPDX-License-Identifier: MIT */
/* Prints what the library reports about paths, for the scripts in links/. It reads commands from the standard input,
 * one on a line, and prints one line for each: see TARGET "WiFi Rd None": type, flags and reason, from a new target. If
 * a target that is scheduled since the first command about this TARGET reports something else, that follows. flags
 * TARGET "Rd": what GetFlags of a new target returns. driver NAME "cdc_ether": the driver of an interface, as the
 * kernel reports it; "-": not reported. TARGET is an address, or [LOCAL,]ADDRESS@INTERFACE: with a local address, and
 * bound to an interface. */
#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <reachability/reachability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define TARGETS    64
#define TIME_LIMIT 10.0 /* seconds until a scheduled target that is still out of date has missed a change */

struct watched_address {
    char address[128];
    SCNetworkReachabilityRef target;
};

static struct watched_address watched[TARGETS];
static SCRunLoopRef loop;

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

/* One letter for each flag, or "0". */
static void flags_to_letters(SCNetworkReachabilityFlags flags, char ret[16])
{
    static const struct {
        SCNetworkReachabilityFlags flag;
        char letter;
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

static const struct sockaddr *parse_address(const char *text, struct sockaddr_storage *ret)
{
    struct sockaddr_in *ipv4 = (struct sockaddr_in *)ret;
    struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)ret;

    *ret = (struct sockaddr_storage){ .ss_family = strchr(text, ':') == NULL ? AF_INET : AF_INET6 };
    if (inet_pton(ret->ss_family, text, ret->ss_family == AF_INET ? (void *)&ipv4->sin_addr : &ipv6->sin6_addr) != 1)
        die(text);
    return (const struct sockaddr *)ret;
}

/* The text is "[LOCAL,]ADDRESS@INTERFACE". */
static SCNetworkReachabilityRef create_bound_target(const char *text)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    struct sockaddr_storage local, remote;
    char copy[128], *interface, *comma;

    snprintf(copy, sizeof copy, "%s", text);
    interface = strchr(copy, '@');
    *interface++ = '\0';
    comma = strchr(copy, ',');
    if (comma != NULL) {
        *comma = '\0';
        options.localAddress = parse_address(copy, &local);
    }
    options.remoteAddress = parse_address(comma == NULL ? copy : comma + 1, &remote);
    options.interfaceName = interface;
    return SCNetworkReachabilityCreateWithOptions(NULL, &options);
}

/* A link-local address needs the name of its interface: "ADDRESS%INTERFACE". */
static SCNetworkReachabilityRef create_target(const char *address)
{
    SCNetworkReachabilityRef target = strchr(address, '@') == NULL ? SCNetworkReachabilityCreateWithName(NULL, address)
                                                                   : create_bound_target(address);

    if (target == NULL)
        die(address);
    return target;
}

static struct watched_address *watch_address(const char *address)
{
    struct watched_address *entry = watched;

    while (entry->target != NULL && strcmp(entry->address, address) != 0)
        if (++entry == watched + TARGETS)
            die("too many addresses");
    if (entry->target != NULL)
        return entry;
    snprintf(entry->address, sizeof entry->address, "%s", address);
    entry->target = create_target(address);
    if (!SCNetworkReachabilityScheduleWithRunLoop(entry->target, loop, kSCRunLoopDefaultMode))
        die("the target cannot be scheduled");
    return entry;
}

/* The flags are those that a scheduled target has reported, or those of its path. */
static void describe_path(SCNetworkReachabilityRef target, bool reported_flags, char *text, size_t size)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    SCNetworkReachabilityFlags flags;
    char letters[16];

    if (!SCNetworkReachabilityGetPath(target, &path) || !SCNetworkReachabilityGetFlags(target, &flags))
        die("the target has no path or no flags");
    flags_to_letters(reported_flags ? flags : path.flags, letters);
    snprintf(text, size, "%s %s %s", type_name(path.interfaceType), letters, reason_name(path.reason));
}

static void print_path(struct watched_address *entry)
{
    const double end = now() + TIME_LIMIT;
    char fresh[128], scheduled[128];

    for (;;) {
        SCNetworkReachabilityRef fresh_target = create_target(entry->address);

        while (SCRunLoopPerform(loop, 0) > 0)
            continue;
        describe_path(fresh_target, false, fresh, sizeof fresh);
        describe_path(entry->target, true, scheduled, sizeof scheduled);
        SCNetworkReachabilityRelease(fresh_target);
        if (strcmp(fresh, scheduled) == 0 || now() > end)
            break;
        SCRunLoopPerform(loop, 0.1);
    }
    if (strcmp(fresh, scheduled) == 0)
        puts(fresh);
    else
        printf("%s, but scheduled: %s\n", fresh, scheduled);
}

static void print_flags(const char *address)
{
    SCNetworkReachabilityRef target = create_target(address);
    SCNetworkReachabilityFlags flags;
    char letters[16];

    if (!SCNetworkReachabilityGetFlags(target, &flags))
        die("the target has no flags");
    flags_to_letters(flags, letters);
    puts(letters);
    SCNetworkReachabilityRelease(target);
}

static void print_driver(const char *interface)
{
    struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
    struct ifreq request = { .ifr_data = (char *)&info };
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    snprintf(request.ifr_name, sizeof request.ifr_name, "%.15s", interface);
    puts(ioctl(fd, SIOCETHTOOL, &request) == 0 ? info.driver : "-");
    close(fd);
}

int main(void)
{
    char line[256], command[16], argument[128];

    loop = SCRunLoopCreate();
    if (loop == NULL)
        die("SCRunLoopCreate");
    for (;;) {
        struct pollfd poller[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                                   { .fd = SCRunLoopGetFileDescriptor(loop), .events = POLLIN } };

        poll(poller, 2, -1);
        SCRunLoopPerform(loop, 0);
        if (poller[0].revents == 0)
            continue;
        if (fgets(line, sizeof line, stdin) == NULL)
            return 0;
        if (sscanf(line, "%15s %127s", command, argument) != 2)
            die("not a command");
        if (strcmp(command, "driver") == 0)
            print_driver(argument);
        else if (strcmp(command, "flags") == 0)
            print_flags(argument);
        else
            print_path(watch_address(argument));
        fflush(stdout);
    }
}
