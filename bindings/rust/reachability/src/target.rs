// SPDX-License-Identifier: MIT
//! Targets.

use std::ffi::CString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;
use std::time::{Duration, Instant};

use reachability_sys as sys;

use crate::error::{text_of, Error, Result};
use crate::path::{address_from, address_to, Path, Reason};
use crate::poll_watch::PollWatch;
use crate::retry_timer::RetryTimer;
use crate::stream::Paths;
use crate::watch::Watch;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Host {
    DefaultPath,
    Name(String),
    Address(IpAddr),
}

/// What to check or watch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Target {
    host: Host,
    source: Option<IpAddr>,
    interface: Option<String>,
    mark: u32,
}

fn is_known(path: &Path) -> bool {
    path.reason != Reason::NamePending
}

impl Target {
    fn new(host: Host) -> Target {
        Target { host, source: None, interface: None, mark: 0 }
    }

    /// The default path of this machine.
    pub fn default_path() -> Target {
        Target::new(Host::DefaultPath)
    }

    /// A host name, or an address as text, with an optional `%zone`.
    pub fn host(name: impl Into<String>) -> Target {
        Target::new(Host::Name(name.into()))
    }

    /// An address.
    pub fn address(address: impl Into<IpAddr>) -> Target {
        Target::new(Host::Address(address.into()))
    }

    /// Only packets from this address count. Not for a target that [`Target::host`] made.
    pub fn source(mut self, address: impl Into<IpAddr>) -> Target {
        self.source = Some(address.into());
        self
    }

    /// Only routes out of this interface count.
    pub fn interface(mut self, name: impl Into<String>) -> Target {
        self.interface = Some(name.into());
        self
    }

    /// `SO_MARK` of the sockets that the program will use.
    pub fn mark(mut self, mark: u32) -> Target {
        self.mark = mark;
        self
    }

    /// Gets the path now. For a name, waits at most 5 seconds for the first result of its look-up; then the reason is
    /// [`Reason::NamePending`]. Blocks the thread: see [`Target::check_async`].
    ///
    /// # Errors
    /// The library's: an invalid argument, or an errno if the kernel could not be queried.
    pub fn check(&self) -> Result<Path> {
        self.check_within(Duration::from_secs(5))
    }

    /// The same as [`Target::check`], with another limit. Zero does not wait.
    ///
    /// # Errors
    /// Those of [`Target::check`].
    pub fn check_within(&self, timeout: Duration) -> Result<Path> {
        let path = self.create()?.path()?;
        self.follow(path, Instant::now().checked_add(timeout), is_known)
    }

    /// The same as [`Target::check`], for any executor, without a limit: give up by dropping the future.
    ///
    /// # Errors
    /// Those of [`Target::check`].
    pub async fn check_async(&self) -> Result<Path> {
        let path = self.create()?.path()?;
        self.follow_async(path, is_known).await
    }

    /// Waits until a packet can leave for the host. None: not within the timeout; zero does not wait. Blocks the thread:
    /// see [`Target::wait_until_reachable_async`]. Reachable does not mean that the host responds: try to connect first,
    /// and wait here if that fails.
    ///
    /// # Errors
    /// Those of [`Target::watch`].
    pub fn wait_until_reachable(&self, timeout: Duration) -> Result<Option<Path>> {
        let path = self.create()?.path()?;
        let path = self.follow(path, Instant::now().checked_add(timeout), Path::is_reachable)?;
        Ok(path.is_reachable().then_some(path))
    }

    /// The same as [`Target::wait_until_reachable`], for any executor, without a limit: give up by dropping the future.
    ///
    /// # Errors
    /// Those of [`Target::watch`].
    pub async fn wait_until_reachable_async(&self) -> Result<Path> {
        let path = self.create()?.path()?;
        self.follow_async(path, Path::is_reachable).await
    }

    /// The first path that meets the condition, or the newest one at the end. No end: without limit.
    fn follow(&self, mut path: Path, end: Option<Instant>, condition: fn(&Path) -> bool) -> Result<Path> {
        if !condition(&path) {
            let mut watch = self.watch()?;
            while let Some(newer) = watch.wait_until(end)? {
                path = newer;
                if condition(&path) {
                    break;
                }
            }
        }
        Ok(path)
    }

    async fn follow_async(&self, mut path: Path, condition: fn(&Path) -> bool) -> Result<Path> {
        if !condition(&path) {
            let mut paths = self.stream()?;
            while let Some(newer) = paths.next().await {
                path = newer?;
                if condition(&path) {
                    break;
                }
            }
        }
        Ok(path)
    }

    /// Watches the target: an iterator that blocks.
    ///
    /// # Errors
    /// The library's: an invalid argument, or an errno if the sockets could not be opened.
    pub fn watch(&self) -> Result<Watch> {
        Watch::new(self.create()?)
    }

