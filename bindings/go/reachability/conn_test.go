// SPDX-License-Identifier: MIT

package reachability

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
)

func connect(t *testing.T) *net.UDPConn {
	t.Helper()
	conn, err := net.Dial("udp", "192.0.2.1:4500")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.UDPConn)
}

func startConn(t *testing.T, conn syscall.Conn) *Watcher {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	t.Cleanup(cancel)
	watcher, err := WatchConn(ctx, conn)
	if err != nil {
		t.Fatal(err)
	}
	return watcher
}

func TestConnectionBehindABetterRouteIsNotViable(t *testing.T) {
	withRoute(t)
	ip(t, "addr add 10.0.1.2/24 dev e1")
	defer ip(t, "addr del 10.0.1.2/24 dev e1")
	watcher := startConn(t, connect(t))
	if path := expect(t, watcher, true); !path.IsViable() || path.Flow != 0 ||
		path.Source != netip.MustParseAddr("10.0.0.2") {
		t.Errorf("%s: %d", path, path.Flow)
	}
	ip(t, "route add 192.0.2.0/24 via 10.0.1.1")
	if path := expect(t, watcher, true); path.Flow != BetterPath|SourceForeign || path.IsViable() ||
		path.Interface.Name != "e1" {
		t.Errorf("%s: %d", path, path.Flow)
	}
	ip(t, "route del 192.0.2.0/24")
	if path := expect(t, watcher, true); !path.IsViable() {
		t.Errorf("%s: %d", path, path.Flow)
	}
}

func TestConnectionWithoutItsSourceIsNotViable(t *testing.T) {
	withRoute(t)
	conn := connect(t)
	watcher := startConn(t, conn)
	expect(t, watcher, true)
	ip(t, "addr del 10.0.0.2/24 dev e0")
	defer ip(t, "route replace default via 10.0.0.1") // withRoute removes it
	defer ip(t, "addr add 10.0.0.2/24 dev e0")
	if path := expect(t, watcher, false); path.Reason != ReasonLocalAddressNotAssigned || path.IsViable() {
		t.Error(path)
	}
	if path, err := CheckConn(conn); err != nil || path.IsViable() {
		t.Error(path, err)
	}
}

func TestConnThatIsNotConnectedIsRefused(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CheckConn(conn.(*net.UDPConn)); !errors.Is(err, syscall.ENOTCONN) {
		t.Error(err)
	}
	if _, err := WatchConn(context.Background(), conn.(*net.UDPConn)); !errors.Is(err, syscall.ENOTCONN) {
		t.Error(err)
	}
	conn.Close()
	if _, err := CheckConn(conn.(*net.UDPConn)); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func TestRuleForAPortCountsForThatPort(t *testing.T) {
	withRoute(t)
	ip(t, "rule add ipproto tcp dport 443 prohibit")
	isThere := true
	defer func() {
		if isThere {
			ip(t, "rule del ipproto tcp dport 443 prohibit")
		}
	}()
	for _, source := range []netip.Addr{{}, netip.MustParseAddr("10.0.0.2")} {
		target := Target{Host: "192.0.2.1", Source: source}
		if path := check(t, target); path.Flow&FlowIncomplete == 0 {
			t.Errorf("%s: %d", path, path.Flow)
		}
		for port, transport := range map[uint16]Transport{443: UDP, 80: TCP} {
			target.Port, target.Transport = port, transport
			if path := check(t, target); !path.IsReachable() || path.Flow != 0 {
				t.Errorf("%d: %s: %d", port, path, path.Flow)
			}
		}
		target.Port, target.Transport = 443, TCP
		if path := check(t, target); path.Reason != ReasonRouteProhibited {
			t.Error(path)
		}
	}
	watcher, _ := start(t, Target{Host: "192.0.2.1", Port: 443, Transport: TCP})
	expect(t, watcher, false)
	ip(t, "rule del ipproto tcp dport 443 prohibit")
	isThere = false
	expect(t, watcher, true)
	if _, err := (Target{Host: "192.0.2.1", Port: 443}).Watch(context.Background()); err == nil {
		t.Error("a port without a transport")
	}
}

func TestRuleForAClassCountsForThatClass(t *testing.T) {
	withRoute(t)
	ip(t, "rule add tos 0x10 blackhole")
	defer ip(t, "rule del tos 0x10 blackhole")
	if path := check(t, Target{Host: "192.0.2.1", TrafficClass: 0x10}); path.Reason != ReasonRouteBlackhole {
		t.Error(path)
	}
	if path := check(t, Target{Host: "192.0.2.1", TrafficClass: 0x08}); !path.IsReachable() {
		t.Error(path)
	}
}

func TestGatewayThatDoesNotRespondIsReported(t *testing.T) {
	ip(t, "link add v0 type veth peer name v1") // the other end never responds
	defer ip(t, "link del v0")
	for _, command := range []string{"link set v0 up", "link set v1 up", "addr add 10.9.0.2/24 dev v0",
		"route add 192.0.2.0/24 via 10.9.0.1"} {
		ip(t, command)
	}
	for name, value := range map[string]string{"retrans_time_ms": "10", "mcast_solicit": "1"} {
		if err := os.WriteFile("/proc/sys/net/ipv4/neigh/v0/"+name, []byte(value), 0); err != nil {
			t.Fatal(err)
		}
	}
	watcher, _ := start(t, Target{Host: "192.0.2.1", ReportsNextHop: true})
	quiet, _ := start(t, Target{Host: "192.0.2.1"})
	if path := expect(t, watcher, true); path.NextHop != NextHopUnknown {
		t.Error(path)
	}
	expect(t, quiet, true)
	if _, err := connect(t).Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if path := expect(t, watcher, true); path.NextHop != NextHopFailed || !path.IsViable() ||
		!strings.HasSuffix(path.String(), ", next hop failed") {
		t.Error(path)
	}
	ip(t, "neigh replace 10.9.0.1 lladdr 02:00:00:00:00:01 dev v0 nud permanent")
	if path := expect(t, watcher, true); path.NextHop != NextHopConfirmed {
		t.Error(path)
	}
	select {
	case path := <-quiet.Paths():
		t.Error(path)
	default:
	}
}
