// SPDX-License-Identifier: MIT

package reachability

import (
	"context"
	"sync"
	"time"
)

// A signal has an element when its feed has not handled the last change yet.
type signal chan struct{}

func (s signal) notify() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// A source is what a feed reads, a C target or a script.
type source[Value any] struct {
	target target                // none of a script
	read   func() (Value, error) // the newest value
	join   func(signal) error    // begins to notify
	leave  func(signal)
}

func newSource[Value any](t target, read func() (Value, error)) source[Value] {
	return source[Value]{t, read, t.schedule, func(signal) { t.unschedule() }}
}

// A feed sends what is known about a target, a Path or a Network: first the current value, then each that is news, until its
// context is done. If several changes come while the receiver is busy, it gets only the newest value.
type feed[Value any] struct {
	source[Value]
	isSame   func(Value, Value) bool // a value is no news after another one
	settling settling[Value]

	changed signal
	values  chan Value
	ended   chan struct{} // closed before values
	err     error         // written before ended is closed

	use        sync.RWMutex // held while the target is used by whileAlive, or released
	isReleased bool
}

// startFeed returns a feed, which releases the target of the source, also if this fails.
func startFeed[Value any](
	ctx context.Context, from source[Value], isSame func(Value, Value) bool, settleTime time.Duration,
) (*feed[Value], error) {
	f := &feed[Value]{
		source:   from,
		isSame:   isSame,
		settling: newSettling(isSame, settleTime),
		changed:  make(signal, 1),
		values:   make(chan Value, 1),
		ended:    make(chan struct{}),
	}
	if err := f.join(f.changed); err != nil {
		f.target.release()
		return nil, err
	}
	go func() {
		f.err = f.run(ctx)
		f.leave(f.changed)
		f.release()
		close(f.ended)
		close(f.values)
	}()
	return f, nil
}

// run sends values until the context is done, and returns why it ended.
func (f *feed[Value]) run(ctx context.Context) error {
	var sent, received *Value
	for {
		value, err := f.read()
		if err != nil {
			return err
		}
		now := time.Now()
		if f.settling.isNews(value, sent, now) {
			received = f.replace(value, sent, received)
			sent = &value
		}
		due, stop := f.settling.timer(now)
		select {
		case <-ctx.Done():
			stop()
			return ctx.Err()
		case <-f.changed:
		case <-due:
		}
		stop()
	}
}

// replace sends a value instead of the last one, `sent`, if that has not been received, and returns what was received last.
func (f *feed[Value]) replace(value Value, sent, received *Value) *Value {
	select {
	case <-f.values:
	default:
		received = sent
	}
	if received == nil || !f.isSame(value, *received) {
		f.values <- value
	}
	return received
}

// reason returns why the channel was closed. It returns nil while the channel is open.
func (f *feed[Value]) reason() error {
	select {
	case <-f.ended:
		return f.err
	default:
		return nil
	}
}

// whileAlive calls a function unless the target is released.
func (f *feed[Value]) whileAlive(call func()) {
	f.use.RLock()
	defer f.use.RUnlock()
	if !f.isReleased {
		call()
	}
}

func (f *feed[Value]) release() {
	f.use.Lock()
	defer f.use.Unlock()
	f.isReleased = true
	f.target.release()
}
