/* SPDX-License-Identifier: MIT */
/*
 * The addon below index.js: targets, their paths, and a function that is called after a change.
 *
 * Each Node environment (the main thread, each worker) has one run loop. Who drives it, or reads a path, may wait for
 * the kernel, which can hold its RTNL lock for long. So a thread does both, from the first watch to the end of the
 * environment, and wakes the environment's libuv loop, where all functions are called. The environment stays alive
 * while a target is watched.
 */
#define NAPI_VERSION 8

#include <arpa/inet.h>
#include <netinet/in.h>
#include <node_api.h>
#include <poll.h>
#include <pthread.h>
#include <reachability/reachability.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define RETRY_AFTER 100 /* milliseconds, after the run loop could not be driven */

struct list {
    struct handle *first, **end;
};

/* What an environment has. When it ends, its uv_async_t is closed before or after the objects of its targets. */
struct environment {
    atomic_uint references; /* the uv_async_t's, the thread's, and those of targets */
    napi_env env;
    SCRunLoopRef loop;
    uv_async_t async;
    int has_thread;
    struct handle *fresh;   /* the thread's: read in this round. With references */
    unsigned keeping_alive; /* targets that are scheduled, and whose watch is not unreferenced */
    napi_async_cleanup_hook_handle cleanup;

    pthread_mutex_t lock; /* of what follows, and of the paths of handles */
    int has_ended;
    struct list unread; /* scheduled, and not read since. With references */
    struct list news;   /* their functions are to be called. With references */
};

/* The path of a target as the thread has read it. */
struct reading {
    int status; /* what SCError() was; -1: not read yet */
    SCNetworkReachabilityPath path;
};

/* What the JavaScript object of a target has. */
struct handle {
    atomic_uint references; /* the object's, those of callbacks, and those in lists */
    struct environment *environment;
    SCNetworkReachabilityRef target;
    int has_path;     /* it is about a path, not the network */
    napi_ref changed; /* the function, while the target is scheduled */
    int keeps_alive;
    napi_async_context context;

    struct reading fresh; /* the thread's */
    int is_fresh;         /* it is in `fresh` of the environment */
    struct handle *next_fresh;

    struct reading last;   /* of the last round */
    struct reading *first; /* NULL, or the first, which JavaScript has not taken: a RetryTimer compares with it */
    int was_taken;         /* JavaScript has taken one */
    int has_news;          /* it is in `news` */
    int is_unread;         /* it is in `unread` */
    struct handle *next_unread, *next_news;
};

/* ---- Errors ----------------------------------------------------------------------------------------------------- */

/* Throws an Error whose `errno` is the value of SCError(). index.js adds the `code`. */
static napi_value throw_status(napi_env env, const char *call, int code, const char *detail)
{
    char text[512];
    napi_value message, number, error;

    snprintf(text, sizeof text, "%s: %s%s%s", call, SCErrorString(code), *detail != '\0' ? ": " : "", detail);
    if (napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &message) == napi_ok &&
        napi_create_error(env, NULL, message, &error) == napi_ok && napi_create_int32(env, code, &number) == napi_ok &&
        napi_set_named_property(env, error, "errno", number) == napi_ok)
        napi_throw(env, error);
    return NULL;
}

static napi_value throw_sc_error(napi_env env, const char *call)
{
    return throw_status(env, call, SCError(), SCErrorDetail());
}

/* ---- References ------------------------------------------------------------------------------------------------- */

static void release_environment(struct environment *environment)
{
    if (atomic_fetch_sub(&environment->references, 1) > 1)
        return;
    SCRunLoopRelease(environment->loop);
    pthread_mutex_destroy(&environment->lock);
    free(environment);
}

/* The target and the JavaScript parts have gone before, in finalize_handle. */
static void release_handle(struct handle *handle)
{
    if (atomic_fetch_sub(&handle->references, 1) > 1)
        return;
    release_environment(handle->environment);
    free(handle->first);
    free(handle);
}

