/* SPDX-License-Identifier: MIT */
/*
 * The life of a service. It is created without the loop's lock, as that can read files and join other services. So two
 * threads can create one at the same time: only the first becomes a source of the loop.
 */
#ifdef __linux__
#include "watch/service.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

static void service_free(struct counted *counted)
{
    struct service *service = container_of(counted, struct service, source.counted);

    service->type->close(service);
    netns_release(service->netns);
    free(service);
}

/* *ret is not NULL after a failure either, unless there is no memory: the caller ends it. */
static int service_create(SCRunLoopRef loop, struct netns *netns, const struct service_type *type, struct service **ret)
{
    struct service *service = calloc(1, type->size);

    *ret = service;
    if (service == NULL)
        return ENOMEM;
    *service = (struct service){ .source.deadline = NEVER, .type = type, .loop = loop, .netns = netns };
    list_init(&service->source.node);
    counted_init(&service->source.counted, service_free);
    netns_retain(netns);
    return type->open(service);
}

static void service_end(struct service *service)
{
    if (service->type->end != NULL)
        service->type->end(service);
    counted_release(&service->source.counted);
}

static bool is_service_like(const struct source *source, const void *key)
{
    const struct service *service = container_of(source, const struct service, source), *like = key;

    return source->counted.free == service_free && service->type == like->type && service->netns == like->netns;
}

/* Adds the user to the service of the loop and namespace. If there is none, `fresh` becomes it; NULL: does nothing.
 * *ret: the service that the user has joined, or NULL. */
static int join_or_add(const struct service *key, struct service *fresh, void *user, struct service **ret)
{
    struct service *service = NULL;
    struct source *source;
    int error = 0;

    runloop_lock(key->loop);
    source = runloop_find_source_locked(key->loop, is_service_like, key);
    if (source == NULL && fresh != NULL) {
        error = runloop_add_source_locked(key->loop, &fresh->source);
        source = error == 0 ? &fresh->source : NULL;
    }
    if (source != NULL) {
        service = container_of(source, struct service, source);
        error = key->type->add_locked(service, user);
        if (error == 0)
            service->users++;
        else if (service->users == 0)
            runloop_remove_source_locked(key->loop, source);
    }
    runloop_unlock(key->loop);
    *ret = error == 0 ? service : NULL;
    return error;
}

int service_join(SCRunLoopRef loop, struct netns *netns, const struct service_type *type, void *user)
{
    const struct service key = { .type = type, .loop = loop, .netns = netns };
    struct service *joined, *fresh;
    int error = join_or_add(&key, NULL, user, &joined);

    if (error != 0 || joined != NULL)
        return error;
    error = service_create(loop, netns, type, &fresh);
    if (error == 0)
        error = join_or_add(&key, fresh, user, &joined);
    if (fresh != NULL && joined != fresh)
        service_end(fresh); /* another thread added one first, or it failed */
    /* Two at once need more descriptors and memory than one: another thread may have succeeded. */
    if (error != 0 && join_or_add(&key, NULL, user, &joined) == 0 && joined != NULL)
        error = 0;
    return error;
}

void service_leave(SCRunLoopRef loop, const struct service_type *type, void *user)
{
    struct service *service;
    bool last;

    runloop_lock(loop);
    service = type->remove_locked(user);
    last = service != NULL && --service->users == 0;
    if (last)
        runloop_remove_source_locked(loop, &service->source);
    runloop_unlock(loop);
    if (last)
        service_end(service);
}

struct service_user *service_next_user(struct service *service, struct list *from, struct list *to)
{
    struct service_user *user = NULL;
    struct list *node;

    runloop_lock(service->loop);
    node = list_pop(from);
    if (node != NULL) {
        user = container_of(node, struct service_user, node);
        counted_retain(user->owner);
        list_append(to, node);
    }
    runloop_unlock(service->loop);
    return user;
}
#endif
