// SPDX-License-Identifier: MIT

package reachability

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
)

// A hub is the run loop that all watchers of the process share. One goroutine waits for it in Go's poller. It lives as long as
// a watcher does.
type hub struct {
	loop    runLoop
	file    *os.File
	ended   chan struct{} // closed when the goroutine ends after a failure, with the failure in err
	err     error
	empty   chan struct{}      // closed after the last watcher
	driver  sync.Mutex         // only one goroutine at a time drives the loop
	mutex   sync.Mutex         // for the members
	members map[target]*member // those that are scheduled
}

// A member is what the hub knows of a watcher.
type member struct {
	target  target
	changed chan struct{} // has an element when the hub has seen a change
}

var hubs struct {
	sync.Mutex
	current *hub // nil: there is no watcher
}

// notify makes the watcher read again.
func (m *member) notify() {
	select {
	case m.changed <- struct{}{}:
	default: // it has not handled the last one yet
	}
}

// joinHub schedules a watcher's target on the hub.
func joinHub(m *member) (source, error) {
	hubs.Lock()
	defer hubs.Unlock()
	if hubs.current == nil {
		h, err := newHub()
		if err != nil {
			return nil, err
		}
		hubs.current = h
		go h.run()
	}
	h := hubs.current
	h.mutex.Lock()
	h.members[m.target] = m
	h.mutex.Unlock()
	if err := h.loop.schedule(m.target); err != nil {
		h.remove(m)
		return nil, err
	}
	return h, nil
}

func (h *hub) failed() <-chan struct{} { return h.ended }

func (h *hub) failure() error { return h.err }

// leave is the end of joinHub.
func (h *hub) leave(m *member) {
	hubs.Lock()
	defer hubs.Unlock()
	h.loop.unschedule(m.target)
	h.remove(m)
}

// remove ends the goroutine after the last watcher. The caller has the lock of hubs.
func (h *hub) remove(m *member) {
	h.mutex.Lock()
	delete(h.members, m.target)
	isEmpty := len(h.members) == 0
	h.mutex.Unlock()
	if isEmpty {
		h.retire()
		close(h.empty)
		h.file.SetReadDeadline(time.Unix(1, 0)) // ends the wait
	}
}

// retire makes the next watcher have a new hub. The caller has the lock of hubs.
func (h *hub) retire() {
	if hubs.current == h {
		hubs.current = nil
	}
}

func newHub() (*hub, error) {
	loop, err := newRunLoop()
	if err != nil {
		return nil, err
	}
	file, err := pollable(loop.descriptor())
	if err != nil {
		loop.release()
		return nil, err
	}
	return &hub{loop: loop, file: file, ended: make(chan struct{}), empty: make(chan struct{}),
		members: map[target]*member{}}, nil
}

// pollable returns a copy of a descriptor for Go's poller. Closing the copy does not close the descriptor.
func pollable(descriptor int) (*os.File, error) {
	duplicate, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(descriptor), syscall.F_DUPFD_CLOEXEC, 0)
	if errno != 0 {
		return nil, os.NewSyscallError("fcntl", errno)
	}
	if err := syscall.SetNonblock(int(duplicate), true); err != nil { // otherwise NewFile does not use the poller
		syscall.Close(int(duplicate))
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(duplicate, "SCRunLoop"), nil
}

// perform handles what is due, without a wait, and tells the watchers whose targets have changed.
func (h *hub) perform() error {
	h.driver.Lock()
	defer h.driver.Unlock()
	return h.loop.perform(func(changed target) {
		h.mutex.Lock()
		m := h.members[changed]
		h.mutex.Unlock()
		if m != nil {
			m.notify()
		}
	})
}

// run waits until the last watcher has left, or until a failure.
func (h *hub) run() {
	var failure error
	if conn, err := h.file.SyscallConn(); err != nil {
		failure = err
	} else {
		// Called again each time the descriptor becomes readable. Go's poller reports only that, so this goes on until it
		// is not readable.
		err := conn.Read(func(uintptr) bool {
			for failure == nil && h.loop.isReadable() {
				failure = h.perform()
			}
			return failure != nil
		})
		if failure == nil && !errors.Is(err, os.ErrDeadlineExceeded) { // the deadline is what remove() sets
			failure = err
		}
	}
	hubs.Lock()
	h.retire()
	hubs.Unlock()
	if failure != nil {
		h.err = failure
		close(h.ended)
	}
	<-h.empty
	h.file.Close()
	h.loop.release()
}
