// SPDX-License-Identifier: MIT
//! What is known about the path to a host.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::{BitOr, BitOrAssign};

use reachability_sys as sys;

use crate::error::{static_text, text_of};

/// A set of bits, to which a later version of the library may add some.
macro_rules! bit_set {
    ($(#[$about:meta])* $name:ident { $($(#[$bit_about:meta])* $bit:ident = $number:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(u32);

        impl $name {
            $($(#[$bit_about])* pub const $bit: $name = $name(1 << $number);)*

            /// The set of these bits. Those that this crate does not know are kept.
            #[must_use]
            pub const fn from_bits(bits: u32) -> $name {
                $name(bits)
            }

            /// The bits, as in C.
            #[must_use]
            pub const fn bits(self) -> u32 {
                self.0
            }

            /// Whether no bit is set.
            #[must_use]
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// Whether all bits of `other` are set.
            #[must_use]
            pub const fn contains(self, other: $name) -> bool {
                self.0 & other.0 == other.0
            }

            /// Whether at least one bit of `other` is set.
            #[must_use]
            pub const fn intersects(self, other: $name) -> bool {
                self.0 & other.0 != 0
            }
        }

        impl BitOr for $name {
            type Output = $name;

            fn bitor(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }
        }

        impl BitOrAssign for $name {
            fn bitor_assign(&mut self, other: $name) {
                self.0 |= other.0;
            }
        }
    };
}

bit_set! {
    /// Apple's bits. No bit set: no packet can leave for the host.
    Flags {
        /// Over a point-to-point link: ppp, tunnel, cellular.
        TRANSIENT_CONNECTION = 0,
        /// A packet can leave.
        REACHABLE = 1,
        /// ... after a connection is made.
        CONNECTION_REQUIRED = 2,
        /// ... which traffic starts.
        CONNECTION_ON_TRAFFIC = 3,
        /// ... which a person starts. Never set: Linux has no source for it.
        INTERVENTION_REQUIRED = 4,
        /// ... which one of Apple's calls starts. Never set: Linux has no source for it.
        CONNECTION_ON_DEMAND = 5,
        /// One of this machine's own addresses.
        IS_LOCAL_ADDRESS = 16,
        /// On a directly attached network: no gateway.
        IS_DIRECT = 17,
        /// Over a cellular interface, or ppp over a modem.
        IS_WWAN = 18,
    }
}

/// In the words of Apple's scutil: "Reachable,Directly Reachable Address".
impl fmt::Display for Flags {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write = |buffer, capacity| unsafe { sys::SCNetworkReachabilityFlagsGetString(self.0, buffer, capacity) };
        formatter.write_str(&text_of(write))
    }
}

/// An enumeration to which a later version of the library may add values.
macro_rules! open_enum {
    ($(#[$about:meta])* $name:ident { $($(#[$member_about:meta])* $member:ident = $value:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$member_about])* $member,)*
            /// A value that this crate does not know.
            Unrecognized(u32),
        }

        impl From<u32> for $name {
            fn from(value: u32) -> $name {
                match value {
                    $($value => $name::$member,)*
                    _ => $name::Unrecognized(value),
                }
            }
        }

        impl From<$name> for u32 {
            fn from(value: $name) -> u32 {
                match value {
                    $($name::$member => $value,)*
                    $name::Unrecognized(value) => value,
                }
            }
        }
    };
}

pub(crate) use open_enum;

open_enum! {
    /// Why a host is not reachable.
    Reason {
        /// No route.
        NoRoute = 1,
        /// An "unreachable" route.
        RouteUnreachable = 2,
        /// A "prohibit" route or rule.
        RouteProhibited = 3,
        /// A "blackhole" route or rule.
        RouteBlackhole = 4,
        /// The route's interface is administratively down.
        InterfaceDown = 5,
        /// Up, but not running: no cable, dormant.
        NoCarrier = 6,
        /// No address to send from.
        NoSourceAddress = 7,
        /// This machine does not have the source address.
        LocalAddressNotAssigned = 8,
        /// The name is not resolved yet: the flags are those of the default path.
        NamePending = 9,
        /// The name does not exist.
        NameNotFound = 10,
        /// The name servers failed.
        NameServerFailure = 11,
        /// No name server could be reached.
        NameServerUnreachable = 12,
        /// The target's interface does not exist (yet).
        InterfaceMissing = 13,
    }
}

/// None: it is reachable.
pub(crate) fn reason_from(value: u32) -> Option<Reason> {
    (value != 0).then(|| value.into())
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&static_text(unsafe { sys::SCNetworkReachabilityReasonString((*self).into()) }))
    }
}

