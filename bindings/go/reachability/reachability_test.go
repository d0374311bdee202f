// SPDX-License-Identifier: MIT

package reachability

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const timeLimit = time.Minute

// TestMain runs the tests in a network namespace of their own, in which they may change routes.
func TestMain(m *testing.M) {
	if os.Getenv("REACHABILITY_TEST_INSIDE") == "" {
		for _, flags := range []string{"-n", "-Urn"} {
			if exec.Command("unshare", flags, "true").Run() == nil {
				unshare, _ := exec.LookPath("unshare")
				environment := append(os.Environ(), "REACHABILITY_TEST_INSIDE=1")
				fmt.Println(syscall.Exec(unshare, append([]string{"unshare", flags}, os.Args...), environment))
			}
		}
		fmt.Println("SKIP: no network namespace can be made here")
		os.Exit(77)
	}
	for _, command := range []string{"link add e0 type ifb", "link add e1 link e0 type macvlan", "addr add 10.0.0.2/24 dev e0",
		"link set lo up", "link set e0 up", "link set e1 up"} {
		if output, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
			fmt.Println(command, string(output))
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func ip(t *testing.T, command string) {
	t.Helper()
	if output, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %s", command, output)
	}
}

func withRoute(t *testing.T) {
	ip(t, "route replace default via 10.0.0.1")
	t.Cleanup(func() { ip(t, "route flush exact default") })
}

func start(t *testing.T, target Target) (*Watcher, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	t.Cleanup(cancel)
	watcher, err := target.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return watcher, cancel
}

func expect(t *testing.T, watcher *Watcher, reachable bool) Path {
	t.Helper()
	path, open := <-watcher.Paths()
	if !open || path.IsReachable() != reachable {
		t.Fatalf("%s, expected: reachable %t; error %v", path, reachable, watcher.Err())
	}
	return path
}

func check(t *testing.T, target Target) Path {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	path, err := target.Check(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestChannelReceivesTheCurrentPathAndEachChange(t *testing.T) {
	withRoute(t)
	watcher, _ := start(t, Target{Host: "192.0.2.1"})
	expect(t, watcher, true)
	ip(t, "route del default")
	if path := expect(t, watcher, false); path.Reason != ReasonNoRoute {
		t.Errorf("reason: %s", path.Reason)
	}
	ip(t, "route add default via 10.0.0.1")
	expect(t, watcher, true)
}

func TestChannelIsClosedWhenTheContextIsDone(t *testing.T) {
	watcher, cancel := start(t, Target{Host: "192.0.2.1"})
	if expect(t, watcher, false); watcher.Err() != nil {
		t.Error(watcher.Err())
	}
	cancel()
	for range watcher.Paths() {
	}
	if !errors.Is(watcher.Err(), context.Canceled) {
		t.Error(watcher.Err())
	}
}

func TestSlowReceiverGetsOnlyTheNewestPath(t *testing.T) {
	withRoute(t)
	slow, _ := start(t, Target{Host: "192.0.2.1"})
	fast, _ := start(t, Target{Host: "192.0.2.1"})
	expect(t, fast, true)
	for round := 0; round < 5; round++ {
		ip(t, "route del default")
		expect(t, fast, false)
		ip(t, "route add default via 10.0.0.1")
		expect(t, fast, true)
	}
	// The goroutine of the slow one may not have replaced the path before the last yet.
	if path := <-slow.Paths(); !path.IsReachable() {
		expect(t, slow, true)
	}
}

func entries(t *testing.T, folder string) int {
	t.Helper()
	found, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

func TestTenThousandWatchersNeedFewDescriptorsAndNoThreads(t *testing.T) {
	withRoute(t)
	const count = 10000
	descriptors, threads := entries(t, "/proc/self/fd"), entries(t, "/proc/self/task")
	watchers := make([]*Watcher, count)
	for i := range watchers {
		watchers[i], _ = start(t, Target{Host: fmt.Sprintf("192.0.%d.%d", 2+i/250, i%250+1)})
	}
	for i := range watchers {
		expect(t, watchers[i], true)
	}
	ip(t, "route del default")
	for i := range watchers {
		expect(t, watchers[i], false)
	}
	if now := entries(t, "/proc/self/fd"); now >= descriptors+20 {
		t.Errorf("%d descriptors, before: %d", now, descriptors)
	}
	// Go makes a thread for each call of C that runs at the time: more if they wait for a processor.
	if now := entries(t, "/proc/self/task"); now > threads+count/100 {
		t.Errorf("%d threads, before: %d", now, threads)
	}
}

func TestWatchersComeAndGoWhileOthersWait(t *testing.T) {
	withRoute(t)
	for round := 0; round < 50; round++ {
		first, cancel := start(t, Target{Host: "192.0.2.1"})
		second, cancelSecond := start(t, Target{Host: "192.0.2.2"})
		expect(t, first, true)
		expect(t, second, true)
		cancel()
		ip(t, "route del default")
		expect(t, second, false)
		ip(t, "route add default via 10.0.0.1")
		cancelSecond()
	}
}

func TestWaitEndsWhenTheHostBecomesReachable(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := WaitUntilReachable(ctx, "192.0.2.1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	waits := make(chan error)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
		defer cancel()
		_, err := WaitUntilReachable(ctx, "192.0.2.1")
		waits <- err
	}()
	withRoute(t)
	if err := <-waits; err != nil {
		t.Error(err)
	}
}

// Before the first callback of the library, the uplinks may not be complete.
func expectUplinks(t *testing.T, watcher *NetworkWatcher, count int) Network {
	t.Helper()
	for network := range watcher.Networks() {
		if network.UplinksAreComplete && len(network.Uplinks) == count {
			return network
		}
	}
	t.Fatalf("no network with %d uplinks: %v", count, watcher.Err())
	return Network{}
}

func TestNetworkChannelReceivesTheCurrentNetworkAndEachChange(t *testing.T) {
	withRoute(t)
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	watcher, err := WatchNetwork(ctx)
	if err != nil {
		t.Fatal(err)
	}
	network := expectUplinks(t, watcher, 1)
	if uplink := network.Uplinks[0]; uplink.Interface.Name != "e0" || uplink.IPv4.Gateway != netip.MustParseAddr("10.0.0.1") {
		t.Errorf("%+v", network)
	}
	if network.IPv4LoopbackFlags&Reachable == 0 {
		t.Errorf("%+v", network)
	}
	ip(t, "addr add 10.0.1.2/24 dev e1")
	defer ip(t, "addr del 10.0.1.2/24 dev e1")
	ip(t, "route add default via 10.0.1.1 metric 10")
	if network = expectUplinks(t, watcher, 2); network.Uplinks[0].Interface.Name != "e0" || network.Uplinks[1].IPv4.Metric != 10 {
		t.Errorf("%+v", network)
	}
	if network.Uplinks[0].LeadsOut || !network.Uplinks[1].LeadsOut {
		t.Errorf("%+v", network)
	}
	ip(t, "route flush exact default")
	if network = expectUplinks(t, watcher, 0); network.IPv4.IsReachable() || network.IPv4.Reason != ReasonNoRoute {
		t.Errorf("%+v", network)
	}
	ip(t, "route add default via 10.0.0.1")
	expectUplinks(t, watcher, 1)
	cancel()
	for range watcher.Networks() {
	}
	if !errors.Is(watcher.Err(), context.Canceled) {
		t.Error(watcher.Err())
	}
}

func TestNetworkHasTheWays(t *testing.T) {
	if network, err := CurrentNetwork(); err != nil || len(network.Uplinks) != 0 || network.IPv4.IsReachable() {
		t.Errorf("%+v, %v", network, err)
	}
	withRoute(t)
	network, err := CurrentNetwork()
	if err != nil || len(network.Uplinks) != 1 || !network.IPv4.IsReachable() || !network.UplinksAreComplete {
		t.Fatalf("%+v, %v", network, err)
	}
	uplink := network.Uplinks[0]
	if uplink.Interface.Name != "e0" || uplink.IPv4.Gateway != netip.MustParseAddr("10.0.0.1") || uplink.IPv6.IsReachable() {
		t.Errorf("%+v", uplink)
	}
}

func TestNameThatIsNotResolvedIsPending(t *testing.T) {
	path := Path{Flags: Reachable, Reason: ReasonNamePending}
	if path.IsReachable() || path.String() != "pending" {
		t.Error(path)
	}
}

func TestDescriptorsAreClosed(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := count()
	for round := 0; round < 10; round++ {
		watcher, cancel := start(t, Target{Host: "192.0.2.1"})
		expect(t, watcher, false)
		cancel()
		for range watcher.Paths() {
		}
	}
	// The library's thread closes its descriptors after the last watcher has left.
	for end := time.Now().Add(timeLimit); count() > before && time.Now().Before(end); {
		runtime.Gosched()
	}
	if now := count(); now > before {
		t.Errorf("%d descriptors, before: %d", now, before)
	}
}

func TestPathHasInterfaceGatewayAndSource(t *testing.T) {
	withRoute(t)
	path := check(t, Target{Host: "192.0.2.1"})
	if text := path.String(); text != "reachable dev e0 via 10.0.0.1 src 10.0.0.2" {
		t.Error(text)
	}
	if path.Interface.Type != InterfaceVirtual || path.Destination != netip.MustParseAddr("192.0.2.1") {
		t.Errorf("%+v", path)
	}
}

func TestZeroTargetIsTheDefaultPath(t *testing.T) {
	if check(t, Target{}).IsReachable() {
		t.Error("reachable without a route")
	}
	withRoute(t)
	if path := check(t, Target{}); !path.IsReachable() || path.Destination.IsValid() {
		t.Error(path)
	}
}

func TestNameIsLookedUp(t *testing.T) {
	path := check(t, Target{Host: "localhost"})
	if path.Flags != Reachable|IsLocalAddress|IsDirect || !path.Destination.IsLoopback() {
		t.Error(path)
	}
	if path := check(t, Target{Host: "name.invalid"}); path.Flags != 0 || path.Reason == ReasonNamePending {
		t.Error(path)
	}
}

func TestWatcherHasAddressesAndADescription(t *testing.T) {
	watcher, cancel := start(t, Target{Host: "192.0.2.1"})
	<-watcher.Paths()
	if addresses := watcher.Addresses(); len(addresses) != 1 || addresses[0] != netip.MustParseAddr("192.0.2.1") {
		t.Errorf("the addresses are %v", addresses)
	}
	if text := watcher.String(); !strings.Contains(text, "192.0.2.1") {
		t.Errorf("the description is %q", text)
	}
	name, _ := start(t, Target{Host: "localhost"})
	for path := range name.Paths() {
		if path.Reason != ReasonNamePending {
			break
		}
	}
	if addresses := name.Addresses(); len(addresses) == 0 || !addresses[0].IsLoopback() {
		t.Errorf("the addresses of localhost are %v", addresses)
	}
	cancel()
	for range watcher.Paths() {
	}
	if watcher.Addresses() != nil || watcher.String() != "" {
		t.Error("an ended watcher uses its target")
	}
}

func TestSourceAndInterfaceCount(t *testing.T) {
	withRoute(t)
	for _, test := range []struct {
		target Target
		reason Reason
	}{
		{Target{Host: "192.0.2.1", Source: netip.MustParseAddr("10.0.0.2")}, ReasonNone},
		{Target{Source: netip.MustParseAddr("10.0.0.2")}, ReasonNone},
		{Target{Host: "192.0.2.1", Source: netip.MustParseAddr("10.0.0.3")}, ReasonLocalAddressNotAssigned},
		{Target{Host: "192.0.2.1", Interface: "e0"}, ReasonNone},
		{Target{Interface: "e0"}, ReasonNone},
		{Target{Host: "192.0.2.1", Interface: "e1"}, ReasonNoRoute},
		{Target{Host: "192.0.2.1", Interface: "e7"}, ReasonInterfaceMissing},
		{Target{Host: "fe80::1%e0", Source: netip.MustParseAddr("2001:db8::1")}, ReasonLocalAddressNotAssigned},
	} {
		if path := check(t, test.target); path.Reason != test.reason {
			t.Errorf("%+v: %s", test.target, path)
		}
	}
}

func TestFamilyRestrictsTheDefaultPathAndNames(t *testing.T) {
	withRoute(t)
	for family, expected := range map[Family]struct {
		reason    Reason
		localhost string
	}{IPv4: {ReasonNone, "127.0.0.1"}, IPv6: {ReasonNoRoute, "::1"}} {
		if path := check(t, Target{Family: family}); path.Reason != expected.reason {
			t.Error(family, path)
		}
		name, _ := start(t, Target{Host: "localhost", Family: family})
		for path := range name.Paths() {
			if path.Reason != ReasonNamePending {
				break
			}
		}
		addresses := name.Addresses()
		if len(addresses) != 1 || addresses[0] != netip.MustParseAddr(expected.localhost) {
			t.Error(addresses)
		}
	}
	var failed *Error
	if _, err := (Target{Host: "192.0.2.1", Family: IPv6}).Check(context.Background()); !errors.As(err, &failed) {
		t.Error(err)
	}
	if _, err := (Target{Family: 5}).Check(context.Background()); err == nil {
		t.Error("a family that does not exist")
	}
}

func TestErrorHasTheCodeAndItsText(t *testing.T) {
	_, err := Check(context.Background(), strings.Repeat("x", 1025))
	var failed *Error
	if !errors.As(err, &failed) || failed.Code != 1002 || failed.Detail == "" ||
		!strings.HasSuffix(err.Error(), ": Invalid argument: "+failed.Detail) {
		t.Error(err)
	}
	if _, err := Watch(context.Background(), "a\x00b"); err == nil {
		t.Error("no error for a NUL")
	}
	if err := error(&Error{Call: "SCRunLoopPerform", Code: int(syscall.EBUSY)}); !errors.Is(err, syscall.EBUSY) {
		t.Error(err)
	}
}

func TestLibraryHasAVersion(t *testing.T) {
	if version := LibraryVersion(); strings.Count(version, ".") != 2 {
		t.Error(version)
	}
}
