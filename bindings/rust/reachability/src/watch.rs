// SPDX-License-Identifier: MIT
//! Watching a target on a thread.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::network::Network;
use crate::path::Path;
use crate::subscription::{Shared, Subscription};
use crate::target::{RawTarget, Readable, Value};

/// Iterates over the paths to a target: first the current one, then each that differs from the last. If several changes
/// come while the program is busy, it gets only the newest path. A `Watch<Network>` does the same with the [`Network`]. The
/// iteration blocks. It ends after an error, and when a [`StopHandle`] stops it.
///
/// The library's one thread serves all watches: their number costs no descriptors. After `fork`, the child has no such
/// thread: there a watch of the parent returns the error `ECHILD`.
pub struct Watch<V: Value = Path> {
    subscription: Subscription<V>,
    has_ended: bool,
}

/// Stops a [`Watch`] from another thread.
#[derive(Clone)]
pub struct StopHandle(Arc<Shared>);

impl StopHandle {
    /// Ends the iteration, and each wait of now and later.
    pub fn stop(&self) {
        self.0.stop();
    }
}

impl fmt::Debug for StopHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("StopHandle")
    }
}

impl<V: Value> Watch<V> {
    pub(crate) fn new(target: RawTarget) -> Result<Watch<V>> {
        Ok(Watch { subscription: Subscription::new(target)?, has_ended: false })
    }

    /// What another thread stops this watch with.
    #[must_use]
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(Arc::clone(&self.subscription.shared))
    }

    /// The newest path or network, if it differs from the last one that this watch returned. Does not wait.
    ///
    /// # Errors
    /// The library's.
    pub fn next_change(&mut self) -> Result<Option<V>> {
        self.subscription.next_change(None)
    }

    /// The next path or network, as the iterator returns it. None: it did not come in time, or the watch is stopped.
    ///
    /// # Errors
    /// The library's.
    pub fn wait(&mut self, timeout: Duration) -> Result<Option<V>> {
        self.wait_until(Instant::now().checked_add(timeout))
    }

    /// No end: without limit.
    pub(crate) fn wait_until(&mut self, end: Option<Instant>) -> Result<Option<V>> {
        self.subscription.refuse_in_child()?;
        while !self.subscription.shared.is_stopped() {
            let value = self.next_change()?;
            let first = end.into_iter().chain(self.subscription.due()).min();
            if value.is_some() || (!self.subscription.wait(first) && first == end) {
                return Ok(value);
            }
        }
        Ok(None)
    }
}

impl Watch<Path> {
    /// The path now. Queries the kernel, which takes some microseconds.
    ///
    /// # Errors
    /// The library's.
    pub fn path(&self) -> Result<Path> {
        self.subscription.target.path()
    }

    /// The addresses of the host, of the newest look-up: a path that was returned may be older. Empty while its name is
    /// not resolved, and for the default path.
    #[must_use]
    pub fn addresses(&self) -> Vec<IpAddr> {
        self.subscription.target.addresses()
    }
}

impl Watch<Network> {
    /// The network as it was evaluated last.
    ///
    /// # Errors
    /// The library's.
    pub fn network(&self) -> Result<Network> {
        Network::read(&self.subscription.target)
    }
}

impl<V: Value> Iterator for Watch<V> {
    type Item = Result<V>;

    fn next(&mut self) -> Option<Result<V>> {
        if self.has_ended {
            return None;
        }
        let result = self.wait_until(None);
        self.has_ended = !matches!(result, Ok(Some(_)));
        result.transpose()
    }
}

/// The text of `SCNetworkReachabilityGetDescription`.
impl<V: Value> fmt::Debug for Watch<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.subscription.target.description())
    }
}