static const void *retain_info(const void *info)
{
    atomic_fetch_add(&((struct handle *)(uintptr_t)info)->references, 1);
    return info;
}

static void release_info(const void *info)
{
    release_handle((struct handle *)(uintptr_t)info);
}

/* ---- The thread ------------------------------------------------------------------------------------------------- */

static void add_news_locked(struct handle *handle)
{
    struct list *news = &handle->environment->news;

    if (handle->has_news || handle->environment->has_ended)
        return;
    atomic_fetch_add(&handle->references, 1);
    handle->has_news = 1;
    handle->next_news = NULL;
    *news->end = handle;
    news->end = &handle->next_news;
}

static void add_unread(struct handle *handle)
{
    struct environment *environment = handle->environment;

    pthread_mutex_lock(&environment->lock);
    handle->last.status = -1;
    if (!handle->is_unread) {
        SCNetworkReachabilityRetain(handle->target);
        atomic_fetch_add(&handle->references, 1);
        handle->is_unread = 1;
        handle->next_unread = NULL;
        *environment->unread.end = handle;
        environment->unread.end = &handle->next_unread;
    }
    pthread_mutex_unlock(&environment->lock);
    SCRunLoopWakeUp(environment->loop);
}

/* On the thread: it may wait for the kernel. */
static void read_path(struct handle *handle, SCNetworkReachabilityRef target)
{
    handle->fresh = (struct reading){ .path = kSCNetworkReachabilityPathInitializer };
    if (handle->has_path && !SCNetworkReachabilityGetLastPath(target, &handle->fresh.path))
        handle->fresh.status = SCError();
    if (handle->is_fresh)
        return;
    handle->is_fresh = 1;
    atomic_fetch_add(&handle->references, 1);
    handle->next_fresh = handle->environment->fresh;
    handle->environment->fresh = handle;
}

/* What a round has read is visible at once, and wakes the libuv loop once. */
static void publish_round(struct environment *environment)
{
    struct handle *fresh = environment->fresh, *next;

    environment->fresh = NULL;
    pthread_mutex_lock(&environment->lock);
    for (next = fresh; next != NULL; next = next->next_fresh) {
        next->is_fresh = 0;
        if (next->last.status >= 0 && !next->was_taken && next->first == NULL &&
            (next->first = malloc(sizeof *next->first)) != NULL)
            *next->first = next->last;
        next->last = next->fresh;
        add_news_locked(next);
    }
    if (fresh != NULL && !environment->has_ended)
        uv_async_send(&environment->async);
    pthread_mutex_unlock(&environment->lock);
    for (; fresh != NULL; fresh = next) {
        next = fresh->next_fresh;
        release_handle(fresh);
    }
}

static void on_change(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)flags;
    read_path(info, target);
}

/* Returns whether the environment goes on. */
static int read_unread(struct environment *environment)
{
    struct handle *handle, *next;
    int has_ended, has_failed = 0;

    pthread_mutex_lock(&environment->lock);
    handle = environment->unread.first;
    environment->unread.first = NULL;
    environment->unread.end = &environment->unread.first;
    has_ended = environment->has_ended;
    pthread_mutex_unlock(&environment->lock);
    if (handle != NULL && !has_ended)
        SCRunLoopPerform(environment->loop, 0); /* Schedule has not read all that a path has */
    for (; handle != NULL; handle = next) {
        next = handle->next_unread;
        pthread_mutex_lock(&environment->lock);
        handle->is_unread = 0;
        pthread_mutex_unlock(&environment->lock);
        if (!has_ended)
            read_path(handle, handle->target);
        has_failed = has_failed || handle->fresh.status > 0;
        SCNetworkReachabilityRelease(handle->target);
        release_handle(handle);
    }
    if (has_failed && !has_ended) /* JavaScript asks again at once */
        (void)poll(NULL, 0, RETRY_AFTER);
    return !has_ended;
}

static void *drive(void *data)
{
    struct environment *environment = data;
    int goes_on;

    do {
        if (SCRunLoopPerform(environment->loop, -1) < 0)
            (void)poll(NULL, 0, RETRY_AFTER);
        goes_on = read_unread(environment);
        publish_round(environment);
    } while (goes_on);
    release_environment(environment);
    return NULL;
}

