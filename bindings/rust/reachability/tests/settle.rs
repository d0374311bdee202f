// SPDX-License-Identifier: MIT
//! The settle time of a target.

mod common;

use std::fs;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use common::{block_on, enter_namespace, ip, Unpark, ADD, DELETE};
use reachability::{Reason, Target};

const SHORT: Duration = Duration::from_millis(50);

fn settling(time: Duration) -> Target {
    Target::host("192.0.2.1").settle_time(time)
}

#[test]
fn change_comes_after_the_settle_time() {
    let _namespace = enter_namespace();
    ip(ADD);
    let mut paths = settling(SHORT).watch().unwrap();
    assert!(paths.next().unwrap().unwrap().is_reachable());
    let start = Instant::now();
    ip(DELETE);
    assert_eq!(paths.next().unwrap().unwrap().reason, Some(Reason::NoRoute));
    assert!(start.elapsed() >= SHORT);
}

#[test]
fn change_comes_after_the_settle_time_in_a_task() {
    let _namespace = enter_namespace();
    ip(ADD);
    let mut paths = settling(SHORT).stream().unwrap();
    block_on(async {
        assert!(paths.next().await.unwrap().unwrap().is_reachable());
        for _ in 0..2 {
            let start = Instant::now();
            ip(DELETE);
            assert_eq!(paths.next().await.unwrap().unwrap().reason, Some(Reason::NoRoute));
            assert!(start.elapsed() >= SHORT);
            ip(ADD);
            assert!(paths.next().await.unwrap().unwrap().is_reachable());
        }
    });
}

#[test]
fn renewal_of_an_address_is_not_reported() {
    let _namespace = enter_namespace();
    ip(ADD);
    let mut settled = settling(Duration::MAX).poll_watch().unwrap();
    let mut paths = settling(Duration::ZERO).watch().unwrap();
    while !paths.next().unwrap().unwrap().is_reachable() {}
    assert!(settled.next_change().unwrap().unwrap().is_reachable());
    for _ in 0..10 {
        ip("addr del 10.0.0.2/24 dev e0");
        while paths.next().unwrap().unwrap().is_reachable() {}
        while settled.settles_in().is_none() {
            assert!(settled.next_change().unwrap().is_none());
        }
        ip("addr add 10.0.0.2/24 dev e0");
        ip(ADD);
        while !paths.next().unwrap().unwrap().is_reachable() {}
        while settled.settles_in().is_some() {
            assert!(settled.next_change().unwrap().is_none());
        }
    }
}

#[test]
fn wait_for_a_change_that_settles_has_an_end() {
    let _namespace = enter_namespace();
    ip(ADD);
    let mut paths = settling(Duration::MAX).watch().unwrap();
    assert!(paths.next().unwrap().unwrap().is_reachable());
    ip(DELETE);
    assert!(paths.wait(SHORT).unwrap().is_none());
}

fn timers() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    tasks
        .filter(|task| {
            fs::read_to_string(task.as_ref().unwrap().path().join("comm")).map_or(false, |name| name == "settle\n")
        })
        .count()
}

#[test]
fn thread_of_a_stream_ends_with_it() {
    let _namespace = enter_namespace();
    ip(ADD);
    let mut paths = settling(Duration::MAX).stream().unwrap();
    block_on(async { assert!(paths.next().await.unwrap().unwrap().is_reachable()) });
    ip(DELETE);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    while timers() == 0 {
        assert!(Pin::new(&mut paths).poll_next(&mut Context::from_waker(&waker)).is_pending());
    }
    assert_eq!(timers(), 1);
    drop(paths);
    while timers() > 0 {}
}

#[test]
fn wait_until_reachable_does_not_settle() {
    let _namespace = enter_namespace();
    let target = settling(Duration::MAX);
    let thread = thread::spawn(move || target.wait_until_reachable(Duration::from_secs(60)));
    // A thread has the namespace of the one that made it.
    ip(ADD);
    assert!(thread.join().unwrap().unwrap().is_some());
}
