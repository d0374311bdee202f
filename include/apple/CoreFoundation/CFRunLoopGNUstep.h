/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_APPLE_CFRUNLOOPGNUSTEP_H
#define REACHABILITY_APPLE_CFRUNLOOPGNUSTEP_H

/*
 * Makes GNUstep's NSRunLoop serve the CFRunLoopRef of its thread: on Apple's systems, both are one loop. In the main
 * thread, it then serves the main queue, too. CFRunLoopRun, in contrast, does not run an NSRunLoop.
 *
 * What this file must never do: define a class. A class is a symbol of the program, and each source file would define
 * it again. The class of the watcher is made at run time.
 */

#include <CoreFoundation/CFBase.h>
#import <Foundation/NSDictionary.h>
#import <Foundation/NSRunLoop.h>
#import <Foundation/NSString.h>
#import <Foundation/NSThread.h>
#include <objc/runtime.h>

/* The watcher's methods are functions. */

static inline void reachability_gs_received_event(id self, SEL command, void *data, RunLoopEventType type, void *extra,
                                                  NSString *mode)
{
    const int queue = reachability_cf_main_queue();

    (void)self, (void)command, (void)data, (void)type, (void)extra, (void)mode;
    SCRunLoopPerform(SCRunLoopGetCurrent(), 0);
    if (queue >= 0)
        reachability_cf_run_main_queue(queue);
}

static inline void reachability_gs_watch_descriptor(id watcher, int descriptor)
{
    if (descriptor >= 0)
        [[NSRunLoop currentRunLoop] addEvent:(void *)(intptr_t)descriptor
                                        type:ET_RDESC
                                     watcher:(id<RunLoopEvents>)watcher
                                     forMode:NSDefaultRunLoopMode];
}

/* Adds the watcher to the NSRunLoop of the calling thread, once. The thread's dictionary keeps the watcher. */
static inline void reachability_gs_watch(id self, SEL command)
{
    NSMutableDictionary *dictionary = [[NSThread currentThread] threadDictionary];

    (void)command;
    if ([dictionary objectForKey:@"ReachabilityRunLoopWatcher"] != nil)
        return;
    [dictionary setObject:self forKey:@"ReachabilityRunLoopWatcher"];
    reachability_gs_watch_descriptor(self, SCRunLoopGetFileDescriptor(SCRunLoopGetCurrent()));
    reachability_gs_watch_descriptor(self, reachability_cf_main_queue());
}

static inline Class reachability_gs_class(void)
{
    Class watcher;

    @synchronized([NSRunLoop class]) {
        watcher = objc_getClass("ReachabilityRunLoopWatcher");
        if (watcher == Nil) {
            watcher = objc_allocateClassPair([NSObject class], "ReachabilityRunLoopWatcher", 0);
            class_addMethod(watcher, @selector(receivedEvent:type:extra:forMode:), (IMP)reachability_gs_received_event,
                            "v@:^vi^v@");
            class_addMethod(watcher, @selector(watch), (IMP)reachability_gs_watch, "v@:");
            objc_registerClassPair(watcher);
        }
    }
    return watcher;
}

/* The NSRunLoop of the main thread, or of the calling thread, serves its CFRunLoopRef from now on. */
static inline void reachability_gs_serve(SCRunLoopRef loop)
{
    id watcher = [[reachability_gs_class() alloc] init];

    if (loop == SCRunLoopGetCurrent())
        reachability_gs_watch(watcher, NULL);
    else if (loop == SCRunLoopGetMain())
        [watcher performSelectorOnMainThread:@selector(watch) withObject:nil waitUntilDone:NO];
#ifndef REACHABILITY_CF_ARC
    [watcher release];
#endif
}

#endif
