// SPDX-License-Identifier: MIT

// Package reachability reports whether a packet can leave this machine for a host now, over which interface, and if not,
// why not. And it reports every change. It uses the C library libreachability, which pkg-config must find.
//
//	watcher, err := reachability.Watch(ctx, "example.com")
//	if err != nil {
//		return err
//	}
//	for path := range watcher.Paths() {
//		fmt.Println(path)
//	}
//
// "Reachable" means that a packet to the host can leave this machine now. It does not mean that the host responds.
//
// A target belongs to the network namespace of the thread that calls Watch or Check. A program that calls setns(2) or
// unshare(2) must call runtime.LockOSThread before, and keep the thread until Watch or Check has returned.
package reachability

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"time"
)

// A Transport is the protocol of the packets to a port.
type Transport uint8

// The transports.
const (
	TCP Transport = 6
	UDP Transport = 17
)

// A Family is a kind of address.
type Family uint8

// The families.
const (
	IPv4 Family = 4
	IPv6 Family = 6
)

// A Target is what to watch or check. The zero value is the default path.
type Target struct {
	Host      string     // a name, or an address; "": the default path
	Source    netip.Addr // only packets from this address count; Host must then be an address or ""
	Interface string     // only routes out of this interface count
	Family    Family     // only addresses of this family count; 0: both
	Mark      uint32     // SO_MARK of the sockets that the program will use

	// Port and Transport: the packets of this transport to this port, as connect(2) decides. Policy rules can select by port.
	Port      uint16
	Transport Transport

	TrafficClass   uint8 // IP_TOS or IPV6_TCLASS of the sockets
	ReportsNextHop bool  // a path is sent also when the next hop fails, and when it responds again: see Path.NextHop

	// SettleTime: Watch sends a change when nothing has changed for this time, or after ten times as long. A change that is
	// undone meanwhile is not sent.
	SettleTime time.Duration

	// Script: in a test, what is watched instead of the host. Of the other fields, only SettleTime and ReportsNextHop count.
	Script *Script
}

var (
	errNUL         = errors.New("reachability: a NUL in a name")
	errNoTransport = errors.New("reachability: a port without a transport")
	errNoFamily    = errors.New("reachability: a family that is neither IPv4 nor IPv6")
)

// newTarget makes the C target, which the caller releases.
func (t Target) newTarget() (target, error) {
	if strings.Contains(t.Host+t.Interface, "\x00") {
		return target{}, errNUL
	}
	if t.Port != 0 && t.Transport == 0 {
		return target{}, errNoTransport
	}
	family, isKnown := familyOptions[t.Family]
	if !isKnown {
		return target{}, errNoFamily
	}
	notify := notifyPath | family
	if t.ReportsNextHop {
		notify |= notifyNextHop
	}
	var remote netip.Addr
	name := t.Host
	if t.Source.IsValid() || name == "" {
		name, remote = "", netip.IPv4Unspecified()
		if t.Source.Is6() || t.Family == IPv6 {
			remote = netip.IPv6Unspecified()
		}
		if t.Host != "" {
			var err error
			if remote, err = netip.ParseAddr(t.Host); err != nil {
				return target{}, err
			}
		}
	}
	return question{name, t.Source, remote, t.Interface, t.Mark, notify, t.Transport, t.TrafficClass, t.Port}.newTarget()
}

// Check returns the path to a host now: see Target.Check.
func Check(ctx context.Context, host string) (Path, error) { return Target{Host: host}.Check(ctx) }

// Watch watches a host: see Target.Watch.
func Watch(ctx context.Context, host string) (*Watcher, error) { return Target{Host: host}.Watch(ctx) }

// WaitUntilReachable waits until a packet can leave for a host: see Target.WaitUntilReachable.
func WaitUntilReachable(ctx context.Context, host string) (Path, error) {
	return Target{Host: host}.WaitUntilReachable(ctx)
}

// Check returns the path now. For a name, it waits for the first result of the look-up, or until the context is done.
func (t Target) Check(ctx context.Context) (Path, error) {
	path, err := t.path()
	if err != nil || path.Reason != ReasonNamePending {
		return path, err
	}
	return t.follow(ctx, func(path Path) bool { return path.Reason != ReasonNamePending })
}

// path returns the path now, without a wait.
func (t Target) path() (Path, error) {
	if t.Script != nil {
		return t.Script.read()
	}
	cTarget, err := t.newTarget()
	if err != nil {
		return Path{}, err
	}
	defer cTarget.release()
	return cTarget.path()
}

// WaitUntilReachable waits until a packet can leave, or until the context is done. Reachable does not mean that the host
// responds: try to connect first, and wait here if that fails.
func (t Target) WaitUntilReachable(ctx context.Context) (Path, error) {
	return t.follow(ctx, Path.IsReachable)
}

// follow returns the first path that meets the condition.
func (t Target) follow(ctx context.Context, condition func(Path) bool) (Path, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.SettleTime = 0
	watcher, err := t.Watch(ctx)
	if err != nil {
		return Path{}, err
	}
	for path := range watcher.Paths() {
		if condition(path) {
			return path, nil
		}
	}
	return Path{}, watcher.Err()
}

// A Watcher watches a target until its context is done.
type Watcher struct{ feed *feed[Path] }

// Addresses returns the addresses of the host, in the order of its newest look-up: a path that was received may be older. It is
// nil while the name is not resolved, for the default path, and after the end of the watcher.
func (w *Watcher) Addresses() (addresses []netip.Addr) {
	w.feed.whileAlive(func() { addresses = w.feed.target.addresses() })
	return addresses
}

// String describes the target and all that is known about it. The text is for people, and empty after the end of the watcher.
func (w *Watcher) String() (text string) {
	w.feed.whileAlive(func() { text = w.feed.target.description() })
	return text
}

// Paths returns the channel of paths: first the current path, then each that differs from the last. If several changes come
// while the receiver is busy, it gets only the newest path. The channel is closed when the context is done, or after a
// failure.
func (w *Watcher) Paths() <-chan Path { return w.feed.values }

// Err returns why the channel was closed: the context's error, or an *Error. It returns nil while the channel is open.
func (w *Watcher) Err() error { return w.feed.reason() }

// Watch watches the target until the context is done. A name is looked up in the background: until the first result the
// reason is ReasonNamePending, and the flags are those of the default path.
//
// The library's one thread serves all watchers. So the number of watchers needs no descriptors and no threads; each has a
// goroutine.
func (t Target) Watch(ctx context.Context) (*Watcher, error) {
	if t.Script != nil {
		return t.watch(ctx, t.Script.source())
	}
	cTarget, err := t.newTarget()
	if err != nil {
		return nil, err
	}
	return t.watch(ctx, newSource(cTarget, cTarget.lastPath))
}

// watch returns a watcher, which releases the target of the source.
func (t Target) watch(ctx context.Context, from source[Path]) (*Watcher, error) {
	// That the next hop has failed counts only if the watcher reports it. Nothing reports that it was confirmed.
	isSame := func(path, other Path) bool {
		if t.ReportsNextHop && (path.NextHop == NextHopFailed) != (other.NextHop == NextHopFailed) {
			return false
		}
		path.NextHop = other.NextHop
		return path == other
	}
	f, err := startFeed(ctx, from, isSame, t.SettleTime)
	if err != nil {
		return nil, err
	}
	return &Watcher{f}, nil
}
