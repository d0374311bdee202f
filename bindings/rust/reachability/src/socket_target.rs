// SPDX-License-Identifier: MIT
//! Targets of connected sockets.

use std::fmt;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd};
use std::ptr;

use reachability_sys as sys;

use crate::error::Result;
use crate::path::Path;
use crate::poll_watch::PollWatch;
use crate::stream::Paths;
use crate::target::RawTarget;
use crate::watch::Watch;

/// The packets of a connected socket: whether they can leave, and with [`Path::flow`] whether they leave as those of a new
/// connection would. It says nothing about the other end: no packet is sent.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let connection = std::net::TcpStream::connect("192.0.2.1:443")?;
/// for path in reachability::SocketTarget::new(&connection).watch()? {
///     if !path?.is_viable() {
///         break; // the source address is gone, or foreign where packets leave: connect again
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// Each call reads addresses, ports, mark, interface, traffic class and owner of the socket. What it returns does not use the
/// socket. Make the call in the socket's network namespace.
#[must_use]
pub struct SocketTarget<'socket>(BorrowedFd<'socket>);

impl<'socket> SocketTarget<'socket> {
    /// For a socket of the standard library, or of any other crate.
    pub fn new(socket: &'socket impl AsFd) -> SocketTarget<'socket> {
        SocketTarget(socket.as_fd())
    }

    /// Gets the path now. Does not wait.
    ///
    /// # Errors
    /// The library's: `ENOTCONN`, `ENOTSOCK`, an invalid argument if the socket is neither of IPv4 nor of IPv6, or an errno if
    /// the kernel could not be queried.
    pub fn check(&self) -> Result<Path> {
        self.create()?.path()
    }

    /// Watches the packets: an iterator that blocks.
    ///
    /// # Errors
    /// Those of [`SocketTarget::check`].
    pub fn watch(&self) -> Result<Watch> {
        Watch::new(self.create()?)
    }

    /// Watches the packets: with a descriptor for an event loop.
    ///
    /// # Errors
    /// Those of [`SocketTarget::check`].
    pub fn poll_watch(&self) -> Result<PollWatch> {
        PollWatch::new(self.create()?)
    }

    /// Watches the packets: an asynchronous stream for any executor.
    ///
    /// # Errors
    /// Those of [`SocketTarget::check`].
    pub fn stream(&self) -> Result<Paths> {
        Paths::new(self.create()?)
    }

    fn create(&self) -> Result<RawTarget> {
        let target = unsafe { sys::SCNetworkReachabilityCreateWithSocket(ptr::null(), self.0.as_raw_fd()) };
        RawTarget::new(target, false)
    }
}

impl fmt::Debug for SocketTarget<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SocketTarget({})", self.0.as_raw_fd())
    }
}
