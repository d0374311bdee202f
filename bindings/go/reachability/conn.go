// SPDX-License-Identifier: MIT

package reachability

import (
	"context"
	"syscall"
)

// WatchConn watches the packets of a connected socket until the context is done: a *net.TCPConn, a *net.UDPConn, or another
// syscall.Conn. Path.IsViable reports whether they can leave, and not with a foreign source; Path.Flow, whether they leave as
// those of a new connection would. Nothing is said about the other end: no packet is sent.
//
//	watcher, err := reachability.WatchConn(ctx, connection)
//	if err != nil {
//		return err
//	}
//	for path := range watcher.Paths() {
//		if !path.IsViable() {
//			connection.Close() // the source address is gone, or foreign where packets leave: connect again
//		}
//	}
//
// Addresses, ports, mark, interface, traffic class and owner of the socket are read now. The watcher does not need the
// connection. Call this on a thread in the network namespace of the socket.
func WatchConn(ctx context.Context, conn syscall.Conn) (*Watcher, error) {
	cTarget, err := newConnTarget(conn)
	if err != nil {
		return nil, err
	}
	return Target{}.watch(ctx, newSource(cTarget, cTarget.lastPath))
}

// CheckConn returns the path of the packets of a connected socket now: see WatchConn.
func CheckConn(conn syscall.Conn) (Path, error) {
	cTarget, err := newConnTarget(conn)
	if err != nil {
		return Path{}, err
	}
	defer cTarget.release()
	return cTarget.path()
}

func newConnTarget(conn syscall.Conn) (target, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return target{}, err
	}
	var cTarget target
	var targetErr error
	if err = raw.Control(func(descriptor uintptr) { cTarget, targetErr = newSocketTarget(descriptor) }); err != nil {
		return target{}, err
	}
	return cTarget, targetErr
}