    /// Watches the target: with a descriptor for an event loop.
    ///
    /// # Errors
    /// The library's: an invalid argument, or an errno if the sockets could not be opened.
    pub fn poll_watch(&self) -> Result<PollWatch> {
        PollWatch::new(self.create()?)
    }

    /// Watches the target: an asynchronous stream for any executor.
    ///
    /// # Errors
    /// The library's: an invalid argument, or an errno if the sockets could not be opened.
    pub fn stream(&self) -> Result<Paths> {
        Paths::new(self.create()?)
    }

    /// The sleep of a loop that connects again and again.
    ///
    /// # Errors
    /// The library's: an invalid argument, or an errno if the sockets could not be opened.
    pub fn retry_timer(&self) -> Result<RetryTimer> {
        RetryTimer::new(self.create()?)
    }

    fn create(&self) -> Result<RawTarget> {
        self.create_with(sys::kSCNetworkReachabilityOptionNotifyPath)
    }

    pub(crate) fn create_with(&self, notify: u32) -> Result<RawTarget> {
        let c_string = |text: &String| CString::new(text.as_bytes()).map_err(|_| Error::INVALID_ARGUMENT);
        let interface = self.interface.as_ref().map(c_string).transpose()?;
        let source = self.source.map(address_to);
        let (name, remote) = match &self.host {
            Host::DefaultPath if self.source.map_or(false, |source| source.is_ipv6()) => {
                (None, Some(address_to(Ipv6Addr::UNSPECIFIED.into())))
            }
            Host::DefaultPath => (None, Some(address_to(Ipv4Addr::UNSPECIFIED.into()))),
            Host::Name(name) => (Some(c_string(name)?), None),
            Host::Address(address) => (None, Some(address_to(*address))),
        };
        let options = sys::SCNetworkReachabilityOptions {
            size: std::mem::size_of::<sys::SCNetworkReachabilityOptions>(),
            nodename: name.as_ref().map_or(ptr::null(), |name| name.as_ptr()),
            localAddress: source.as_ref().map_or(ptr::null(), |address| address),
            remoteAddress: remote.as_ref().map_or(ptr::null(), |address| address),
            interfaceName: interface.as_ref().map_or(ptr::null(), |name| name.as_ptr()),
            localAddressLength: 0,
            remoteAddressLength: 0,
            routingMark: self.mark,
            options: notify,
        };
        let target = unsafe { sys::SCNetworkReachabilityCreateWithOptions(ptr::null(), &options) };
        if target.is_null() {
            return Err(Error::of_last_call());
        }
        Ok(RawTarget(target))
    }
}

type GetPath = unsafe extern "C" fn(sys::SCNetworkReachabilityRef, *mut sys::SCNetworkReachabilityPath) -> u8;

/// The one reference to a target of the library.
pub(crate) struct RawTarget(pub sys::SCNetworkReachabilityRef);

// Any thread may make any call.
unsafe impl Send for RawTarget {}
unsafe impl Sync for RawTarget {}

impl Drop for RawTarget {
    fn drop(&mut self) {
        unsafe { sys::SCNetworkReachabilityRelease(self.0) }
    }
}

impl RawTarget {
    pub fn path(&self) -> Result<Path> {
        self.read(sys::SCNetworkReachabilityGetPath)
    }

    pub fn last_path(&self) -> Result<Path> {
        self.read(sys::SCNetworkReachabilityGetLastPath)
    }

    fn read(&self, get: GetPath) -> Result<Path> {
        let none = sys::sockaddr_storage { bytes: [0; 128] };
        let mut path = sys::SCNetworkReachabilityPath {
            size: std::mem::size_of::<sys::SCNetworkReachabilityPath>(),
            flags: 0,
            reason: 0,
            interfaceIndex: 0,
            interfaceType: 0,
            interfaceName: [0; 16],
            mtu: 0,
            table: 0,
            addressCount: 0,
            evidence: 0,
            destination: none,
            source: none,
            gateway: none,
        };
        if unsafe { get(self.0, &mut path) } == 0 {
            return Err(Error::of_last_call());
        }
        Ok(Path::new(&path))
    }

    pub fn addresses(&self) -> Vec<IpAddr> {
        let mut storage = Vec::new();
        loop {
            let count =
                unsafe { sys::SCNetworkReachabilityGetResolvedAddresses(self.0, storage.as_mut_ptr(), storage.len()) };
            if count <= storage.len() {
                return storage[..count].iter().filter_map(address_from).collect();
            }
            storage = vec![sys::sockaddr_storage { bytes: [0; 128] }; count];
        }
    }

    pub fn description(&self) -> String {
        text_of(|buffer, capacity| unsafe { sys::SCNetworkReachabilityGetDescription(self.0, buffer, capacity) })
    }
}
