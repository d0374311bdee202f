// SPDX-License-Identifier: MIT

package reachability

import (
	"context"
	"crypto/rand"
	"math/big"
	"net/netip"
	"time"
)

// A Wake is why a sleep has ended.
type Wake int

// Why a sleep has ended.
const (
	WakeTime      Wake = iota // the time is over
	WakeReachable             // the host was not reachable, and is
	WakePath                  // packets leave over another interface or gateway, or from another source
)

func (w Wake) String() string { return [...]string{"time", "reachable", "path"}[w] }

// A RetryTimer is the sleep between two attempts to connect, which ends early when an attempt has become worth while.
//
//	ctx, cancel := context.WithCancel(ctx)
//	defer cancel() // ends the watch
//	timer, err := reachability.Target{Host: "db.internal"}.NewRetryTimer(ctx)
//	if err != nil {
//		return err
//	}
//	for pause := time.Second; connect() != nil; { // the first attempt is always made
//		wake, err := timer.Sleep(ctx, pause)
//		if err != nil {
//			return err
//		}
//		if wake != reachability.WakeTime {
//			pause = time.Second
//		} else if pause < time.Minute {
//			pause *= 2
//		}
//	}
//
// A sleep ends early if the host becomes reachable, or its path gets another interface, gateway or source while it is
// reachable. An unreachable host only means that the sleep lasts its time. What changes during the attempt ends the next
// sleep, at once, unless it is undone before the sleep begins. It does not see that the host itself comes back: that needs
// the attempts.
type RetryTimer struct {
	// Jitter makes a change end the sleep after a random part of this time. 250 ms are good for many clients of one
	// server, which must not come all at once.
	Jitter time.Duration
	// MinInterval is the least time between two sleeps that changes have ended. NewRetryTimer sets it to a second.
	MinInterval time.Duration

	watcher *Watcher
	trigger trigger
}

// A trigger decides which changes are worth an attempt, and when. The caller brings the paths and the time.
type trigger struct {
	last      *way // the last one over which the host was reachable
	wasLost   bool
	wake      Wake // WakeTime: no change
	due       time.Time
	notBefore time.Time
}

// A way is what must change while the host is reachable.
type way struct {
	device          int
	gateway, source netip.Addr
}

// observe takes the next path. That of a pending name is the default path, and says nothing.
func (t *trigger) observe(path Path, now time.Time, jitter time.Duration) {
	if path.Reason == ReasonNamePending {
		return
	}
	if !path.IsReachable() {
		t.wasLost, t.wake = true, WakeTime
		return
	}
	current := way{path.Interface.Index, path.Gateway, path.Source}
	wake := WakeTime
	if t.wasLost {
		wake = WakeReachable
	} else if t.last != nil && *t.last != current {
		wake = WakePath
	}
	if wake != WakeTime && t.wake == WakeTime {
		t.wake, t.due = wake, now
		// Not from math/rand: up to Go 1.19, its numbers are the same in all processes.
		if jitter > 0 {
			if part, err := rand.Int(rand.Reader, big.NewInt(int64(jitter))); err == nil {
				t.due = now.Add(time.Duration(part.Int64()))
			}
		}
	}
	t.wasLost, t.last = false, &current
}

// next returns when the sleep ends if nothing changes, and why.
func (t *trigger) next(end time.Time) (time.Time, Wake) {
	due := t.due
	if t.notBefore.After(due) {
		due = t.notBefore
	}
	if t.wake == WakeTime || due.After(end) {
		return end, WakeTime
	}
	return due, t.wake
}

// NewRetryTimer watches the target until the context is done. One goroutine at a time sleeps.
func (t Target) NewRetryTimer(ctx context.Context) (*RetryTimer, error) {
	t.SettleTime = 0
	watcher, err := t.Watch(ctx)
	if err != nil {
		return nil, err
	}
	timer := &RetryTimer{MinInterval: time.Second, watcher: watcher}
	path, open := <-watcher.Paths() // the current one comes at once
	if !open {
		return nil, watcher.Err()
	}
	timer.observe(path)
	return timer, nil
}

func (r *RetryTimer) observe(path Path) { r.trigger.observe(path, time.Now(), r.Jitter) }

// Sleep sleeps for the time, or until a change, and returns which. It returns an error if one of the contexts is done, that
// of the call or that of the timer, or if the target can no longer be watched.
func (r *RetryTimer) Sleep(ctx context.Context, duration time.Duration) (Wake, error) {
	end := time.Now().Add(duration)
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	<-alarm.C
	select { // what has changed since the last sleep
	case path, open := <-r.watcher.Paths():
		if !open {
			return WakeTime, r.watcher.Err()
		}
		r.observe(path)
	default:
	}
	for {
		at, wake := r.trigger.next(end)
		alarm.Reset(time.Until(at))
		select {
		case <-ctx.Done():
			return WakeTime, ctx.Err()
		case path, open := <-r.watcher.Paths():
			if !open {
				return WakeTime, r.watcher.Err()
			}
			r.observe(path)
			if !alarm.Stop() {
				select {
				case <-alarm.C:
				default:
				}
			}
		case <-alarm.C:
			r.trigger.wake = WakeTime
			if wake != WakeTime {
				r.trigger.notBefore = time.Now().Add(r.MinInterval)
			}
			return wake, nil
		}
	}
}
