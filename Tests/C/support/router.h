/* SPDX-License-Identifier: MIT */
#ifndef TESTS_ROUTER_H
#define TESTS_ROUTER_H

/* An IPv6 router on a link, which sends router advertisements (RFC 4861). An error fails the test, except for the two
 * calls that return an errno. */

#define ROUTER_FOREVER 0xffffffffu

struct router {
    int fd;
    unsigned index;
};

/* Seconds; for prefixes and routes, ROUTER_FOREVER. A prefix has 64 bits, and gives no address. NULL: none. */
struct router_advertisement {
    unsigned router_lifetime; /* of the default route, at most 9000 */
    const char *prefix;       /* "2001:db8:5::" is on the link */
    unsigned prefix_lifetime;
    const char *route; /* a route of 64 bits over the router (RFC 4191) */
    unsigned route_lifetime;
    enum { ROUTER_MEDIUM = 0, ROUTER_HIGH = 1, ROUTER_LOW = 3 } route_preference;
};

/* Opens a router on one interface of a pair, to the end of the test. The other interface accepts its advertisements. */
void router_open(struct router *ret, const char *interface, const char *other);

/* As router_open and router_advertise, but these return an errno, and the caller closes the descriptor. */
int router_start(struct router *ret, const char *interface, const char *other);
int router_send(const struct router *router, const struct router_advertisement *advertisement);

void router_advertise(const struct router *router, const struct router_advertisement *advertisement);

/* Sends a redirect: this address is on the link. `source`: the router's own address. */
void router_redirect(const struct router *router, const char *source, const char *address);
int router_send_redirect(const struct router *router, const char *source, const char *address); /* or an errno */

#endif