/* Returns 0 or an errno. */
static int start_thread(struct environment *environment)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    int error;

    if (environment->has_thread)
        return 0;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    atomic_fetch_add(&environment->references, 1);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &attributes, drive, environment);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error != 0)
        release_environment(environment);
    environment->has_thread = error == 0;
    return error;
}

/* ---- Functions, on the environment's own thread ----------------------------------------------------------------- */

static void call_function(const struct handle *handle)
{
    napi_env env = handle->environment->env;
    napi_value function, global, error;

    if (handle->changed == NULL || napi_get_reference_value(env, handle->changed, &function) != napi_ok ||
        napi_get_global(env, &global) != napi_ok)
        return;
    if (napi_make_callback(env, handle->context, global, function, 0, NULL, NULL) == napi_pending_exception &&
        napi_get_and_clear_last_exception(env, &error) == napi_ok)
        napi_fatal_exception(env, error);
}

/* NULL: there is none. */
static struct handle *take_news(struct environment *environment)
{
    struct handle *handle;

    pthread_mutex_lock(&environment->lock);
    handle = environment->news.first;
    if (handle != NULL) {
        handle->has_news = 0;
        environment->news.first = handle->next_news;
        if (handle->next_news == NULL)
            environment->news.end = &environment->news.first;
    }
    pthread_mutex_unlock(&environment->lock);
    return handle;
}

static void call_functions(uv_async_t *async)
{
    struct environment *environment = async->data;
    struct handle *handle;
    napi_handle_scope scope;

    while ((handle = take_news(environment)) != NULL) {
        if (napi_open_handle_scope(environment->env, &scope) == napi_ok) {
            call_function(handle);
            napi_close_handle_scope(environment->env, scope);
        }
        release_handle(handle);
    }
}

/* ---- The begin and the end of an environment -------------------------------------------------------------------- */

static void on_closed(uv_handle_t *async)
{
    struct environment *environment = async->data;
    struct handle *handle;

    while ((handle = take_news(environment)) != NULL)
        release_handle(handle);
    napi_remove_async_cleanup_hook(environment->cleanup);
    release_environment(environment);
}

static void close_environment(napi_async_cleanup_hook_handle cleanup, void *data)
{
    struct environment *environment = data;

    (void)cleanup;
    pthread_mutex_lock(&environment->lock);
    environment->has_ended = 1;
    pthread_mutex_unlock(&environment->lock);
    SCRunLoopWakeUp(environment->loop);
    uv_close((uv_handle_t *)&environment->async, on_closed);
}

static struct environment *make_environment(napi_env env)
{
    struct environment *environment = calloc(1, sizeof *environment);
    uv_loop_t *uv;

    if (environment == NULL)
        return napi_throw_error(env, NULL, "out of memory"), NULL;
    environment->env = env;
    environment->references = 1;
    environment->unread.end = &environment->unread.first;
    environment->news.end = &environment->news.first;
    environment->loop = SCRunLoopCreate();
    if (environment->loop == NULL) {
        throw_sc_error(env, "SCRunLoopCreate");
        return free(environment), NULL;
    }
    if (napi_get_uv_event_loop(env, &uv) != napi_ok || uv_async_init(uv, &environment->async, call_functions) != 0) {
        SCRunLoopRelease(environment->loop);
        napi_throw_error(env, NULL, "libuv has no uv_async_t for the run loop");
        return free(environment), NULL;
    }
    pthread_mutex_init(&environment->lock, NULL);
    environment->async.data = environment;
    uv_unref((uv_handle_t *)&environment->async);
    napi_add_async_cleanup_hook(env, close_environment, environment, &environment->cleanup);
    return environment;
}

