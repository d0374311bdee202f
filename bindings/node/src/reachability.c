/* SPDX-License-Identifier: MIT */
/*
 * The addon below index.js: targets, their paths, and a function that is called after a change.
 *
 * What this file must never do: read a path on the thread of JavaScript. That can wait for the kernel, which can hold
 * its RTNL lock for long, and the event loop would stand still. The library's thread reads after each change, and
 * Node's thread pool reads the first path and a description. What else is called does not wait for the lock, with two
 * exceptions: for 169.254.0.0, and with an interface's alternative name of more than 15 bytes, watch, setRetry and
 * addresses may. Each environment (the main thread, each worker) has one thread-safe function, which wakes its event
 * loop. The environment stays alive while a target is watched.
 */
#define NAPI_VERSION 8

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <node_api.h>
#include <pthread.h>
#include <reachability/reachability.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOT_READ  (-1)
#define TEXT_SIZE 8192

/* What an environment has. */
struct environment {
    atomic_uint references; /* its own, and those of targets */
    napi_env env;
    napi_threadsafe_function queue; /* of targets whose function is to be called. With references */
    unsigned keeping_alive;         /* targets that are watched, and whose watch is not unreferenced */

    pthread_mutex_t lock; /* of what follows, and of the readings of targets; nobody waits for the kernel with it */
    int has_ended;        /* there is no queue any more */
};

/* A path as it was read. */
struct reading {
    int status; /* 0, what SCError() was, or NOT_READ */
    SCNetworkReachabilityPath path;
};

/* What the JavaScript object of a target has. */
struct handle {
    atomic_uint references; /* the object's, the callback's, that in the queue, those of the thread pool */
    struct environment *environment;
    SCNetworkReachabilityRef target; /* NULL: a script's */
    int has_path;                    /* it is about a path, not the network */
    napi_ref changed;                /* the function, while the target is watched */
    int keeps_alive;

    /* With the lock: */
    struct reading last;
    int is_queued;
    int has_retry;
    SCNetworkReachabilityRetry retry; /* sees each path, also those that JavaScript is too late for */
    uint64_t retry_delay;             /* nanoseconds, after the next change that ends a sleep */
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
    pthread_mutex_destroy(&environment->lock);
    free(environment);
}

