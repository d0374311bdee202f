// SPDX-License-Identifier: MIT

package reachability

import (
	"context"
	"testing"
	"time"
)

func textSettling() func(value, sent string, second float64) bool {
	s := newSettling(func(value, other string) bool { return value == other }, 2*time.Second)
	start := time.Now()
	return func(value, sent string, second float64) bool {
		return s.isNews(value, &sent, start.Add(time.Duration(second*float64(time.Second))))
	}
}

func TestChangeIsNewsWhenNothingHasChangedForTheSettleTime(t *testing.T) {
	isNews := textSettling()
	if isNews("b", "a", 0) || isNews("b", "a", 1) || isNews("c", "a", 1) || isNews("c", "a", 2.9) || !isNews("c", "a", 3) {
		t.Fatal("not after two seconds without a change")
	}
	if isNews("a", "c", 50) || !isNews("a", "c", 52) {
		t.Fatal("the next change has a time of its own")
	}
}

func TestChangeThatIsUndoneIsNoNews(t *testing.T) {
	isNews := textSettling()
	if isNews("b", "a", 0) || isNews("a", "a", 1) || isNews("b", "a", 100) || isNews("b", "a", 101.9) || !isNews("b", "a", 102) {
		t.Fatal("the change that was undone counts")
	}
}

func TestChangesThatGoOnAreNewsAfterTenTimesTheSettleTime(t *testing.T) {
	isNews := textSettling()
	for second := 0; second < 20; second++ {
		if isNews(string(rune('b'+second)), "a", float64(second)) {
			t.Fatal(second)
		}
	}
	if !isNews("z", "a", 20) {
		t.Fatal("not after twenty seconds")
	}
}

func TestSettleTimeHasNoOverflow(t *testing.T) {
	for _, settleTime := range []time.Duration{-1 << 63, -1, 0, 1<<63 - 1} {
		s := newSettling(func(value, other int) bool { return value == other }, settleTime)
		sent := 1
		if s.isNews(2, &sent, time.Now()) != (settleTime <= 0) {
			t.Fatal(settleTime)
		}
	}
}

func TestChangeComesAfterTheSettleTime(t *testing.T) {
	withRoute(t)
	watcher, _ := start(t, Target{Host: "192.0.2.1", SettleTime: 50 * time.Millisecond})
	expect(t, watcher, true)
	start := time.Now()
	ip(t, "route del default")
	expect(t, watcher, false)
	if elapsed := time.Since(start); elapsed < 50*time.Millisecond {
		t.Fatal(elapsed)
	}
	ip(t, "route add default via 10.0.0.1")
	expect(t, watcher, true)
}

func TestRenewalOfAnAddressIsNotSent(t *testing.T) {
	withRoute(t)
	settled, cancel := start(t, Target{Host: "192.0.2.1", SettleTime: 1<<63 - 1})
	watcher, _ := start(t, Target{Host: "192.0.2.1"})
	expect(t, settled, true)
	expect(t, watcher, true)
	until := func(reachable bool) {
		for path := range watcher.Paths() {
			if path.IsReachable() == reachable {
				return
			}
		}
		t.Fatal(watcher.Err())
	}
	for i := 0; i < 10; i++ {
		ip(t, "addr del 10.0.0.2/24 dev e0")
		until(false)
		ip(t, "addr add 10.0.0.2/24 dev e0")
		ip(t, "route add default via 10.0.0.1")
		until(true)
	}
	cancel()
	if path, open := <-settled.Paths(); open {
		t.Fatal(path)
	}
}

func TestWaitDoesNotSettle(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	ended := make(chan error)
	go func() {
		_, err := Target{Host: "192.0.2.1", SettleTime: 1<<63 - 1}.WaitUntilReachable(ctx)
		ended <- err
	}()
	withRoute(t)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
