// SPDX-License-Identifier: MIT

package reachability

/*
#cgo pkg-config: libreachability
#include <reachability/reachability.h>
#include <stdlib.h>

// Go may not pass a structure that points to Go memory.
static inline SCNetworkReachabilityRef create_target(const char *name, const struct sockaddr_storage *local,
                                                     const struct sockaddr_storage *remote, const char *interface,
                                                     uint32_t mark, uint32_t notify, uint8_t protocol, uint8_t class,
                                                     uint16_t port)
{
	SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

	options.nodename = name;
	options.localAddress = (const struct sockaddr *)local;
	options.remoteAddress = (const struct sockaddr *)remote;
	options.interfaceName = interface;
	options.routingMark = mark;
	options.options = notify;
	options.protocol = protocol;
	options.trafficClass = class;
	options.remotePort = name != NULL ? port : 0; // an address has its own
	return SCNetworkReachabilityCreateWithOptions(NULL, &options);
}

// These are functions of Go: see schedule.
extern void reachabilityGoChanged(uintptr_t handle);
extern void reachabilityGoReleased(uintptr_t handle);

static inline void on_change(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *handle)
{
	(void)target, (void)flags;
	reachabilityGoChanged((uintptr_t)handle);
}

static inline void release_handle(const void *handle)
{
	reachabilityGoReleased((uintptr_t)handle);
}

// The callback is made here, on the library's thread.
static inline void perform_here(void *info, void (*work)(void *argument), void *argument)
{
	(void)info;
	work(argument);
}

static inline SCBoolean schedule(SCNetworkReachabilityRef target, uintptr_t handle)
{
	SCNetworkReachabilityContext context = { 0, (void *)handle, NULL, release_handle, NULL };
	const SCNetworkReachabilityScheduler scheduler = { 0, NULL, NULL, NULL, perform_here };

	return SCNetworkReachabilitySetCallback(target, on_change, &context) &&
	       SCNetworkReachabilitySetScheduler(target, &scheduler);
}
*/
import "C"

