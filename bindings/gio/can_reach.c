/* SPDX-License-Identifier: MIT */
/*
 * can_reach and can_reach_async. Names, services and proxies are looked up by GResolver and GProxyResolver, as for a
 * connection. The answer comes as soon as an address is reachable; the others are looked up for the events that follow.
 */
#include <libintl.h>

#include "monitor.h"

/* GLib's text, in the user's language. */
#define TRANSLATED(text) g_dgettext("glib20", text)

static gboolean is_available(ReachabilityNetworkMonitor *monitor)
{
    return g_network_monitor_get_network_available(G_NETWORK_MONITOR(monitor));
}

static GError *unreachable(ReachabilityNetworkMonitor *monitor)
{
    return is_available(monitor)
               ? g_error_new_literal(G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE, TRANSLATED("Host unreachable"))
               : g_error_new_literal(G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE, TRANSLATED("Network unreachable"));
}

/*
 * All addresses were enumerated, or as many as were needed. Takes the destination and `problem`, the error of the
 * enumeration. Returns NULL if the destination is reachable, otherwise the error for the program. A look-up that fails
 * while the machine is offline fails for that reason.
 *
 * told: the program was told before that it is reachable, so it waits for an event: also if it has cancelled the rest.
 */
static GError *conclude(ReachabilityNetworkMonitor *monitor, GSocketConnectable *connectable,
                        struct destination *destination, gboolean told, GCancellable *cancellable, GError *problem)
{
    if (!told &&
        (g_error_matches(problem, G_IO_ERROR, G_IO_ERROR_CANCELLED) || g_cancellable_is_cancelled(cancellable))) {
        destination_free(destination);
        g_clear_error(&problem);
        g_cancellable_set_error_if_cancelled(cancellable, &problem);
        return problem;
    }
    if (problem != NULL)
        destination_add_name(destination, connectable);
    if (monitor_remember(monitor, destination, told)) {
        g_clear_error(&problem);
        return NULL;
    }
    if (problem != NULL && is_available(monitor))
        return problem;
    g_clear_error(&problem);
    return unreachable(monitor);
}

static gboolean can_reach(GNetworkMonitor *network_monitor, GSocketConnectable *connectable, GCancellable *cancellable,
                          GError **error)
{
    ReachabilityNetworkMonitor *monitor = REACHABILITY_NETWORK_MONITOR(network_monitor);
    /* They have all their addresses after one look-up. Others stop at the first that is reachable. */
    const gboolean has_all = G_IS_NETWORK_ADDRESS(connectable) || G_IS_SOCKET_ADDRESS(connectable);
    GSocketAddressEnumerator *enumerator;
    struct destination *destination;
    GSocketAddress *address;
    GError *problem = NULL;
    gboolean enough = FALSE;

    destination = monitor_new_destination(monitor, connectable);
    enumerator = g_socket_connectable_proxy_enumerate(connectable);
    while (!enough && (address = g_socket_address_enumerator_next(enumerator, cancellable, &problem)) != NULL) {
        monitor_add(monitor, destination, address);
        enough = !has_all && monitor_query(monitor, destination);
        g_object_unref(address);
    }
    g_object_unref(enumerator);
    problem = conclude(monitor, connectable, destination, FALSE, cancellable, problem);
    if (problem != NULL)
        g_propagate_error(error, problem);
    return problem == NULL;
}

/* ---- Asynchronously --------------------------------------------------------------------------------------------- */

struct request {
    ReachabilityNetworkMonitor *monitor;
    GSocketConnectable *connectable;
    GSocketAddressEnumerator *enumerator;
    GCancellable *cancellable;
    struct destination *destination;
    GTask *task; /* NULL: the program was told that it is reachable */
};

static void next_address(struct request *request);

/* Takes the error; NULL: it is reachable. */
static void answer(struct request *request, GError *error)
{
    GTask *task = g_steal_pointer(&request->task);

    if (task == NULL) {
        g_clear_error(&error);
        return;
    }
    if (error != NULL)
        g_task_return_error(task, error);
    else
        g_task_return_boolean(task, TRUE);
    g_object_unref(task);
}

static void on_address(GObject *enumerator, GAsyncResult *result, gpointer data)
{
    struct request *request = data;
    GError *problem = NULL;
    GSocketAddress *address = g_socket_address_enumerator_next_finish(G_SOCKET_ADDRESS_ENUMERATOR(enumerator), result,
                                                                      &problem);

    if (address != NULL) {
        monitor_add(request->monitor, request->destination, address);
        g_object_unref(address);
        if (request->task != NULL && monitor_query(request->monitor, request->destination))
            answer(request, NULL);
        next_address(request);
        return;
    }
    answer(request, conclude(request->monitor, request->connectable, request->destination, request->task == NULL,
                             request->cancellable, problem));
    g_object_unref(request->enumerator);
    g_object_unref(request->connectable);
    g_object_unref(request->monitor);
    g_clear_object(&request->cancellable);
    g_free(request);
}

static void next_address(struct request *request)
{
    g_socket_address_enumerator_next_async(request->enumerator, request->cancellable, on_address, request);
}

static void can_reach_async(GNetworkMonitor *monitor, GSocketConnectable *connectable, GCancellable *cancellable,
                            GAsyncReadyCallback callback, gpointer data)
{
    struct request *request = g_new0(struct request, 1);

    request->monitor = g_object_ref(REACHABILITY_NETWORK_MONITOR(monitor));
    request->connectable = g_object_ref(connectable);
    request->enumerator = g_socket_connectable_proxy_enumerate(connectable);
    request->cancellable = cancellable != NULL ? g_object_ref(cancellable) : NULL;
    request->destination = monitor_new_destination(request->monitor, connectable);
    request->task = g_task_new(monitor, cancellable, callback, data);
    g_task_set_name(request->task, "[reachability] can_reach");
    next_address(request);
}

static gboolean can_reach_finish(GNetworkMonitor *monitor, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, monitor), FALSE);
    return g_task_propagate_boolean(G_TASK(result), error);
}

void can_reach_init(GNetworkMonitorInterface *interface)
{
    interface->can_reach = can_reach;
    interface->can_reach_async = can_reach_async;
    interface->can_reach_finish = can_reach_finish;
}