static void release_handle(struct handle *handle)
{
    if (atomic_fetch_sub(&handle->references, 1) > 1)
        return;
    SCNetworkReachabilityRelease(handle->target);
    release_environment(handle->environment);
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

/* ---- Readings, on any thread ------------------------------------------------------------------------------------ */

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* May wait for the kernel. */
static struct reading read_path(const struct handle *handle)
{
    struct reading reading = { .path = kSCNetworkReachabilityPathInitializer };

    if (handle->has_path && !SCNetworkReachabilityGetLastPath(handle->target, &reading.path))
        reading.status = SCError();
    return reading;
}

static void keep_locked(struct handle *handle, const struct reading *reading)
{
    handle->last = *reading;
    if (handle->has_retry && reading->status == 0)
        SCNetworkReachabilityRetryObserve(&handle->retry, &reading->path, now(), handle->retry_delay);
}

/* Several readings before the function is called make one call. */
static void publish(struct handle *handle, struct reading reading)
{
    struct environment *environment = handle->environment;

    pthread_mutex_lock(&environment->lock);
    keep_locked(handle, &reading);
    if (!handle->is_queued && !environment->has_ended &&
        napi_call_threadsafe_function(environment->queue, handle, napi_tsfn_nonblocking) == napi_ok) {
        handle->is_queued = 1;
        atomic_fetch_add(&handle->references, 1);
    }
    pthread_mutex_unlock(&environment->lock);
}

static void on_change(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags;
    publish(info, read_path(info));
}

/* The callback is made here, on the library's thread. */
static void perform_here(void *info, void (*work)(void *argument), void *argument)
{
    (void)info;
    work(argument);
}

/* ---- On the environment's own thread ---------------------------------------------------------------------------- */

static void call_function(const struct handle *handle)
{
    napi_env env = handle->environment->env;
    napi_value function, global, error;

    if (handle->changed == NULL || napi_get_reference_value(env, handle->changed, &function) != napi_ok ||
        napi_get_global(env, &global) != napi_ok)
        return;
    if (napi_call_function(env, global, function, 0, NULL, NULL) == napi_pending_exception &&
        napi_get_and_clear_last_exception(env, &error) == napi_ok)
        napi_fatal_exception(env, error);
}

/* Without `env`, the environment ends. */
static void on_queued(napi_env env, napi_value function, void *context, void *data)
{
    struct handle *handle = data;

    (void)function, (void)context;
    pthread_mutex_lock(&handle->environment->lock);
    handle->is_queued = 0;
    pthread_mutex_unlock(&handle->environment->lock);
    if (env != NULL)
        call_function(handle);
    release_handle(handle);
}

/* What the thread pool does: it reads the first path or, with a promise, the description. */
struct work {
    napi_async_work work;
    struct handle *handle; /* with a reference */
    napi_deferred promise;
    char text[]; /* of TEXT_SIZE, with a promise */
};

static void execute(napi_env env, void *data)
{
    struct work *work = data;
    struct handle *handle = work->handle;
    struct reading reading;

    (void)env;
    if (work->promise != NULL) {
        SCNetworkReachabilityGetDescription(handle->target, work->text, TEXT_SIZE);
        return;
    }
    reading = read_path(handle);
    pthread_mutex_lock(&handle->environment->lock);
    if (handle->last.status == NOT_READ) /* otherwise that is newer */
        keep_locked(handle, &reading);
    pthread_mutex_unlock(&handle->environment->lock);
}

static void complete(napi_env env, napi_status status, void *data)
{
    struct work *work = data;
    napi_value text;

    (void)status;
    if (work->promise == NULL)
        call_function(work->handle);
    else if (napi_create_string_utf8(env, work->text, NAPI_AUTO_LENGTH, &text) == napi_ok)
        napi_resolve_deferred(env, work->promise, text);
    napi_delete_async_work(env, work->work);
    release_handle(work->handle);
    free(work);
}

/* Returns the promise of the description, or NULL. */
static napi_value start_work(napi_env env, struct handle *handle, int has_promise)
{
    struct work *work = calloc(1, sizeof *work + (has_promise ? TEXT_SIZE : 0));
    napi_value name, promise = NULL;

    if (work == NULL || (has_promise && napi_create_promise(env, &work->promise, &promise) != napi_ok) ||
        napi_create_string_utf8(env, "reachability", NAPI_AUTO_LENGTH, &name) != napi_ok ||
        napi_create_async_work(env, NULL, name, execute, complete, work, &work->work) != napi_ok) {
        free(work);
        return napi_throw_error(env, NULL, "out of memory"), NULL;
    }
    work->handle = handle;
    atomic_fetch_add(&handle->references, 1);
    napi_queue_async_work(env, work->work);
    return promise;
}

/* The newest reading of a watched target. Throws its error, and reads it anew. */
static struct reading last_reading(napi_env env, struct handle *handle)
{
    struct reading reading;

    pthread_mutex_lock(&handle->environment->lock);
    reading = handle->last;
    if (reading.status > 0)
        handle->last.status = NOT_READ;
    pthread_mutex_unlock(&handle->environment->lock);
    if (reading.status > 0) {
        start_work(env, handle, 0);
        throw_status(env, "SCNetworkReachabilityGetLastPath", reading.status, "");
    }
    return reading;
}

/* ---- The begin and the end of an environment -------------------------------------------------------------------- */

/* Before Node closes the queue. */
static void end_environment(void *data)
{
    struct environment *environment = data;

    pthread_mutex_lock(&environment->lock);
    environment->has_ended = 1;
    pthread_mutex_unlock(&environment->lock);
    release_environment(environment);
}

static struct environment *make_environment(napi_env env)
{
    struct environment *environment = calloc(1, sizeof *environment);
    napi_value name;

    if (environment == NULL || napi_create_string_utf8(env, "reachability", NAPI_AUTO_LENGTH, &name) != napi_ok ||
        napi_create_threadsafe_function(env, NULL, NULL, name, 0, 1, NULL, NULL, NULL, on_queued,
                                        &environment->queue) != napi_ok ||
        napi_unref_threadsafe_function(env, environment->queue) != napi_ok ||
        napi_add_env_cleanup_hook(env, end_environment, environment) != napi_ok ||
        napi_set_instance_data(env, environment, NULL, NULL) != napi_ok) {
        free(environment);
        return napi_throw_error(env, NULL, "no queue for the changes"), NULL;
    }
    environment->env = env;
    environment->references = 1;
    pthread_mutex_init(&environment->lock, NULL);
    return environment;
}

/* Whether a watched target keeps its environment alive. */
static void set_keeps_alive(struct handle *handle, int keeps_alive)
{
    struct environment *environment = handle->environment;

    if (handle->changed == NULL || handle->keeps_alive == keeps_alive || environment->has_ended)
        return;
    handle->keeps_alive = keeps_alive;
    if (keeps_alive && environment->keeping_alive++ == 0)
        napi_ref_threadsafe_function(environment->env, environment->queue);
    else if (!keeps_alive && --environment->keeping_alive == 0)
        napi_unref_threadsafe_function(environment->env, environment->queue);
}

static void unwatch_handle(struct handle *handle)
{
    if (handle->changed == NULL)
        return;
    set_keeps_alive(handle, 0);
    if (handle->target != NULL) {
        SCNetworkReachabilitySetScheduler(handle->target, NULL);
        SCNetworkReachabilitySetCallback(handle->target, NULL, NULL);
    }
    napi_delete_reference(handle->environment->env, handle->changed);
    handle->changed = NULL;
}

/* The JavaScript object was collected, or its environment ends. */
static void finalize_handle(napi_env env, void *data, void *hint)
{
    (void)env, (void)hint;
    unwatch_handle(data);
    release_handle(data);
}

/* ---- Arguments and results -------------------------------------------------------------------------------------- */

static napi_value property_of(napi_env env, napi_value object, const char *name)
{
    napi_value value = NULL;

    napi_get_named_property(env, object, name, &value);
    return value;
}

/* 0: it is no number. */
static uint32_t get_number(napi_env env, napi_value object, const char *name)
{
    uint32_t number = 0;

    napi_get_value_uint32(env, property_of(env, object, name), &number);
    return number;
}

/* The text of a property, which the caller frees. NULL: it is no string, or out of memory. */
static char *get_string(napi_env env, napi_value object, const char *name)
{
    const napi_value value = property_of(env, object, name);
    size_t length;
    char *text;

    if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok || (text = malloc(length + 1)) == NULL)
        return NULL;
    napi_get_value_string_utf8(env, value, text, length + 1, &length);
    return text;
}

