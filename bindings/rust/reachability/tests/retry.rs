// SPDX-License-Identifier: MIT
//! `RetryTimer`: what ends its sleep.

mod common;

use std::future::Future;
use std::pin::Pin;
use std::sync::{mpsc, Arc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use common::{block_on, enter_namespace, ip, ADD};
use reachability::{RetryTimer, Target, Wake};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(20);

fn timer() -> RetryTimer {
    Target::host("192.0.2.1").retry_timer().unwrap()
}

/// A program that starts offline makes its first attempt at once.
#[test]
fn new_timer_waits_neither_for_the_host_nor_for_its_name() {
    let _namespace = enter_namespace();
    let make = |host: &'static str| {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(Target::host(host).retry_timer()));
        // Shorter than a lookup whose server does not reply.
        receiver.recv_timeout(Duration::from_secs(4)).expect(host).expect(host);
    };
    make("192.0.2.1");
    make("db.invalid");
    ip(ADD); // now, nobody replies to a lookup
    make("db2.invalid");
}

#[test]
fn time_ends_the_sleep_of_a_host_that_does_not_change() {
    let _namespace = enter_namespace();
    let (mut timer, begin) = (timer(), Instant::now());
    assert_eq!(timer.sleep(SHORT).unwrap(), Wake::Time);
    ip(ADD);
    assert_eq!(timer.sleep(LONG).unwrap(), Wake::Reachable);
    assert_eq!(timer.sleep(SHORT).unwrap(), Wake::Time);
    assert!(begin.elapsed() >= 2 * SHORT);
}

#[test]
fn route_that_returns_and_another_gateway_end_the_sleep_of_a_thread() {
    let _namespace = enter_namespace();
    let mut timer = timer().min_interval(Duration::ZERO);
    let sleeper = thread::spawn(move || (timer.sleep(Duration::MAX).unwrap(), timer));
    ip(ADD);
    let (wake, mut timer) = sleeper.join().unwrap();
    assert_eq!(wake, Wake::Reachable);
    let sleeper = thread::spawn(move || timer.sleep(LONG).unwrap());
    ip("route replace default via 10.0.0.9");
    assert_eq!(sleeper.join().unwrap(), Wake::Path);
}

#[test]
fn second_change_waits_for_the_interval() {
    let _namespace = enter_namespace();
    let mut timer = timer().min_interval(10 * SHORT).jitter(SHORT);
    ip(ADD);
    let begin = Instant::now();
    assert_eq!(timer.sleep(LONG).unwrap(), Wake::Reachable);
    ip("route replace default via 10.0.0.9"); // the timer cannot miss it, as it can a loss that is soon over
    assert_eq!(timer.sleep(LONG).unwrap(), Wake::Path);
    assert!(begin.elapsed() >= 10 * SHORT);
}

/// The time, as a future.
struct Alarm(Instant);

impl Future for Alarm {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.0 {
            return Poll::Ready(());
        }
        let (waker, end) = (context.waker().clone(), self.0);
        thread::spawn(move || {
            thread::sleep(end.saturating_duration_since(Instant::now()));
            waker.wake();
        });
        Poll::Pending
    }
}

#[test]
fn task_sleeps_until_the_route_returns() {
    let _namespace = enter_namespace();
    let mut timer = timer();
    let alarm = |left| Alarm(Instant::now() + left);
    assert_eq!(block_on(timer.sleep_async(SHORT, alarm)).unwrap(), Wake::Time);
    ip(ADD);
    assert_eq!(block_on(timer.sleep_async(LONG, alarm)).unwrap(), Wake::Reachable);
    assert_eq!(block_on(timer.sleep_async(SHORT, alarm)).unwrap(), Wake::Time);
}

/// Sends the number of the sleep that must be polled.
struct Due(usize, mpsc::SyncSender<usize>);

impl std::task::Wake for Due {
    fn wake(self: Arc<Self>) {
        self.1.send(self.0).unwrap();
    }
}

#[test]
fn ten_thousand_sleepers_wake_up_on_one_thread_of_the_library() {
    const COUNT: usize = 10_000;
    let _namespace = enter_namespace();
    let (sender, due) = mpsc::sync_channel(COUNT);
    let mut timers: Vec<_> = (0..COUNT).map(|_| timer()).collect();
    let never = |_| std::future::pending::<()>();
    let mut sleeps: Vec<_> = timers.iter_mut().map(|timer| Box::pin(timer.sleep_async(10 * LONG, never))).collect();
    let wakers: Vec<_> = (0..COUNT).map(|sleep| Waker::from(Arc::new(Due(sleep, sender.clone())))).collect();
    let mut poll = |sleep: usize| sleeps[sleep].as_mut().poll(&mut Context::from_waker(&wakers[sleep]));
    assert!((0..COUNT).all(|sleep| poll(sleep).is_pending()));
    assert!(std::fs::read_dir("/proc/self/task").unwrap().count() < 100);
    ip(ADD);
    let mut asleep = COUNT;
    while asleep > 0 {
        if let Poll::Ready(wake) = poll(due.recv().unwrap()) {
            assert_eq!(wake.unwrap(), Wake::Reachable);
            asleep -= 1;
        }
    }
}
