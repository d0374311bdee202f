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
	members map[*member]struct{}
}

// NewScript returns a script that begins with this path.
func NewScript(path Path) *Script { return &Script{path: path, members: map[*member]struct{}{}} }

// Play sets the path. Watchers get it later, a slow one only the newest.
func (s *Script) Play(path Path) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.path = path
	for m := range s.members {
		m.notify()
	}
}

// Watches returns how many watchers there are now. A test can check that the program has ended all. A watcher that ends closes
// its channel afterwards.
func (s *Script) Watches() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.members)
}

func (s *Script) read() (Path, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.path, nil
}

func (s *Script) join(m *member) (source, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.members[m] = struct{}{}
	return s, nil
}

func (s *Script) leave(m *member) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.members, m)
}

func (*Script) perform() error { return nil }

func (*Script) failed() <-chan struct{} { return nil }

func (*Script) failure() error { return nil }
