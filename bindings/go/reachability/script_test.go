// SPDX-License-Identifier: MIT

package reachability

import (
	"context"
	"math"
	"net/netip"
	"testing"
	"time"
)

var (
	onEthernet = Path{Flags: Reachable, Interface: Interface{"eth0", 2, InterfaceWiredEthernet},
		Gateway: netip.MustParseAddr("10.0.0.1"), Source: netip.MustParseAddr("10.0.0.2")}
	onWiFi  = Path{Flags: Reachable, Interface: Interface{"wlan0", 3, InterfaceWiFi}}
	offline = Path{Reason: ReasonNoCarrier, Interface: onEthernet.Interface}
)

func TestWatcherOfAScriptGetsItsPaths(t *testing.T) {
	script := NewScript(onEthernet)
	watcher, cancel := start(t, Target{Script: script})
	for _, path := range []Path{onEthernet, offline, onWiFi} {
		script.Play(path)
		if received := <-watcher.Paths(); received != path {
			t.Fatal(received)
		}
	}
	if watcher.Addresses() != nil || watcher.String() != "" || script.Watches() != 1 {
		t.Error(watcher.Addresses(), watcher, script.Watches())
	}
	cancel()
	for range watcher.Paths() {
	}
	if script.Watches() != 0 {
		t.Error("a watcher that has ended counts")
	}
	if path := check(t, Target{Script: script}); path != onWiFi {
		t.Error(path)
	}
}

func TestWaitFollowsAScript(t *testing.T) {
	script := NewScript(Path{Flags: Reachable, Reason: ReasonNamePending})
	waits := make(chan Path)
	go func() {
		path, _ := Target{Script: script}.WaitUntilReachable(context.Background())
		waits <- path
	}()
	script.Play(offline)
	script.Play(onWiFi)
	if path := <-waits; path != onWiFi {
		t.Error(path)
	}
}

func TestScriptEndsTheSleep(t *testing.T) {
	script := NewScript(onEthernet)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	timer, err := Target{Script: script}.NewRetryTimer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	timer.MinInterval = 0
	for _, expected := range []struct {
		path Path
		wake Wake
	}{{onWiFi, WakePath}, {onEthernet, WakePath}} {
		script.Play(expected.path)
		expectWake(t, timer, math.MaxInt64, expected.wake)
		expectWake(t, timer, time.Millisecond, WakeTime)
	}
	script.Play(offline)
	expectWake(t, timer, 10*time.Millisecond, WakeTime)
	expectWake(t, timer, math.MinInt64, WakeTime)
}

func TestMinIntervalDelaysTheEndOfASleep(t *testing.T) {
	script := NewScript(onEthernet)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	timer, err := Target{Script: script}.NewRetryTimer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	timer.MinInterval = time.Hour
	script.Play(onWiFi)
	expectWake(t, timer, timeLimit, WakePath)
	script.Play(onEthernet)
	expectWake(t, timer, 10*time.Millisecond, WakeTime)
}

func TestTextIsTheLibrarys(t *testing.T) {
	for text, path := range map[string]Path{
		"reachable dev eth0 via 10.0.0.1 src 10.0.0.2": onEthernet,
		"not reachable: no carrier dev eth0":           offline,
	} {
		if path.String() != text {
			t.Errorf("%q, not %q", path, text)
		}
	}
	foreign := onEthernet
	foreign.Flow = SourceForeign
	if !foreign.IsReachable() || foreign.IsViable() || !onEthernet.IsViable() || offline.IsReachable() {
		t.Error(foreign)
	}
}
