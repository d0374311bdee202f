// SPDX-License-Identifier: MIT

package reachability

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"math/big"
	"time"
)

// A Wake is why a sleep has ended.
type Wake int

// Why a sleep has ended.
const (
	WakeTime      Wake = iota + 1 // the time is over
	WakeReachable                 // the host was not reachable, and is
	WakePath                      // packets leave over another interface or gateway, or from another source
)

func (w Wake) String() string {
	if names := [...]string{"none", "time", "reachable", "path"}; uint(w) < uint(len(names)) {
		return names[w]
	}
	return fmt.Sprintf("unknown(%d)", int(w))
}

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
// sleep, at once. A loss that is over before the sleep begins is none: the timer sees only the newest path. It does not see
// that the host itself comes back: that needs the attempts.
type RetryTimer struct {
	// Jitter makes a change end the sleep after a random part of this time. 250 ms are good for many clients of one
	// server, which must not come all at once.
	Jitter time.Duration
	// MinInterval is the least time between two sleeps that changes have ended. NewRetryTimer sets it to a second. It is read
	// by the first Sleep.
	MinInterval time.Duration

	watcher *Watcher
	first   Path // the path when the timer was made
	start   time.Time
	retry   *retry // nil before the first Sleep
}

// NewRetryTimer watches the target until the context is done. One goroutine at a time sleeps.
func (t Target) NewRetryTimer(ctx context.Context) (*RetryTimer, error) {
	t.SettleTime = 0
	watcher, err := t.Watch(ctx)
	if err != nil {
		return nil, err
	}
	path, open := <-watcher.Paths() // the current one comes at once
	if !open {
		return nil, watcher.Err()
	}
	return &RetryTimer{MinInterval: time.Second, watcher: watcher, first: path, start: time.Now()}, nil
}

// delay returns a random part of the jitter. It is not from math/rand: up to Go 1.19, its numbers are the same in all processes.
func (r *RetryTimer) delay() time.Duration {
	if r.Jitter <= 0 {
		return 0
	}
	part, err := rand.Int(rand.Reader, big.NewInt(int64(r.Jitter)))
	if err != nil {
		return 0
	}
	return time.Duration(part.Int64())
}

// Sleep sleeps for the time, or until a change, and returns which. It returns an error if one of the contexts is done, that
// of the call or that of the timer, or if the target can no longer be watched.
func (r *RetryTimer) Sleep(ctx context.Context, duration time.Duration) (Wake, error) {
	if r.retry == nil {
		r.retry = newRetry(r.MinInterval)
		r.retry.observe(r.first, 0, 0)
	}
	end := time.Since(r.start)
	if duration > math.MaxInt64-end {
		end = math.MaxInt64
	} else if duration > 0 {
		end += duration
	}
	alarm := time.NewTimer(0) // first, what has changed since the last sleep
	defer alarm.Stop()
	for {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case path, open := <-r.watcher.Paths():
			if !open {
				return 0, r.watcher.Err()
			}
			r.retry.observe(path, time.Since(r.start), r.delay())
		case <-alarm.C:
			if len(r.watcher.Paths()) > 0 {
				continue // a change that is there counts first
			}
		}
		wake, next := r.retry.take(time.Since(r.start), end)
		if wake != 0 {
			return wake, nil
		}
		alarm.Reset(next - time.Since(r.start))
	}
}
