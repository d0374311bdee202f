// SPDX-License-Identifier: MIT
//! A scheduled target. The library's one thread says when its path may have changed, to a task or to a thread that waits.

use std::mem;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process;
use std::ptr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread;
use std::time::Instant;

use reachability_sys as sys;

use crate::error::{Error, Result};
use crate::settling::Settling;
use crate::target::{RawTarget, Value};

#[derive(Default)]
struct State {
    is_unchanged: bool,
    is_stopped: bool,
    has_timer: bool,
    waker: Option<Waker>,
}

/// What the library's thread and those that wait share.
#[derive(Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_stopped(&self) -> bool {
        self.lock().is_stopped
    }

    /// Wakes the task at this time. The task sees itself whether its change is due later now.
    fn wake_at(&self, due: Instant) {
        let mut state = self.lock();
        while !state.is_stopped {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.has_timer = false;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The value may have changed.
    fn change(&self) {
        let waker = {
            let mut state = self.lock();
            state.is_unchanged = false;
            state.waker.take()
        };
        self.changed.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Ends the waits of now and later.
    pub fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }
}

/// On the library's thread. The target's context keeps `info` alive meanwhile.
unsafe extern "C" fn changed(_: sys::SCNetworkReachabilityRef, _: sys::SCNetworkReachabilityFlags, info: *mut c_void) {
    let shared = &*info.cast::<Shared>();
    // No panic may leave this function. The executor, whose code a waker runs, reports its own.
    drop(catch_unwind(AssertUnwindSafe(|| shared.change())));
}

unsafe extern "C" fn release_shared(info: *const c_void) {
    drop(Arc::from_raw(info.cast::<Shared>()));
}

/// Runs on the library's thread, and makes the callback there.
unsafe extern "C" fn perform_here(_: *mut c_void, work: sys::SCSchedulerWork, argument: *mut c_void) {
    work(argument);
}

pub(crate) struct Subscription<V> {
    pub target: RawTarget,
    pub shared: Arc<Shared>,
    pub last: Option<V>,
    settling: Settling<V>,
    process: u32,
}

impl<V: Value> Subscription<V> {
    pub fn new(mut target: RawTarget) -> Result<Subscription<V>> {
        let shared = Arc::new(Shared::default());
        let follower = Arc::clone(&shared);
        if !target.follow_script(move || follower.change()) {
            Self::schedule(&target, &shared)?;
        }
        let settling = Settling::new(target.settle_time);
        Ok(Subscription { target, shared, last: None, settling, process: process::id() })
    }

    fn schedule(target: &RawTarget, shared: &Arc<Shared>) -> Result<()> {
        let info = Arc::into_raw(Arc::clone(shared));
        let mut context = sys::SCNetworkReachabilityContext {
            version: 0,
            info: info as *mut c_void,
            retain: None,
            release: Some(release_shared),
            copyDescription: None,
        };
        if unsafe { sys::SCNetworkReachabilitySetCallback(target.reference, Some(changed), &mut context) } == 0 {
            let error = Error::of_last_call();
            drop(unsafe { Arc::from_raw(info) });
            return Err(error);
        }
        let scheduler = sys::SCNetworkReachabilityScheduler {
            version: 0,
            info: ptr::null_mut(),
            retain: None,
            release: None,
            perform: Some(perform_here),
        };
        if unsafe { sys::SCNetworkReachabilitySetScheduler(target.reference, &scheduler) } == 0 {
            return Err(Error::of_last_call());
        }
        Ok(())
    }

    /// The newest value, if it differs from the last one that this returned. Without one, the waker is kept for the next
    /// change.
    pub fn next_change(&mut self, waker: Option<&Waker>) -> Result<Option<V>> {
        self.refuse_in_child()?;
        let mut waker = waker.cloned(); // to clone or release one runs the executor's code, so the lock is free then
        loop {
            {
                let mut state = self.shared.lock();
                if state.is_unchanged && self.due().map_or(true, |due| Instant::now() < due) {
                    let has_waker = waker.is_some();
                    mem::swap(&mut state.waker, &mut waker);
                    drop(state);
                    return if has_waker { self.start_timer().map(|()| None) } else { Ok(None) };
                }
                state.is_unchanged = true; // before the value is read: what comes then is a change
            }
            let news = self.target.news(&mut self.last, &mut self.settling)?;
            if news.is_some() {
                return Ok(news);
            }
        }
    }

    /// When a change may be reported without another one.
    pub fn due(&self) -> Option<Instant> {
        self.settling.due()
    }

    /// A thread that wakes the task when a change is due: executors have no timer in common. It ends then, or with this.
    fn start_timer(&self) -> Result<()> {
        let due = match self.due() {
            Some(due) if !mem::replace(&mut self.shared.lock().has_timer, true) => due,
            _ => return Ok(()),
        };
        let shared = Arc::clone(&self.shared);
        let timer = thread::Builder::new().name("settle".into()).spawn(move || shared.wake_at(due));
        timer.map(drop).map_err(|error| {
            self.shared.lock().has_timer = false;
            Error::of_system(&error)
        })
    }

    /// After fork(2) the library's thread is only in the parent: a child would wait for ever. It may have had the lock.
    pub fn refuse_in_child(&self) -> Result<()> {
        if self.process == process::id() {
            Ok(())
        } else {
            Err(Error::IN_CHILD)
        }
    }

    /// Blocks until the value may have changed, or the watch is stopped. Returns false if the end comes before.
    pub fn wait(&self, end: Option<Instant>) -> bool {
        let mut state = self.shared.lock();
        while state.is_unchanged && !state.is_stopped {
            state = match end.map(|end| end.saturating_duration_since(Instant::now())) {
                None => self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => return false,
                Some(left) => self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
        true
    }
}

impl<V> Drop for Subscription<V> {
    fn drop(&mut self) {
        // A callback that has begun may finish later. The context has a reference of its own.
        unsafe { sys::SCNetworkReachabilitySetScheduler(self.target.reference, ptr::null()) };
        // That reference may be the last one. To release a waker runs the executor's code, which can panic, and no panic may
        // leave a function that C calls. In a child of fork(2), a thread of the parent may have had the lock.
        if self.process == process::id() {
            self.shared.stop();
            let waker = self.shared.lock().waker.take();
            drop(waker);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;
    use std::time::Duration;

    use super::*;
    use crate::path::Path;
    use crate::target::Target;

    /// When it is released, it counts that the lock is free.
    struct Released {
        shared: Arc<Shared>,
        free: Arc<AtomicUsize>,
    }

    impl Wake for Released {
        fn wake(self: Arc<Self>) {}
    }

    impl Drop for Released {
        fn drop(&mut self) {
            let end = Instant::now() + Duration::from_secs(10); // the library's thread may have it for a moment
            while Instant::now() < end {
                if self.shared.state.try_lock().is_ok() {
                    self.free.fetch_add(1, Ordering::SeqCst);
                    return;
                }
            }
        }
    }

    #[test]
    fn replaced_waker_is_released_without_the_lock() {
        let free = Arc::new(AtomicUsize::new(0));
        let target = Target::host("127.0.0.1").create_with(0).unwrap();
        let mut subscription = Subscription::<Path>::new(target).unwrap();
        for _ in 0..2 {
            let released = Released { shared: Arc::clone(&subscription.shared), free: Arc::clone(&free) };
            let waker = Waker::from(Arc::new(released));
            while subscription.next_change(Some(&waker)).unwrap().is_some() {}
        }
        while subscription.next_change(None).unwrap().is_some() {}
        assert_eq!(free.load(Ordering::SeqCst), 2);
    }
}
