/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: send a packet, or set a flag that a socket gives no evidence for.
 */
#include "route/udp_probe.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "kernel/ioctl.h"

#define LOOPBACK_INDEX 1 /* in every network namespace */
#define DISCARD_PORT   9 /* never sent to; 0 is no port to connect to */

/* Both are covered by a default route, or by one of its two halves each, and hardly by anything else. */
#define PROBES 2
static const struct address probes_ipv4[PROBES] = { { AF_INET, { 0, 0, 0, 1 } }, { AF_INET, { 128, 0, 0, 1 } } };
static const struct address probes_ipv6[PROBES] = { { AF_INET6, { 0x40, [15] = 1 } },
                                                    { AF_INET6, { 0x80, [15] = 1 } } };

struct inquiry {
    const struct question *question;
    uint32_t               oif;  /* 0: any */
    struct link            link; /* of oif */
};

static int open_socket(int family, struct descriptor *ret)
{
    int error;

    process_lock();
    error = descriptor_keep_locked(ret, socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    process_unlock();
    return error;
}

/* For ioctls any family will do. */
static int open_any(struct descriptor *ret)
{
    const int error = open_socket(AF_INET, ret);

    return error == EAFNOSUPPORT ? open_socket(AF_INET6, ret) : error;
}

/* ---- One destination -------------------------------------------------------------------------------------------- */

/* Binds to the interface: unprivileged since Linux 5.7. */
static int bind_to_interface(int fd, const char *name)
{
    return setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name)) == 0 ? 0 : errno;
}

static int bind_to_address(int fd, const struct address *address, uint32_t scope)
{
    struct sockaddr_storage local;

    address_to_sockaddr(address, scope, &local);
    return bind(fd, (const struct sockaddr *)&local, address_sockaddr_length(address->family)) == 0 ? 0 : errno;
}

static int prepare(int fd, const struct inquiry *inquiry, const struct address *source)
{
    const uint32_t mark = inquiry->question->mark;
    int            error = 0;

    if (mark != 0 && setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof mark) != 0)
        return errno;
    if (inquiry->oif != 0)
        error = bind_to_interface(fd, inquiry->link.name);
    if (error == EPERM && inquiry->question->interface[0] == '\0')
        error = 0; /* a scope is also in the address that is connected to */
    if (error != 0 || source->family == AF_UNSPEC)
        return error;
    /* That the address is ours is known. A sandbox may refuse to bind: then rules that look at the source are
     * missed. */
    (void)bind_to_address(fd, source, inquiry->oif);
    return 0;
}

static int connect_to(int fd, const struct address *destination, uint32_t scope)
{
    struct sockaddr_storage remote;

    address_to_sockaddr(destination, scope, &remote);
    if (destination->family == AF_INET)
        ((struct sockaddr_in *)&remote)->sin_port = htons(DISCARD_PORT);
    else
        ((struct sockaddr_in6 *)&remote)->sin6_port = htons(DISCARD_PORT);
    return connect(fd, (const struct sockaddr *)&remote, address_sockaddr_length(destination->family)) == 0 ? 0 : errno;
}

/* A broadcast address is refused at first, as one is that a route prohibits. */
static bool allow_broadcast(int fd)
{
    const int one = 1;

    return setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof one) == 0;
}

/* What an errno of connect(2) means. False: it is no answer. */
static bool is_answer(int error, struct path *ret)
{
    switch (error) {
    case EADDRNOTAVAIL:
        *ret = path_unreachable(kSCNetworkReachabilityReasonNoSourceAddress);
        return true;
    case ENETDOWN:
        *ret = path_unreachable(kSCNetworkReachabilityReasonInterfaceDown);
        return true;
    case EPERM: /* by a program on the control group */
        *ret = path_unreachable(kSCNetworkReachabilityReasonRouteProhibited);
        return true;
    default:
        return path_from_error(error, false, ret);
    }
}

static int ask_socket(int fd, const struct inquiry *inquiry, const struct address *source,
                      const struct address *destination, struct path *ret)
{
    struct sockaddr_storage own;
    socklen_t               length = sizeof own;
    struct address          taken;
    uint32_t                scope;
    int                     error = prepare(fd, inquiry, source);

    if (error == ENODEV) /* it went a moment ago */
        return is_answer(error, ret) ? 0 : error;
    if (error != 0)
        return error;
    error = connect_to(fd, destination, inquiry->oif);
    if (error == EACCES && allow_broadcast(fd))
        error = connect_to(fd, destination, inquiry->oif);
    if (error != 0)
        return is_answer(error, ret) ? 0 : error;
    if (getsockname(fd, (struct sockaddr *)&own, &length) != 0)
        return errno;
    taken = address_from_sockaddr((const struct sockaddr *)&own, &scope);
    *ret = path_from_source(destination, source->family != AF_UNSPEC, &taken);
    return 0;
}