open_enum! {
    /// The type of an interface. It depends on the device, never on the interface's name.
    InterfaceType {
        /// None of the others.
        Other = 0,
        /// The machine itself.
        Loopback = 1,
        /// A cable.
        WiredEthernet = 2,
        /// A wireless network.
        WiFi = 3,
        /// A modem.
        Cellular = 4,
        /// ppp.
        PointToPoint = 5,
        /// tun, tap, gre, wireguard and others.
        Tunnel = 6,
        /// veth, dummy, vxlan, and a bridge of these.
        Virtual = 7,
    }
}

bit_set! {
    /// What else is known about the packets to a host, or about those of a connection.
    Flow {
        /// A new connection, with no address bound, would leave over another interface.
        BETTER_PATH = 0,
        /// Packets leave over an interface that does not have their source address: an established connection hangs.
        SOURCE_FOREIGN = 1,
        /// A policy rule selects by what the target does not say: transport, port, traffic class, or another user.
        INCOMPLETE = 2,
    }
}

open_enum! {
    /// Whether the next hop responds, as the kernel knows it: the gateway, or without one the host itself.
    NextHop {
        /// The kernel has not tried, waits for a reply, or has forgotten it; or there is no next hop.
        Unknown = 0,
        /// It responds, or needs not be asked.
        Confirmed = 1,
        /// It has responded some time ago.
        Unconfirmed = 2,
        /// It has not responded.
        Failed = 3,
    }
}

open_enum! {
    /// The source of a path.
    Evidence {
        /// A route query to the kernel.
        Kernel = 0,
        /// A connected UDP socket, because a sandbox denies rtnetlink.
        Socket = 1,
    }
}

/// What packets leave over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Interface {
    /// As in ip(8). Bytes that are not UTF-8 are replaced.
    pub name: String,
    /// Its number in the network namespace.
    pub index: u32,
    /// What it is for the user.
    pub interface_type: InterfaceType,
}

impl Interface {
    pub(crate) fn new(name: &[u8; 16], index: u32, interface_type: u32) -> Interface {
        let length = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        let name = String::from_utf8_lossy(&name[..length]).into_owned();
        Interface { name, index, interface_type: interface_type.into() }
    }
}

/// What is known about the path to a host. The zone of a link-local address is the index of the interface.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Path {
    /// Apple's bits.
    pub flags: Flags,
    /// Why the host is not reachable. None: it is.
    pub reason: Option<Reason>,
    /// The interface that packets leave over, or would leave over if the host is not reachable.
    pub interface: Option<Interface>,
    /// The evaluated address. None for the default path.
    pub destination: Option<IpAddr>,
    /// The source address of packets.
    pub source: Option<IpAddr>,
    /// None: on-link.
    pub gateway: Option<IpAddr>,
    /// Bytes. 0: unknown.
    pub mtu: u32,
    /// The routing table of the route. 0: unknown.
    pub table: u32,
    /// The source of the path.
    pub evidence: Evidence,
    /// What else is known about the packets.
    pub flow: Flow,
    /// As it was when the path was read: see [`Target::next_hop`](crate::Target::next_hop).
    pub next_hop: NextHop,
}

impl Path {
    /// A path for a [`Script`](crate::Script): reachable, without an interface and addresses.
    #[must_use]
    pub fn reachable() -> Path {
        Path::scripted(Flags::REACHABLE, None)
    }

    /// A path for a [`Script`](crate::Script): not reachable, for this reason.
    #[must_use]
    pub fn unreachable(reason: Reason) -> Path {
        Path::scripted(Flags::default(), Some(reason))
    }