/* Whether a watched target keeps its environment alive. */
static void set_keeps_alive(struct handle *handle, int keeps_alive)
{
    struct environment *environment = handle->environment;
    uv_handle_t *async = (uv_handle_t *)&environment->async;

    if (handle->changed == NULL || handle->keeps_alive == keeps_alive)
        return;
    handle->keeps_alive = keeps_alive;
    if (keeps_alive && environment->keeping_alive++ == 0)
        uv_ref(async);
    else if (!keeps_alive && --environment->keeping_alive == 0 && !environment->has_ended)
        uv_unref(async);
}

static void unwatch_handle(struct handle *handle)
{
    struct environment *environment = handle->environment;

    if (handle->changed == NULL)
        return;
    set_keeps_alive(handle, 0);
    SCNetworkReachabilityUnscheduleFromRunLoop(handle->target, environment->loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilitySetCallback(handle->target, NULL, NULL);
    napi_delete_reference(environment->env, handle->changed);
    napi_async_destroy(environment->env, handle->context);
    handle->changed = NULL;
}

/* The JavaScript object was collected, or its environment ends. */
static void finalize_handle(napi_env env, void *data, void *hint)
{
    struct handle *handle = data;

    (void)env, (void)hint;
    unwatch_handle(handle);
    SCNetworkReachabilityRelease(handle->target);
    release_handle(handle);
}

/* ---- Arguments and results -------------------------------------------------------------------------------------- */

/* The text of a string, which the caller frees. NULL: not a string, or out of memory. */
static char *copy_string(napi_env env, napi_value value)
{
    size_t length;
    char *text;

    if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok || (text = malloc(length + 1)) == NULL)
        return NULL;
    napi_get_value_string_utf8(env, value, text, length + 1, &length);
    return text;
}

/* Writes the address, or leaves AF_UNSPEC if `text` is NULL. */
static int parse_address(const char *text, struct sockaddr_storage *ret_address)
{
    struct sockaddr_in *ipv4 = (struct sockaddr_in *)ret_address;
    struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)ret_address;

    if (text == NULL)
        return 1;
    if (inet_pton(AF_INET, text, &ipv4->sin_addr) == 1)
        return ret_address->ss_family = AF_INET, 1;
    if (inet_pton(AF_INET6, text, &ipv6->sin6_addr) == 1)
        return ret_address->ss_family = AF_INET6, 1;
    return 0;
}

static struct handle *handle_of(napi_env env, napi_callback_info info, size_t count, napi_value *arguments)
{
    void *handle;

    if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count == 0 ||
        napi_get_value_external(env, arguments[0], &handle) != napi_ok)
        return napi_throw_type_error(env, NULL, "not a target"), NULL;
    return handle;
}

static void set_number(napi_env env, napi_value object, const char *name, uint32_t number)
{
    napi_value value;

    if (napi_create_uint32(env, number, &value) == napi_ok)
        napi_set_named_property(env, object, name, value);
}

static void set_string(napi_env env, napi_value object, const char *name, const char *text)
{
    napi_value value;

    if (napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value) == napi_ok)
        napi_set_named_property(env, object, name, value);
}

/* AF_UNSPEC: null. */
static void set_address(napi_env env, napi_value object, const char *name, const struct sockaddr_storage *address)
{
    char text[INET6_ADDRSTRLEN];
    const void *bytes = address->ss_family == AF_INET ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
                                                      : &((const struct sockaddr_in6 *)address)->sin6_addr;
    napi_value null;

    if (inet_ntop(address->ss_family, bytes, text, sizeof text) != NULL)
        set_string(env, object, name, text);
    else if (napi_get_null(env, &null) == napi_ok)
        napi_set_named_property(env, object, name, null);
}

