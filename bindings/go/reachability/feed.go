// SPDX-License-Identifier: MIT

package reachability

import (
	"context"
	"sync"
	"time"
)

// A feed sends what is known about a target, a Path or a Network: first the current value, then each that is news, until its
// context is done. If several changes come while the receiver is busy, it gets only the newest value.
type feed[Value any] struct {
	member
	read   func() (Value, error)   // the latest evaluation
	isSame func(Value, Value) bool // a value is no news after another one

	settling settling[Value]

	values chan Value
	ended  chan struct{} // closed before values
	err    error         // written before ended is closed

	use        sync.RWMutex // held while the target is used by whileAlive, or released
	isReleased bool
}

// newFeed returns the feed of a C target, which it releases. The caller has not started it yet.
func newFeed[Value any](
	cTarget target, read func() (Value, error), isSame func(Value, Value) bool, settleTime time.Duration,
) *feed[Value] {
	return &feed[Value]{
		member:   member{target: cTarget, changed: make(chan struct{}, 1)},
		read:     read,
		isSame:   isSame,
		settling: newSettling(isSame, settleTime),
		values:   make(chan Value, 1),
		ended:    make(chan struct{}),
	}
}

// A source tells a feed of changes.
type source interface {
	perform() error          // handles what is due, without a wait
	failed() <-chan struct{} // closed if the source can tell no more, with the reason in failure
	failure() error
	leave(*member)
}

// start begins with what a function returns that makes the member one of a source. If that fails, the target is released.
func (f *feed[Value]) start(ctx context.Context, join func(*member) (source, error)) error {
	from, err := join(&f.member)
	if err != nil {
		f.target.release()
		return err
	}
	go func() {
		f.err = f.run(ctx, from)
		from.leave(&f.member)
		f.release()
		close(f.ended)
		close(f.values)
	}()
	return nil
}

// run sends values until the context is done, and returns why it ended.
func (f *feed[Value]) run(ctx context.Context, from source) error {
	if err := from.perform(); err != nil {
		return err
	}
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
		case <-from.failed():
			stop()
			return from.failure()
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
