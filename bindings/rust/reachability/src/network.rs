// SPDX-License-Identifier: MIT
//! All default paths of a network namespace.

use std::mem::size_of;
use std::net::IpAddr;

use reachability_sys as sys;

use crate::error::{Error, Result};
use crate::path::{address_from, reason_from, Evidence, Flags, Interface, InterfaceType, Path, Reason};
use crate::stream::Networks;
use crate::target::{RawTarget, Readable, Target, Value};
use crate::watch::Watch;

/// The way of packets of one family for which only a default route matches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct DefaultPath {
    /// Apple's bits.
    pub flags: Flags,
    /// Why packets cannot leave. None: they can.
    pub reason: Option<Reason>,
    /// 0: none, or not known.
    pub interface_index: u32,
    /// Of the default route. The kernel prefers the smaller.
    pub metric: u32,
    /// The source address of packets.
    pub source: Option<IpAddr>,
    /// None: on-link.
    pub gateway: Option<IpAddr>,
}

/// An interface that is up, has a carrier, and has a usable default path in one family or in both.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Uplink {
    /// The interface.
    pub interface: Interface,
    /// Whether it leads out of a container or a virtual machine: a veth, macvlan, or an interface above one of these.
    pub leads_out: bool,
    /// The default path of IPv4 out of this interface.
    pub ipv4: DefaultPath,
    /// The default path of IPv6 out of this interface.
    pub ipv6: DefaultPath,
    /// For a tunnel, the types of the interfaces that carry its packets, as far as the kernel shows.
    pub ipv4_underlay_types: Vec<InterfaceType>,
    /// The same for IPv6.
    pub ipv6_underlay_types: Vec<InterfaceType>,
}

/// All default paths of a network namespace, and its name servers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Network {
    /// The uplink that the kernel chooses for IPv4.
    pub ipv4: DefaultPath,
    /// The uplink that the kernel chooses for IPv6.
    pub ipv6: DefaultPath,
    /// Those of 127.0.0.1.
    pub ipv4_loopback_flags: Flags,
    /// Those of `::1`.
    pub ipv6_loopback_flags: Flags,
    /// First the uplink that the kernel chooses for IPv4, then the one for IPv6, then all others by metric.
    pub uplinks: Vec<Uplink>,
    /// False: only the uplinks that the kernel chooses are known.
    pub uplinks_are_complete: bool,
    /// At most three: those of `/etc/resolv.conf`, or those that systemd-resolved uses.
    pub name_servers: Vec<IpAddr>,
    /// Whether a packet can leave for at least one.
    pub name_server_is_reachable: bool,
    /// The source of all this.
    pub evidence: Evidence,
}

/// All default paths of the calling thread's network namespace now, by queries to the kernel: two for each interface.
///
/// # Errors
/// The library's: an errno if the kernel could not be queried, or `/etc/resolv.conf` not read.
pub fn network() -> Result<Network> {
    read(&create()?)
}

/// Watches all default paths and name servers of the calling thread's network namespace: an iterator that blocks. In the
/// first network, `uplinks_are_complete` can be false.
///
/// # Errors
/// The library's: an errno if the sockets could not be opened.
#[allow(clippy::module_name_repetitions)] // the module is private
pub fn watch_network() -> Result<Watch<Network>> {
    Watch::new(create()?)
}

/// The same as [`watch_network`]: an asynchronous stream for any executor.
///
/// # Errors
/// Those of [`watch_network`].
pub fn watch_network_async() -> Result<Networks> {
    Networks::new(create()?)
}

fn create() -> Result<RawTarget> {
    Target::default_path().create_with(sys::kSCNetworkReachabilityOptionNotifyNetwork)
}

impl Value for Network {}

impl Readable for Network {
    fn read(target: &RawTarget) -> Result<Network> {
        read(target)
    }

    fn is_news(&self, last: &Network, _: &RawTarget) -> bool {
        self != last
    }
}

fn read(target: &RawTarget) -> Result<Network> {
    let mut uplinks: Vec<sys::SCNetworkReachabilityUplink> = Vec::new();
    loop {
        // All zeros is a valid value of these structures of integers.
        let mut network: sys::SCNetworkReachabilityNetwork = unsafe { std::mem::zeroed() };
        network.size = size_of::<sys::SCNetworkReachabilityNetwork>();
        let (uplink_size, capacity) = (size_of::<sys::SCNetworkReachabilityUplink>(), uplinks.len());
        let has_read = unsafe {
            sys::SCNetworkReachabilityGetNetwork(target.reference, &mut network, uplinks.as_mut_ptr(), uplink_size, capacity)
        };
        if has_read == 0 {
            return Err(Error::of_last_call());
        }
        let count = network.uplinkCount as usize;
        if count <= capacity {
            return Ok(Network::new(&network, &uplinks[..count]));
        }
        uplinks = vec![unsafe { std::mem::zeroed() }; count];
    }
}

impl Network {
    fn new(network: &sys::SCNetworkReachabilityNetwork, uplinks: &[sys::SCNetworkReachabilityUplink]) -> Network {
        let servers = network.nameServers.iter().take(network.nameServerCount as usize);
        Network {
            ipv4: DefaultPath::new(&network.ipv4),
            ipv6: DefaultPath::new(&network.ipv6),
            ipv4_loopback_flags: Flags::from_bits(network.ipv4LoopbackFlags),
            ipv6_loopback_flags: Flags::from_bits(network.ipv6LoopbackFlags),
            uplinks: uplinks.iter().map(Uplink::new).collect(),
            uplinks_are_complete: network.uplinksAreComplete != 0,
            name_servers: servers.filter_map(address_from).collect(),
            name_server_is_reachable: network.nameServerIsReachable != 0,
            evidence: network.evidence.into(),
        }
    }
}

impl Uplink {
    fn new(uplink: &sys::SCNetworkReachabilityUplink) -> Uplink {
        Uplink {
            interface: Interface::new(&uplink.interfaceName, uplink.interfaceIndex, uplink.interfaceType),
            leads_out: uplink.interfaceLeadsOut != 0,
            ipv4: DefaultPath::new(&uplink.ipv4),
            ipv6: DefaultPath::new(&uplink.ipv6),
            ipv4_underlay_types: types(uplink.ipv4UnderlayTypes),
            ipv6_underlay_types: types(uplink.ipv6UnderlayTypes),
        }
    }
}

impl DefaultPath {
    fn new(path: &sys::SCNetworkReachabilityDefaultPath) -> DefaultPath {
        DefaultPath {
            flags: Flags::from_bits(path.flags),
            reason: reason_from(path.reason),
            interface_index: path.interfaceIndex,
            metric: path.metric,
            source: address_from(&path.source),
            gateway: address_from(&path.gateway),
        }
    }

    /// Whether a packet can leave this way.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        Path::scripted(self.flags, self.reason).is_reachable()
    }
}

fn types(bits: u32) -> Vec<InterfaceType> {
    (0..32).filter(|number| bits & 1 << number != 0).map(InterfaceType::from).collect()
}
