/* SPDX-License-Identifier: MIT */
/*
 * A GNetworkMonitor over libreachability.
 *
 * The default path and the destinations asked with can_reach are targets on one run loop. Who drives it may wait for
 * the kernel, which can hold its RTNL lock for long. So a thread does, and makes a GSource ready, in the main context
 * where the monitor was made. The source compares the answers with those that the program was given last. If they
 * differ, it notifies. Two rules follow from "was given":
 *
 * - A property, or can_reach, lets the thread drive the run loop before it reads, and waits for that, at most
 *   READ_WAITS. So it is right in programs that are busy, or never run their context, unless the kernel holds the lock:
 *   then it gives the newest answer that is known. It notifies nobody: the program called it. If the program gets
 *   another answer than before, an event is owed, even if the answer changes back. Otherwise whoever got it would wait
 *   for ever.
 * - Changes that cancel out unseen are no event.
 *
 * No target has a callback, so nothing of the program runs on the thread, or under a lock.
 */
#include "monitor.h"

#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

enum { PROP_0, PROP_NETWORK_AVAILABLE, PROP_NETWORK_METERED, PROP_CONNECTIVITY };

/* What the program must be told. */
enum owed { OWED_AVAILABLE = 1 << 0, OWED_METERED = 1 << 1, OWED_CONNECTIVITY = 1 << 2, OWED_ANSWER = 1 << 3 };
#define OWED_NETWORK_CHANGED (OWED_AVAILABLE | OWED_CONNECTIVITY | OWED_ANSWER)

/* Passes over the run loop, before the program is told: a change is one event, even if its evaluation takes several. */
#define PASSES_MAX 16

#ifndef READ_WAITS /* tests under valgrind need longer */
#define READ_WAITS (8 * G_TIME_SPAN_MILLISECOND)
#endif
#define RETRY_AFTER 100 /* milliseconds, after the run loop could not be driven */

/* The run loop, and the thread that drives it. The thread ends after the monitor has closed it. */
struct driver {
    SCRunLoopRef loop;
    GSource *source;
    pid_t process; /* a child of fork(2) has no thread */

    GMutex lock; /* of all that follows */
    GCond driven;
    guint owners;        /* the monitor, and the thread */
    guint64 asked, done; /* requests to drive it */
    gboolean is_late;    /* one has waited in vain since the thread was done: no other one waits */
    gboolean is_changed; /* the source has not compared the answers since */
    gboolean is_closed;
};

struct _ReachabilityNetworkMonitor {
    GObject parent;
    GMainContext *context;
    GSource *source; /* NULL until init has opened the run loop */

    GMutex lock; /* of all that follows */
    struct driver *driver;
    SCRunLoopRef loop; /* the driver's */
    SCNetworkReachabilityRef default_path;
    gboolean polls; /* netlink is denied: scheduled targets may be 2 seconds old */
    GQueue destinations;
    struct manager manager;
    struct manager_state manager_state;

    gboolean available; /* as given to the program */
    gboolean metered;
    GNetworkConnectivity connectivity;
    guint owed;
};

static void monitor_iface_init(GNetworkMonitorInterface *interface);
static void initable_iface_init(GInitableIface *interface);

G_DEFINE_DYNAMIC_TYPE_EXTENDED(ReachabilityNetworkMonitor, reachability_network_monitor, G_TYPE_OBJECT,
                               G_TYPE_FLAG_FINAL,
                               G_IMPLEMENT_INTERFACE_DYNAMIC(G_TYPE_INITABLE, initable_iface_init)
                                   G_IMPLEMENT_INTERFACE_DYNAMIC(G_TYPE_NETWORK_MONITOR, monitor_iface_init))

/* ---- The thread ------------------------------------------------------------------------------------------------- */

/* Of the monitor, or of the thread. */
static void release_driver(struct driver *driver)
{
    gboolean is_last;

    g_mutex_lock(&driver->lock);
    is_last = --driver->owners == 0;
    g_mutex_unlock(&driver->lock);
    if (!is_last)
        return;
    SCRunLoopRelease(driver->loop);
    g_source_unref(driver->source);
    g_mutex_clear(&driver->lock);
    g_cond_clear(&driver->driven);
    g_free(driver);
}

