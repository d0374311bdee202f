// SPDX-License-Identifier: MIT
//! The sleep of a loop that tries again and again: it ends when the time is over, or when it is worth an attempt.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hasher};
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::path::{Path, Reason};
use crate::subscription::Subscription;
use crate::target::RawTarget;

/// Why a sleep has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wake {
    /// The time is over.
    Time,
    /// The host was not reachable, and is.
    Reachable,
    /// Packets leave over another interface or gateway, or from another source.
    Path,
}

/// What must change while the host is reachable.
type Way = (Option<u32>, Option<IpAddr>, Option<IpAddr>);

/// Which changes are worth an attempt, and when. The caller brings the paths and the time.
#[derive(Debug, Default)]
struct Trigger {
    last: Option<Way>, // the last one over which the host was reachable
    was_lost: bool,
    wake: Option<(Wake, Instant)>,
    not_before: Option<Instant>,
}

impl Trigger {
    /// Takes the next path. That of a pending name is the default path, and says nothing.
    fn observe(&mut self, path: &Path, now: Instant, jitter: Duration) {
        if path.reason == Some(Reason::NamePending) {
            return;
        }
        if !path.is_reachable() {
            self.was_lost = true;
            self.wake = None;
            return;
        }
        let way = (path.interface.as_ref().map(|interface| interface.index), path.gateway, path.source);
        let wake = if self.was_lost {
            Some(Wake::Reachable)
        } else {
            self.last.filter(|last| *last != way).map(|_| Wake::Path)
        };
        if self.wake.is_none() {
            self.wake = wake.map(|wake| (wake, now + jitter.mul_f64(random())));
        }
        self.was_lost = false;
        self.last = Some(way);
    }

    /// When the sleep ends if nothing changes, and why. No end: without limit.
    fn next(&self, end: Option<Instant>) -> (Option<Instant>, Wake) {
        if let Some((wake, due)) = self.wake {
            let due = self.not_before.map_or(due, |not_before| not_before.max(due));
            if end.map_or(true, |end| due <= end) {
                return (Some(due), wake);
            }
        }
        (end, Wake::Time)
    }

    /// Why to wake up now. None: sleep on.
    fn take(&mut self, now: Instant, end: Option<Instant>, min_interval: Duration) -> Option<Wake> {
        let (at, wake) = self.next(end);
        if at.map_or(true, |at| now < at) {
            return None;
        }
        if wake != Wake::Time {
            self.not_before = now.checked_add(min_interval);
        }
        self.wake = None;
        Some(wake)
    }
}