static napi_value path_object(napi_env env, const SCNetworkReachabilityPath *path)
{
    napi_value object;
    char text[256];

    if (napi_create_object(env, &object) != napi_ok)
        return NULL;
    SCNetworkReachabilityFlagsGetString(path->flags, text, sizeof text);
    set_number(env, object, "flags", path->flags);
    set_string(env, object, "flagsText", text);
    set_number(env, object, "reason", path->reason);
    set_string(env, object, "reasonText", SCNetworkReachabilityReasonString(path->reason));
    set_string(env, object, "interfaceName", path->interfaceName);
    set_number(env, object, "interfaceIndex", path->interfaceIndex);
    set_number(env, object, "interfaceType", path->interfaceType);
    set_number(env, object, "mtu", path->mtu);
    set_number(env, object, "table", path->table);
    set_number(env, object, "evidence", path->evidence);
    set_number(env, object, "flow", path->flow);
    set_number(env, object, "nextHop", path->nextHop);
    set_address(env, object, "destination", &path->destination);
    set_address(env, object, "source", &path->source);
    set_address(env, object, "gateway", &path->gateway);
    return object;
}

/* ---- The functions for index.js --------------------------------------------------------------------------------- */

/* Takes what a Create call has returned, and the handle without a target. Throws if it has failed. */
static napi_value make_external(napi_env env, struct handle *handle, SCNetworkReachabilityRef target, const char *call)
{
    napi_value result = NULL;

    handle->references = 1;
    handle->last.status = -1;
    handle->target = target;
    if (target == NULL) {
        throw_sc_error(env, call);
        free(handle);
        return NULL;
    }
    atomic_fetch_add(&handle->environment->references, 1);
    if (napi_create_external(env, handle, finalize_handle, NULL, &result) != napi_ok)
        finalize_handle(env, handle, NULL);
    return result;
}

static void read_flow(napi_env env, const napi_value *arguments, SCNetworkReachabilityOptions *options)
{
    uint32_t protocol = 0, traffic_class = 0, port = 0;

    napi_get_value_uint32(env, arguments[0], &protocol);
    napi_get_value_uint32(env, arguments[1], &traffic_class);
    napi_get_value_uint32(env, arguments[2], &port);
    options->protocol = (uint8_t)protocol;
    options->trafficClass = (uint8_t)traffic_class;
    options->remotePort = (uint16_t)port;
}

/* An address has its port in itself, at the same place for both families. */
static void move_port(SCNetworkReachabilityOptions *options, struct sockaddr_storage *remote)
{
    if (options->nodename != NULL)
        return;
    ((struct sockaddr_in *)remote)->sin_port = htons(options->remotePort);
    options->remotePort = 0;
}

/* create(name or null, source or null, address or null, interface or null, mark, options, protocol, class, port): a
 * target. */
static napi_value create(napi_env env, napi_callback_info info)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    struct sockaddr_storage source = { .ss_family = AF_UNSPEC }, remote = { .ss_family = AF_UNSPEC };
    struct handle *handle = calloc(1, sizeof *handle);
    napi_value arguments[9], result = NULL;
    size_t count = 9;
    char *texts[4] = { NULL };

    napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
    for (size_t i = 0; i < 4; i++)
        texts[i] = copy_string(env, arguments[i]);
    napi_get_value_uint32(env, arguments[4], &options.routingMark);
    napi_get_value_uint32(env, arguments[5], &options.options);
    read_flow(env, &arguments[6], &options);
    options.nodename = texts[0];
    options.interfaceName = texts[3];
    if (handle == NULL || napi_get_instance_data(env, (void **)&handle->environment) != napi_ok ||
        !parse_address(texts[1], &source) || !parse_address(texts[2], &remote)) {
        napi_throw_type_error(env, NULL, "not an address");
        free(handle);
    } else {
        options.localAddress = source.ss_family != AF_UNSPEC ? (struct sockaddr *)&source : NULL;
        options.remoteAddress = remote.ss_family != AF_UNSPEC ? (struct sockaddr *)&remote : NULL;
        move_port(&options, &remote);
        handle->has_path = (options.options & kSCNetworkReachabilityOptionNotifyNetwork) == 0;
        result = make_external(env, handle, SCNetworkReachabilityCreateWithOptions(NULL, &options),
                               "SCNetworkReachabilityCreateWithOptions");
    }
    for (size_t i = 0; i < 4; i++)
        free(texts[i]);
    return result;
}

