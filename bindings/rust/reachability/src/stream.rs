// SPDX-License-Identifier: MIT
//! Watching a target in an asynchronous task.

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use reachability_sys as sys;

use crate::error::{Error, Result};
use crate::path::Path;
use crate::target::RawTarget;

/// A stream of the paths to a target: first the current one, then each that differs from the last. If several changes come
/// while the task is busy, it gets only the newest path. The stream never ends.
///
/// It has the shape of `futures::Stream`, and works with any executor: the library's thread wakes the task. This one
/// thread serves all streams.
pub struct Paths {
    target: RawTarget,
    shared: Arc<Shared>,
    last: Option<Path>,
}

#[derive(Default)]
struct State {
    is_unchanged: bool,
    waker: Option<Waker>,
}

/// What the library's thread and the task share.
#[derive(Default)]
struct Shared(Mutex<State>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// On the library's thread. The target's context keeps `info` alive meanwhile.
unsafe extern "C" fn changed(_: sys::SCNetworkReachabilityRef, _: sys::SCNetworkReachabilityFlags, info: *mut c_void) {
    let shared = &*info.cast::<Shared>();
    let waker = {
        let mut state = shared.lock();
        state.is_unchanged = false;
        state.waker.take()
    };
    if let Some(waker) = waker {
        // No panic may leave this function. The executor reports its own.
        drop(catch_unwind(AssertUnwindSafe(|| waker.wake())));
    }
}

unsafe extern "C" fn release_shared(info: *const c_void) {
    drop(Arc::from_raw(info.cast::<Shared>()));
}

/// Runs on the library's thread, and makes the callback there.
unsafe extern "C" fn perform_here(_: *mut c_void, work: sys::SCSchedulerWork, argument: *mut c_void) {
    work(argument);
}

impl Paths {
    pub(crate) fn new(target: RawTarget) -> Result<Paths> {
        let shared = Arc::new(Shared::default());
        let info = Arc::into_raw(Arc::clone(&shared));
        let mut context = sys::SCNetworkReachabilityContext {
            version: 0,
            info: info as *mut c_void,
            retain: None,
            release: Some(release_shared),
            copyDescription: None,
        };
        if unsafe { sys::SCNetworkReachabilitySetCallback(target.0, Some(changed), &mut context) } == 0 {
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
        if unsafe { sys::SCNetworkReachabilitySetScheduler(target.0, &scheduler) } == 0 {
            return Err(Error::of_last_call());
        }
        Ok(Paths { target, shared, last: None })
    }

    /// The function of `futures::Stream`.
    pub fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Path>>> {
        loop {
            {
                let mut state = self.shared.lock();
                if state.is_unchanged {
                    state.waker = Some(context.waker().clone());
                    return Poll::Pending;
                }
                state.is_unchanged = true;
            }
            match self.target.last_path() {
                Ok(path) if self.last.as_ref() == Some(&path) => (),
                Ok(path) => {
                    self.last = Some(path.clone());
                    return Poll::Ready(Some(Ok(path)));
                }
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
    }

    /// The next path: `while let Some(path) = paths.next().await`.
    #[allow(clippy::should_implement_trait)] // a stream is no iterator
    pub fn next(&mut self) -> Next<'_> {
        Next(self)
    }

    /// The path now. Queries the kernel, which takes some microseconds.
    ///
    /// # Errors
    /// The library's.
    pub fn path(&self) -> Result<Path> {
        self.target.path()
    }

    /// The addresses of the host. Empty while its name is not resolved, and for the default path.
    #[must_use]
    pub fn addresses(&self) -> Vec<IpAddr> {
        self.target.addresses()
    }
}

/// The text of `SCNetworkReachabilityGetDescription`.
impl fmt::Debug for Paths {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.target.description())
    }
}

impl Drop for Paths {
    fn drop(&mut self) {
        // A callback that has begun may finish later. The context has a reference of its own.
        unsafe { sys::SCNetworkReachabilitySetScheduler(self.target.0, ptr::null()) };
    }
}

/// The future of [`Paths::next`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Next<'a>(&'a mut Paths);

impl Future for Next<'_> {
    type Output = Option<Result<Path>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut *self.0).poll_next(context)
    }
}
