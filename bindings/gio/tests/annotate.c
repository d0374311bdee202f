/* SPDX-License-Identifier: MIT */
/*
 * For the thread sanitizer. GLib is not compiled with it, and its locks, references and threads' queues are futexes and
 * atomics, so the sanitizer does not see what they order. The linker's --wrap leads the calls of the module and of the
 * tests here. Only what GLib promises is annotated: a lock orders its holders, and the last unref comes after all
 * others.
 */
#include <gio/gio.h>
#include <sanitizer/tsan_interface.h>

void __real_g_mutex_lock(GMutex *mutex);
void __real_g_mutex_unlock(GMutex *mutex);
void __real_g_object_unref(gpointer object);
gboolean __real_g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end);
void __real_g_cond_wait(GCond *cond, GMutex *mutex);

G_MODULE_EXPORT void __wrap_g_mutex_lock(GMutex *mutex);
G_MODULE_EXPORT void __wrap_g_mutex_unlock(GMutex *mutex);
G_MODULE_EXPORT void __wrap_g_object_unref(gpointer object);
G_MODULE_EXPORT void __wrap_g_cond_wait(GCond *cond, GMutex *mutex);
G_MODULE_EXPORT gboolean __wrap_g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end);

void __wrap_g_mutex_lock(GMutex *mutex)
{
    __real_g_mutex_lock(mutex);
    __tsan_acquire(mutex);
}

void __wrap_g_mutex_unlock(GMutex *mutex)
{
    __tsan_release(mutex);
    __real_g_mutex_unlock(mutex);
}

void __wrap_g_object_unref(gpointer object)
{
    __tsan_release(object);
    __tsan_acquire(object);
    __real_g_object_unref(object);
}

void __wrap_g_cond_wait(GCond *cond, GMutex *mutex)
{
    __tsan_release(mutex);
    __real_g_cond_wait(cond, mutex);
    __tsan_acquire(mutex);
}

gboolean __wrap_g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end)
{
    gboolean in_time;

    __tsan_release(mutex);
    in_time = __real_g_cond_wait_until(cond, mutex, end);
    __tsan_acquire(mutex);
    return in_time;
}