import (
	"net/netip"
	"runtime"
	"runtime/cgo"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// An Error is a call of the library that failed.
type Error struct {
	Call   string // the name of the C function
	Code   int    // the value of SCError: an errno below 1000, or a kSCStatus... constant
	Detail string // which argument is wrong, and why; it can be empty
}

func (e *Error) Error() string {
	text := e.Call + ": " + C.GoString(C.SCErrorString(C.int(e.Code)))
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Unwrap returns the errno, if the code is one: errors.Is(err, syscall.EPERM) works.
func (e *Error) Unwrap() error {
	if e.Code < 1000 {
		return syscall.Errno(e.Code)
	}
	return nil
}

// LibraryVersion returns the version of the loaded library: "0.1.0".
func LibraryVersion() string {
	return C.GoString(C.SCNetworkReachabilityGetVersion())
}

// try makes a call that returns whether it succeeded. SCError is per thread, so the goroutine may not change its thread
// between the call and SCError.
func try(name string, call func() bool) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if call() {
		return nil
	}
	return &Error{name, int(C.SCError()), C.GoString(C.SCErrorDetail())}
}

// textOf returns what a call writes that works as snprintf(3) does.
func textOf(write func(buffer *C.char, capacity C.size_t) C.size_t) string {
	buffer := make([]byte, 256)
	for {
		size := int(write((*C.char)(unsafe.Pointer(&buffer[0])), C.size_t(len(buffer))))
		if size < len(buffer) {
			return string(buffer[:size])
		}
		buffer = make([]byte, size+1)
	}
}

func flagsText(flags uint32) string {
	return textOf(func(buffer *C.char, capacity C.size_t) C.size_t {
		return C.SCNetworkReachabilityFlagsGetString(C.uint32_t(flags), buffer, capacity)
	})
}

func pathIsReachable(path Path) bool { return C.SCNetworkReachabilityPathIsReachable(cPath(path)) != 0 }

func pathIsViable(path Path) bool { return C.SCNetworkReachabilityPathIsViable(cPath(path)) != 0 }

func pathText(path Path) string {
	return textOf(func(buffer *C.char, capacity C.size_t) C.size_t {
		return C.SCNetworkReachabilityPathGetString(cPath(path), buffer, capacity)
	})
}

func reasonText(reason uint32) string {
	return C.GoString(C.SCNetworkReachabilityReasonString(C.uint32_t(reason)))
}

// cString returns nil for an empty string. The caller frees it.
func cString(text string) *C.char {
	if text == "" {
		return nil
	}
	return C.CString(text)
}

// What makes a target call back, besides other flags.
const (
	notifyPath    = C.kSCNetworkReachabilityOptionNotifyPath
	notifyNetwork = C.kSCNetworkReachabilityOptionNotifyNetwork
	notifyNextHop = C.kSCNetworkReachabilityOptionNotifyNextHop
)

// What addresses count.
var familyOptions = map[Family]uint32{
	0: 0, IPv4: C.kSCNetworkReachabilityOptionIPv4Only, IPv6: C.kSCNetworkReachabilityOptionIPv6Only}

// A retry decides what ends the sleep of a RetryTimer. The times are those since it began.
type retry struct{ state C.SCNetworkReachabilityRetry }

func newRetry(minInterval time.Duration) *retry {
	if minInterval < 0 {
		minInterval = 0
	}
	r := new(retry)
	C.SCNetworkReachabilityRetryInit(&r.state, C.uint64_t(minInterval))
	return r
}

func (r *retry) observe(path Path, now, delay time.Duration) {
	C.SCNetworkReachabilityRetryObserve(&r.state, cPath(path), C.uint64_t(now), C.uint64_t(delay))
}

// take returns why a sleep until `end` ends now; 0: it does not, and when it does if nothing changes.
func (r *retry) take(now, end time.Duration) (Wake, time.Duration) {
	wake := Wake(C.SCNetworkReachabilityRetryTake(&r.state, C.uint64_t(now), C.uint64_t(end)))
	if due := C.SCNetworkReachabilityRetryGetDue(&r.state); due < C.uint64_t(end) {
		end = time.Duration(due)
	}
	return wake, end
}

// A target is a C target.
type target struct{ ref C.SCNetworkReachabilityRef }

// A question is the arguments of a C target: for a name, or for an address if `local` or `remote` is valid.
type question struct {
	name          string
	local, remote netip.Addr
	device        string
	mark, notify  uint32
	transport     Transport
	class         uint8
	port          uint16
}

// newTarget makes the C target. The caller releases it.
func (q question) newTarget() (target, error) {
	cName, cDevice := cString(q.name), cString(q.device)
	defer C.free(unsafe.Pointer(cName))
	defer C.free(unsafe.Pointer(cDevice))
	cLocal, err := sockaddr(q.local, 0)
	if err != nil {
		return target{}, err
	}
	cRemote, err := sockaddr(q.remote, q.port)
	if err != nil {
		return target{}, err
	}
	var t target
	err = try("SCNetworkReachabilityCreateWithOptions", func() bool {
		t.ref = C.create_target(cName, cLocal, cRemote, cDevice, C.uint32_t(q.mark), C.uint32_t(q.notify),
			C.uint8_t(q.transport), C.uint8_t(q.class), C.uint16_t(q.port))
		return t.ref != nil
	})
	return t, err
}

// newSocketTarget makes the C target of a connected socket, and does not keep the descriptor. The caller releases it.
func newSocketTarget(descriptor uintptr) (target, error) {
	var t target
	err := try("SCNetworkReachabilityCreateWithSocket", func() bool {
		t.ref = C.SCNetworkReachabilityCreateWithSocket(nil, C.int(descriptor))
		return t.ref != nil
	})
	return t, err
}

func (t target) release() { C.SCNetworkReachabilityRelease(t.ref) }

// path queries the kernel.
func (t target) path() (Path, error) {
	path := C.SCNetworkReachabilityPath{size: C.sizeof_SCNetworkReachabilityPath}
	err := try("SCNetworkReachabilityGetPath", func() bool {
		return C.SCNetworkReachabilityGetPath(t.ref, &path) != 0
	})
	return goPath(&path), err
}

// lastPath returns the path of the latest evaluation.
func (t target) lastPath() (Path, error) {
	path := C.SCNetworkReachabilityPath{size: C.sizeof_SCNetworkReachabilityPath}
	err := try("SCNetworkReachabilityGetLastPath", func() bool {
		return C.SCNetworkReachabilityGetLastPath(t.ref, &path) != 0
	})
	return goPath(&path), err
}

// addresses returns the addresses of a name, as the look-up ordered them.
func (t target) addresses() []netip.Addr {
	storage := make([]C.struct_sockaddr_storage, 8)
	for {
		count := int(C.SCNetworkReachabilityGetResolvedAddresses(t.ref, &storage[0], C.size_t(len(storage))))
		if count <= len(storage) {
			var addresses []netip.Addr
			for i := range storage[:count] {
				addresses = append(addresses, goAddress(&storage[i]))
			}
			return addresses
		}
		storage = make([]C.struct_sockaddr_storage, count)
	}
}

func (t target) description() string {
	return textOf(func(buffer *C.char, capacity C.size_t) C.size_t {
		return C.SCNetworkReachabilityGetDescription(t.ref, buffer, capacity)
	})
}

// schedule makes the library's thread notify the feed of each change. The caller unschedules the target.
func (t target) schedule(changed signal) error {
	return try("SCNetworkReachabilitySetScheduler", func() bool {
		return C.schedule(t.ref, C.uintptr_t(cgo.NewHandle(changed))) != 0
	})
}

func (t target) unschedule() { C.SCNetworkReachabilitySetScheduler(t.ref, nil) }

//export reachabilityGoChanged
func reachabilityGoChanged(handle C.uintptr_t) { cgo.Handle(handle).Value().(signal).notify() }

//export reachabilityGoReleased
func reachabilityGoReleased(handle C.uintptr_t) { cgo.Handle(handle).Delete() }

func goPath(path *C.SCNetworkReachabilityPath) Path {
	return Path{
		Flags:       Flags(path.flags),
		Reason:      Reason(path.reason),
		Interface:   goInterface(&path.interfaceName, C.uint32_t(path.interfaceIndex), C.uint32_t(path.interfaceType)),
		Destination: goAddress(&path.destination),
		Source:      goAddress(&path.source),
		Gateway:     goAddress(&path.gateway),
		MTU:         int(path.mtu),
		Table:       int(path.table),
		Evidence:    Evidence(path.evidence),
		Flow:        Flow(path.flow),
		NextHop:     NextHop(path.nextHop),
	}
}

// cPath returns what the library's functions for a path look at.
func cPath(path Path) *C.SCNetworkReachabilityPath {
	result := &C.SCNetworkReachabilityPath{
		size:           C.sizeof_SCNetworkReachabilityPath,
		flags:          C.SCNetworkReachabilityFlags(path.Flags),
		reason:         C.SCNetworkReachabilityReason(path.Reason),
		interfaceIndex: C.uint32_t(path.Interface.Index),
		interfaceType:  C.SCNetworkReachabilityInterfaceType(path.Interface.Type),
		flow:           C.SCNetworkReachabilityFlow(path.Flow),
		nextHop:        C.SCNetworkReachabilityNextHop(path.NextHop),
	}
	for i := 0; i < len(path.Interface.Name) && i < len(result.interfaceName)-1; i++ {
		result.interfaceName[i] = C.char(path.Interface.Name[i])
	}
	if source, err := sockaddr(path.Source, 0); source != nil && err == nil {
		result.source = *source
	}
	if gateway, err := sockaddr(path.Gateway, 0); gateway != nil && err == nil {
		result.gateway = *gateway
	}
	return result
}

func goAddress(storage *C.struct_sockaddr_storage) netip.Addr {
	switch storage.ss_family {
	case syscall.AF_INET:
		return netip.AddrFrom4((*syscall.RawSockaddrInet4)(unsafe.Pointer(storage)).Addr)
	case syscall.AF_INET6:
		raw := (*syscall.RawSockaddrInet6)(unsafe.Pointer(storage))
		address := netip.AddrFrom16(raw.Addr)
		if raw.Scope_id != 0 {
			address = address.WithZone(strconv.Itoa(int(raw.Scope_id)))
		}
		return address
	}
	return netip.Addr{}
}

// sockaddr returns nil for the zero address.
func sockaddr(address netip.Addr, port uint16) (*C.struct_sockaddr_storage, error) {
	if !address.IsValid() {
		return nil, nil
	}
	storage := new(C.struct_sockaddr_storage)
	networkPort := networkOrder(port)
	if address.Is4() {
		*(*syscall.RawSockaddrInet4)(unsafe.Pointer(storage)) = syscall.RawSockaddrInet4{
			Family: syscall.AF_INET, Port: networkPort, Addr: address.As4()}
		return storage, nil
	}
	scope, err := interfaceIndex(address.Zone())
	*(*syscall.RawSockaddrInet6)(unsafe.Pointer(storage)) = syscall.RawSockaddrInet6{
		Family: syscall.AF_INET6, Port: networkPort, Addr: address.As16(), Scope_id: scope}
	return storage, err
}

// networkOrder returns the number whose bytes in memory are those of the port in the order of the network.
func networkOrder(port uint16) uint16 {
	bytes := [2]byte{byte(port >> 8), byte(port)}
	return *(*uint16)(unsafe.Pointer(&bytes))
}
