// SPDX-License-Identifier: MIT
//! The sleep of a loop that tries again and again: it ends when the time is over, or when it is worth an attempt.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hasher};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use reachability_sys as sys;

use crate::error::Result;
use crate::path::{open_enum, Path};
use crate::subscription::Subscription;
use crate::target::RawTarget;

open_enum! {
    /// Why a sleep has ended.
    Wake {
        /// The time is over.
        Time = 1,
        /// The host was not reachable, and is.
        Reachable = 2,
        /// Packets leave over another interface or gateway, or from another source.
        Path = 3,
    }
}

/// From 0 to 1.
fn random() -> f64 {
    let bits = RandomState::new().build_hasher().finish(); // each has other keys
    f64::from(u32::try_from(bits >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

/// At most 292 years: a sum of two fits.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX / 2)
}

/// The sleep between two attempts to connect, which ends early when an attempt has become worth while.
///
/// ```no_run
/// use std::time::Duration;
///
/// use reachability::{Target, Wake};
///
/// # fn connect() -> bool { true }
/// # fn main() -> Result<(), reachability::Error> {
/// let mut timer = Target::host("db.internal").retry_timer()?;
/// let mut pause = Duration::from_secs(1);
/// while !connect() { // the first attempt is always made
///     pause = match timer.sleep(pause)? {
///         Wake::Time => (pause * 2).min(Duration::from_secs(120)),
///         _ => Duration::from_secs(1),
///     };
/// }
/// # Ok(())
/// # }
/// ```
///
/// A sleep ends early if the host becomes reachable, or its path gets another interface, gateway or source while it is
/// reachable. An unreachable host only means that the sleep lasts its time. What changes during the attempt ends the next
/// sleep, at once. A loss that is over before the sleep begins is none: the timer sees only the newest path. It does not see
/// that the host itself comes back: that needs the attempts.
///
/// The library's one thread serves all timers.
pub struct RetryTimer {
    subscription: Subscription<Path>,
    retry: sys::SCNetworkReachabilityRetry,
    begin: Instant, // of the clock
    jitter: Duration,
}

impl RetryTimer {
    pub(crate) fn new(target: RawTarget) -> Result<RetryTimer> {
        let mut timer = RetryTimer {
            subscription: Subscription::new(target)?,
            retry: sys::SCNetworkReachabilityRetry { state: [0; 16] },
            begin: Instant::now(),
            jitter: Duration::ZERO,
        }
        .min_interval(Duration::from_secs(1));
        timer.observe_next()?;
        Ok(timer)
    }

    /// A change ends the sleep after a random part of this time (0). 250 ms are good for many clients of one server, which
    /// must not come all at once.
    #[must_use]
    pub fn jitter(mut self, jitter: Duration) -> RetryTimer {
        self.jitter = Duration::from_nanos(nanoseconds(jitter));
        self
    }

    /// If changes go on, they end one sleep in this time (1 s).
    #[must_use]
    pub fn min_interval(mut self, interval: Duration) -> RetryTimer {
        unsafe { sys::SCNetworkReachabilityRetryInit(&mut self.retry, nanoseconds(interval)) };
        if let Some(path) = self.subscription.last.clone() {
            self.observe(&path);
        }
        self
    }

    /// Blocks the thread for this time, or until a change.
    ///
    /// # Errors
    /// The library's.
    pub fn sleep(&mut self, duration: Duration) -> Result<Wake> {
        let end = self.now() + nanoseconds(duration);
        loop {
            self.observe_next()?;
            if let Some(wake) = self.take(end) {
                return Ok(wake);
            }
            self.subscription.wait(Some(Instant::now() + self.left(end)));
        }
    }

    /// The same as [`RetryTimer::sleep`], for any executor, with its timer: `timer.sleep_async(pause, tokio::time::sleep)`.
    /// Dropping the future ends the sleep.
    ///
    /// # Errors
    /// The library's.
    pub async fn sleep_async<Alarm: Future>(
        &mut self,
        duration: Duration,
        alarm: impl Fn(Duration) -> Alarm,
    ) -> Result<Wake> {
        let end = self.now() + nanoseconds(duration);
        loop {
            self.observe_next()?;
            if let Some(wake) = self.take(end) {
                return Ok(wake);
            }
            let left = self.left(end);
            let next = NextWithin { subscription: &mut self.subscription, alarm: Box::pin(alarm(left)) };
            if let Some(path) = next.await? {
                self.observe(&path);
            }
        }
    }

    fn now(&self) -> u64 {
        nanoseconds(self.begin.elapsed())
    }

    /// Takes what has changed.
    fn observe_next(&mut self) -> Result<()> {
        if let Some(path) = self.subscription.next_change(None)? {
            self.observe(&path);
        }
        Ok(())
    }

    fn observe(&mut self, path: &Path) {
        let (now, delay) = (self.now(), nanoseconds(self.jitter.mul_f64(random())));
        unsafe { sys::SCNetworkReachabilityRetryObserve(&mut self.retry, &path.structure(), now, delay) };
    }

    /// Why to wake up now. None: sleep on.
    fn take(&mut self, end: u64) -> Option<Wake> {
        let wake = unsafe { sys::SCNetworkReachabilityRetryTake(&mut self.retry, self.now(), end) };
        (wake != 0).then(|| wake.into())
    }

    /// The time until the next moment that can end the sleep.
    fn left(&self, end: u64) -> Duration {
        let due = unsafe { sys::SCNetworkReachabilityRetryGetDue(&self.retry) };
        Duration::from_nanos(due.min(end).saturating_sub(self.now()))
    }
}

/// The text of `SCNetworkReachabilityGetDescription`.
impl fmt::Debug for RetryTimer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.subscription.target.description())
    }
}

/// The next path. None: the alarm came first.
struct NextWithin<'a, Alarm> {
    subscription: &'a mut Subscription<Path>,
    alarm: Pin<Box<Alarm>>,
}

impl<Alarm: Future> Future for NextWithin<'_, Alarm> {
    type Output = Result<Option<Path>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.subscription.next_change(Some(context.waker())) {
            Ok(None) => self.alarm.as_mut().poll(context).map(|_| Ok(None)),
            result => Poll::Ready(result),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_spreads_wakes_evenly() {
        let parts: Vec<f64> = (0..10_000).map(|_| random() * 10.0).collect();
        for tenth in (0..10).map(f64::from) {
            let count = parts.iter().filter(|&&part| tenth <= part && part < tenth + 1.0).count();
            assert!((800..1200).contains(&count), "{count}");
        }
    }
}
