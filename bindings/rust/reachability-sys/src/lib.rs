// SPDX-License-Identifier: MIT
//! The C calls of libreachability that the crate `reachability` uses. The header `reachability/reachability.h` is their
//! manual: errors, ownership, threads.

#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

use std::mem::size_of;
use std::os::raw::{c_char, c_double, c_int, c_long, c_uchar, c_void};

/// A target, an opaque object of the library.
#[repr(C)]
pub struct SCNetworkReachability {
    _private: [u8; 0],
}

/// A run loop, an opaque object of the library.
#[repr(C)]
pub struct SCRunLoop {
    _private: [u8; 0],
}

pub type SCBoolean = c_uchar;
pub type SCNetworkReachabilityRef = *const SCNetworkReachability;
pub type SCRunLoopRef = *mut SCRunLoop;
pub type SCNetworkReachabilityFlags = u32;

pub type SCNetworkReachabilityCallBack =
    unsafe extern "C" fn(target: SCNetworkReachabilityRef, flags: SCNetworkReachabilityFlags, info: *mut c_void);

#[repr(C)]
pub struct SCNetworkReachabilityContext {
    pub version: c_long,
    pub info: *mut c_void,
    pub retain: Option<unsafe extern "C" fn(info: *const c_void) -> *const c_void>,
    pub release: Option<unsafe extern "C" fn(info: *const c_void)>,
    pub copyDescription: Option<unsafe extern "C" fn(info: *const c_void) -> *const c_void>,
}

pub type SCSchedulerWork = unsafe extern "C" fn(argument: *mut c_void);

#[repr(C)]
pub struct SCNetworkReachabilityScheduler {
    pub version: c_long,
    pub info: *mut c_void,
    pub retain: Option<unsafe extern "C" fn(info: *const c_void) -> *const c_void>,
    pub release: Option<unsafe extern "C" fn(info: *const c_void)>,
    pub perform: Option<unsafe extern "C" fn(info: *mut c_void, work: SCSchedulerWork, argument: *mut c_void)>,
}

/// `struct sockaddr_storage`. It has the alignment of a C `long`.
#[cfg_attr(target_pointer_width = "64", repr(C, align(8)))]
#[cfg_attr(not(target_pointer_width = "64"), repr(C, align(4)))]
#[derive(Clone, Copy)]
pub struct sockaddr_storage {
    pub bytes: [u8; 128],
}

#[repr(C)]
pub struct SCNetworkReachabilityOptions {
    pub size: usize,
    pub nodename: *const c_char,
    pub localAddress: *const sockaddr_storage,
    pub remoteAddress: *const sockaddr_storage,
    pub interfaceName: *const c_char,
    pub localAddressLength: u32,
    pub remoteAddressLength: u32,
    pub routingMark: u32,
    pub options: u32,
    pub protocol: u8,
    pub trafficClass: u8,
    pub remotePort: u16,
    pub reserved: u32,
}

pub const kSCNetworkReachabilityOptionNotifyPath: u32 = 1;
pub const kSCNetworkReachabilityOptionNotifyNetwork: u32 = 2;
pub const kSCNetworkReachabilityOptionNotifyNextHop: u32 = 4;
pub const kSCNetworkReachabilityOptionIPv4Only: u32 = 8;
pub const kSCNetworkReachabilityOptionIPv6Only: u32 = 16;

