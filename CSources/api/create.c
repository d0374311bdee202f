/* SPDX-License-Identifier: MIT */
/* The Create calls: check their arguments, and convert them to the questions of a target. */
#ifdef __linux__
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "api/target.h"
#include "base/error.h"
#include "kernel/connected_socket.h"
#include "kernel/link_alias.h"

/* ---- From arguments to questions -------------------------------------------------------------------------------- */

static const struct address no_address;

/* Notes which argument is not valid, for SCErrorDetail. */
static bool refuse(const char *detail)
{
    reach_error_invalid(detail);
    return false;
}

/* Reads a caller's address. An unspecified address (0.0.0.0, ::) becomes no_address, but keeps its family in
 * *ret_family. Returns false if the address is not valid. */
static bool read_sockaddr(const struct sockaddr *sockaddr, socklen_t length, struct address *ret, uint8_t *ret_family,
                          uint32_t *ret_scope)
{
    socklen_t needed = sizeof sockaddr->sa_family;

    if (length != 0 && length < needed)
        return false;
    needed = reach_address_sockaddr_length(sockaddr->sa_family);
    if (needed == 0 || (length != 0 && length < needed))
        return false;
    *ret = reach_address_from_sockaddr(sockaddr, ret_scope);
    *ret_family = ret->family;
    if (reach_address_is_unspecified(ret))
        *ret = no_address;
    return true;
}

/* Each spec_set_ function calls refuse if the caller's argument is not valid. */

/* One of the two addresses may be NULL. With a local address alone, that address is the destination. */
static bool spec_set_addresses(struct target_spec *spec, const SCNetworkReachabilityOptions *options)
{
    struct question *question = &spec->questions[0];
    uint8_t local_family = AF_UNSPEC, remote_family = AF_UNSPEC;
    uint32_t local_scope = 0, remote_scope = 0;

    if (options->localAddress != NULL && !read_sockaddr(options->localAddress, options->localAddressLength,
                                                        &question->local, &local_family, &local_scope))
        return refuse("localAddress: neither AF_INET nor AF_INET6, or too short");
    if (options->remoteAddress != NULL && !read_sockaddr(options->remoteAddress, options->remoteAddressLength,
                                                         &question->destination, &remote_family, &remote_scope))
        return refuse("address: neither AF_INET nor AF_INET6, or too short");
    if (local_family != AF_UNSPEC && remote_family != AF_UNSPEC && local_family != remote_family)
        return refuse("localAddress and remoteAddress: not of one family");
    spec->family = remote_family != AF_UNSPEC ? remote_family : local_family;
    if (remote_family == AF_UNSPEC)
        question->destination = question->local;
    /* As in the kernel, a scope counts only for an address that needs one. */
    if (reach_address_needs_scope(&question->destination))
        question->scope = remote_scope != 0 ? remote_scope : local_scope;
    if (reach_address_is_link_local(&question->local))
        question->local_scope = local_scope;
    spec->count = 1;
    if (options->localAddress != NULL)
        spec->kind = TARGET_PAIR;
    else
        spec->kind = question->destination.family == AF_UNSPEC ? TARGET_DEFAULT : TARGET_ADDRESS;
    return true;
}

/* "localhost", or a name below it, with or without the final dot (RFC 6761). */
static bool is_localhost_name(const char *name)
{
    static const char localhost[] = "localhost";
    size_t length = strlen(name);
    const size_t tail = sizeof localhost - 1;

    if (length > 0 && name[length - 1] == '.')
        length--;
    if (length < tail || strncasecmp(name + length - tail, localhost, tail) != 0)
        return false;
    return length == tail || name[length - tail - 1] == '.';
}

static bool spec_set_name(struct target_spec *spec, const char *name)
{
    static const uint8_t ipv4[4] = { 127, 0, 0, 1 }, ipv6[16] = { [15] = 1 }; /* of localhost */
    struct question *question = &spec->questions[0];
    const size_t length = strnlen(name, LOOKUP_NAME_LIMIT + 1);

    if (length == 0 || length > LOOKUP_NAME_LIMIT)
        return refuse("nodename: empty, or longer than 1024 bytes");
    spec->count = 1;
    if (reach_address_parse(name, &question->destination, &question->interface, &question->scope)) {
        if (question->interface != NULL && strncmp(question->interface, "25", 2) == 0)
            return refuse("nodename: \"%25\" before a zone is for URLs; write \"%\", as in fe80::1%eth0");
        spec->family = question->destination.family;
        if (reach_address_is_unspecified(&question->destination))
            question->destination = no_address;
        spec->kind = question->destination.family == AF_UNSPEC ? TARGET_DEFAULT : TARGET_ADDRESS;
        return true;
    }
    *question = (struct question){ 0 };
    if (strchr(name, ':') != NULL && strchr(name, '%') != NULL)
        return refuse(name[0] == '['
                          ? "nodename: brackets and \"%25\" are for URLs; write an address as in fe80::1%eth0"
                          : "nodename: has ':' and '%', and is no IPv6 address with a zone, as in fe80::1%eth0");
    spec->kind = TARGET_NAME;
    spec->name = name;
    spec->needs_lookup = !is_localhost_name(name);
    if (!spec->needs_lookup) {
        spec->questions[0].destination = address_make(AF_INET, ipv4, sizeof ipv4);
        spec->questions[1].destination = address_make(AF_INET6, ipv6, sizeof ipv6);
        spec->count = 2;
    }
    return true;
}

