/* SPDX-License-Identifier: MIT */
/*
 * GLib's own "networkmanager" monitor is not used here, because it is a netlink monitor too: it reads the whole routing
 * table at its start, before it asks whether NetworkManager runs. A proxy for the daemon is cheaper, and follows a
 * daemon that starts later or again. GLib's "portal" monitor reads no table, and only it knows whether the process is
 * in a sandbox.
 */
#include "manager.h"

/* NetworkManager's D-Bus API: NMState, NMConnectivityState, NMMetered. */
enum { STATE_CONNECTED_LOCAL = 50, STATE_CONNECTED_SITE = 60 };
enum { CONNECTIVITY_PORTAL = 2, CONNECTIVITY_LIMITED = 3 };
enum { METERED_YES = 1, METERED_GUESS_YES = 3 };

/* A call of GLib's portal monitor uses the object without a reference to it, and ends within the time-out of D-Bus. */
#define PORTAL_STAYS 30 /* seconds */

/* ---- Being told ------------------------------------------------------------------------------------------------- */

/* The owner may be finalised in any thread, while its context calls. */
struct listener {
    GWeakRef owner;
    void (*changed)(gpointer owner);
};

static void on_change(gpointer data)
{
    struct listener *listener = data;
    gpointer owner = g_weak_ref_get(&listener->owner);

    if (owner == NULL)
        return;
    listener->changed(owner);
    g_object_unref(owner);
}

static void free_listener(gpointer data, GClosure *closure)
{
    struct listener *listener = data;

    (void)closure;
    g_weak_ref_clear(&listener->owner);
    g_free(listener);
}

static void listen_to(gpointer object, const char *signal, GObject *owner, void (*changed)(gpointer))
{
    struct listener *listener = g_new0(struct listener, 1);

    g_weak_ref_init(&listener->owner, owner);
    listener->changed = changed;
    g_signal_connect_data(object, signal, G_CALLBACK(on_change), listener, free_listener, G_CONNECT_SWAPPED);
}

/* ---- Opening and closing ---------------------------------------------------------------------------------------- */

static GNetworkMonitor *open_portal(void)
{
    GIOExtensionPoint *point = g_io_extension_point_lookup(G_NETWORK_MONITOR_EXTENSION_POINT_NAME);
    GIOExtension *extension = g_io_extension_point_get_extension_by_name(point, "portal");

    return extension != NULL ? g_initable_new(g_io_extension_get_type(extension), NULL, NULL, NULL) : NULL;
}

void manager_open(struct manager *manager, GObject *owner, void (*changed)(gpointer))
{
    manager->portal = open_portal();
    if (manager->portal != NULL) {
        listen_to(manager->portal, "notify", owner, changed);
        return;
    }
    manager->network_manager = g_dbus_proxy_new_for_bus_sync(
        G_BUS_TYPE_SYSTEM, G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START | G_DBUS_PROXY_FLAGS_GET_INVALIDATED_PROPERTIES, NULL,
        "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager", NULL,
        NULL);
    if (manager->network_manager != NULL) {
        listen_to(manager->network_manager, "g-properties-changed", owner, changed);
        listen_to(manager->network_manager, "notify::g-name-owner", owner, changed);
    }
}

static gboolean release_portal(gpointer portal)
{
    (void)portal;
    return G_SOURCE_REMOVE;
}

void manager_close(struct manager *manager, GMainContext *context)
{
    g_clear_object(&manager->network_manager);
    if (manager->portal != NULL) {
        GSource *source = g_timeout_source_new_seconds(PORTAL_STAYS);

        g_source_set_callback(source, release_portal, g_steal_pointer(&manager->portal), g_object_unref);
        g_source_attach(source, context);
        g_source_unref(source);
    }
}

/* ---- The state -------------------------------------------------------------------------------------------------- */

static guint32 number(GDBusProxy *proxy, const char *name)
{
    GVariant *value = g_dbus_proxy_get_cached_property(proxy, name);
    guint32 result = 0;

    if (value != NULL && g_variant_is_of_type(value, G_VARIANT_TYPE_UINT32))
        result = g_variant_get_uint32(value);
    if (value != NULL)
        g_variant_unref(value);
    return result;
}

/* As GLib reads these numbers. NetworkManager's "none" and "disconnected" do not count: if the kernel has a default
 * path nevertheless, it is one that NetworkManager does not manage. */
static struct manager_state network_manager_state(GDBusProxy *proxy)
{
    struct manager_state state = { .connectivity = G_NETWORK_CONNECTIVITY_FULL };
    const guint32 connected = number(proxy, "State"), connectivity = number(proxy, "Connectivity");
    const guint32 metered = number(proxy, "Metered");

    if (connected <= STATE_CONNECTED_LOCAL)
        return state;
    if (connectivity == CONNECTIVITY_PORTAL)
        state.connectivity = G_NETWORK_CONNECTIVITY_PORTAL;
    else if (connectivity == CONNECTIVITY_LIMITED || connected <= STATE_CONNECTED_SITE)
        state.connectivity = G_NETWORK_CONNECTIVITY_LIMITED;
    if (connected > STATE_CONNECTED_SITE)
        state.metered = metered == METERED_YES || metered == METERED_GUESS_YES;
    return state;
}

struct manager_state manager_state(const struct manager *manager)
{
    struct manager_state state = { .connectivity = G_NETWORK_CONNECTIVITY_FULL };

    if (manager->network_manager != NULL)
        return network_manager_state(manager->network_manager);
    if (manager->portal != NULL) {
        state.metered = g_network_monitor_get_network_metered(manager->portal);
        state.connectivity = g_network_monitor_get_connectivity(manager->portal);
        if (state.connectivity == G_NETWORK_CONNECTIVITY_LOCAL)
            state.connectivity = G_NETWORK_CONNECTIVITY_FULL;
    }
    return state;
}