/* Returns whether the property is missing, or an address. index.js has seen that it is one, unless its zone does not
 * exist. */
static int get_address(napi_env env, napi_value object, const char *name, struct sockaddr_storage *ret_address)
{
    const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST };
    char *text = get_string(env, object, name);
    struct addrinfo *found = NULL;
    int error = 0;

    ret_address->ss_family = AF_UNSPEC;
    if (text != NULL && (error = getaddrinfo(text, NULL, &hints, &found)) == 0) {
        memcpy(ret_address, found->ai_addr, found->ai_addrlen);
        freeaddrinfo(found);
    }
    free(text);
    return error == 0;
}

/* The target of the first argument. */
static struct handle *handle_of(napi_env env, napi_callback_info info, size_t count, napi_value *arguments)
{
    void *handle;

    if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count == 0 ||
        napi_get_value_external(env, arguments[0], &handle) != napi_ok)
        return napi_throw_type_error(env, NULL, "not a target"), NULL;
    return handle;
}

static void set_number(napi_env env, napi_value object, const char *name, double number)
{
    napi_value value;

    if (napi_create_double(env, number, &value) == napi_ok)
        napi_set_named_property(env, object, name, value);
}

static void set_string(napi_env env, napi_value object, const char *name, const char *text)
{
    napi_value value;

    if (napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value) == napi_ok)
        napi_set_named_property(env, object, name, value);
}

/* AF_UNSPEC: null. */
static napi_value address_value(napi_env env, const struct sockaddr_storage *address)
{
    char text[INET6_ADDRSTRLEN];
    const void *bytes = address->ss_family == AF_INET ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
                                                      : &((const struct sockaddr_in6 *)address)->sin6_addr;
    napi_value value = NULL;

    if (inet_ntop(address->ss_family, bytes, text, sizeof text) == NULL)
        napi_get_null(env, &value);
    else
        napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value);
    return value;
}

static void set_address(napi_env env, napi_value object, const char *name, const struct sockaddr_storage *address)
{
    napi_set_named_property(env, object, name, address_value(env, address));
}