/* Binds every question to an interface. Returns false if the zone of an address literal names another one. */
static bool spec_set_interface(struct target_spec *spec, const char *name)
{
    const size_t length = strnlen(name, LINK_ALIAS_SIZE);

    if (length == 0 || length >= LINK_ALIAS_SIZE)
        return refuse("interfaceName: empty, or longer than 127 bytes");
    for (size_t i = 0; i < spec->count; i++) {
        const char **const interface = &spec->questions[i].interface;

        if (*interface != NULL && strcmp(*interface, name) != 0)
            return refuse("interfaceName: not the interface of the address's zone");
        *interface = name;
    }
    return true;
}

/* ---- Flows ------------------------------------------------------------------------------------------------------ */

static uint16_t read_port(const struct sockaddr *sockaddr)
{
    struct sockaddr_in in = { 0 };

    if (sockaddr != NULL)
        memcpy(&in, sockaddr, sizeof in); /* the port is at the same place in sockaddr_in6 */
    return ntohs(in.sin_port);
}

/* Whether the kernel's queries take the protocol. `family`: of the addresses; AF_UNSPEC: that of each address of a
 * name. */
static bool protocol_is_known(uint8_t protocol, uint8_t family)
{
    return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || (protocol == IPPROTO_ICMP && family != AF_INET6) ||
           (protocol == IPPROTO_ICMPV6 && family != AF_INET);
}

/* With a protocol the ports count: those of the addresses, or that of a name. */
static bool spec_set_flow(struct target_spec *spec, const SCNetworkReachabilityOptions *options)
{
    const bool is_name = options->nodename != NULL;
    struct flow flow = { .protocol = options->protocol,
                         .traffic_class = options->trafficClass & FLOW_CLASS_MASK,
                         .remote_port = options->remotePort };

    if (options->reserved != 0)
        return refuse("options->reserved: not 0");
    if (flow.remote_port != 0 && !is_name)
        return refuse("options->remotePort: beside an address, whose own port counts");
    if (flow.remote_port != 0 && flow.protocol == 0)
        return refuse("options->remotePort: without a protocol");
    if (flow.protocol != 0 && !protocol_is_known(flow.protocol, spec->family))
        return refuse("options->protocol: neither TCP nor UDP nor the ICMP of the family");
    if (flow.protocol != 0 && !is_name) {
        flow.local_port = read_port(options->localAddress);
        flow.remote_port = read_port(options->remoteAddress);
    }
    for (size_t i = 0; i < spec->count; i++)
        spec->questions[i].flow = flow;
    return true;
}

/* ---- Options ---------------------------------------------------------------------------------------------------- */

#define KNOWN_OPTIONS \
    (uint32_t)(kSCNetworkReachabilityOptionNotifyPath | kSCNetworkReachabilityOptionNotifyNetwork | \
               kSCNetworkReachabilityOptionNotifyNextHop | FAMILY_OPTIONS)
#define FAMILY_OPTIONS (kSCNetworkReachabilityOptionIPv4Only | kSCNetworkReachabilityOptionIPv6Only)

/* A question about an address has its family already. The addresses of a name come later: api/name.c. */
static bool spec_set_family(struct target_spec *spec, const SCNetworkReachabilityOptions *options)
{
    const uint8_t family = (options->options & kSCNetworkReachabilityOptionIPv4Only) != 0 ? AF_INET : AF_INET6;
    struct question *question = &spec->questions[0];

    if ((options->options & FAMILY_OPTIONS) == FAMILY_OPTIONS)
        return refuse("options->options: IPv4Only and IPv6Only");
    if ((options->options & FAMILY_OPTIONS) == 0)
        return true;
    if (spec->family != AF_UNSPEC && spec->family != family)
        return refuse("options->options: IPv4Only or IPv6Only, and the address is of the other family");
    if (spec->count == 2) { /* localhost */
        *question = spec->questions[family == AF_INET6];
        spec->count = 1;
    }
    if (question->destination.family == AF_UNSPEC)
        question->family = family;
    spec->family = family;
    return true;
}

