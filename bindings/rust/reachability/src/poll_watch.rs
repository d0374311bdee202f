// SPDX-License-Identifier: MIT
//! Watching a target in an event loop, by a descriptor.

use std::fmt;
use std::net::IpAddr;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use reachability_sys as sys;

use crate::error::{Error, Result};
use crate::path::Path;
use crate::settling::Settling;
use crate::target::RawTarget;

/// A watch for event loops such as mio's, with descriptors of its own. Wait until its descriptor is readable, or
/// [`PollWatch::settles_in`] is over, and then call [`PollWatch::next_change`] until it returns `None`. Do not read from the descriptor or close it.
pub struct PollWatch {
    target: RawTarget,
    run_loop: Arc<RunLoop>,
    last: Option<Path>,
    settling: Settling<Path>,
}

struct RunLoop(sys::SCRunLoopRef);

// Any thread may make any call. Those that drive the run loop need `&mut PollWatch`.
unsafe impl Send for RunLoop {}
unsafe impl Sync for RunLoop {}

impl Drop for RunLoop {
    fn drop(&mut self) {
        unsafe { sys::SCRunLoopRelease(self.0) };
    }
}

impl PollWatch {
    pub(crate) fn new(mut target: RawTarget) -> Result<PollWatch> {
        let run_loop = Arc::new(RunLoop(unsafe { sys::SCRunLoopCreate() }));
        if run_loop.0.is_null() {
            return Err(Error::of_last_call());
        }
        let follower = Arc::clone(&run_loop);
        if !target.follow_script(move || unsafe { sys::SCRunLoopWakeUp(follower.0) }) {
            let mode = sys::kSCRunLoopDefaultMode.as_ptr().cast();
            if unsafe { sys::SCNetworkReachabilityScheduleWithRunLoop(target.reference, run_loop.0, mode) } == 0 {
                return Err(Error::of_last_call());
            }
        }
        let settling = Settling::new(target.settle_time);
        Ok(PollWatch { target, run_loop, last: None, settling })
    }

    /// The newest path, if it differs from the last one that this watch returned. Does not wait.
    ///
    /// # Errors
    /// The library's.
    pub fn next_change(&mut self) -> Result<Option<Path>> {
        self.perform()?;
        self.target.news(&mut self.last, &mut self.settling)
    }

    /// The time until [`PollWatch::next_change`] may return a change that has to settle. None: there is none.
    #[must_use]
    pub fn settles_in(&self) -> Option<Duration> {
        self.settling.due().map(|due| due.saturating_duration_since(Instant::now()))
    }

    /// The path now. Queries the kernel, which takes some microseconds.
    ///
    /// # Errors
    /// The library's.
    pub fn path(&self) -> Result<Path> {
        self.target.path()
    }

    /// The addresses of the host, of the newest look-up: a path that was returned may be older. Empty while its name is
    /// not resolved, and for the default path.
    #[must_use]
    pub fn addresses(&self) -> Vec<IpAddr> {
        self.target.addresses()
    }

    /// Handles what is due, without a wait.
    fn perform(&mut self) -> Result<()> {
        if unsafe { sys::SCRunLoopPerform(self.run_loop.0, 0.0) } < 0 {
            return Err(Error::of_last_call());
        }
        loop {
            let changed = unsafe { sys::SCRunLoopCopyNextChange(self.run_loop.0, std::ptr::null_mut()) };
            if changed.is_null() {
                return Ok(());
            }
            unsafe { sys::SCNetworkReachabilityRelease(changed) };
        }
    }
}

impl AsRawFd for PollWatch {
    fn as_raw_fd(&self) -> RawFd {
        unsafe { sys::SCRunLoopGetFileDescriptor(self.run_loop.0) }
    }
}

impl AsFd for PollWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

/// The text of `SCNetworkReachabilityGetDescription`.
impl fmt::Debug for PollWatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.target.description())
    }
}

impl Drop for PollWatch {
    fn drop(&mut self) {
        let mode = sys::kSCRunLoopDefaultMode.as_ptr().cast();
        unsafe { sys::SCNetworkReachabilityUnscheduleFromRunLoop(self.target.reference, self.run_loop.0, mode) };
    }
}
