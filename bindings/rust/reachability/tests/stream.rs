// SPDX-License-Identifier: MIT
//! The asynchronous stream, with an executor of a few lines.

mod common;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::{Arc, Barrier};
use std::task::{Context, Wake, Waker};
use std::thread;

use common::{block_on, enter_namespace, holds_in_child, ip, Unpark, ADD, DELETE};
use reachability::{Paths, Reason, Target};

async fn next(paths: &mut Paths) -> reachability::Path {
    paths.next().await.expect("it never ends").expect("no error")
}

#[test]
fn stream_gets_the_current_path_and_each_change() {
    let _namespace = enter_namespace();
    ip(ADD);
    let mut paths = Target::host("192.0.2.1").stream().unwrap();
    block_on(async {
        assert!(next(&mut paths).await.is_reachable());
        ip(DELETE);
        assert_eq!(next(&mut paths).await.reason, Some(Reason::NoRoute));
        ip(ADD);
        assert!(next(&mut paths).await.is_reachable());
    });
}

#[test]
fn stream_of_the_network_gets_the_current_one_and_each_change() {
    let _namespace = enter_namespace();
    ip(ADD);
    let mut networks = reachability::watch_network_async().unwrap();
    block_on(async {
        while !networks.next().await.unwrap().unwrap().ipv4.is_reachable() {}
        assert!(networks.network().unwrap().ipv4.is_reachable());
        ip(DELETE);
        while networks.next().await.unwrap().unwrap().ipv4.is_reachable() {}
    });
}

/// Its wake-up lasts until the test ends it.
struct Gate {
    begin: Barrier,
    end: Barrier,
}

impl Wake for Gate {
    fn wake(self: Arc<Self>) {
        self.begin.wait();
        self.end.wait();
    }
}

/// The waker of a task whose future is released with it, which panics.
struct PanicsWhenReleased;

impl Wake for PanicsWhenReleased {
    fn wake(self: Arc<Self>) {}
}

impl Drop for PanicsWhenReleased {
    fn drop(&mut self) {
        panic!("released");
    }
}

#[test]
fn a_stream_that_is_dropped_during_a_callback_releases_its_waker_on_this_thread() {
    fn poll_until_pending(paths: &mut Paths, waker: &Waker) {
        while Pin::new(&mut *paths).poll_next(&mut Context::from_waker(waker)).is_ready() {}
    }

    let _namespace = enter_namespace();
    ip(ADD);
    let mut paths = Target::host("192.0.2.1").stream().unwrap();
    let gate = Arc::new(Gate { begin: Barrier::new(2), end: Barrier::new(2) });
    poll_until_pending(&mut paths, &Waker::from(Arc::clone(&gate)));
    ip(DELETE);
    gate.begin.wait();
    let waker = Waker::from(Arc::new(PanicsWhenReleased));
    poll_until_pending(&mut paths, &waker);
    drop(waker); // the stream has the last one
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(paths)));
    gate.end.wait(); // the library's thread releases what it has
    assert!(dropped.is_err());
    ip(ADD);
    let mut paths = Target::host("192.0.2.1").stream().unwrap();
    block_on(async {
        assert!(next(&mut paths).await.is_reachable());
        ip(DELETE);
        assert_eq!(next(&mut paths).await.reason, Some(Reason::NoRoute));
    });
}

#[cfg(feature = "futures")]
#[test]
fn with_the_feature_futures_the_paths_are_a_stream() {
    fn take<S: futures_core::Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        loop {
            if let std::task::Poll::Ready(item) = Pin::new(&mut *stream).poll_next(&mut Context::from_waker(&waker)) {
                return item;
            }
            thread::park();
        }
    }

    let _namespace = enter_namespace();
    ip(ADD);
    let mut paths = Target::host("192.0.2.1").stream().unwrap();
    assert!(take(&mut paths).unwrap().unwrap().is_reachable());
    ip(DELETE);
    assert_eq!(take(&mut paths).unwrap().unwrap().reason, Some(Reason::NoRoute));
}

#[test]
fn stream_without_a_change_is_pending() {
    let _namespace = enter_namespace();
    let mut paths = Target::host("192.0.2.1").stream().unwrap();
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    assert!(Pin::new(&mut paths).poll_next(&mut context).is_ready());
    assert!(Pin::new(&mut paths).poll_next(&mut context).is_pending());
}

#[test]
fn stream_moves_to_another_thread_and_may_be_dropped_there() {
    let _namespace = enter_namespace();
    let mut paths = Target::host("192.0.2.1").stream().unwrap();
    block_on(next(&mut paths));
    let thread = thread::spawn(move || block_on(next(&mut paths)).is_reachable());
    ip(ADD);
    assert!(thread.join().unwrap());
}

#[test]
fn waker_that_panics_does_not_end_the_program() {
    struct Panic;
    impl Wake for Panic {
        fn wake(self: Arc<Self>) {
            panic!("on purpose");
        }
    }
    let _namespace = enter_namespace();
    let mut paths = Target::host("192.0.2.1").stream().unwrap();
    let mut other = Target::host("192.0.2.2").stream().unwrap();
    let waker = Waker::from(Arc::new(Panic));
    block_on(next(&mut other));
    assert!(Pin::new(&mut paths).poll_next(&mut Context::from_waker(&waker)).is_ready());
    assert!(Pin::new(&mut paths).poll_next(&mut Context::from_waker(&waker)).is_pending());
    ip(ADD);
    assert!(block_on(next(&mut paths)).is_reachable());
    assert!(block_on(next(&mut other)).is_reachable());
}

#[test]
fn wakers_are_released_with_their_stream() {
    let _namespace = enter_namespace();
    let unpark = Arc::new(Unpark(thread::current()));
    let waker = Waker::from(Arc::clone(&unpark));
    for _ in 0..10 {
        let mut paths = Target::host("192.0.2.1").stream().unwrap();
        while Pin::new(&mut paths).poll_next(&mut Context::from_waker(&waker)).is_ready() {}
    }
    drop(waker);
    assert_eq!(Arc::strong_count(&unpark), 1);
}

#[test]
fn task_waits_until_the_host_is_reachable() {
    let _namespace = enter_namespace();
    let target = Target::host("192.0.2.1");
    let mut first = target.stream().unwrap();
    assert!(!block_on(next(&mut first)).is_reachable());
    ip(ADD);
    assert!(block_on(target.wait_until_reachable_async()).unwrap().is_reachable());
    assert!(block_on(target.check_async()).unwrap().is_reachable());
    assert_ne!(block_on(Target::host("localhost").check_async()).unwrap().reason, Some(Reason::NamePending));
}

#[test]
fn stream_of_the_parent_is_refused_in_a_child() {
    const ECHILD: i32 = 10;
    let _namespace = enter_namespace();
    let mut paths = Target::host("192.0.2.1").stream().unwrap();
    block_on(next(&mut paths));
    assert!(holds_in_child(|| block_on(paths.next()).unwrap().unwrap_err().raw_os_error() == Some(ECHILD)));
}