#[repr(C)]
pub struct SCNetworkReachabilityPath {
    pub size: usize,
    pub flags: SCNetworkReachabilityFlags,
    pub reason: u32,
    pub interfaceIndex: u32,
    pub interfaceType: u32,
    pub interfaceName: [u8; 16],
    pub mtu: u32,
    pub table: u32,
    pub addressCount: u32,
    pub evidence: u32,
    pub destination: sockaddr_storage,
    pub source: sockaddr_storage,
    pub gateway: sockaddr_storage,
    pub flow: u32,
    pub nextHop: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct SCNetworkReachabilityRetry {
    pub state: [u64; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct SCNetworkReachabilityDefaultPath {
    pub flags: SCNetworkReachabilityFlags,
    pub reason: u32,
    pub interfaceIndex: u32,
    pub metric: u32,
    pub source: sockaddr_storage,
    pub gateway: sockaddr_storage,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct SCNetworkReachabilityUplink {
    pub interfaceIndex: u32,
    pub interfaceType: u32,
    pub interfaceName: [u8; 16],
    pub ipv4UnderlayTypes: u32,
    pub ipv6UnderlayTypes: u32,
    pub ipv4: SCNetworkReachabilityDefaultPath,
    pub ipv6: SCNetworkReachabilityDefaultPath,
    pub interfaceTypeIsKnown: u32,
    pub interfaceLeadsOut: u32,
    pub ipv4UnderlayLeadsOut: u32,
    pub ipv6UnderlayLeadsOut: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct SCNetworkReachabilityNetwork {
    pub size: usize,
    pub ipv4: SCNetworkReachabilityDefaultPath,
    pub ipv6: SCNetworkReachabilityDefaultPath,
    pub ipv4LoopbackFlags: SCNetworkReachabilityFlags,
    pub ipv6LoopbackFlags: SCNetworkReachabilityFlags,
    pub evidence: u32,
    pub uplinkCount: u32,
    pub uplinksAreComplete: u32,
    pub nameServerCount: u32,
    pub nameServerIsReachable: u32,
    pub reserved: u32,
    pub nameServers: [sockaddr_storage; 3],
}

// As in the header: no structure has padding, also where pointers have 4 bytes.
const _: () = {
    let pointer = size_of::<usize>();
    assert!(size_of::<SCNetworkReachabilityContext>() == 5 * pointer);
    assert!(size_of::<SCNetworkReachabilityScheduler>() == 5 * pointer);
    assert!(size_of::<SCNetworkReachabilityOptions>() == 5 * pointer + 6 * 4);
    assert!(size_of::<SCNetworkReachabilityDefaultPath>() == 4 * 4 + 2 * size_of::<sockaddr_storage>());
    assert!(
        size_of::<SCNetworkReachabilityUplink>() == 8 * 4 + 16 + 2 * size_of::<SCNetworkReachabilityDefaultPath>()
    );
    assert!(
        size_of::<SCNetworkReachabilityNetwork>()
            == pointer
                + 8 * 4
                + 2 * size_of::<SCNetworkReachabilityDefaultPath>()
                + 3 * size_of::<sockaddr_storage>()
    );
    assert!(size_of::<SCNetworkReachabilityPath>() == pointer + 10 * 4 + 16 + 3 * size_of::<sockaddr_storage>());
};

/// `kSCRunLoopDefaultMode`, with its NUL.
pub const kSCRunLoopDefaultMode: &[u8] = b"kSCRunLoopDefaultMode\0";

extern "C" {
    pub fn SCError() -> c_int;
    pub fn SCErrorDetail() -> *const c_char;
    pub fn SCErrorString(status: c_int) -> *const c_char;
    pub fn SCNetworkReachabilityGetVersion() -> *const c_char;
    pub fn SCNetworkReachabilityFlagsGetString(flags: u32, buffer: *mut c_char, capacity: usize) -> usize;
    pub fn SCNetworkReachabilityReasonString(reason: u32) -> *const c_char;

    pub fn SCNetworkReachabilityCreateWithOptions(
        allocator: *const c_void,
        options: *const SCNetworkReachabilityOptions,
    ) -> SCNetworkReachabilityRef;
    pub fn SCNetworkReachabilityCreateWithSocket(
        allocator: *const c_void,
        socket: c_int,
    ) -> SCNetworkReachabilityRef;
    pub fn SCNetworkReachabilityRelease(target: SCNetworkReachabilityRef);
    pub fn SCNetworkReachabilityGetPath(
        target: SCNetworkReachabilityRef,
        path: *mut SCNetworkReachabilityPath,
    ) -> SCBoolean;
    pub fn SCNetworkReachabilityGetLastPath(
        target: SCNetworkReachabilityRef,
        path: *mut SCNetworkReachabilityPath,
    ) -> SCBoolean;
    pub fn SCNetworkReachabilityGetNetwork(
        target: SCNetworkReachabilityRef,
        network: *mut SCNetworkReachabilityNetwork,
        uplinks: *mut SCNetworkReachabilityUplink,
        uplinkSize: usize,
        capacity: usize,
    ) -> SCBoolean;
    pub fn SCNetworkReachabilityGetResolvedAddresses(
        target: SCNetworkReachabilityRef,
        addresses: *mut sockaddr_storage,
        capacity: usize,
    ) -> usize;
    pub fn SCNetworkReachabilityGetDescription(
        target: SCNetworkReachabilityRef,
        buffer: *mut c_char,
        capacity: usize,
    ) -> usize;

    pub fn SCNetworkReachabilityPathIsReachable(path: *const SCNetworkReachabilityPath) -> SCBoolean;
    pub fn SCNetworkReachabilityPathIsViable(path: *const SCNetworkReachabilityPath) -> SCBoolean;
    pub fn SCNetworkReachabilityPathGetString(
        path: *const SCNetworkReachabilityPath,
        buffer: *mut c_char,
        capacity: usize,
    ) -> usize;
    pub fn SCNetworkReachabilityRetryInit(retry: *mut SCNetworkReachabilityRetry, minInterval: u64);
    pub fn SCNetworkReachabilityRetryObserve(
        retry: *mut SCNetworkReachabilityRetry,
        path: *const SCNetworkReachabilityPath,
        now: u64,
        delay: u64,
    );
    pub fn SCNetworkReachabilityRetryGetDue(retry: *const SCNetworkReachabilityRetry) -> u64;
    pub fn SCNetworkReachabilityRetryTake(retry: *mut SCNetworkReachabilityRetry, now: u64, end: u64) -> u32;

    pub fn SCNetworkReachabilitySetCallback(
        target: SCNetworkReachabilityRef,
        callout: Option<SCNetworkReachabilityCallBack>,
        context: *mut SCNetworkReachabilityContext,
    ) -> SCBoolean;
    pub fn SCNetworkReachabilitySetScheduler(
        target: SCNetworkReachabilityRef,
        scheduler: *const SCNetworkReachabilityScheduler,
    ) -> SCBoolean;
    pub fn SCNetworkReachabilityScheduleWithRunLoop(
        target: SCNetworkReachabilityRef,
        runLoop: SCRunLoopRef,
        runLoopMode: *const c_char,
    ) -> SCBoolean;
    pub fn SCNetworkReachabilityUnscheduleFromRunLoop(
        target: SCNetworkReachabilityRef,
        runLoop: SCRunLoopRef,
        runLoopMode: *const c_char,
    ) -> SCBoolean;

    pub fn SCRunLoopCreate() -> SCRunLoopRef;
    pub fn SCRunLoopRelease(runLoop: SCRunLoopRef);
    pub fn SCRunLoopGetFileDescriptor(runLoop: SCRunLoopRef) -> c_int;
    pub fn SCRunLoopPerform(runLoop: SCRunLoopRef, seconds: c_double) -> c_int;
    pub fn SCRunLoopCopyNextChange(
        runLoop: SCRunLoopRef,
        flags: *mut SCNetworkReachabilityFlags,
    ) -> SCNetworkReachabilityRef;
    pub fn SCRunLoopWakeUp(runLoop: SCRunLoopRef);
}
