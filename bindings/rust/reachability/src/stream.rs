// SPDX-License-Identifier: MIT
//! Watching a target in an asynchronous task.

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::Result;
use crate::network::Network;
use crate::path::Path;
use crate::subscription::Subscription;
use crate::target::{RawTarget, Readable, Value};

/// The stream of the paths to a target.
pub type Paths = Changes<Path>;

/// The stream of [`watch_network_async`](crate::watch_network_async).
pub type Networks = Changes<Network>;

/// A stream of paths or networks: first the current one, then each that differs from the last. If several changes come while
/// the task is busy, it gets only the newest. The stream never ends.
///
/// It has the shape of `futures::Stream`, and is one with the feature `futures`. It works with any executor: the library's
/// thread wakes the task. This one thread serves all streams. After `fork`, the child has no such thread: there a stream of
/// the parent returns the error `ECHILD`.
pub struct Changes<V: Value>(Subscription<V>);

impl<V: Value> Changes<V> {
    pub(crate) fn new(target: RawTarget) -> Result<Changes<V>> {
        Ok(Changes(Subscription::new(target)?))
    }

    /// The function of `futures::Stream`.
    pub fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<V>>> {
        match self.0.next_change(Some(context.waker())) {
            Ok(None) => Poll::Pending,
            Ok(Some(value)) => Poll::Ready(Some(Ok(value))),
            Err(error) => Poll::Ready(Some(Err(error))),
        }
    }

    /// The next path or network: `while let Some(path) = paths.next().await`.
    #[allow(clippy::should_implement_trait)] // a stream is no iterator
    pub fn next(&mut self) -> Next<'_, V> {
        Next(self)
    }
}

impl Changes<Path> {
    /// The path now. Queries the kernel, which takes some microseconds.
    ///
    /// # Errors
    /// The library's.
    pub fn path(&self) -> Result<Path> {
        self.0.target.path()
    }

    /// The addresses of the host, of the newest look-up: a path that was returned may be older. Empty while its name is
    /// not resolved, and for the default path.
    #[must_use]
    pub fn addresses(&self) -> Vec<IpAddr> {
        self.0.target.addresses()
    }
}

impl Changes<Network> {
    /// The network as it was evaluated last.
    ///
    /// # Errors
    /// The library's.
    pub fn network(&self) -> Result<Network> {
        Network::read(&self.0.target)
    }
}

#[cfg(feature = "futures")]
impl<V: Value> futures_core::Stream for Changes<V> {
    type Item = Result<V>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<V>>> {
        Changes::poll_next(self, context)
    }
}

/// The text of `SCNetworkReachabilityGetDescription`.
impl<V: Value> fmt::Debug for Changes<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.target.description())
    }
}

/// The future of [`Changes::next`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Next<'a, V: Value>(&'a mut Changes<V>);

impl<V: Value> Future for Next<'_, V> {
    type Output = Option<Result<V>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut *self.0).poll_next(context)
    }
}