/* 0 and the answer, or an errno: the kernel could not be asked. */
static int ask(const struct inquiry *inquiry, const struct address *source, const struct address *destination,
               struct path *ret)
{
    struct descriptor socket;
    int               error = open_socket(destination->family, &socket);

    if (error == EAFNOSUPPORT && destination->family == AF_INET6) { /* a kernel without IPv6 has no route either */
        *ret = path_unreachable(kSCNetworkReachabilityReasonNoRoute);
        return 0;
    }
    if (error != 0)
        return error;
    error = ask_socket(socket.fd, inquiry, source, destination, ret);
    descriptor_close(&socket);
    return error;
}

/* ---- Questions -------------------------------------------------------------------------------------------------- */

/* A refusal counts only when every probe meets it: what refuses one alone is a longer prefix. */
static int find_default_of(const struct inquiry *inquiry, const struct address *source,
                           const struct address probes[PROBES], struct path *ret)
{
    for (size_t i = 0; i < PROBES; i++) {
        struct path path;
        const int   error = ask(inquiry, source, &probes[i], &path);

        if (error != 0)
            return error;
        if ((path.flags & kSCNetworkReachabilityFlagsIsLocalAddress) != 0)
            path = path_unreachable(kSCNetworkReachabilityReasonNoRoute);
        if (i == 0 || path_is_usable(&path) || path.reason == kSCNetworkReachabilityReasonNoRoute)
            *ret = path;
        if (path_is_usable(&path))
            return 0;
    }
    return 0;
}

/* Usable IPv4 before usable IPv6; none usable: the reason of the family that has a route at all, else IPv4's. */
static int find_default(const struct inquiry *inquiry, const struct address *source, struct path *ret)
{
    struct path ipv4 = path_unreachable(kSCNetworkReachabilityReasonNoRoute), ipv6 = ipv4;
    int         error = 0;

    if (source->family != AF_INET6)
        error = find_default_of(inquiry, source, probes_ipv4, &ipv4);
    if (error == 0 && source->family != AF_INET && !path_is_usable(&ipv4))
        error = find_default_of(inquiry, source, probes_ipv6, &ipv6);
    if (error == 0)
        *ret = path_is_usable(&ipv6) || ipv4.reason == kSCNetworkReachabilityReasonNoRoute ? ipv6 : ipv4;
    return error;
}

/* Whether binding tells a local address: not where any address can be bound (the sysctl ip_nonlocal_bind). */
static bool is_bind_strict(int fd)
{
    static const struct address nobodys = { AF_INET, { 240, 0, 0, 1 } };

    return bind_to_address(fd, &nobodys, 0) == EADDRNOTAVAIL;
}

/* Whether an address is this machine's. The kernel sends a packet to such a one from that address itself, but for
 * some of IPv4's: a second address of a subnet, and 127.0.0.2. These can be bound. So can a broadcast address, to
 * which packets may not be sent without more ado. */
static int find_local(const struct inquiry *inquiry, const struct address *address, bool *ret)
{
    const uint32_t          scope = address_is_link_local(address) ? inquiry->oif : 0;
    struct sockaddr_storage own;
    socklen_t               length = sizeof own;
    struct descriptor       socket;
    bool                    bound;
    int                     error = open_socket(address->family, &socket);

    *ret = false;
    if (error != 0)
        return error == EAFNOSUPPORT ? 0 : error;
    bound = address->family == AF_INET && is_bind_strict(socket.fd) && bind_to_address(socket.fd, address, 0) == 0;
    if (!address_is_multicast(address) && connect_to(socket.fd, address, scope) == 0 &&
        getsockname(socket.fd, (struct sockaddr *)&own, &length) == 0) {
        const struct address source = address_from_sockaddr((const struct sockaddr *)&own, &(uint32_t){ 0 });

        *ret = bound || address_equal(&source, address);
    }
    descriptor_close(&socket);
    return 0;
}

/* False: the interface is not usable, and `ret` says why. */
static bool is_usable(const struct link *link, struct path *ret)
{
    if (!link_is_up(link))
        *ret = path_unreachable(kSCNetworkReachabilityReasonInterfaceDown);
    else if (!link_is_running(link))
        *ret = path_unreachable(kSCNetworkReachabilityReasonNoCarrier);
    else
        return true;
    return false;
}

