// SPDX-License-Identifier: MIT
//! Scripts: what a program does with its target follows the paths that a test plays.

mod common;

use std::os::unix::io::{AsRawFd, RawFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use common::{block_on, Unpark};
use reachability::{Flags, Network, Path, Reason, Script, Target, Transport, Value, Wake, Watch};

const LONG: Duration = Duration::from_secs(60);

fn unplugged() -> Path {
    Path::unreachable(Reason::NoCarrier)
}

#[test]
fn each_path_that_is_played_comes() {
    let script = Script::new(unplugged());
    let mut seen = Vec::new();
    for path in Target::script(&script).watch().unwrap().take(3) {
        seen.push(path.unwrap());
        script.play(if script.path().is_reachable() { unplugged() } else { Path::reachable() });
    }
    assert_eq!(seen, [unplugged(), Path::reachable(), unplugged()]);
}

#[test]
fn path_that_is_played_ends_the_wait_of_a_thread_and_of_a_task() {
    let script = Script::new(unplugged());
    let target = Target::script(&script);
    let waits = thread::spawn({
        let target = target.clone();
        move || target.wait_until_reachable(LONG).unwrap()
    });
    let task = thread::spawn(move || block_on(target.wait_until_reachable_async()).unwrap());
    while script.watches() < 2 {
        thread::yield_now();
    }
    script.play(Path::reachable());
    assert_eq!((waits.join().unwrap(), task.join().unwrap()), (Some(Path::reachable()), Path::reachable()));
}

#[test]
fn stream_is_woken_when_a_path_is_played() {
    let script = Script::new(unplugged());
    let mut paths = Target::script(&script).stream().unwrap();
    assert_eq!(block_on(paths.next()).unwrap().unwrap(), unplugged());
    let unpark = Arc::new(Unpark(thread::current()));
    let waker = Waker::from(Arc::clone(&unpark));
    assert!(Pin::new(&mut paths).poll_next(&mut Context::from_waker(&waker)).is_pending());
    script.play(Path::reachable());
    drop(waker);
    assert_eq!(Arc::strong_count(&unpark), 1); // the stream has used its own
    assert_eq!(block_on(paths.next()).unwrap().unwrap(), Path::reachable());
}

#[test]
fn event_loop_waits_for_the_descriptor() {
    #[repr(C)]
    struct PollDescriptor(RawFd, i16, i16);
    extern "C" {
        fn poll(descriptors: *mut PollDescriptor, count: u64, timeout: i32) -> i32;
    }
    let script = Script::new(Path::reachable());
    let mut watch = Target::script(&script).poll_watch().unwrap();
    let mut ready = PollDescriptor(watch.as_raw_fd(), 1, 0);
    assert_eq!((watch.next_change(), watch.next_change()), (Ok(Some(Path::reachable())), Ok(None)));
    assert_eq!(unsafe { poll(&mut ready, 1, 0) }, 0);
    script.play(unplugged());
    assert_eq!(unsafe { poll(&mut ready, 1, 60_000) }, 1);
    assert_eq!((watch.next_change(), watch.next_change()), (Ok(Some(unplugged())), Ok(None)));
    assert_eq!(unsafe { poll(&mut ready, 1, 0) }, 0);
}

#[test]
fn timer_sleeps_until_the_script_is_reachable() {
    let script = Script::new(unplugged());
    let mut timer = Target::script(&script).retry_timer().unwrap();
    script.play(Path::reachable());
    assert_eq!(timer.sleep(LONG).unwrap(), Wake::Reachable);
}

#[test]
fn change_waits_for_the_jitter_and_the_interval() {
    const SHORT: Duration = Duration::from_millis(10);
    let script = Script::new(unplugged());
    let timer = || Target::script(&script).retry_timer().unwrap();
    let mut jittered = timer().jitter(Duration::MAX);
    let mut limited = timer().min_interval(Duration::MAX);
    script.play(Path::reachable());
    assert_eq!((jittered.sleep(SHORT), limited.sleep(SHORT)), (Ok(Wake::Time), Ok(Wake::Reachable)));
    script.play(unplugged());
    assert_eq!(limited.sleep(Duration::ZERO), Ok(Wake::Time));
    script.play(Path::reachable());
    assert_eq!(limited.sleep(SHORT), Ok(Wake::Time));
}

#[test]
fn script_takes_the_settings_that_a_host_takes() {
    let mut path = Path::reachable();
    path.destination = Some([192, 0, 2, 1].into());
    let script = Script::new(path.clone());
    let target = Target::script(&script).source([10, 0, 0, 7]).interface("e7").port(Transport::Tcp, 80).ipv6_only();
    assert_eq!(target, target.clone());
    assert_eq!(target.check(), Ok(path.clone()));
    let mut watch = target.settle_time(Duration::MAX).watch().unwrap();
    assert_eq!((watch.next_change(), watch.path()), (Ok(Some(path)), Ok(script.path())));
    assert!(format!("{watch:?}").contains("192.0.2.1") && watch.addresses().is_empty());
}

#[test]
fn script_knows_how_many_follow_it() {
    let script = Script::new(Path::reachable());
    let target = Target::script(&script);
    let (watch, stream) = (target.watch().unwrap(), target.stream().unwrap());
    let (poll_watch, timer) = (target.poll_watch().unwrap(), target.retry_timer().unwrap());
    let handle = watch.stop_handle();
    assert_eq!(script.watches(), 4);
    drop((watch, stream, poll_watch));
    assert_eq!(script.watches(), 1);
    drop(timer);
    script.play(unplugged());
    handle.stop();
    assert_eq!(script.watches(), 0);
}

/// A program may name the trait in its bounds.
fn first<V: Value>(mut watch: Watch<V>) -> V {
    watch.next().unwrap().unwrap()
}

#[test]
fn watches_of_paths_and_of_networks_are_generic() {
    assert!(first(Target::script(&Script::new(Path::reachable())).watch().unwrap()).is_reachable());
    let network: Network = first(reachability::watch_network().unwrap());
    assert!(network.ipv4_loopback_flags.is_empty() || network.ipv4_loopback_flags.contains(Flags::REACHABLE));
}
