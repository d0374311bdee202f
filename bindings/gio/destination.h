/* SPDX-License-Identifier: MIT */
#ifndef GIO_REACHABILITY_DESTINATION_H
#define GIO_REACHABILITY_DESTINATION_H

/*
 * What programs asked can_reach about: the addresses of a GSocketConnectable, as targets on the monitor's run loop. It
 * is reachable if one of its addresses is. The last destinations asked stay, so that a change of their answers is
 * noticed.
 */

#include <gio/gio.h>
#include <reachability/reachability.h>

#define DESTINATIONS_MAX  64
#define DESTINATIONS_STAY (10 * 60 * G_USEC_PER_SEC)
/* More addresses of one destination are ignored. */
#define DESTINATION_ADDRESSES_MAX 32

struct destination {
    char *name;        /* what tells it from others: "http:example.com:80" */
    SCRunLoopRef loop; /* NULL: its targets are not scheduled, and each look at them queries the kernel */
    SCNetworkReachabilityRef targets[DESTINATION_ADDRESSES_MAX];
    guint count;
    gboolean is_name;   /* its one target is a name whose look-up failed */
    gboolean reachable; /* the last answer that the program got, or was told of by an event */
    gint64 until;       /* g_get_monotonic_time */
};

/* Never NULL. Takes a reference to the loop. */
struct destination *destination_new(GSocketConnectable *connectable, SCRunLoopRef loop);
void destination_free(struct destination *destination);

/* Adds an address, unless it is no internet address, and schedules it. It is evaluated at once, unless one of those
 * that stay has the same name and address: then its target is shared. NULL: none stays, or they may be old. */
void destination_add(struct destination *destination, GSocketAddress *address, GQueue *destinations);

/* The look-up of its name failed: from now on it is not reachable, until the library can look up the name. */
void destination_add_name(struct destination *destination, GSocketConnectable *connectable);

/* Loads the latest evaluation. Not of a path: that may wait for the kernel's lock. */
gboolean target_is_reachable(SCNetworkReachabilityRef target);
gboolean destination_is_reachable(const struct destination *destination);

/* ---- Those that stay. The one asked last comes first. */

/* Takes the destination, which replaces one of the same name. Returns whether the answer differs from that one's. */
gboolean destinations_remember(GQueue *destinations, struct destination *destination, gint64 now);

/* Drops those that were not asked for DESTINATIONS_STAY. Returns when the next one is due, or -1. */
gint64 destinations_expire(GQueue *destinations, gint64 now);

/* Returns whether the answer of one has changed. */
gboolean destinations_update(GQueue *destinations);

void destinations_clear(GQueue *destinations);

#endif