/* The numbers of a path, which have 4 bytes. */
static const struct {
    const char *name;
    size_t offset;
} numbers[] = {
    { "flags", offsetof(SCNetworkReachabilityPath, flags) },
    { "reason", offsetof(SCNetworkReachabilityPath, reason) },
    { "interfaceIndex", offsetof(SCNetworkReachabilityPath, interfaceIndex) },
    { "interfaceType", offsetof(SCNetworkReachabilityPath, interfaceType) },
    { "mtu", offsetof(SCNetworkReachabilityPath, mtu) },
    { "table", offsetof(SCNetworkReachabilityPath, table) },
    { "evidence", offsetof(SCNetworkReachabilityPath, evidence) },
    { "flow", offsetof(SCNetworkReachabilityPath, flow) },
    { "nextHop", offsetof(SCNetworkReachabilityPath, nextHop) },
};
#define NUMBER_COUNT (sizeof numbers / sizeof *numbers)

static napi_value path_object(napi_env env, const SCNetworkReachabilityPath *path)
{
    napi_value object;
    char text[256];
    uint32_t number;

    if (napi_create_object(env, &object) != napi_ok)
        return NULL;
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        memcpy(&number, (const char *)path + numbers[i].offset, sizeof number);
        set_number(env, object, numbers[i].name, number);
    }
    set_number(env, object, "isReachable", SCNetworkReachabilityPathIsReachable(path));
    set_number(env, object, "isViable", SCNetworkReachabilityPathIsViable(path));
    SCNetworkReachabilityPathGetString(path, text, sizeof text);
    set_string(env, object, "text", text);
    SCNetworkReachabilityFlagsGetString(path->flags, text, sizeof text);
    set_string(env, object, "flagsText", text);
    set_string(env, object, "reasonText", SCNetworkReachabilityReasonString(path->reason));
    set_string(env, object, "interfaceName", path->interfaceName);
    set_address(env, object, "destination", &path->destination);
    set_address(env, object, "source", &path->source);
    set_address(env, object, "gateway", &path->gateway);
    return object;
}

/* ---- The functions for index.js --------------------------------------------------------------------------------- */

/* Takes what a Create call has returned. Throws if that is NULL, unless it is a script's: `call` is NULL. */
static napi_value make_external(napi_env env, SCNetworkReachabilityRef target, int has_path, const char *call)
{
    struct handle *handle = calloc(1, sizeof *handle);
    napi_value result = NULL;

    if (target == NULL && call != NULL) {
        throw_sc_error(env, call);
        return free(handle), NULL;
    }
    if (handle == NULL || napi_get_instance_data(env, (void **)&handle->environment) != napi_ok) {
        SCNetworkReachabilityRelease(target);
        return free(handle), napi_throw_error(env, NULL, "out of memory"), NULL;
    }
    handle->references = 1;
    handle->last.status = NOT_READ;
    handle->has_path = has_path;
    handle->target = target;
    atomic_fetch_add(&handle->environment->references, 1);
    if (napi_create_external(env, handle, finalize_handle, NULL, &result) != napi_ok)
        finalize_handle(env, handle, NULL);
    return result;
}

/* create({ name, source, address, interface, mark, options, protocol, trafficClass, port }): a target.
 * create(descriptor): that of a connected socket. create(): a scripted one, which gets its paths from play(). */
static napi_value create(napi_env env, napi_callback_info info)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    struct sockaddr_storage source, remote;
    napi_value arguments[1], result = NULL;
    char *name, *interface;
    size_t count = 1;
    int32_t descriptor;

    napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
    if (count == 0)
        return make_external(env, NULL, 1, NULL);
    if (napi_get_value_int32(env, arguments[0], &descriptor) == napi_ok)
        return make_external(env, SCNetworkReachabilityCreateWithSocket(NULL, descriptor), 1,
                             "SCNetworkReachabilityCreateWithSocket");
    if (!get_address(env, arguments[0], "source", &source) || !get_address(env, arguments[0], "address", &remote))
        return napi_throw_type_error(env, NULL, "not an address"), NULL;
    options.nodename = name = get_string(env, arguments[0], "name");
    options.interfaceName = interface = get_string(env, arguments[0], "interface");
    options.localAddress = source.ss_family != AF_UNSPEC ? (struct sockaddr *)&source : NULL;
    options.remoteAddress = remote.ss_family != AF_UNSPEC ? (struct sockaddr *)&remote : NULL;
    options.routingMark = get_number(env, arguments[0], "mark");
    options.options = get_number(env, arguments[0], "options");
    options.protocol = (uint8_t)get_number(env, arguments[0], "protocol");
    options.trafficClass = (uint8_t)get_number(env, arguments[0], "trafficClass");
    options.remotePort = (uint16_t)get_number(env, arguments[0], "port");
    if (name == NULL) { /* an address has its port in itself, at the same place for both families */
        ((struct sockaddr_in *)&remote)->sin_port = htons(options.remotePort);
        options.remotePort = 0;
    }
    result = make_external(env, SCNetworkReachabilityCreateWithOptions(NULL, &options),
                           (options.options & kSCNetworkReachabilityOptionNotifyNetwork) == 0,
                           "SCNetworkReachabilityCreateWithOptions");
    free(name);
    free(interface);
    return result;
}

