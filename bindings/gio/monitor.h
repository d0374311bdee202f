/* SPDX-License-Identifier: MIT */
#ifndef GIO_REACHABILITY_MONITOR_H
#define GIO_REACHABILITY_MONITOR_H

#include <gio/gio.h>

#include "destination.h"
#include "manager.h"

#define REACHABILITY_TYPE_NETWORK_MONITOR (reachability_network_monitor_get_type())
G_DECLARE_FINAL_TYPE(ReachabilityNetworkMonitor, reachability_network_monitor, REACHABILITY, NETWORK_MONITOR, GObject)

/* Registers the type, and the extension. The module must stay loaded. */
void reachability_network_monitor_register(GTypeModule *module);

/* ---- For can_reach.c */

/* A destination without addresses, on the monitor's run loop. */
struct destination *monitor_new_destination(ReachabilityNetworkMonitor *monitor, GSocketConnectable *connectable);

/* Adds an address. */
void monitor_add(ReachabilityNetworkMonitor *monitor, struct destination *destination, GSocketAddress *address);

/* Whether it is reachable now. */
gboolean monitor_query(ReachabilityNetworkMonitor *monitor, const struct destination *destination);

/* Takes the destination, of which all addresses are known, and returns the answer for the program. told: the program
 * was told before that it is reachable. If it is not any more, an event is owed. */
gboolean monitor_remember(ReachabilityNetworkMonitor *monitor, struct destination *destination, gboolean told);

void can_reach_init(GNetworkMonitorInterface *interface);

#endif
