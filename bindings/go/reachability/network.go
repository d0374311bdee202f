// SPDX-License-Identifier: MIT

package reachability

/*
#include <reachability/reachability.h>
*/
import "C"

import (
	"context"
	"net/netip"
	"reflect"
	"unsafe"
)

// A DefaultPath is the way of packets of one family for which only a default route matches.
type DefaultPath struct {
	Flags          Flags
	Reason         Reason
	InterfaceIndex int        // 0: none, or not known
	Metric         uint32     // of the default route; the kernel prefers the smaller
	Source         netip.Addr // zero: not known
	Gateway        netip.Addr // zero: none
}

// IsReachable reports whether a packet can leave this way.
func (p DefaultPath) IsReachable() bool { return p.Flags&Reachable != 0 }

// An Uplink is an interface that is up, has a carrier, and has a usable default path in one family or in both.
type Uplink struct {
	Interface         Interface
	LeadsOut          bool        // of a container or a virtual machine: a veth, macvlan, or an interface above one of these
	IPv4              DefaultPath // out of this interface
	IPv6              DefaultPath
	IPv4UnderlayTypes []InterfaceType // of a tunnel: what carries its packets, as far as the kernel shows
	IPv6UnderlayTypes []InterfaceType
}

// A Network has all default paths of a network namespace, and its name servers.
type Network struct {
	IPv4                  DefaultPath // the uplink that the kernel chooses
	IPv6                  DefaultPath
	IPv4LoopbackFlags     Flags    // of 127.0.0.1
	IPv6LoopbackFlags     Flags    // of ::1
	Uplinks               []Uplink // first the kernel's choice for IPv4, then that for IPv6, then all others by metric
	UplinksAreComplete    bool     // false: only the uplinks that the kernel chooses are known
	NameServers           []netip.Addr
	NameServerIsReachable bool // a packet can leave for at least one
	Evidence              Evidence
}

// CurrentNetwork returns all default paths of the calling thread's network namespace now. It queries the kernel, at
// least six queries for each interface.
func CurrentNetwork() (Network, error) {
	t, err := newNetworkTarget()
	if err != nil {
		return Network{}, err
	}
	defer t.release()
	return t.network()
}

// A NetworkWatcher watches all default paths and name servers of a network namespace until its context is done.
type NetworkWatcher struct{ feed *feed[Network] }

// WatchNetwork watches the calling thread's network namespace until the context is done.
func WatchNetwork(ctx context.Context) (*NetworkWatcher, error) {
	t, err := newNetworkTarget()
	if err != nil {
		return nil, err
	}
	isSame := func(network, other Network) bool { return reflect.DeepEqual(network, other) }
	f, err := startFeed(ctx, newSource(t, t.network), isSame, 0)
	if err != nil {
		return nil, err
	}
	return &NetworkWatcher{f}, nil
}

// Networks returns the channel of networks: first the current one, then each that differs from the last. If several changes
// come while the receiver is busy, it gets only the newest. The channel is closed when the context is done, or after a
// failure.
func (w *NetworkWatcher) Networks() <-chan Network { return w.feed.values }

// Err returns why the channel was closed: the context's error, or an *Error. It returns nil while the channel is open.
func (w *NetworkWatcher) Err() error { return w.feed.reason() }

func newNetworkTarget() (target, error) {
	return question{remote: netip.IPv4Unspecified(), notify: notifyNetwork}.newTarget()
}

// network returns the network. If the target is scheduled, it is that of the latest evaluation.
func (t target) network() (Network, error) {
	network := C.SCNetworkReachabilityNetwork{size: C.sizeof_SCNetworkReachabilityNetwork}
	uplinks := make([]C.SCNetworkReachabilityUplink, 8)
	for {
		err := try("SCNetworkReachabilityGetNetwork", func() bool {
			return C.SCNetworkReachabilityGetNetwork(t.ref, &network, &uplinks[0], C.sizeof_SCNetworkReachabilityUplink,
				C.size_t(len(uplinks))) != 0
		})
		if err != nil {
			return Network{}, err
		}
		count := int(network.uplinkCount)
		if count <= len(uplinks) {
			return goNetwork(&network, uplinks[:count]), nil
		}
		uplinks = make([]C.SCNetworkReachabilityUplink, count)
	}
}

func goNetwork(network *C.SCNetworkReachabilityNetwork, uplinks []C.SCNetworkReachabilityUplink) Network {
	result := Network{
		IPv4:                  goDefaultPath(&network.ipv4),
		IPv6:                  goDefaultPath(&network.ipv6),
		IPv4LoopbackFlags:     Flags(network.ipv4LoopbackFlags),
		IPv6LoopbackFlags:     Flags(network.ipv6LoopbackFlags),
		UplinksAreComplete:    network.uplinksAreComplete != 0,
		NameServerIsReachable: network.nameServerIsReachable != 0,
		Evidence:              Evidence(network.evidence),
	}
	for i := range uplinks {
		uplink := &uplinks[i]
		result.Uplinks = append(result.Uplinks, Uplink{
			Interface:         goInterface(&uplink.interfaceName, uplink.interfaceIndex, uplink.interfaceType),
			LeadsOut:          uplink.interfaceLeadsOut != 0,
			IPv4:              goDefaultPath(&uplink.ipv4),
			IPv6:              goDefaultPath(&uplink.ipv6),
			IPv4UnderlayTypes: goTypes(uplink.ipv4UnderlayTypes),
			IPv6UnderlayTypes: goTypes(uplink.ipv6UnderlayTypes),
		})
	}
	for i := 0; i < int(network.nameServerCount); i++ {
		result.NameServers = append(result.NameServers, goAddress(&network.nameServers[i]))
	}
	return result
}

func goDefaultPath(path *C.SCNetworkReachabilityDefaultPath) DefaultPath {
	return DefaultPath{
		Flags:          Flags(path.flags),
		Reason:         Reason(path.reason),
		InterfaceIndex: int(path.interfaceIndex),
		Metric:         uint32(path.metric),
		Source:         goAddress(&path.source),
		Gateway:        goAddress(&path.gateway),
	}
}

func goInterface(name *[16]C.char, index, kind C.uint32_t) Interface {
	return Interface{
		Name:  C.GoString((*C.char)(unsafe.Pointer(name))),
		Index: int(index),
		Type:  InterfaceType(kind),
	}
}

func goTypes(bits C.uint32_t) []InterfaceType {
	var types []InterfaceType
	for number := 0; number < 32; number++ {
		if bits&(1<<number) != 0 {
			types = append(types, InterfaceType(number))
		}
	}
	return types
}
