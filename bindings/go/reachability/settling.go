// SPDX-License-Identifier: MIT

package reachability

import "time"

// longestSettleTime: a longer one could overflow.
const longestSettleTime = 1_000_000 * time.Second

// A settling decides when a change is sent: when nothing has changed for the settle time, or after ten times as long.
type settling[Value any] struct {
	isSame     func(Value, Value) bool
	settleTime time.Duration
	limit      time.Time // zero: there is no change that is not sent
	due        time.Time
	latest     Value
}

func newSettling[Value any](isSame func(Value, Value) bool, settleTime time.Duration) settling[Value] {
	if settleTime > longestSettleTime {
		settleTime = longestSettleTime
	}
	if settleTime < 0 {
		settleTime = 0
	}
	return settling[Value]{isSame: isSame, settleTime: settleTime}
}

// isNews returns whether the newest value is sent now. `sent` is what was sent last; nil: it is the first.
func (s *settling[Value]) isNews(value Value, sent *Value, now time.Time) bool {
	if sent != nil && s.isSame(value, *sent) {
		s.limit = time.Time{}
		return false
	}
	isFirst := s.limit.IsZero()
	if isFirst {
		s.limit = now.Add(10 * s.settleTime)
	}
	if isFirst || !s.isSame(value, s.latest) {
		s.due = now.Add(s.settleTime)
		if s.due.After(s.limit) {
			s.due = s.limit
		}
	}
	s.latest = value
	if sent != nil && now.Before(s.due) {
		return false
	}
	s.limit = time.Time{}
	return true
}

// timer returns a channel that receives when a change is due; nil if there is none. The caller calls the function afterwards.
func (s *settling[Value]) timer(now time.Time) (<-chan time.Time, func() bool) {
	if s.limit.IsZero() {
		return nil, func() bool { return false }
	}
	timer := time.NewTimer(s.due.Sub(now))
	return timer.C, timer.Stop
}