static gboolean wait_for_work(SCRunLoopRef loop, int milliseconds)
{
    struct pollfd entry = { .fd = SCRunLoopGetFileDescriptor(loop), .events = POLLIN };

    return poll(&entry, 1, milliseconds) > 0 && (entry.revents & POLLIN) != 0;
}

/* Returns whether an answer may have changed. */
static gboolean take_changes(SCRunLoopRef loop)
{
    SCNetworkReachabilityRef target;
    gboolean changed = FALSE;

    while ((target = SCRunLoopCopyNextChange(loop, NULL)) != NULL) {
        SCNetworkReachabilityRelease(target);
        changed = TRUE;
    }
    return changed;
}

static gpointer drive(gpointer data)
{
    struct driver *driver = data;
    guint64 asked = 0, done = 0;
    gboolean is_closed = FALSE;

    while (!is_closed) {
        gboolean changed = FALSE;

        g_mutex_lock(&driver->lock);
        asked = driver->asked;
        g_mutex_unlock(&driver->lock);
        if (asked == done) { /* a later request wakes the run loop; not by SCRunLoopPerform(-1): see `changed` below */
            (void)wait_for_work(driver->loop, -1);
            g_mutex_lock(&driver->lock);
            asked = driver->asked;
            g_mutex_unlock(&driver->lock);
        }
        for (int pass = 0; pass < PASSES_MAX && wait_for_work(driver->loop, 0); pass++) {
            if (SCRunLoopPerform(driver->loop, 0) < 0)
                (void)poll(NULL, 0, RETRY_AFTER);
            changed = take_changes(driver->loop) || changed;
        }
        g_mutex_lock(&driver->lock);
        changed = changed || asked == driver->done; /* the end of a look-up can change an answer, and no flags */
        driver->done = done = asked;
        driver->is_late = FALSE;
        g_cond_broadcast(&driver->driven);
        is_closed = driver->is_closed;
        if (changed && !is_closed) {
            driver->is_changed = TRUE;
            g_source_set_ready_time(driver->source, 0);
        }
        g_mutex_unlock(&driver->lock);
    }
    release_driver(driver);
    return NULL;
}

/* Takes a reference to the loop. NULL: no thread could be started. */
static struct driver *driver_new(SCRunLoopRef loop, GSource *source)
{
    struct driver *driver = g_new0(struct driver, 1);
    GThread *thread;

    g_mutex_init(&driver->lock);
    g_cond_init(&driver->driven);
    g_mutex_lock(&driver->lock);
    driver->loop = SCRunLoopRetain(loop);
    driver->source = g_source_ref(source);
    driver->process = getpid();
    thread = g_thread_try_new("reachability", drive, driver, NULL);
    driver->owners = thread != NULL ? 2 : 1;
    g_mutex_unlock(&driver->lock);
    if (thread != NULL) {
        g_thread_unref(thread);
        return driver;
    }
    release_driver(driver);
    return NULL;
}

static void driver_wait(struct driver *driver)
{
    const gint64 end = g_get_monotonic_time() + READ_WAITS;
    guint64 mine;

    g_mutex_lock(&driver->lock);
    mine = ++driver->asked;
    SCRunLoopWakeUp(driver->loop);
    while (driver->done < mine && !driver->is_late)
        driver->is_late = !g_cond_wait_until(&driver->driven, &driver->lock, end) && driver->done < mine;
    g_mutex_unlock(&driver->lock);
}

/* In a child of fork(2), the parent's thread may have had the lock. */
static void driver_close(struct driver *driver)
{
    if (driver->process != getpid())
        return;
    g_mutex_lock(&driver->lock);
    driver->is_closed = TRUE;
    SCRunLoopWakeUp(driver->loop);
    g_mutex_unlock(&driver->lock);
    release_driver(driver);
}

/* ---- The run loop ----------------------------------------------------------------------------------------------- */