/* createWithSocket(descriptor): a target. */
static napi_value create_with_socket(napi_env env, napi_callback_info info)
{
    struct handle *handle = calloc(1, sizeof *handle);
    napi_value arguments[1];
    size_t count = 1;
    int32_t descriptor = -1;

    napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
    napi_get_value_int32(env, arguments[0], &descriptor);
    if (handle == NULL || napi_get_instance_data(env, (void **)&handle->environment) != napi_ok)
        return free(handle), napi_throw_error(env, NULL, "out of memory"), NULL;
    handle->has_path = 1;
    return make_external(env, handle, SCNetworkReachabilityCreateWithSocket(NULL, descriptor),
                         "SCNetworkReachabilityCreateWithSocket");
}

/* watch(target, function): calls the function as soon as lastPath has the first path, and after each change. */
static napi_value watch(napi_env env, napi_callback_info info)
{
    napi_value arguments[2], name;
    struct handle *handle = handle_of(env, info, 2, arguments);
    SCNetworkReachabilityContext context = { 0, handle, retain_info, release_info, NULL };
    int error;

    if (handle == NULL || handle->changed != NULL)
        return NULL;
    error = start_thread(handle->environment);
    if (error != 0)
        return throw_status(env, "pthread_create", error, "");
    if (!SCNetworkReachabilitySetCallback(handle->target, on_change, &context) ||
        !SCNetworkReachabilityScheduleWithRunLoop(handle->target, handle->environment->loop, kSCRunLoopDefaultMode))
        return throw_sc_error(env, "SCNetworkReachabilityScheduleWithRunLoop");
    napi_create_reference(env, arguments[1], 1, &handle->changed);
    napi_create_string_utf8(env, "reachability", NAPI_AUTO_LENGTH, &name);
    napi_async_init(env, NULL, name, &handle->context);
    set_keeps_alive(handle, 1);
    add_unread(handle);
    return NULL;
}

/* unwatch(target): the function is not called again. */
static napi_value unwatch(napi_env env, napi_callback_info info)
{
    napi_value arguments[1];
    struct handle *handle = handle_of(env, info, 1, arguments);

    if (handle != NULL)
        unwatch_handle(handle);
    return NULL;
}

static struct reading last_reading(struct handle *handle)
{
    struct reading reading;

    pthread_mutex_lock(&handle->environment->lock);
    reading = handle->last;
    pthread_mutex_unlock(&handle->environment->lock);
    return reading;
}

/* path(target): the path now, by a query. Of a watched target, the path as it was read last, without a wait. */
static napi_value path(napi_env env, napi_callback_info info)
{
    struct reading reading;
    napi_value arguments[1];
    struct handle *handle = handle_of(env, info, 1, arguments);

    if (handle == NULL)
        return NULL;
    reading = last_reading(handle);
    if (handle->changed != NULL && reading.status == 0)
        return path_object(env, &reading.path);
    reading.path = (SCNetworkReachabilityPath)kSCNetworkReachabilityPathInitializer;
    if (!SCNetworkReachabilityGetPath(handle->target, &reading.path))
        return throw_sc_error(env, "SCNetworkReachabilityGetPath");
    return path_object(env, &reading.path);
}

/* lastPath(target): the path of a watched target as it was read first, then as it was read last. undefined: it was
 * not read yet. */
static napi_value last_path(napi_env env, napi_callback_info info)
{
    struct reading reading;
    napi_value arguments[1];
    struct handle *handle = handle_of(env, info, 1, arguments);

    if (handle == NULL)
        return NULL;
    pthread_mutex_lock(&handle->environment->lock);
    reading = handle->last;
    if (handle->first != NULL) {
        reading = *handle->first;
        free(handle->first);
        handle->first = NULL;
        add_news_locked(handle);
        uv_async_send(&handle->environment->async);
    }
    handle->was_taken = reading.status >= 0;
    pthread_mutex_unlock(&handle->environment->lock);
    if (reading.status == 0)
        return path_object(env, &reading.path);
    if (reading.status < 0)
        return NULL;
    add_unread(handle);
    return throw_status(env, "SCNetworkReachabilityGetLastPath", reading.status, "");
}