    pub(crate) fn scripted(flags: Flags, reason: Option<Reason>) -> Path {
        Path { flags, reason, ..Path::new(&no_path()) }
    }

    /// Whether a packet can leave for the host now. False while its name is not resolved.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        unsafe { sys::SCNetworkReachabilityPathIsReachable(&self.structure()) != 0 }
    }

    /// Whether packets can leave, and not with the address of another interface. If not, connect again.
    #[must_use]
    pub fn is_viable(&self) -> bool {
        unsafe { sys::SCNetworkReachabilityPathIsViable(&self.structure()) != 0 }
    }

    pub(crate) fn new(path: &sys::SCNetworkReachabilityPath) -> Path {
        Path {
            flags: Flags(path.flags),
            reason: reason_from(path.reason),
            interface: (path.interfaceIndex != 0)
                .then(|| Interface::new(&path.interfaceName, path.interfaceIndex, path.interfaceType)),
            destination: address_from(&path.destination),
            source: address_from(&path.source),
            gateway: address_from(&path.gateway),
            mtu: path.mtu,
            table: path.table,
            evidence: path.evidence.into(),
            flow: Flow(path.flow),
            next_hop: path.nextHop.into(),
        }
    }

    /// For the rules of the C library.
    pub(crate) fn structure(&self) -> sys::SCNetworkReachabilityPath {
        let mut path = no_path();
        path.flags = self.flags.bits();
        path.reason = self.reason.map_or(0, u32::from);
        path.mtu = self.mtu;
        path.table = self.table;
        path.evidence = self.evidence.into();
        path.flow = self.flow.bits();
        path.nextHop = self.next_hop.into();
        if let Some(interface) = &self.interface {
            let name = interface.name.bytes().take(path.interfaceName.len() - 1);
            path.interfaceName.iter_mut().zip(name).for_each(|(to, byte)| *to = byte);
            path.interfaceIndex = interface.index;
            path.interfaceType = interface.interface_type.into();
        }
        let address = |address: Option<IpAddr>| address.map(|address| address_to(address, 0));
        path.destination = address(self.destination).unwrap_or(path.destination);
        path.source = address(self.source).unwrap_or(path.source);
        path.gateway = address(self.gateway).unwrap_or(path.gateway);
        path
    }
}

/// A structure without a path.
pub(crate) fn no_path() -> sys::SCNetworkReachabilityPath {
    // All zeros is a valid value of this structure of integers.
    let mut path: sys::SCNetworkReachabilityPath = unsafe { std::mem::zeroed() };
    path.size = std::mem::size_of::<sys::SCNetworkReachabilityPath>();
    path
}

/// A line for people, in the words of ip-route(8): "reachable dev eth0 via 10.0.0.1 src 10.0.0.2".
impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.structure();
        let write = |buffer, capacity| unsafe { sys::SCNetworkReachabilityPathGetString(&path, buffer, capacity) };
        formatter.write_str(&text_of(write))
    }
}

const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;

/// The address in a structure. None: `AF_UNSPEC`.
pub(crate) fn address_from(storage: &sys::sockaddr_storage) -> Option<IpAddr> {
    let bytes = &storage.bytes;
    match u16::from_ne_bytes([bytes[0], bytes[1]]) {
        AF_INET => <[u8; 4]>::try_from(&bytes[4..8]).ok().map(|octets| Ipv4Addr::from(octets).into()),
        AF_INET6 => <[u8; 16]>::try_from(&bytes[8..24]).ok().map(|octets| Ipv6Addr::from(octets).into()),
        _ => None,
    }
}

pub(crate) fn address_to(address: IpAddr, port: u16) -> sys::sockaddr_storage {
    let mut storage = sys::sockaddr_storage { bytes: [0; 128] };
    let (family, octets, start) = match address {
        IpAddr::V4(address) => (AF_INET, address.octets().to_vec(), 4),
        IpAddr::V6(address) => (AF_INET6, address.octets().to_vec(), 8),
    };
    storage.bytes[..2].copy_from_slice(&family.to_ne_bytes());
    storage.bytes[2..4].copy_from_slice(&port.to_be_bytes());
    storage.bytes[start..start + octets.len()].copy_from_slice(&octets);
    storage
}