static void close_loop(ReachabilityNetworkMonitor *self)
{
    destinations_clear(&self->destinations);
    if (self->default_path != NULL && self->loop != NULL)
        SCNetworkReachabilityUnscheduleFromRunLoop(self->default_path, self->loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(self->default_path);
    SCRunLoopRelease(self->loop);
    if (self->driver != NULL)
        driver_close(self->driver);
    self->default_path = NULL;
    self->loop = NULL;
    self->driver = NULL;
}

/* Returns 0 or an SCError(). */
static int open_loop(ReachabilityNetworkMonitor *self)
{
    const struct sockaddr_in everywhere = { .sin_family = AF_INET };
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    int status;

    self->loop = SCRunLoopCreate();
    if (self->loop != NULL)
        self->default_path = SCNetworkReachabilityCreateWithAddress(NULL, (const struct sockaddr *)&everywhere);
    if (self->default_path != NULL &&
        SCNetworkReachabilityScheduleWithRunLoop(self->default_path, self->loop, kSCRunLoopDefaultMode) &&
        SCNetworkReachabilityGetPath(self->default_path, &path)) {
        self->polls = path.evidence == kSCNetworkReachabilityEvidenceSocket;
        self->driver = driver_new(self->loop, self->source);
        status = self->driver == NULL ? kSCStatusFailed : 0;
    } else {
        status = SCError();
    }
    if (status != 0)
        close_loop(self);
    return status;
}

static void drive_locked(ReachabilityNetworkMonitor *self)
{
    if (self->loop == NULL)
        return;
    if (self->driver->process != getpid()) { /* a child of fork(2): the loop and its targets are the parent's */
        close_loop(self);
        open_loop(self);
    }
    if (self->loop != NULL)
        driver_wait(self->driver);
}

/* ---- The state -------------------------------------------------------------------------------------------------- */

static gboolean is_available(const ReachabilityNetworkMonitor *self)
{
    return self->default_path != NULL && target_is_reachable(self->default_path);
}

/* The source runs at once if an event is owed, otherwise when a destination is to be dropped. */
static void arm_locked(ReachabilityNetworkMonitor *self)
{
    const gint64 due = destinations_expire(&self->destinations, g_get_monotonic_time());

    if (self->driver != NULL)
        g_mutex_lock(&self->driver->lock);
    g_source_set_ready_time(self->source,
                            self->owed != 0 || (self->driver != NULL && self->driver->is_changed) ? 0 : due);
    if (self->driver != NULL)
        g_mutex_unlock(&self->driver->lock);
}

/* Compares what is known with what the program was given. */
static void compare_locked(ReachabilityNetworkMonitor *self)
{
    gboolean available;
    GNetworkConnectivity connectivity = G_NETWORK_CONNECTIVITY_LOCAL;

    if (self->driver != NULL) {
        g_mutex_lock(&self->driver->lock);
        self->driver->is_changed = FALSE;
        g_mutex_unlock(&self->driver->lock);
    }
    available = is_available(self);
    if (available)
        connectivity = self->manager_state.connectivity;
    if (available != self->available)
        self->owed |= OWED_AVAILABLE;
    if (self->manager_state.metered != self->metered)
        self->owed |= OWED_METERED;
    if (connectivity != self->connectivity)
        self->owed |= OWED_CONNECTIVITY;
    if (destinations_update(&self->destinations))
        self->owed |= OWED_ANSWER;
    self->available = available;
    self->metered = self->manager_state.metered;
    self->connectivity = connectivity;
    arm_locked(self);
}

static void update_locked(ReachabilityNetworkMonitor *self)
{
    drive_locked(self);
    compare_locked(self);
}

static void on_manager_change(gpointer owner)
{
    ReachabilityNetworkMonitor *self = owner;

    g_mutex_lock(&self->lock);
    self->manager_state = manager_state(&self->manager);
    compare_locked(self);
    g_mutex_unlock(&self->lock);
}

/* ---- The source ------------------------------------------------------------------------------------------------- */

/* The monitor may be finalised in any thread, while its context dispatches. */
struct monitor_source {
    GSource source;
    GWeakRef monitor;
    pid_t process; /* a child of fork(2) has no thread: dispatch makes another run loop */
};

/* GLib has a reference to the source, which the thread sanitizer does not see. */
__attribute__((no_sanitize("thread"))) static gboolean prepare(GSource *source, int *timeout)
{
    *timeout = -1;
    return ((struct monitor_source *)source)->process != getpid();
}

/* A handler may run the context, and so this function again. What is emitted after it is the current state. */
static void notify(ReachabilityNetworkMonitor *self, guint owed)
{
    gboolean available;

    if (owed & OWED_AVAILABLE)
        g_object_notify(G_OBJECT(self), "network-available");
    if (owed & OWED_METERED)
        g_object_notify(G_OBJECT(self), "network-metered");
    if (owed & OWED_CONNECTIVITY)
        g_object_notify(G_OBJECT(self), "connectivity");
    if ((owed & OWED_NETWORK_CHANGED) == 0)
        return;
    g_mutex_lock(&self->lock);
    available = self->available;
    g_mutex_unlock(&self->lock);
    g_signal_emit_by_name(self, "network-changed", available);
}

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
    ReachabilityNetworkMonitor *self = g_weak_ref_get(&((struct monitor_source *)source)->monitor);
    guint owed;

    (void)callback, (void)data;
    if (self == NULL)
        return G_SOURCE_REMOVE;
    g_mutex_lock(&self->lock);
    ((struct monitor_source *)source)->process = getpid();
    update_locked(self);
    owed = self->owed;
    self->owed = 0;
    arm_locked(self);
    g_mutex_unlock(&self->lock);
    notify(self, owed);
    g_object_unref(self);
    return G_SOURCE_CONTINUE;
}