/* flags(target): those of the latest evaluation of a watched target. */
static napi_value flags(napi_env env, napi_callback_info info)
{
    SCNetworkReachabilityFlags result;
    napi_value arguments[1], number;
    const struct handle *handle = handle_of(env, info, 1, arguments);

    if (handle == NULL)
        return NULL;
    if (!SCNetworkReachabilityGetFlags(handle->target, &result))
        return throw_sc_error(env, "SCNetworkReachabilityGetFlags");
    return napi_create_uint32(env, result, &number) == napi_ok ? number : NULL;
}

static napi_value array_of_addresses(napi_env env, const struct sockaddr_storage *addresses, size_t count)
{
    napi_value array, object, text;

    if (napi_create_array_with_length(env, count, &array) != napi_ok)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (napi_create_object(env, &object) != napi_ok)
            return NULL;
        set_address(env, object, "text", &addresses[i]);
        if (napi_get_named_property(env, object, "text", &text) == napi_ok)
            napi_set_element(env, array, (uint32_t)i, text);
    }
    return array;
}

/* addresses(target): those of the host. */
static napi_value addresses(napi_env env, napi_callback_info info)
{
    struct sockaddr_storage *found = NULL, *larger;
    size_t count, capacity = 0;
    napi_value arguments[1], result;
    const struct handle *handle = handle_of(env, info, 1, arguments);

    if (handle == NULL)
        return NULL;
    while ((count = SCNetworkReachabilityGetResolvedAddresses(handle->target, found, capacity)) > capacity) {
        if ((larger = realloc(found, count * sizeof *found)) == NULL)
            return free(found), napi_throw_error(env, NULL, "out of memory"), NULL;
        found = larger;
        capacity = count;
    }
    result = array_of_addresses(env, found, count);
    free(found);
    return result;
}

/* description(target): a text for people and logs. */
static napi_value description(napi_env env, napi_callback_info info)
{
    char text[8192];
    napi_value arguments[1], result;
    const struct handle *handle = handle_of(env, info, 1, arguments);

    if (handle == NULL)
        return NULL;
    SCNetworkReachabilityGetDescription(handle->target, text, sizeof text);
    return napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &result) == napi_ok ? result : NULL;
}

static void set_default_path(napi_env env, napi_value object, const char *name,
                             const SCNetworkReachabilityDefaultPath *path)
{
    napi_value value;

    if (napi_create_object(env, &value) != napi_ok)
        return;
    set_number(env, value, "flags", path->flags);
    set_number(env, value, "reason", path->reason);
    set_number(env, value, "interfaceIndex", path->interfaceIndex);
    set_number(env, value, "metric", path->metric);
    set_address(env, value, "source", &path->source);
    set_address(env, value, "gateway", &path->gateway);
    napi_set_named_property(env, object, name, value);
}

static napi_value uplink_object(napi_env env, const SCNetworkReachabilityUplink *uplink)
{
    napi_value object;

    if (napi_create_object(env, &object) != napi_ok)
        return NULL;
    set_string(env, object, "interfaceName", uplink->interfaceName);
    set_number(env, object, "interfaceIndex", uplink->interfaceIndex);
    set_number(env, object, "interfaceType", uplink->interfaceType);
    set_number(env, object, "ipv4UnderlayTypes", uplink->ipv4UnderlayTypes);
    set_number(env, object, "ipv6UnderlayTypes", uplink->ipv6UnderlayTypes);
    set_default_path(env, object, "ipv4", &uplink->ipv4);
    set_default_path(env, object, "ipv6", &uplink->ipv6);
    return object;
}