/* play(target, path): the next path of a scripted target. */
static napi_value play(napi_env env, napi_callback_info info)
{
    struct reading reading = { .path = kSCNetworkReachabilityPathInitializer };
    SCNetworkReachabilityPath *path = &reading.path;
    napi_value arguments[2];
    struct handle *handle = handle_of(env, info, 2, arguments);
    uint32_t number;
    char *name;

    if (handle == NULL)
        return NULL;
    if (!get_address(env, arguments[1], "destination", &path->destination) ||
        !get_address(env, arguments[1], "source", &path->source) ||
        !get_address(env, arguments[1], "gateway", &path->gateway))
        return napi_throw_type_error(env, NULL, "not an address"), NULL;
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        number = get_number(env, arguments[1], numbers[i].name);
        memcpy((char *)path + numbers[i].offset, &number, sizeof number);
    }
    if ((name = get_string(env, arguments[1], "interfaceName")) != NULL)
        snprintf(path->interfaceName, sizeof path->interfaceName, "%s", name);
    free(name);
    publish(handle, reading);
    return NULL;
}

/* watch(target, function): calls the function as soon as lastPath has the first path, and after each change. */
static napi_value watch(napi_env env, napi_callback_info info)
{
    const SCNetworkReachabilityScheduler scheduler = { 0, NULL, NULL, NULL, perform_here };
    napi_value arguments[2];
    struct handle *handle = handle_of(env, info, 2, arguments);
    SCNetworkReachabilityContext context = { 0, handle, retain_info, release_info, NULL };
    bool has_failed = false;

    if (handle == NULL || handle->changed != NULL)
        return NULL;
    if (handle->target != NULL && (!SCNetworkReachabilitySetCallback(handle->target, on_change, &context) ||
                                   !SCNetworkReachabilitySetScheduler(handle->target, &scheduler))) {
        throw_sc_error(env, "SCNetworkReachabilitySetScheduler");
        SCNetworkReachabilitySetCallback(handle->target, NULL, NULL); /* it retains the handle */
        return NULL;
    }
    napi_create_reference(env, arguments[1], 1, &handle->changed);
    set_keeps_alive(handle, 1);
    if (handle->target != NULL && handle->has_path)
        start_work(env, handle, 0); /* a network has a first callback, which completes it */
    if (napi_is_exception_pending(env, &has_failed) == napi_ok && has_failed)
        unwatch_handle(handle);
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

/* lastPath(target): the newest path of a watched target. undefined: none was read yet. */
static napi_value last_path(napi_env env, napi_callback_info info)
{
    struct reading reading;
    napi_value arguments[1];
    struct handle *handle = handle_of(env, info, 1, arguments);

    if (handle == NULL)
        return NULL;
    reading = last_reading(env, handle);
    return reading.status == 0 ? path_object(env, &reading.path) : NULL;
}

static uint64_t nanoseconds(napi_env env, napi_value milliseconds)
{
    double number = 0;

    napi_get_value_double(env, milliseconds, &number);
    return number < 1e12 ? (uint64_t)(number > 0 ? number * 1e6 : 0) : (uint64_t)1e18;
}

/* setRetry(target, interval, delay, isAddress): before watch. From now on, take() is possible. An address that is not
 * reachable now counts. A name does not: until it is resolved, its flags are those of the default path. */
static napi_value set_retry(napi_env env, napi_callback_info info)
{
    const SCNetworkReachabilityPath unreachable = kSCNetworkReachabilityPathInitializer;
    SCNetworkReachabilityFlags flags = kSCNetworkReachabilityFlagsReachable;
    bool is_address = false;
    napi_value arguments[4];
    struct handle *handle = handle_of(env, info, 4, arguments);

    if (handle == NULL)
        return NULL;
    napi_get_value_bool(env, arguments[3], &is_address);
    if (is_address && !SCNetworkReachabilityGetFlags(handle->target, &flags))
        return throw_sc_error(env, "SCNetworkReachabilityGetFlags");
    handle->has_retry = 1;
    handle->retry_delay = nanoseconds(env, arguments[2]);
    SCNetworkReachabilityRetryInit(&handle->retry, nanoseconds(env, arguments[1]));
    if (handle->last.status == 0) /* a script's */
        SCNetworkReachabilityRetryObserve(&handle->retry, &handle->last.path, now(), 0);
    else if ((flags & kSCNetworkReachabilityFlagsReachable) == 0)
        SCNetworkReachabilityRetryObserve(&handle->retry, &unreachable, now(), 0);
    return NULL;
}

/* take(target, milliseconds, delay): ends a sleep of which so many milliseconds are left, if it is due. Returns why, or
 * 0, and the milliseconds until a change can end it. `delay` is that of the next change. */
static napi_value take(napi_env env, napi_callback_info info)
{
    napi_value arguments[3], object = NULL;
    struct handle *handle = handle_of(env, info, 3, arguments);
    uint64_t moment, due;
    unsigned wake;

    if (handle == NULL || last_reading(env, handle).status > 0 || napi_create_object(env, &object) != napi_ok)
        return NULL;
    pthread_mutex_lock(&handle->environment->lock);
    moment = now();
    wake = SCNetworkReachabilityRetryTake(&handle->retry, moment, moment + nanoseconds(env, arguments[1]));
    due = SCNetworkReachabilityRetryGetDue(&handle->retry);
    handle->retry_delay = nanoseconds(env, arguments[2]);
    pthread_mutex_unlock(&handle->environment->lock);
    set_number(env, object, "wake", wake);
    set_number(env, object, "left", ((double)due - (double)moment) / 1e6);
    return object;
}

static napi_value array_of_addresses(napi_env env, const struct sockaddr_storage *addresses, size_t count)
{
    napi_value array;

    if (napi_create_array_with_length(env, count, &array) != napi_ok)
        return NULL;
    for (size_t i = 0; i < count; i++)
        napi_set_element(env, array, (uint32_t)i, address_value(env, &addresses[i]));
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

/* describe(target): the promise of a text for people and logs. */
static napi_value describe(napi_env env, napi_callback_info info)
{
    napi_value arguments[1];
    struct handle *handle = handle_of(env, info, 1, arguments);

    return handle == NULL ? NULL : start_work(env, handle, 1);
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
    set_number(env, object, "leadsOut", uplink->interfaceLeadsOut);
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

/* network(target): all default paths, of a watched target, without a wait. undefined: the first callback has not come,
 * which completes them; or it is not watched any more. */
static napi_value network(napi_env env, napi_callback_info info)
{
    SCNetworkReachabilityNetwork result = kSCNetworkReachabilityNetworkInitializer;
    SCNetworkReachabilityUplink *uplinks = NULL, *larger;
    uint32_t capacity = 0;
    napi_value arguments[1], object;
    struct handle *handle = handle_of(env, info, 1, arguments);

    if (handle == NULL || handle->changed == NULL || last_reading(env, handle).status != 0)
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
    const napi_property_descriptor functions[] = {
        { "create", NULL, create, NULL, NULL, NULL, napi_enumerable, NULL },
        { "play", NULL, play, NULL, NULL, NULL, napi_enumerable, NULL },
        { "watch", NULL, watch, NULL, NULL, NULL, napi_enumerable, NULL },
        { "unwatch", NULL, unwatch, NULL, NULL, NULL, napi_enumerable, NULL },
        { "lastPath", NULL, last_path, NULL, NULL, NULL, napi_enumerable, NULL },
        { "setRetry", NULL, set_retry, NULL, NULL, NULL, napi_enumerable, NULL },
        { "take", NULL, take, NULL, NULL, NULL, napi_enumerable, NULL },
        { "addresses", NULL, addresses, NULL, NULL, NULL, napi_enumerable, NULL },
        { "describe", NULL, describe, NULL, NULL, NULL, napi_enumerable, NULL },
        { "network", NULL, network, NULL, NULL, NULL, napi_enumerable, NULL },
        { "keepAlive", NULL, keep_alive, NULL, NULL, NULL, napi_enumerable, NULL },
    };

    if (make_environment(env) == NULL)
        return NULL;
    napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions);
    set_string(env, exports, "version", SCNetworkReachabilityGetVersion());
    return exports;
}
