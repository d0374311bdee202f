/* SPDX-License-Identifier: MIT */
/* Targets: making them, and counting references. Asking them is query.c's, being told schedule.c's, text text.c's. */
#include "api/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/list.h"
#include "base/object.h"
#include "names/resolvconf.h"

#define TYPE_ID 0x5343524cul

/* ---- Making a target -------------------------------------------------------------------------------------------- */

/* One that is living, perhaps inherited. */
static bool check(SCNetworkReachabilityRef target, struct SCNetworkReachability **ret)
{
    if (!object_is(target, OBJECT_TARGET)) {
        error_set(kSCStatusInvalidArgument);
        return false;
    }
    *ret = (struct SCNetworkReachability *)(uintptr_t)target;
    return true;
}

bool target_check(SCNetworkReachabilityRef target, struct SCNetworkReachability **ret)
{
    if (!check(target, ret))
        return false;
    if (!target_is_ours(*ret)) {
        error_set(ECHILD);
        return false;
    }
    return true;
}

bool target_is_ours(const struct SCNetworkReachability *target)
{
    return target->era == process_era();
}

static void target_free(struct counted *counted)
{
    struct SCNetworkReachability *target = container_of(counted, struct SCNetworkReachability, counted);

    target->type = OBJECT_FREED; /* before the user's hook, which may think that it lives */
    if (target->context != NULL)
        counted_release(&target->context->counted);
    counted_release(&target->memory);
}

static void memory_free(struct counted *counted)
{
    struct SCNetworkReachability *target = container_of(counted, struct SCNetworkReachability, memory);

    if (target->pending)
        resolvconf_release();
    netns_release(target->netns);
    pthread_mutex_destroy(&target->lock);
    questions_release(target->questions);
    free(target->name);
    free(target);
}

#define WISH_LIMIT 2 /* localhost stands for two addresses */

/* Everything that a creator found out about its arguments. */
struct wish {
    enum target_kind kind;
    const char      *name;
    struct question  questions[WISH_LIMIT];
    size_t           count;
    bool             pending, notify_path; /* pending: a name that is to be looked up */
};

static SCNetworkReachabilityRef refuse(int status)
{
    error_set(status);
    return NULL;
}

/* The parts that can fail. What was made before a failure is the caller's to free. */
static int furnish(struct SCNetworkReachability *target, const struct wish *wish)
{
    const SCNetworkReachabilityReason reason = wish->pending ? kSCNetworkReachabilityReasonNamePending
                                                             : kSCNetworkReachabilityReasonNone;
    int                               error = process_prepare();

    if (error != 0)
        return error;
    if (wish->name != NULL && (target->name = strdup(wish->name)) == NULL)
        return ENOMEM;
    target->questions = questions_create(wish->questions, wish->count, reason);
    if (target->questions == NULL)
        return ENOMEM;
    error = netns_current(&target->netns);
    if (error != 0)
        return error;
    error = pthread_mutex_init(&target->lock, NULL);
    if (error != 0)
        netns_release(target->netns);
    return error;
}

static SCNetworkReachabilityRef create(const struct wish *wish)
{
    struct SCNetworkReachability *target = calloc(1, sizeof *target);
    int                           error;

    if (target == NULL)
        return refuse(ENOMEM);
    error = furnish(target, wish);
    if (error != 0) {
        questions_release(target->questions);
        free(target->name);
        free(target);
        return refuse(error);
    }
    target->type = OBJECT_TARGET;
    target->era = process_era();
    counted_init(&target->counted, target_free);
    counted_init(&target->memory, memory_free);
    target->kind = wish->kind;
    target->pending = wish->pending;
    if (target->pending)
        resolvconf_retain();
    target->form = wish->questions[0];
    list_init(&target->waiter.node);
    target->look_again_at = NEVER;
    target->notify_path = wish->notify_path;
    list_init(&target->schedules);
    return target;
}

/* ---- From arguments to questions -------------------------------------------------------------------------------- */

static const struct address none;

/* One address of a caller's. An unspecified one leaves things open and comes out as none. False: it makes no sense. */
static bool read_sockaddr(const struct sockaddr *sockaddr, socklen_t length, struct address *ret, uint8_t *ret_family,
                          uint32_t *ret_scope)
{
    socklen_t needed = sizeof sockaddr->sa_family;

    if (length != 0 && length < needed)
        return false;
    needed = address_sockaddr_length(sockaddr->sa_family);
    if (needed == 0 || (length != 0 && length < needed))
        return false;
    *ret = address_from_sockaddr(sockaddr, ret_scope);
    *ret_family = ret->family;
    if (address_is_unspecified(ret))
        *ret = none;
    return true;
}

/* What a pair of addresses, of which one may be NULL, asks. Only the local one: whether that is ours. */
static bool wish_for_addresses(struct wish *wish, const SCNetworkReachabilityOptions *options)
{
    struct question *question = &wish->questions[0];
    uint8_t          local_family = AF_UNSPEC, remote_family = AF_UNSPEC;
    uint32_t         local_scope = 0, remote_scope = 0;

    if (options->localAddress != NULL && !read_sockaddr(options->localAddress, options->localAddressLength,
                                                        &question->local, &local_family, &local_scope))
        return false;
    if (options->remoteAddress != NULL && !read_sockaddr(options->remoteAddress, options->remoteAddressLength,
                                                         &question->destination, &remote_family, &remote_scope))
        return false;
    if (local_family != AF_UNSPEC && remote_family != AF_UNSPEC && local_family != remote_family)
        return false;
    if (remote_family == AF_UNSPEC)
        question->destination = question->local;
    /* The kernel, too, looks at a scope only where the address needs one. */
    if (address_needs_scope(&question->destination))
        question->scope = remote_scope != 0 ? remote_scope : local_scope;
    wish->count = 1;
    if (options->localAddress != NULL)
        wish->kind = TARGET_PAIR;
    else
        wish->kind = question->destination.family == AF_UNSPEC ? TARGET_DEFAULT : TARGET_ADDRESS;
    return true;
}

