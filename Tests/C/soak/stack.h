/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_STACK_H
#define TESTS_SOAK_STACK_H

/*
 * Links on top of those of the world: VLAN, macvlan, bridge, bond, VRF, tunnels, WireGuard. A kernel can lack some
 * kinds; the emulated machine of Tests/VM has all. Link number i has the address 10.(20 + i).0.1/24.
 */

#include "soak/spec.h"

#define STACK_LINKS 10

/* Makes the link if it does not exist. Otherwise deletes it, or sets it up or down: `choice` decides. Adds the commands
 * of ip(8). Returns 0 or an errno. */
int stack_change(unsigned number, unsigned choice, struct text *text);

/* The other end of a tunnel. stack_change always gives the same one to a tunnel of this name. False: not a tunnel. */
bool stack_find_remote(const char *name, struct spec_address *ret);

/* Whether there is a tunnel whose packets are sent in packets of IPv6. */
bool stack_has_tunnel_over_ipv6(void);

/* A tunnel that is not vxlan: packets to all of its addresses go to one other end. An ip6tnl link without a local
 * address is one too, but the kernel does not set its IFF_POINTOPOINT. */
bool stack_is_point_to_point_tunnel(const char *name);

/* A link that has no path to any address: WireGuard without a peer. */
bool stack_has_no_peer(const char *name);

/* A VRF: what is bound to it can leave over its ports, and also over other links, by the table "main". */
bool stack_is_vrf(const char *name);

/* Prints the kinds that this kernel refused. */
void stack_print_refused(void);

#endif