/* The interface by its index, which is to be usable. False: `ret` is the answer already. */
static int find_link(int fd, struct inquiry *inquiry, bool *ret_open, struct path *ret)
{
    const int error = ioctl_link(fd, inquiry->oif, &inquiry->link);

    if (error == ENODEV)
        *ret = path_unreachable(kSCNetworkReachabilityReasonInterfaceMissing);
    *ret_open = error == 0 && is_usable(&inquiry->link, ret);
    return error == ENODEV ? 0 : error;
}

static int find_interface_by(int fd, struct inquiry *inquiry, bool *ret_open, struct path *ret)
{
    const struct question *question = inquiry->question;
    uint32_t               named = 0;
    int                    error = 0;

    if (question->interface[0] != '\0')
        error = ioctl_link_index(fd, question->interface, &named);
    if (error != 0 && error != ENODEV)
        return error;
    *ret_open = question_interface(question, named, &inquiry->oif, ret);
    return *ret_open && inquiry->oif != 0 ? find_link(fd, inquiry, ret_open, ret) : 0;
}

/* The interface that a question names. 0 or an errno. *ret_open false: `ret` is the answer already. */
static int find_interface(struct inquiry *inquiry, bool *ret_open, struct path *ret)
{
    const struct question *question = inquiry->question;
    struct descriptor      socket;
    int                    error;

    *ret_open = true;
    if (question->interface[0] == '\0' && question->scope == 0 && !address_is_link_local(&question->destination))
        return 0;
    error = open_any(&socket);
    if (error != 0)
        return error;
    error = find_interface_by(socket.fd, inquiry, ret_open, ret);
    descriptor_close(&socket);
    return error;
}

/* A packet to oneself goes over lo: while that is down, none arrives. */
static int check_lo(struct path *path)
{
    struct descriptor socket;
    struct link       lo;
    int               error = open_any(&socket);

    if (error != 0)
        return error;
    error = ioctl_link(socket.fd, LOOPBACK_INDEX, &lo);
    if (error == 0)
        (void)is_usable(&lo, path);
    descriptor_close(&socket);
    return error;
}

/* What a socket does not tell by itself: whether the destination is this machine's. */
static int find_own(const struct inquiry *inquiry, struct path *path)
{
    bool is_local = address_is_loopback(&path->destination);
    int  error = 0;

    if (!is_local && path_is_usable(path))
        error = find_local(inquiry, &path->destination, &is_local);
    if (error != 0 || !is_local)
        return error;
    if (path_is_usable(path))
        path->flags |= kSCNetworkReachabilityFlagsIsLocalAddress;
    return check_lo(path);
}

static int find_destination(const struct inquiry *inquiry, struct path *ret)
{
    const int error = ask(inquiry, &inquiry->question->local, &inquiry->question->destination, ret);

    if (error != 0)
        return error;
    ret->destination = inquiry->question->destination;
    if (inquiry->oif != 0) {
        ret->index = inquiry->oif;
        ret->mtu = inquiry->link.mtu;
        memcpy(ret->name, inquiry->link.name, sizeof ret->name);
    }
    return find_own(inquiry, ret);
}

static int find(const struct question *question, struct path *ret)
{
    struct inquiry inquiry = { .question = question };
    bool           is_open, is_local;
    int            error = find_interface(&inquiry, &is_open, ret);

    if (error != 0 || !is_open)
        return error;
    if (question->local.family != AF_UNSPEC) {
        error = find_local(&inquiry, &question->local, &is_local);
        if (error != 0)
            return error;
        if (!is_local) {
            *ret = path_unreachable(kSCNetworkReachabilityReasonLocalAddressNotAssigned);
            return 0;
        }
    }
    return question->destination.family == AF_UNSPEC ? find_default(&inquiry, &question->local, ret)
                                                     : find_destination(&inquiry, ret);
}

int udp_probe_evaluate(const struct questions *questions, struct path *ret)
{
    *ret = path_unreachable(questions->reason);
    for (size_t i = 0; i < questions->count; i++) {
        struct path path;
        const int   error = find(&questions->items[i], &path);

        if (error != 0)
            return error;
        path.destination = questions->items[i].destination;
        if (i == 0 || path_rank(&path) > path_rank(ret))
            *ret = path;
    }
    ret->evidence = kSCNetworkReachabilityEvidenceSocket;
    questions_apply_reason(questions, ret);
    return 0;
}

uint32_t udp_probe_link_index(const char *name)
{
    struct descriptor socket;
    uint32_t          index = 0;

    if (open_any(&socket) != 0)
        return 0;
    (void)ioctl_link_index(socket.fd, name, &index);
    descriptor_close(&socket);
    return index;
}