static void finalize_source(GSource *source)
{
    g_weak_ref_clear(&((struct monitor_source *)source)->monitor);
}

static GSource *new_source(ReachabilityNetworkMonitor *self)
{
    static GSourceFuncs functions = { .prepare = prepare, .dispatch = dispatch, .finalize = finalize_source };
    GSource *source = g_source_new(&functions, sizeof(struct monitor_source));

    g_weak_ref_init(&((struct monitor_source *)source)->monitor, self);
    ((struct monitor_source *)source)->process = getpid();
    g_source_set_name(source, "reachability");
    g_source_set_can_recurse(source, TRUE);
    return source;
}

/* ---- For can_reach ---------------------------------------------------------------------------------------------- */

struct destination *monitor_new_destination(ReachabilityNetworkMonitor *self, GSocketConnectable *connectable)
{
    struct destination *destination;

    g_mutex_lock(&self->lock);
    drive_locked(self); /* a child of fork(2) has another loop after it */
    destination = destination_new(connectable, self->loop);
    g_mutex_unlock(&self->lock);
    return destination;
}

void monitor_add(ReachabilityNetworkMonitor *self, struct destination *destination, GSocketAddress *address)
{
    g_mutex_lock(&self->lock);
    destination_add(destination, address, self->polls ? NULL : &self->destinations);
    g_mutex_unlock(&self->lock);
}

gboolean monitor_query(ReachabilityNetworkMonitor *self, const struct destination *destination)
{
    g_mutex_lock(&self->lock);
    update_locked(self);
    g_mutex_unlock(&self->lock);
    return destination_is_reachable(destination);
}

gboolean monitor_remember(ReachabilityNetworkMonitor *self, struct destination *destination, gboolean told)
{
    gboolean reachable;

    g_mutex_lock(&self->lock);
    update_locked(self);
    reachable = destination->reachable = destination_is_reachable(destination);
    if (destinations_remember(&self->destinations, destination, g_get_monotonic_time()) || (told && !reachable))
        self->owed |= OWED_ANSWER;
    arm_locked(self);
    g_mutex_unlock(&self->lock);
    return reachable;
}

/* ---- GObject ---------------------------------------------------------------------------------------------------- */

