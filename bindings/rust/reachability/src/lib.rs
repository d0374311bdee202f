// SPDX-License-Identifier: MIT
//! Can a packet leave this machine for a host now, over which interface, and if not, why not? And when does that change?
//!
//! ```no_run
//! use reachability::Target;
//!
//! # fn main() -> Result<(), reachability::Error> {
//! println!("{}", Target::host("127.0.0.1").check()?);
//!
//! for path in Target::host("localhost").watch()? {
//!     let path = path?;
//!     println!("{path}");
//!     if path.is_reachable() {
//!         break;
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! "Reachable" means that a packet to the host can leave this machine now. It does not mean that the host responds.
//!
//! [`Target::watch`] gives an iterator that blocks, [`Target::stream`] an asynchronous stream for any executor. The library's
//! one thread serves all of these. [`Target::poll_watch`] has a descriptor for any event loop. A target belongs to the
//! network namespace of the thread that makes the call.

#![deny(missing_docs)]

mod error;
mod network;
mod path;
mod poll_watch;
mod retry_timer;
mod script;
mod settling;
mod socket_target;
mod stream;
mod subscription;
mod target;
mod watch;

pub use error::{library_version, Error, Result};
pub use network::{network, watch_network, watch_network_async, DefaultPath, Network, Uplink};
pub use path::{Evidence, Flags, Flow, Interface, InterfaceType, NextHop, Path, Reason};
pub use poll_watch::PollWatch;
pub use retry_timer::{RetryTimer, Wake};
pub use script::Script;
pub use socket_target::SocketTarget;
pub use stream::{Changes, Networks, Next, Paths};
pub use target::{Target, Transport, Value};
pub use watch::{StopHandle, Watch};