/* "localhost", or a name below it, with or without the final dot (RFC 6761). */
static bool is_localhost(const char *name)
{
    static const char localhost[] = "localhost";
    size_t            length = strlen(name);
    const size_t      tail = sizeof localhost - 1;

    if (length > 0 && name[length - 1] == '.')
        length--;
    if (length < tail || strncasecmp(name + length - tail, localhost, tail) != 0)
        return false;
    return length == tail || name[length - tail - 1] == '.';
}

static void wish_for_localhost(struct wish *wish)
{
    static const uint8_t ipv4[4] = { 127, 0, 0, 1 }, ipv6[16] = { [15] = 1 };

    wish->questions[0].destination = address_make(AF_INET, ipv4, sizeof ipv4);
    wish->questions[1].destination = address_make(AF_INET6, ipv6, sizeof ipv6);
    wish->count = 2;
}

static bool wish_for_name(struct wish *wish, const char *name)
{
    struct question *question = &wish->questions[0];
    const size_t     length = strnlen(name, LOOKUP_NAME_LIMIT + 1);

    if (length == 0 || length > LOOKUP_NAME_LIMIT)
        return false;
    wish->count = 1;
    if (address_parse(name, &question->destination, question->interface, &question->scope)) {
        if (address_is_unspecified(&question->destination))
            question->destination = none;
        wish->kind = question->destination.family == AF_UNSPEC ? TARGET_DEFAULT : TARGET_ADDRESS;
        return true;
    }
    *question = (struct question){ 0 };
    wish->kind = TARGET_NAME;
    wish->name = name;
    if (is_localhost(name))
        wish_for_localhost(wish);
    else
        wish->pending = true;
    return true;
}

/* The interface that is asked for, on every question. A literal's own zone must not say otherwise. */
static bool wish_for_interface(struct wish *wish, const char *name)
{
    const size_t length = strnlen(name, 16);

    if (length == 0 || length > 15)
        return false;
    for (size_t i = 0; i < wish->count; i++) {
        char *interface = wish->questions[i].interface;

        if (interface[0] != '\0' && strcmp(interface, name) != 0)
            return false;
        memcpy(interface, name, length + 1);
    }
    return true;
}

static bool wish_for_options(struct wish *wish, const SCNetworkReachabilityOptions *options)
{
    const bool has_addresses = options->localAddress != NULL || options->remoteAddress != NULL;

    if ((options->nodename != NULL) == has_addresses)
        return false;
    if ((options->options & ~(uint32_t)kSCNetworkReachabilityOptionNotifyPath) != 0)
        return false;
    if (has_addresses ? !wish_for_addresses(wish, options) : !wish_for_name(wish, options->nodename))
        return false;
    if (options->interfaceName != NULL && !wish_for_interface(wish, options->interfaceName))
        return false;
    for (size_t i = 0; i < wish->count; i++)
        wish->questions[i].mark = options->routingMark;
    wish->notify_path = (options->options & kSCNetworkReachabilityOptionNotifyPath) != 0;
    return true;
}

static SCNetworkReachabilityRef create_with(const SCNetworkReachabilityOptions *options)
{
    struct wish wish = { 0 };

    return wish_for_options(&wish, options) ? create(&wish) : refuse(kSCStatusInvalidArgument);
}

SCNetworkReachabilityRef SCNetworkReachabilityCreateWithAddress(const void *allocator, const struct sockaddr *address)
{
    (void)allocator;
    return create_with(&(SCNetworkReachabilityOptions){ .remoteAddress = address });
}

SCNetworkReachabilityRef SCNetworkReachabilityCreateWithAddressPair(const void            *allocator,
                                                                    const struct sockaddr *localAddress,
                                                                    const struct sockaddr *remoteAddress)
{
    (void)allocator;
    return create_with(&(SCNetworkReachabilityOptions){ .localAddress = localAddress, .remoteAddress = remoteAddress });
}

SCNetworkReachabilityRef SCNetworkReachabilityCreateWithName(const void *allocator, const char *nodename)
{
    (void)allocator;
    return create_with(&(SCNetworkReachabilityOptions){ .nodename = nodename });
}

/* Bytes beyond the structure that we know would be options that we do not know. */
static bool is_zero_beyond(const void *structure, size_t known, size_t size)
{
    const unsigned char *bytes = structure;

    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

SCNetworkReachabilityRef SCNetworkReachabilityCreateWithOptions(const void                         *allocator,
                                                                const SCNetworkReachabilityOptions *options)
{
    (void)allocator;
    if (options == NULL || options->size < sizeof *options || options->size > SIZE_LIMIT ||
        !is_zero_beyond(options, sizeof *options, options->size))
        return refuse(kSCStatusInvalidArgument);
    return create_with(options);
}

/* ---- References ------------------------------------------------------------------------------------------------- */

SCNetworkReachabilityRef SCNetworkReachabilityRetain(SCNetworkReachabilityRef target)
{
    struct SCNetworkReachability *self;

    if (target == NULL || !check(target, &self))
        return NULL;
    counted_retain(&self->counted);
    return target;
}

void SCNetworkReachabilityRelease(SCNetworkReachabilityRef target)
{
    struct SCNetworkReachability *self;

    if (target != NULL && check(target, &self))
        counted_release(&self->counted);
}

unsigned long SCNetworkReachabilityGetTypeID(void)
{
    return TYPE_ID;
}
