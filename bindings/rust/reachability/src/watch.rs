// SPDX-License-Identifier: MIT
//! Watching a target on a thread, or in an event loop.

use std::fmt;
use std::net::IpAddr;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::{Duration, Instant};

use reachability_sys as sys;

use crate::error::{Error, Result};
use crate::path::Path;
use crate::target::RawTarget;

/// Iterates over the paths to a target: first the current one, then each that differs from the last. If several changes
/// come while the program is busy, it gets only the newest path. The iteration blocks, and ends only after an error.
///
/// In an event loop, wait until the descriptor is readable, and then call [`Watch::next_change`] until it returns `None`.
/// Do not read from the descriptor or close it.
pub struct Watch {
    target: RawTarget,
    run_loop: sys::SCRunLoopRef,
    last: Option<Path>,
    has_failed: bool,
}

// Any thread may make any call. Those that drive the run loop need `&mut self`.
unsafe impl Send for Watch {}
unsafe impl Sync for Watch {}

impl Watch {
    pub(crate) fn new(target: RawTarget) -> Result<Watch> {
        let run_loop = unsafe { sys::SCRunLoopCreate() };
        if run_loop.is_null() {
            return Err(Error::of_last_call());
        }
        let watch = Watch { target, run_loop, last: None, has_failed: false };
        let mode = sys::kSCRunLoopDefaultMode.as_ptr().cast();
        if unsafe { sys::SCNetworkReachabilityScheduleWithRunLoop(watch.target.0, run_loop, mode) } == 0 {
            return Err(Error::of_last_call());
        }
        Ok(watch)
    }

    /// The newest path, if it differs from the last one that this watch returned. Does not wait.
    ///
    /// # Errors
    /// The library's.
    pub fn next_change(&mut self) -> Result<Option<Path>> {
        self.perform(0.0)?;
        let path = self.target.last_path()?;
        if self.last.as_ref() == Some(&path) {
            return Ok(None);
        }
        self.last = Some(path.clone());
        Ok(Some(path))
    }

    /// The next path, as the iterator returns it. None: it did not come in time.
    ///
    /// # Errors
    /// The library's.
    pub fn wait(&mut self, timeout: Duration) -> Result<Option<Path>> {
        let end = Instant::now().checked_add(timeout); // None: never
        loop {
            let path = self.next_change()?;
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if path.is_some() || left == Some(Duration::ZERO) {
                return Ok(path);
            }
            self.perform(left.map_or(-1.0, |left| left.as_secs_f64()))?;
        }
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

    /// Handles what is due. If nothing is, waits at most `seconds`; a negative number: without limit.
    fn perform(&mut self, seconds: f64) -> Result<()> {
        if unsafe { sys::SCRunLoopPerform(self.run_loop, seconds) } < 0 {
            return Err(Error::of_last_call());
        }
        loop {
            let changed = unsafe { sys::SCRunLoopCopyNextChange(self.run_loop, std::ptr::null_mut()) };
            if changed.is_null() {
                return Ok(());
            }
            unsafe { sys::SCNetworkReachabilityRelease(changed) };
        }
    }

    fn wait_for_next(&mut self) -> Result<Path> {
        loop {
            if let Some(path) = self.next_change()? {
                return Ok(path);
            }
            self.perform(-1.0)?;
        }
    }
}

impl Iterator for Watch {
    type Item = Result<Path>;

    fn next(&mut self) -> Option<Result<Path>> {
        if self.has_failed {
            return None;
        }
        let result = self.wait_for_next();
        self.has_failed = result.is_err();
        Some(result)
    }
}

impl AsRawFd for Watch {
    fn as_raw_fd(&self) -> RawFd {
        unsafe { sys::SCRunLoopGetFileDescriptor(self.run_loop) }
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

/// The text of `SCNetworkReachabilityGetDescription`.
impl fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.target.description())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mode = sys::kSCRunLoopDefaultMode.as_ptr().cast();
        unsafe {
            sys::SCNetworkReachabilityUnscheduleFromRunLoop(self.target.0, self.run_loop, mode);
            sys::SCRunLoopRelease(self.run_loop);
        }
    }
}
