// SPDX-License-Identifier: MIT
//! Changing routes, in the network namespace that the test program is run in; and an executor of one task.

#![allow(dead_code)]

use std::future::Future;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

pub const ADD: &str = "route add default via 10.0.0.1";
pub const DELETE: &str = "route del default";

static NAMESPACE: Mutex<()> = Mutex::new(());

pub fn ip(arguments: &str) {
    assert!(Command::new("ip").args(arguments.split(' ')).status().expect("ip runs").success(), "ip {arguments}");
}

/// Runs a check in a child of fork(2). Returns whether it was true, and did not take a minute.
pub fn holds_in_child(check: impl FnOnce() -> bool) -> bool {
    extern "C" {
        fn fork() -> i32;
        fn alarm(seconds: u32) -> u32;
        fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
    }
    let child = unsafe { fork() };
    if child == 0 {
        unsafe { alarm(60) }; // ends a child that waits for ever
        let holds = catch_unwind(AssertUnwindSafe(check)).unwrap_or(false);
        unsafe { _exit(i32::from(!holds)) };
    }
    let mut status = -1;
    assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
    status == 0
}

/// Gives the calling test a namespace of its own: e0 has a carrier and 10.0.0.2/24; there is no default route. Tests
/// run one at a time. Without the right to make a namespace, the test fails: run it in `unshare -Urn`.
pub fn enter_namespace() -> MutexGuard<'static, ()> {
    const CLONE_NEWNET: i32 = 0x4000_0000;
    extern "C" {
        fn unshare(flags: i32) -> i32;
    }
    let guard = NAMESPACE.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(unsafe { unshare(CLONE_NEWNET) }, 0, "no network namespace can be made: run this in `unshare -Urn`");
    ip("link add e0 type ifb");
    ip("addr add 10.0.0.2/24 dev e0");
    ip("link set lo up");
    ip("link set e0 up");
    guard
}

/// Wakes the thread that waits for a task.
pub struct Unpark(pub Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = Box::pin(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}