static napi_value network_object(napi_env env, const SCNetworkReachabilityNetwork *network,
                                 const SCNetworkReachabilityUplink *uplinks)
{
    napi_value object, array, uplink;

    if (napi_create_object(env, &object) != napi_ok ||
        napi_create_array_with_length(env, network->uplinkCount, &array) != napi_ok)
        return NULL;
    for (uint32_t i = 0; i < network->uplinkCount; i++) {
        uplink = uplink_object(env, &uplinks[i]);
        if (uplink != NULL)
            napi_set_element(env, array, i, uplink);
    }
    napi_set_named_property(env, object, "uplinks", array);
    set_default_path(env, object, "ipv4", &network->ipv4);
    set_default_path(env, object, "ipv6", &network->ipv6);
    set_number(env, object, "ipv4LoopbackFlags", network->ipv4LoopbackFlags);
    set_number(env, object, "ipv6LoopbackFlags", network->ipv6LoopbackFlags);
    set_number(env, object, "uplinksAreComplete", network->uplinksAreComplete);
    set_number(env, object, "nameServerIsReachable", network->nameServerIsReachable);
    set_number(env, object, "evidence", network->evidence);
    napi_set_named_property(env, object, "nameServers",
                            array_of_addresses(env, network->nameServers, network->nameServerCount));
    return object;
}

/* network(target): all default paths, of a target with the option NotifyNetwork. */
static napi_value network(napi_env env, napi_callback_info info)
{
    SCNetworkReachabilityNetwork result = kSCNetworkReachabilityNetworkInitializer;
    SCNetworkReachabilityUplink *uplinks = NULL, *larger;
    uint32_t capacity = 0;
    napi_value arguments[1], object;
    const struct handle *handle = handle_of(env, info, 1, arguments);

    if (handle == NULL)
        return NULL;
    for (;;) {
        if (!SCNetworkReachabilityGetNetwork(handle->target, &result, uplinks, sizeof *uplinks, capacity))
            return free(uplinks), throw_sc_error(env, "SCNetworkReachabilityGetNetwork");
        if (result.uplinkCount <= capacity)
            break;
        if ((larger = realloc(uplinks, result.uplinkCount * sizeof *uplinks)) == NULL)
            return free(uplinks), napi_throw_error(env, NULL, "out of memory"), NULL;
        uplinks = larger;
        capacity = result.uplinkCount;
    }
    object = network_object(env, &result, uplinks);
    free(uplinks);
    return object;
}

/* keepAlive(target, yes): whether the watched target keeps the environment alive. */
static napi_value keep_alive(napi_env env, napi_callback_info info)
{
    bool keeps_alive = true;
    napi_value arguments[2];
    struct handle *handle = handle_of(env, info, 2, arguments);

    if (handle != NULL && napi_get_value_bool(env, arguments[1], &keeps_alive) == napi_ok)
        set_keeps_alive(handle, keeps_alive);
    return NULL;
}

NAPI_MODULE_INIT(/* env, exports */)
{
    struct environment *environment = make_environment(env);

    const napi_property_descriptor functions[] = {
        { "create", NULL, create, NULL, NULL, NULL, napi_enumerable, NULL },
        { "createWithSocket", NULL, create_with_socket, NULL, NULL, NULL, napi_enumerable, NULL },
        { "watch", NULL, watch, NULL, NULL, NULL, napi_enumerable, NULL },
        { "unwatch", NULL, unwatch, NULL, NULL, NULL, napi_enumerable, NULL },
        { "path", NULL, path, NULL, NULL, NULL, napi_enumerable, NULL },
        { "lastPath", NULL, last_path, NULL, NULL, NULL, napi_enumerable, NULL },
        { "flags", NULL, flags, NULL, NULL, NULL, napi_enumerable, NULL },
        { "addresses", NULL, addresses, NULL, NULL, NULL, napi_enumerable, NULL },
        { "description", NULL, description, NULL, NULL, NULL, napi_enumerable, NULL },
        { "network", NULL, network, NULL, NULL, NULL, napi_enumerable, NULL },
        { "keepAlive", NULL, keep_alive, NULL, NULL, NULL, napi_enumerable, NULL },
    };

    if (environment == NULL || napi_set_instance_data(env, environment, NULL, NULL) != napi_ok)
        return NULL;
    napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions);
    set_string(env, exports, "version", SCNetworkReachabilityGetVersion());
    return exports;
}