static gboolean initialize(GInitable *initable, GCancellable *cancellable, GError **error)
{
    ReachabilityNetworkMonitor *self = REACHABILITY_NETWORK_MONITOR(initable);
    int status;

    if (g_cancellable_set_error_if_cancelled(cancellable, error))
        return FALSE;
    if (self->source != NULL)
        return TRUE;
    self->source = new_source(self);
    status = open_loop(self);
    if (status != 0) {
        g_clear_pointer(&self->source, g_source_unref);
        g_set_error_literal(error, G_IO_ERROR,
                            status < kSCStatusFailed ? g_io_error_from_errno(status) : G_IO_ERROR_FAILED,
                            SCErrorString(status));
        return FALSE;
    }
    manager_open(&self->manager, G_OBJECT(self), on_manager_change);
    /* Another thread may run the context: a change of the manager may have come, and the source runs once attached. */
    g_mutex_lock(&self->lock);
    self->manager_state = manager_state(&self->manager);
    self->available = is_available(self);
    self->metered = self->manager_state.metered;
    self->connectivity = self->available ? self->manager_state.connectivity : G_NETWORK_CONNECTIVITY_LOCAL;
    self->owed = 0; /* the program was given nothing before this */
    arm_locked(self);
    g_mutex_unlock(&self->lock);
    g_source_attach(self->source, self->context);
    return TRUE;
}

static void get_property(GObject *object, guint property, GValue *value, GParamSpec *pspec)
{
    ReachabilityNetworkMonitor *self = REACHABILITY_NETWORK_MONITOR(object);

    g_mutex_lock(&self->lock);
    update_locked(self);
    switch (property) {
    case PROP_NETWORK_AVAILABLE:
        g_value_set_boolean(value, self->available);
        break;
    case PROP_NETWORK_METERED:
        g_value_set_boolean(value, self->metered);
        break;
    case PROP_CONNECTIVITY:
        g_value_set_enum(value, self->connectivity);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, property, pspec);
    }
    g_mutex_unlock(&self->lock);
}

static void finalize(GObject *object)
{
    ReachabilityNetworkMonitor *self = REACHABILITY_NETWORK_MONITOR(object);

    close_loop(self); /* after this the thread does not touch the source */
    if (self->source != NULL) {
        g_source_destroy(self->source);
        g_source_unref(self->source);
    }
    manager_close(&self->manager, self->context);
    g_main_context_unref(self->context);
    g_mutex_clear(&self->lock);
    G_OBJECT_CLASS(reachability_network_monitor_parent_class)->finalize(object);
}

static void reachability_network_monitor_init(ReachabilityNetworkMonitor *self)
{
    g_mutex_init(&self->lock);
    g_queue_init(&self->destinations);
    self->context = g_main_context_ref_thread_default();
    self->manager_state.connectivity = G_NETWORK_CONNECTIVITY_FULL;
    self->connectivity = G_NETWORK_CONNECTIVITY_LOCAL;
}

static void reachability_network_monitor_class_init(ReachabilityNetworkMonitorClass *class)
{
    GObjectClass *object_class = G_OBJECT_CLASS(class);

    object_class->get_property = get_property;
    object_class->finalize = finalize;
    g_object_class_override_property(object_class, PROP_NETWORK_AVAILABLE, "network-available");
    g_object_class_override_property(object_class, PROP_NETWORK_METERED, "network-metered");
    g_object_class_override_property(object_class, PROP_CONNECTIVITY, "connectivity");
}

static void reachability_network_monitor_class_finalize(ReachabilityNetworkMonitorClass *class)
{
    (void)class;
}

static void initable_iface_init(GInitableIface *interface)
{
    interface->init = initialize;
}

static void monitor_iface_init(GNetworkMonitorInterface *interface)
{
    can_reach_init(interface);
}

void reachability_network_monitor_register(GTypeModule *module)
{
    reachability_network_monitor_register_type(module);
    /* Above GLib's netlink monitor, 20. Below systemd's, NetworkManager's, 30, and the portal's, 40: where one of these
     * runs, the user decides. */
    g_io_extension_point_implement(G_NETWORK_MONITOR_EXTENSION_POINT_NAME, REACHABILITY_TYPE_NETWORK_MONITOR,
                                   "reachability", 22);
}
