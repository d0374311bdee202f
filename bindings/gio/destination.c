/* SPDX-License-Identifier: MIT */
#include "destination.h"

#include <netinet/in.h>

/* A connectable of another library may have no text of its own: then it is known by its first address. */
static char *name_of(GSocketConnectable *connectable)
{
    return G_SOCKET_CONNECTABLE_GET_IFACE(connectable)->to_string != NULL ? g_socket_connectable_to_string(connectable)
                                                                          : NULL;
}

struct destination *destination_new(GSocketConnectable *connectable, SCRunLoopRef loop)
{
    struct destination *destination = g_new0(struct destination, 1);

    destination->name = name_of(connectable);
    destination->loop = SCRunLoopRetain(loop);
    return destination;
}

void destination_free(struct destination *destination)
{
    for (guint i = 0; i < destination->count; i++) {
        if (destination->loop != NULL)
            SCNetworkReachabilityUnscheduleFromRunLoop(destination->targets[i], destination->loop,
                                                       kSCRunLoopDefaultMode);
        SCNetworkReachabilityRelease(destination->targets[i]);
    }
    SCRunLoopRelease(destination->loop);
    g_free(destination->name);
    g_free(destination);
}

/* Takes the target. One that cannot be scheduled still counts: its flags are queried when they are needed. */
static void add_target(struct destination *destination, SCNetworkReachabilityRef target)
{
    if (target == NULL)
        return;
    if (destination->loop != NULL)
        SCNetworkReachabilityScheduleWithRunLoop(target, destination->loop, kSCRunLoopDefaultMode);
    destination->targets[destination->count++] = target;
}

static struct destination *find(GQueue *destinations, const char *name)
{
    for (GList *link = destinations->head; link != NULL; link = link->next) {
        struct destination *destination = link->data;

        if (strcmp(destination->name, name) == 0)
            return destination;
    }
    return NULL;
}

/* The target for this address. NULL: it has none. */
static SCNetworkReachabilityRef find_target(const struct destination *destination, const struct sockaddr *address,
                                            size_t size)
{
    struct sockaddr_storage native;

    for (guint i = 0; !destination->is_name && i < destination->count; i++)
        if (SCNetworkReachabilityGetResolvedAddresses(destination->targets[i], &native, 1) == 1 &&
            memcmp(&native, address, size) == 0)
            return destination->targets[i];
    return NULL;
}

static SCNetworkReachabilityRef target_for(const struct destination *known, struct sockaddr *address)
{
    SCNetworkReachabilityRef target = NULL;

    /* As the library has it: without a port. connect(2) takes the unspecified address for this machine, the library for
     * the default path. */
    if (address->sa_family == AF_INET) {
        struct sockaddr_in *in = (struct sockaddr_in *)address;

        in->sin_port = 0;
        if (in->sin_addr.s_addr == INADDR_ANY)
            in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;

        in6->sin6_port = 0;
        if (IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr))
            in6->sin6_addr = in6addr_loopback;
        else if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr) && in6->sin6_addr.s6_addr32[3] == INADDR_ANY)
            in6->sin6_addr.s6_addr32[3] = htonl(INADDR_LOOPBACK);
    }
    if (known != NULL)
        target = find_target(known, address,
                             address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
    return target != NULL ? SCNetworkReachabilityRetain(target) : SCNetworkReachabilityCreateWithAddress(NULL, address);
}

void destination_add(struct destination *destination, GSocketAddress *address, GQueue *destinations)
{
    struct sockaddr_storage native = { 0 };

    if (destination->count == DESTINATION_ADDRESSES_MAX ||
        !g_socket_address_to_native(address, &native, sizeof native, NULL))
        return;
    if (destination->name == NULL)
        destination->name = g_socket_connectable_to_string(G_SOCKET_CONNECTABLE(address));
    /* The library refuses other families. */
    add_target(destination, target_for(destinations != NULL ? find(destinations, destination->name) : NULL,
                                       (struct sockaddr *)&native));
}

void destination_add_name(struct destination *destination, GSocketConnectable *connectable)
{
    if (destination->count != 0 || destination->loop == NULL || !G_IS_NETWORK_ADDRESS(connectable))
        return;
    destination->is_name = TRUE;
    add_target(destination, SCNetworkReachabilityCreateWithName(
                                NULL, g_network_address_get_hostname(G_NETWORK_ADDRESS(connectable))));
}

gboolean target_is_reachable(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    return SCNetworkReachabilityGetFlags(target, &path.flags) && SCNetworkReachabilityPathIsReachable(&path);
}

gboolean destination_is_reachable(const struct destination *destination)
{
    for (guint i = 0; i < destination->count; i++) {
        const SCNetworkReachabilityRef target = destination->targets[i];

        /* The flags of a name that is not resolved are the default path's. */
        if (destination->is_name && SCNetworkReachabilityGetResolvedAddresses(target, NULL, 0) == 0)
            continue;
        if (target_is_reachable(target))
            return TRUE;
    }
    return FALSE;
}

/* ---- Those that stay -------------------------------------------------------------------------------------------- */

gboolean destinations_remember(GQueue *destinations, struct destination *destination, gint64 now)
{
    struct destination *old;
    gboolean differs = FALSE;

    if (destination->count == 0 || destination->name == NULL) {
        destination_free(destination);
        return FALSE;
    }
    destination->until = now + DESTINATIONS_STAY;
    old = find(destinations, destination->name);
    if (old != NULL) {
        differs = old->reachable != destination->reachable;
        g_queue_remove(destinations, old);
        destination_free(old);
    }
    g_queue_push_head(destinations, destination);
    if (destinations->length > DESTINATIONS_MAX)
        destination_free(g_queue_pop_tail(destinations));
    return differs;
}

gint64 destinations_expire(GQueue *destinations, gint64 now)
{
    for (;;) {
        const struct destination *oldest = g_queue_peek_tail(destinations);

        if (oldest == NULL)
            return -1;
        if (oldest->until > now)
            return oldest->until;
        destination_free(g_queue_pop_tail(destinations));
    }
}

gboolean destinations_update(GQueue *destinations)
{
    gboolean changed = FALSE;

    for (GList *link = destinations->head; link != NULL; link = link->next) {
        struct destination *destination = link->data;
        const gboolean reachable = destination_is_reachable(destination);

        if (reachable != destination->reachable)
            changed = TRUE;
        destination->reachable = reachable;
    }
    return changed;
}

void destinations_clear(GQueue *destinations)
{
    struct destination *destination;

    while ((destination = g_queue_pop_head(destinations)) != NULL)
        destination_free(destination);
}