/// A hundred years: a moment so far from now is still an `Instant`.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// From 0 to 1.
fn random() -> f64 {
    let bits = RandomState::new().build_hasher().finish(); // each has other keys
    f64::from(u32::try_from(bits >> 32).unwrap_or_default()) / f64::from(u32::MAX)
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
/// sleep, at once, unless it is undone before the sleep begins. It does not see that the host itself comes back: that needs
/// the attempts.
///
/// The library's one thread serves all timers.
pub struct RetryTimer {
    subscription: Subscription<Path>,
    trigger: Trigger,
    jitter: Duration,
    min_interval: Duration,
}

impl RetryTimer {
    pub(crate) fn new(target: RawTarget) -> Result<RetryTimer> {
        let mut timer = RetryTimer {
            subscription: Subscription::new(target)?,
            trigger: Trigger::default(),
            jitter: Duration::ZERO,
            min_interval: Duration::from_secs(1),
        };
        timer.observe()?;
        Ok(timer)
    }

    /// A change ends the sleep after a random part of this time (0). 250 ms are good for many clients of one server, which
    /// must not come all at once.
    #[must_use]
    pub fn jitter(mut self, jitter: Duration) -> RetryTimer {
        self.jitter = jitter.min(LONGEST);
        self
    }

    /// If changes go on, they end one sleep in this time (1 s).
    #[must_use]
    pub fn min_interval(mut self, interval: Duration) -> RetryTimer {
        self.min_interval = interval.min(LONGEST);
        self
    }

    /// Blocks the thread for this time, or until a change.
    ///
    /// # Errors
    /// The library's.
    pub fn sleep(&mut self, duration: Duration) -> Result<Wake> {
        let end = Instant::now().checked_add(duration);
        loop {
            self.observe()?;
            if let Some(wake) = self.trigger.take(Instant::now(), end, self.min_interval) {
                return Ok(wake);
            }
            self.subscription.wait(self.trigger.next(end).0);
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
        let end = Instant::now().checked_add(duration);
        loop {
            self.observe()?;
            let now = Instant::now();
            if let Some(wake) = self.trigger.take(now, end, self.min_interval) {
                return Ok(wake);
            }
            let left = self.trigger.next(end).0.map_or(Duration::MAX, |at| at.saturating_duration_since(now));
            let next = NextWithin { subscription: &mut self.subscription, alarm: Box::pin(alarm(left)) };
            if let Some(path) = next.await? {
                self.trigger.observe(&path, Instant::now(), self.jitter);
            }
        }
    }

    /// Takes what has changed.
    fn observe(&mut self) -> Result<()> {
        if let Some(path) = self.subscription.next_change(None)? {
            self.trigger.observe(&path, Instant::now(), self.jitter);
        }
        Ok(())
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
    use crate::target::Target;

    fn lost(_: &Path) -> Path {
        Path::unreachable(Reason::NoRoute)
    }

    fn reachable() -> Path {
        Path::reachable()
    }

    #[test]
    fn only_a_return_and_another_way_are_changes() {
        let (now, path) = (Instant::now(), reachable());
        let end = now.checked_add(Duration::from_secs(10));
        let mut trigger = Trigger::default();
        let pending = Path::unreachable(Reason::NamePending);
        for path in [&pending, &path, &path] {
            trigger.observe(path, now, Duration::ZERO);
            assert_eq!(trigger.next(end), (end, Wake::Time));
        }
        let mut other = path.clone();
        other.source = Some("192.0.2.77".parse().expect("an address"));
        trigger.observe(&other, now, Duration::ZERO);
        assert_eq!(trigger.take(now, end, Duration::ZERO), Some(Wake::Path));
        trigger.observe(&lost(&path), now, Duration::ZERO);
        assert_eq!(trigger.take(now, end, Duration::ZERO), None);
        trigger.observe(&path, now, Duration::ZERO);
        assert_eq!(trigger.take(now, end, Duration::ZERO), Some(Wake::Reachable));
    }

    #[test]
    fn a_storm_of_flaps_ends_one_sleep_in_each_interval() {
        let (start, path) = (Instant::now(), reachable());
        let mut trigger = Trigger::default();
        let wakes = (0..10_000)
            .filter(|millisecond| {
                let now = start + Duration::from_millis(*millisecond);
                trigger.observe(&lost(&path), now, Duration::ZERO);
                trigger.observe(&path, now, Duration::ZERO);
                trigger.take(now, None, Duration::from_secs(1)).is_some()
            })
            .count();
        assert_eq!(wakes, 10);
    }

    #[test]
    fn longest_jitter_and_interval_are_accepted() {
        let path = reachable();
        let timer = Target::host("127.0.0.1").retry_timer().expect("the kernel is queried");
        let RetryTimer { mut trigger, jitter, min_interval, .. } =
            timer.jitter(Duration::MAX).min_interval(Duration::MAX);
        let now = Instant::now();
        trigger.observe(&lost(&path), now, jitter);
        trigger.observe(&path, now, jitter);
        let due = trigger.next(None).0.expect("it is due");
        assert_eq!(trigger.take(due, None, min_interval), Some(Wake::Reachable));
        trigger.observe(&lost(&path), due, Duration::ZERO);
        trigger.observe(&path, due, Duration::ZERO);
        assert_eq!(trigger.take(due, None, min_interval), None); // the interval is not over
    }

    #[test]
    fn jitter_spreads_wakes_evenly() {
        let (now, path, jitter) = (Instant::now(), reachable(), Duration::from_millis(250));
        let mut tenths = [0; 10];
        for _ in 0..10_000 {
            let mut trigger = Trigger::default();
            trigger.observe(&lost(&path), now, jitter);
            trigger.observe(&path, now, jitter);
            let due = trigger.next(None).0.expect("it is due") - now;
            tenths[usize::try_from(due.as_millis() / 25).expect("it is small").min(9)] += 1;
        }
        assert!(tenths.iter().all(|count| (800..1200).contains(count)), "{tenths:?}");
    }
}
