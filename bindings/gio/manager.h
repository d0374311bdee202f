/* SPDX-License-Identifier: MIT */
#ifndef GIO_REACHABILITY_MANAGER_H
#define GIO_REACHABILITY_MANAGER_H

/*
 * What the kernel does not know: whether the network is metered, and whether a captive portal is in the way.
 * NetworkManager knows it, and in a sandbox the desktop portal does.
 */

#include <gio/gio.h>

struct manager {
    GDBusProxy *network_manager;
    GNetworkMonitor *portal; /* GLib's own, at most one of the two */
};

struct manager_state {
    gboolean metered;
    GNetworkConnectivity connectivity; /* PORTAL or LIMITED. FULL: nothing is known */
};

/* `changed` is called with the owner, in the thread-default main context of this call, as long as the owner lives. */
void manager_open(struct manager *manager, GObject *owner, void (*changed)(gpointer owner));
void manager_close(struct manager *manager, GMainContext *context);

/* Queries nothing: loads what was received. In the context of manager_open. */
struct manager_state manager_state(const struct manager *manager);

#endif
