/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LINK_H
#define REACHABILITY_LINK_H

/* A network link: its kind, its state, and the device behind it. */

#include <reachability/reachability.h>

#include "pure/message.h"

/* The device behind a link. The better device of two ports is the one that comes later here. */
enum device {
    DEVICE_UNKNOWN,
    DEVICE_NOT_IN_SYSFS, /* sysfs does not show this link */
    DEVICE_VIRTUAL,
    DEVICE_LEADS_OUT, /* virtual: it leads out of a container or a virtual machine */
    DEVICE_CELLULAR,
    DEVICE_WIFI,
    DEVICE_PHYSICAL /* and neither of the above */
};

struct link {
    uint32_t index, flags, mtu;
    uint16_t hardware; /* ARPHRD_... */
    bool complete;     /* from a whole RTM_NEWLINK, so `kind` is known ("": a device without a kind) */
    char name[16], kind[16];
    uint32_t master, active, vrf_table; /* known if `complete`; see struct message_link and struct linkinfo */
    struct tunnel tunnel;
    enum device device;
    bool carried;    /* `device` is that of another link, so a change of that link can change it */
    bool learned;    /* kernel/device.h set `type`. In what reach_link_type_query returns: and nothing was refused */
    int64_t changed; /* clock_now when the last message about it, or its addresses, was read */

    SCNetworkReachabilityInterfaceType type; /* follows from the fields above, unless `learned` */
};

/* Applies an RTM_NEWLINK of this link. */
void reach_link_apply(struct link *link, const struct message_link *news);

/* Sets `type` from the other fields, unless it was learned. */
void reach_link_set_type(struct link *link);

/* Whether enough is known for the flags of a path over this link, and for its type. */
bool reach_link_flags_are_known(const struct link *link);
bool reach_link_type_is_known(const struct link *link);

/* Whether the link leads out of a container or a virtual machine, or is carried by such a link. Its type is Virtual. */
bool reach_link_leads_out(const struct link *link);

/* Whether links of this kind do so, also if the link below is in another network namespace. */
bool reach_link_kind_leads_out(const char *kind);

/* Whether the link below, or a port, decides what this link is (VLAN, bond, bridge...). */
bool reach_link_is_carried(const struct link *link);

#define LINK_LOOPBACK_INDEX 1 /* of lo, in every network namespace */

#define LINK_DEPTH      8  /* links on top of links; the kernel's limit */
#define LINK_READ_LIMIT 64 /* links that are read to find one link's device: some bridges have hundreds of ports */

/* The best of the links that may carry another link: first a running link, then the better device. */
struct link_choice {
    bool running;
    enum device device; /* DEVICE_UNKNOWN: no choice yet */
};

/* Makes this link the choice if it is better than the choice so far. Returns whether it is. */
bool reach_link_choose(struct link_choice *choice, bool running, enum device device);

/* Whether no other link can be better. */
bool reach_link_is_best(const struct link_choice *choice);

bool reach_link_is_loopback(const struct link *link);
bool reach_link_is_up(const struct link *link);      /* administratively */
bool reach_link_is_running(const struct link *link); /* has a carrier and is operational */
bool reach_link_is_usable(const struct link *link);  /* both */
bool reach_link_is_point_to_point(const struct link *link);
bool reach_link_is_wireguard(const struct link *link);

/* ---- The links of one network namespace: tens of entries. The caller applies the kernel's messages. */

struct link_table {
    struct link *items; /* by rising index */
    size_t count, capacity;
    bool any_carried;
    unsigned version; /* counts the messages applied */
};

#define LINK_TABLE_EMPTY ((struct link_table){ 0 })

void reach_link_table_clear(struct link_table *links);

/* Adds a link, or replaces the link with its index, and sets its type. Returns 0 or ENOMEM. */
int reach_link_table_put(struct link_table *links, const struct link *link);

/* Applies a MESSAGE_LINK or MESSAGE_LINK_GONE. Returns 0 or ENOMEM. */
int reach_link_table_apply(struct link_table *links, const struct message *message);

/* Takes the devices of links that another table of the same namespace knows, and this one does not. `takes` false: only
 * looks. Returns whether there are such. */
bool reach_link_table_take_devices(struct link_table *links, const struct link_table *other, bool takes);

/* Notes when the last message about a link was read. */
void reach_link_table_note_change(struct link_table *links, uint32_t index, int64_t now);

/* Returns the link, valid until the table changes, or NULL. */
const struct link *reach_link_table_find(const struct link_table *links, uint32_t index);

/* The link to the local network: neither loopback nor point-to-point. The best link counts: a usable link, then one
 * without a carrier, then one that is down. If several are equal, the lowest index counts. NULL: there is none. Valid
 * until the table changes. */
const struct link *reach_link_table_find_local(const struct link_table *links);

/* Stores what kernel/device.h found out about a link. Does nothing if a message was applied since the caller read
 * `version`. Flags, MTU and name stay as they are: messages are newer. */
void reach_link_table_learn(struct link_table *links, const struct link *found, unsigned version);

/* Notes that nothing more can be found out about this link. Its hardware type and kind then decide its type. */
void reach_link_table_give_up(struct link_table *links, uint32_t index);

#endif
