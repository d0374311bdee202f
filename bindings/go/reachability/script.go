// SPDX-License-Identifier: MIT

package reachability

import "sync"

// A Script supplies the paths of a program's tests, so that they need no network:
//
//	script := reachability.NewScript(reachability.Path{Reason: reachability.ReasonNoCarrier})
//	downloads := NewDownloads(reachability.Target{Script: script})
//	script.Play(reachability.Path{Flags: reachability.Reachable})
type Script struct {
	mutex   sync.Mutex
	path    Path
	signals map[signal]struct{}
}

// NewScript returns a script that begins with this path.
func NewScript(path Path) *Script { return &Script{path: path, signals: map[signal]struct{}{}} }

// Play sets the path. Watchers get it later, a slow one only the newest.
func (s *Script) Play(path Path) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.path = path
	for changed := range s.signals {
		changed.notify()
	}
}

// Watches returns how many watchers there are now. A test can check that the program has ended all. A watcher that ends closes
// its channel afterwards.
func (s *Script) Watches() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.signals)
}

func (s *Script) read() (Path, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.path, nil
}

func (s *Script) source() source[Path] {
	return source[Path]{read: s.read, join: s.join, leave: s.leave}
}

func (s *Script) join(changed signal) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.signals[changed] = struct{}{}
	return nil
}

func (s *Script) leave(changed signal) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.signals, changed)
}
