// SPDX-License-Identifier: MIT
//! Targets.

use std::ffi::CString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reachability_sys as sys;

use crate::error::{text_of, Error, Result};
use crate::path::{address_from, address_to, no_path, NextHop, Path, Reason};
use crate::poll_watch::PollWatch;
use crate::retry_timer::RetryTimer;
use crate::script::{OnPlay, Script};
use crate::settling::Settling;
use crate::stream::Paths;
use crate::watch::Watch;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Host {
    DefaultPath,
    Name(String),
    Address(IpAddr),
    Script(Script),
}

/// The protocol of the packets to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

impl Transport {
    fn protocol(self) -> u8 {
        match self {
            Transport::Tcp => 6,
            Transport::Udp => 17,
        }
    }
}

/// What to check or watch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Target {
    host: Host,
    source: Option<IpAddr>,
    interface: Option<String>,
    mark: u32,
    port: Option<(Transport, u16)>,
    traffic_class: u8,
    options: u32,
    settle_time: Duration,
}

fn is_known(path: &Path) -> bool {
    path.reason != Some(Reason::NamePending)
}

impl Target {
    fn new(host: Host) -> Target {
        Target {
            host,
            source: None,
            interface: None,
            mark: 0,
            port: None,
            traffic_class: 0,
            options: sys::kSCNetworkReachabilityOptionNotifyPath,
            settle_time: Duration::ZERO,
        }
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

    /// What a test plays. Of the settings below, only [`Target::next_hop`] and [`Target::settle_time`] count.
    pub fn script(script: &Script) -> Target {
        Target::new(Host::Script(script.clone()))
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

    /// The packets of this transport to this port, as connect(2) decides. Policy rules can select by port.
    pub fn port(mut self, transport: Transport, port: u16) -> Target {
        self.port = Some((transport, port));
        self
    }

    /// `IP_TOS` or `IPV6_TCLASS` of the sockets.
    pub fn traffic_class(mut self, class: u8) -> Target {
        self.traffic_class = class;
        self
    }

    /// A change comes also when the next hop fails, and when it responds again: see [`Path::next_hop`].
    pub fn next_hop(mut self) -> Target {
        self.options |= sys::kSCNetworkReachabilityOptionNotifyNextHop;
        self
    }

    /// Only IPv4 addresses count, and the default path is that of IPv4.
    pub fn ipv4_only(mut self) -> Target {
        self.options |= sys::kSCNetworkReachabilityOptionIPv4Only;
        self
    }

    /// Only IPv6 addresses count, and the default path is that of IPv6.
    pub fn ipv6_only(mut self) -> Target {
        self.options |= sys::kSCNetworkReachabilityOptionIPv6Only;
        self
    }

    /// A change is reported when nothing has changed for this time, or after ten times as long. A change that is undone
    /// meanwhile is not reported. This is for [`Target::watch`], [`Target::poll_watch`] and [`Target::stream`].
    pub fn settle_time(mut self, time: Duration) -> Target {
        self.settle_time = time;
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
        let has_time = end.map_or(true, |end| Instant::now() < end);
        if has_time && !condition(&path) {
            let mut watch = Watch::new(self.create()?)?;
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
            let mut paths = Paths::new(self.create()?)?;
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
        Watch::new(self.create_settling()?)
    }

    /// Watches the target: with a descriptor for an event loop.
    ///
    /// # Errors
    /// The library's: an invalid argument, or an errno if the sockets could not be opened.
    pub fn poll_watch(&self) -> Result<PollWatch> {
        PollWatch::new(self.create_settling()?)
    }

    /// Watches the target: an asynchronous stream for any executor.
    ///
    /// # Errors
    /// The library's: an invalid argument, or an errno if the sockets could not be opened.
    pub fn stream(&self) -> Result<Paths> {
        Paths::new(self.create_settling()?)
    }

    /// The sleep of a loop that connects again and again.
    ///
    /// # Errors
    /// The library's: an invalid argument, or an errno if the sockets could not be opened.
    pub fn retry_timer(&self) -> Result<RetryTimer> {
        RetryTimer::new(self.create()?)
    }

    fn create_settling(&self) -> Result<RawTarget> {
        let mut target = self.create()?;
        target.settle_time = self.settle_time;
        Ok(target)
    }

    fn create(&self) -> Result<RawTarget> {
        self.create_with(self.options)
    }

    pub(crate) fn create_with(&self, options: u32) -> Result<RawTarget> {
        let reports_next_hop = options & sys::kSCNetworkReachabilityOptionNotifyNextHop != 0;
        let c_string = |text: &String| CString::new(text.as_bytes()).map_err(|_| Error::INVALID_ARGUMENT);
        let interface = self.interface.as_ref().map(c_string).transpose()?;
        let port = self.port.map_or(0, |(_, port)| port);
        let source = self.source.map(|address| address_to(address, 0));
        let is_ipv6_only = options & sys::kSCNetworkReachabilityOptionIPv6Only != 0;
        let (name, remote) = match &self.host {
            Host::Script(script) => return Ok(RawTarget::of_script(script, reports_next_hop)),
            Host::DefaultPath if self.source.map_or(is_ipv6_only, |source| source.is_ipv6()) => {
                (None, Some(address_to(Ipv6Addr::UNSPECIFIED.into(), port)))
            }
            Host::DefaultPath => (None, Some(address_to(Ipv4Addr::UNSPECIFIED.into(), port))),
            Host::Name(name) => (Some(c_string(name)?), None),
            Host::Address(address) => (None, Some(address_to(*address, port))),
        };
        let structure = sys::SCNetworkReachabilityOptions {
            size: std::mem::size_of::<sys::SCNetworkReachabilityOptions>(),
            nodename: name.as_ref().map_or(ptr::null(), |name| name.as_ptr()),
            localAddress: source.as_ref().map_or(ptr::null(), |address| address),
            remoteAddress: remote.as_ref().map_or(ptr::null(), |address| address),
            interfaceName: interface.as_ref().map_or(ptr::null(), |name| name.as_ptr()),
            localAddressLength: 0,
            remoteAddressLength: 0,
            routingMark: self.mark,
            options,
            protocol: self.port.map_or(0, |(transport, _)| transport.protocol()),
            trafficClass: self.traffic_class,
            remotePort: if name.is_some() { port } else { 0 },
            reserved: 0,
        };
        let target = unsafe { sys::SCNetworkReachabilityCreateWithOptions(ptr::null(), &structure) };
        RawTarget::new(target, reports_next_hop)
    }
}

type GetPath = unsafe extern "C" fn(sys::SCNetworkReachabilityRef, *mut sys::SCNetworkReachabilityPath) -> u8;

/// What is watched: a [`Path`] or a [`Network`](crate::Network). It is sealed: there are no others.
pub trait Value: Readable {}

impl Value for Path {}

/// What seals [`Value`]: no program can name it.
pub trait Readable: Sized + Clone + Unpin {
    fn read(target: &RawTarget) -> Result<Self>;
    fn is_news(&self, last: &Self, target: &RawTarget) -> bool;
}

impl Readable for Path {
    fn read(target: &RawTarget) -> Result<Path> {
        target.last_path()
    }

    /// That the next hop has failed counts only if the target reports it; nothing reports that it was confirmed.
    fn is_news(&self, last: &Path, target: &RawTarget) -> bool {
        let has_failed = |path: &Path| target.reports_next_hop && path.next_hop == NextHop::Failed;
        has_failed(last) != has_failed(self) || *last != Path { next_hop: last.next_hop, ..self.clone() }
    }
}

/// The one reference to a target of the library, or what stands in for it.
#[allow(clippy::module_name_repetitions)] // public only because `Readable` is
pub struct RawTarget {
    pub(crate) reference: sys::SCNetworkReachabilityRef, // null: a script's
    script: Option<Script>,
    on_play: Option<Arc<OnPlay>>,
    reports_next_hop: bool,
    pub(crate) settle_time: Duration,
}

// Any thread may make any call.
unsafe impl Send for RawTarget {}
unsafe impl Sync for RawTarget {}

impl Drop for RawTarget {
    fn drop(&mut self) {
        unsafe { sys::SCNetworkReachabilityRelease(self.reference) }
    }
}

impl RawTarget {
    /// Takes what a Create call has returned.
    pub(crate) fn new(target: sys::SCNetworkReachabilityRef, reports_next_hop: bool) -> Result<RawTarget> {
        if target.is_null() {
            return Err(Error::of_last_call());
        }
        let settle_time = Duration::ZERO;
        Ok(RawTarget { reference: target, script: None, on_play: None, reports_next_hop, settle_time })
    }

    fn of_script(script: &Script, reports_next_hop: bool) -> RawTarget {
        let (reference, script, settle_time) = (ptr::null(), Some(script.clone()), Duration::ZERO);
        RawTarget { reference, script, on_play: None, reports_next_hop, settle_time }
    }

    /// Whether a script reports the changes: it calls this. Otherwise the library does, once the target is scheduled.
    pub(crate) fn follow_script(&mut self, on_play: impl Fn() + Send + Sync + 'static) -> bool {
        if let Some(script) = &self.script {
            script.follow(self.on_play.insert(Arc::new(on_play)));
        }
        self.script.is_some()
    }

    /// The newest value, if it differs from the last one, and has settled.
    pub(crate) fn news<V: Value>(&self, last: &mut Option<V>, settling: &mut Settling<V>) -> Result<Option<V>> {
        let value = V::read(self)?;
        if !settling.is_news(&value, last.as_ref(), Instant::now(), |value, other| value.is_news(other, self)) {
            return Ok(None);
        }
        *last = Some(value.clone());
        Ok(Some(value))
    }

    pub(crate) fn path(&self) -> Result<Path> {
        self.read(sys::SCNetworkReachabilityGetPath)
    }

    pub(crate) fn last_path(&self) -> Result<Path> {
        self.read(sys::SCNetworkReachabilityGetLastPath)
    }

    fn read(&self, get: GetPath) -> Result<Path> {
        if let Some(script) = &self.script {
            return Ok(script.path());
        }
        let mut path = no_path();
        if unsafe { get(self.reference, &mut path) } == 0 {
            return Err(Error::of_last_call());
        }
        Ok(Path::new(&path))
    }

    pub(crate) fn addresses(&self) -> Vec<IpAddr> {
        let mut storage = Vec::new();
        loop {
            let count =
                unsafe { sys::SCNetworkReachabilityGetResolvedAddresses(self.reference, storage.as_mut_ptr(), storage.len()) };
            if count <= storage.len() {
                return storage[..count].iter().filter_map(address_from).collect();
            }
            storage = vec![sys::sockaddr_storage { bytes: [0; 128] }; count];
        }
    }

    pub(crate) fn description(&self) -> String {
        if let Some(script) = &self.script {
            return format!("{script:?}");
        }
        text_of(|buffer, capacity| unsafe { sys::SCNetworkReachabilityGetDescription(self.reference, buffer, capacity) })
    }
}