static bool spec_set_options(struct target_spec *spec, const SCNetworkReachabilityOptions *options)
{
    const bool has_addresses = options->localAddress != NULL || options->remoteAddress != NULL;

    if ((options->nodename != NULL) == has_addresses)
        return refuse(has_addresses ? "nodename and address: both are set" : "nodename and address: both are NULL");
    if ((options->options & ~KNOWN_OPTIONS) != 0)
        return refuse("options->options: an unknown bit is set");
    if (has_addresses ? !spec_set_addresses(spec, options) : !spec_set_name(spec, options->nodename))
        return false;
    if (options->interfaceName != NULL && !spec_set_interface(spec, options->interfaceName))
        return false;
    if (!spec_set_family(spec, options) || !spec_set_flow(spec, options))
        return false;
    for (size_t i = 0; i < spec->count; i++)
        spec->questions[i].mark = options->routingMark;
    spec->notify_path = (options->options & kSCNetworkReachabilityOptionNotifyPath) != 0;
    spec->reports_flow = spec->notify_path;
    spec->notify_next_hop = (options->options & kSCNetworkReachabilityOptionNotifyNextHop) != 0;
    spec->notify_network = (options->options & kSCNetworkReachabilityOptionNotifyNetwork) != 0;
    if (spec->notify_network && !(spec->kind == TARGET_DEFAULT && reach_question_is_default_path(&spec->questions[0]) &&
                                  spec->questions[0].family == AF_UNSPEC))
        return refuse("options->options: NotifyNetwork is for the default path of all interfaces and both families, "
                      "without a mark and a flow");
    return true;
}

/* ---- The calls -------------------------------------------------------------------------------------------------- */

static SCNetworkReachabilityRef refuse_arguments(void)
{
    reach_error_set(kSCStatusInvalidArgument); /* after `refuse` */
    return NULL;
}

/* The kernel of a container is that of its host. Linux before 4.18 ignores protocol and ports in queries, and answers
 * as if no rule selected by them. */
static SCNetworkReachabilityRef create_on_this_kernel(const struct target_spec *spec)
{
    unsigned long major, minor;
    struct utsname system;
    char *end;
    int error = 0;

    if (link_alias_is(spec->questions[0].interface))
        error = reach_link_alias_check(spec->questions[0].interface);
    if (error == ENODEV)
        error = reach_error_invalid(
            "interfaceName: the interface or zone has over 15 bytes, and is no alternative name");
    if (error != 0) {
        reach_error_set(error);
        return NULL;
    }
    if (spec->questions[0].flow.protocol == 0)
        return reach_target_create(spec);
    if (uname(&system) != 0) {
        reach_error_set(errno);
        return NULL;
    }
    major = strtoul(system.release, &end, 10);
    minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    if (major > 4 || (major == 4 && minor >= 18))
        return reach_target_create(spec);
    reach_error_set(ENOTSUP);
    return NULL;
}

static SCNetworkReachabilityRef create_with_options(const SCNetworkReachabilityOptions *options)
{
    struct target_spec spec = { 0 };

    return spec_set_options(&spec, options) ? create_on_this_kernel(&spec) : refuse_arguments();
}

SCNetworkReachabilityRef SCNetworkReachabilityCreateWithAddress(const void *allocator, const struct sockaddr *address)
{
    (void)allocator;
    return create_with_options(&(SCNetworkReachabilityOptions){ .remoteAddress = address });
}

SCNetworkReachabilityRef SCNetworkReachabilityCreateWithAddressPair(const void *allocator,
                                                                    const struct sockaddr *localAddress,
                                                                    const struct sockaddr *remoteAddress)
{
    (void)allocator;
    return create_with_options(
        &(SCNetworkReachabilityOptions){ .localAddress = localAddress, .remoteAddress = remoteAddress });
}

SCNetworkReachabilityRef SCNetworkReachabilityCreateWithName(const void *allocator, const char *nodename)
{
    (void)allocator;
    return create_with_options(&(SCNetworkReachabilityOptions){ .nodename = nodename });
}

/* Bytes beyond the known structure are options of a newer header. */
static bool check_options(const SCNetworkReachabilityOptions *options)
{
    const unsigned char *bytes = (const unsigned char *)options;

    if (options == NULL)
        return refuse("options: NULL");
    if (options->size < sizeof *options || options->size > STRUCTURE_SIZE_LIMIT)
        return refuse("options->size: set it to sizeof the structure");
    for (size_t i = sizeof *options; i < options->size; i++)
        if (bytes[i] != 0)
            return refuse("options: a field that this version does not know is set");
    return true;
}

SCNetworkReachabilityRef SCNetworkReachabilityCreateWithOptions(const void *allocator,
                                                                const SCNetworkReachabilityOptions *options)
{
    (void)allocator;
    return check_options(options) ? create_with_options(options) : refuse_arguments();
}

SCNetworkReachabilityRef SCNetworkReachabilityCreateWithSocket(const void *allocator, int socket)
{
    struct target_spec spec = { .kind = TARGET_PAIR, .count = 1, .reports_flow = true };
    const int error = reach_connected_socket_read(socket, &spec.questions[0]);

    (void)allocator;
    if (error == 0)
        return create_on_this_kernel(&spec);
    if (error == EAFNOSUPPORT) {
        refuse("socket: neither of IPv4 nor of IPv6");
        return refuse_arguments();
    }
    reach_error_set(error);
    return NULL;
}
#endif
