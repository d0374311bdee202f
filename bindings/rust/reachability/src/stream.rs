// SPDX-License-Identifier: MIT
//! Watching a target in an asynchronous task.

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::Result;
use crate::path::Path;
use crate::subscription::Subscription;
use crate::target::RawTarget;

/// A stream of the paths to a target: first the current one, then each that differs from the last. If several changes come
/// while the task is busy, it gets only the newest path. The stream never ends.
///
/// It has the shape of `futures::Stream`, and is one with the feature `futures`. It works with any executor: the library's
/// thread wakes the task. This one thread serves all streams. After `fork`, the child has no such thread: there a stream of
/// the parent returns the error `ECHILD`.
pub struct Paths(Subscription);

impl Paths {
    pub(crate) fn new(target: RawTarget) -> Result<Paths> {
        Ok(Paths(Subscription::new(target)?))
    }

    /// The function of `futures::Stream`.
    pub fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Path>>> {
        match self.0.next_change(Some(context.waker())) {
            Ok(None) => Poll::Pending,
            Ok(Some(path)) => Poll::Ready(Some(Ok(path))),
            Err(error) => Poll::Ready(Some(Err(error))),
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
        self.0.target.path()
    }

    /// The addresses of the host. Empty while its name is not resolved, and for the default path.
    #[must_use]
    pub fn addresses(&self) -> Vec<IpAddr> {
        self.0.target.addresses()
    }
}

#[cfg(feature = "futures")]
impl futures_core::Stream for Paths {
    type Item = Result<Path>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Path>>> {
        Paths::poll_next(self, context)
    }
}

/// The text of `SCNetworkReachabilityGetDescription`.
impl fmt::Debug for Paths {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.target.description())
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
