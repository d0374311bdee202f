/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LINKS_H
#define REACHABILITY_LINKS_H

/* The link table of one network namespace: tens of entries, kept in step by the caller. Pure. */

#include <reachability/reachability.h>

#include "message.h"

/* What a link is, or what carries it, as somebody found out; a better one of two ports comes later. */
enum device {
    DEVICE_UNASKED,
    DEVICE_UNSEEN, /* sysfs was asked and does not tell */
    DEVICE_VIRTUAL,
    DEVICE_CELLULAR,
    DEVICE_WIFI,
    DEVICE_PHYSICAL /* and nothing special */
};

struct link {
    uint32_t      index, flags, mtu;
    uint16_t      hardware;
    bool          complete; /* told by rtnetlink, so the kind is known ("" for a device without one) */
    char          name[16], kind[16];
    uint32_t      master, active; /* known if `complete`; see message_link and linkinfo */
    struct tunnel tunnel;
    enum device   device;
    bool          carried; /* what carries it was looked at: changes of other links are changes of what it is */
    bool          learned; /* device.h found out its type */

    SCNetworkReachabilityInterfaceType type; /* follows from the above, or is what was learned */
};

struct links {
    struct link *items; /* by rising index */
    size_t       count, capacity;
    bool         any_carried;
    unsigned     changes; /* messages taken over */
};

#define LINKS_EMPTY ((struct links){ 0 })

void links_clear(struct links *links);

/* Puts a link in the place of the one with its index, and finds out its type. 0 or ENOMEM. */
int links_put(struct links *links, const struct link *link);

/* Takes over what a MESSAGE_LINK or MESSAGE_LINK_GONE says. 0 or ENOMEM. */
int links_apply(struct links *links, const struct message *message);

/* Valid until the table changes; NULL: not known. */
const struct link *links_find(const struct links *links, uint32_t index);

/* Notes what device.h found out about a link, but for what messages tell more quickly; unless one was taken over since
 * `changes` was read. */
void links_learn(struct links *links, const struct link *whole, unsigned changes);

/* Nothing more can be found out: it is taken for what it looks like. */
void links_give_up(struct links *links, uint32_t index);

/* Takes over what a message says of this link. */
void link_take(struct link *link, const struct message_link *news);

/* From what is known of it, unless it was learned. */
void link_find_type(struct link *link);

/* Whether the link is known as well as its flags need it, and as well as its type does. */
bool link_flags_are_known(const struct link *link);
bool link_type_is_known(const struct link *link);

/* Kinds for which something else decides what they are: the link below them, or their ports. */
bool link_is_carried(const struct link *link);

#define LINK_DEPTH 8  /* links upon links, as the kernel has it */
#define LINK_LOOKS 64 /* links that are looked at for one: some bridges have hundreds of ports */

/* The best of several links that may carry another: of those that can carry anything now, if there are any, that with
 * the better device. */
struct link_choice {
    bool        running;
    enum device device; /* DEVICE_UNASKED: there was none yet */
};

/* Whether this one is the best so far; it is what is chosen then. */
bool link_choose(struct link_choice *choice, bool running, enum device device);

/* Whether no other can be better. */
bool link_is_best(const struct link_choice *choice);

bool link_is_up(const struct link *link);            /* administratively */
bool link_is_running(const struct link *link);       /* has a carrier, operational */
bool link_is_usable(const struct link *link);        /* both */
bool link_is_point_to_point(const struct link *link);
bool link_is_wireguard(const struct link *link);

#endif
