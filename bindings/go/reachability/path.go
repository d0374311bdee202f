// SPDX-License-Identifier: MIT

package reachability

import (
	"net"
	"net/netip"
	"strconv"
)

// Flags are Apple's bits. No bit set: no packet can leave for the host.
type Flags uint32

// The flags that Linux has a source for.
const (
	TransientConnection Flags = 1 << 0  // over a point-to-point link: ppp, tunnel, cellular
	Reachable           Flags = 1 << 1  // a packet can leave
	ConnectionRequired  Flags = 1 << 2  // never set: Linux has no source for it
	ConnectionOnTraffic Flags = 1 << 3  // never set: Linux has no source for it
	IsLocalAddress      Flags = 1 << 16 // one of this machine's own addresses
	IsDirect            Flags = 1 << 17 // on a directly attached network: no gateway
	IsWWAN              Flags = 1 << 18 // over a cellular interface, or ppp over a modem
)

// String returns the words of Apple's scutil: "Reachable,Directly Reachable Address".
func (f Flags) String() string { return flagsText(uint32(f)) }

// A Reason is why a host is not reachable. Later versions of the library may add values.
type Reason uint32

// The reasons.
const (
	ReasonNone Reason = iota // it is reachable
	ReasonNoRoute
	ReasonRouteUnreachable
	ReasonRouteProhibited
	ReasonRouteBlackhole
	ReasonInterfaceDown
	ReasonNoCarrier
	ReasonNoSourceAddress
	ReasonLocalAddressNotAssigned
	ReasonNamePending // the name is not resolved yet: the flags are those of the default path
	ReasonNameNotFound
	ReasonNameServerFailure
	ReasonNameServerUnreachable
	ReasonInterfaceMissing
)

func (r Reason) String() string { return reasonText(uint32(r)) }

// An InterfaceType depends on the device, never on the interface's name. Later versions of the library may add values.
type InterfaceType uint32

// The types of interface.
const (
	InterfaceOther InterfaceType = iota
	InterfaceLoopback
	InterfaceWiredEthernet
	InterfaceWiFi
	InterfaceCellular
	InterfacePointToPoint
	InterfaceTunnel
	InterfaceVirtual
)

// A Flow is what else is known about the packets to a host, or about those of a connection.
type Flow uint32

// The bits of Flow.
const (
	BetterPath     Flow = 1 << 0 // a new connection, with no address bound, would leave over another interface
	SourceForeign  Flow = 1 << 1 // packets leave over an interface that does not have their source address
	FlowIncomplete Flow = 1 << 2 // a policy rule selects by what the target does not say: transport, port, class, user
)

// A NextHop is whether the next hop responds, as the kernel knows it: the gateway, or without one the host itself.
type NextHop uint32

// The states of the next hop.
const (
	NextHopUnknown     NextHop = iota // not tried, no reply yet, or forgotten; or there is no next hop
	NextHopConfirmed                  // it responds, or needs not be asked
	NextHopUnconfirmed                // it has responded some time ago
	NextHopFailed                     // it has not responded
)

// Evidence is the source of a path.
type Evidence uint32

// The kinds of evidence.
const (
	EvidenceKernel Evidence = iota // a route query to the kernel
	EvidenceSocket                 // a connected UDP socket, because a sandbox denies rtnetlink
)

// An Interface is what packets leave over. The zero value: none.
type Interface struct {
	Name  string
	Index int
	Type  InterfaceType
}

// A Path is what is known about the path to a host. Paths can be compared with ==.
type Path struct {
	Flags       Flags
	Reason      Reason
	Interface   Interface  // that packets leave over, or would leave over if the host is not reachable
	Destination netip.Addr // the evaluated address; zero for the default path
	Source      netip.Addr
	Gateway     netip.Addr // zero: on-link
	MTU         int        // bytes; 0: unknown
	Table       int        // the routing table of the route; 0: unknown
	Evidence    Evidence
	Flow        Flow
	NextHop     NextHop // as it was when the path was read: see Target.ReportsNextHop
}

// IsReachable reports whether a packet can leave for the host now. It is false while the host's name is not resolved.
func (p Path) IsReachable() bool { return pathIsReachable(p) }

// IsViable reports whether packets can leave, and not with the address of another interface. If not, connect again.
func (p Path) IsViable() bool { return pathIsViable(p) }

// String returns a line for people, in the words of ip(8): "reachable dev eth0 via 10.0.0.1 src 10.0.0.2", "not reachable: no
// carrier dev eth0". For a name that is not resolved: "pending".
func (p Path) String() string { return pathText(p) }

// interfaceIndex returns the index for a zone, which is an index or a name. 0: no zone.
func interfaceIndex(zone string) (uint32, error) {
	if index, err := strconv.ParseUint(zone, 10, 32); err == nil || zone == "" {
		return uint32(index), nil
	}
	link, err := net.InterfaceByName(zone)
	if err != nil {
		return 0, err
	}
	return uint32(link.Index), nil
}
