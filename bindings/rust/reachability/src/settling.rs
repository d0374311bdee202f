// SPDX-License-Identifier: MIT
//! When a change is reported: when nothing has changed for the settle time, or after ten times as long.

use std::time::{Duration, Instant};

/// A longer one could overflow.
const LONGEST: Duration = Duration::from_secs(1_000_000);

pub(crate) struct Settling<V> {
    time: Duration,
    /// The end and the limit of a change that is not reported.
    due: Option<(Instant, Instant)>,
    latest: Option<V>,
}

impl<V: Clone> Settling<V> {
    pub fn new(time: Duration) -> Settling<V> {
        Settling { time: time.min(LONGEST), due: None, latest: None }
    }

    /// When the change is reported, if nothing changes before. None: there is no change that is not reported.
    pub fn due(&self) -> Option<Instant> {
        self.due.map(|(due, _)| due)
    }

    /// Whether the newest value is reported now. `reported`: what was last; None: it is the first.
    pub fn is_news(&mut self, value: &V, reported: Option<&V>, now: Instant, differs: impl Fn(&V, &V) -> bool) -> bool {
        if !reported.map_or(true, |reported| differs(value, reported)) {
            self.due = None;
            return false;
        }
        let is_same = self.latest.as_ref().map_or(false, |latest| !differs(value, latest));
        let (due, limit) = match self.due {
            Some(due) if is_same => due,
            Some((_, limit)) => (limit.min(now + self.time), limit),
            None => (now + self.time, now + 10 * self.time),
        };
        self.latest = Some(value.clone());
        if reported.is_some() && now < due {
            self.due = Some((due, limit));
            return false;
        }
        self.due = None;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the second value is news after the first one, so many seconds after the start.
    fn text_settling() -> impl FnMut(&'static str, &'static str, f64) -> bool {
        let mut settling = Settling::new(Duration::from_secs(2));
        let start = Instant::now();
        move |reported, value, seconds| {
            let now = start + Duration::from_secs_f64(seconds);
            settling.is_news(&value, Some(&reported), now, |value, other| value != other)
        }
    }

    #[test]
    fn change_is_news_when_nothing_has_changed_for_the_settle_time() {
        let mut is_news = text_settling();
        assert!(
            !is_news("a", "b", 0.0) && !is_news("a", "b", 1.0) && !is_news("a", "c", 1.0) && !is_news("a", "c", 2.9)
        );
        assert!(is_news("a", "c", 3.0));
        assert!(!is_news("c", "a", 50.0) && is_news("c", "a", 52.0));
    }

    #[test]
    fn change_that_is_undone_is_no_news() {
        let mut is_news = text_settling();
        assert!(!is_news("a", "b", 0.0) && !is_news("a", "a", 1.0) && !is_news("a", "b", 100.0));
        assert!(!is_news("a", "b", 101.9) && is_news("a", "b", 102.0));
    }

    #[test]
    fn changes_that_go_on_are_news_after_ten_times_the_settle_time() {
        let mut is_news = text_settling();
        for second in 0..10 {
            assert!(!is_news("a", "b", f64::from(2 * second)) && !is_news("a", "c", f64::from(2 * second + 1)));
        }
        assert!(is_news("a", "b", 20.0));
    }

    #[test]
    fn settle_time_has_no_overflow() {
        for time in [Duration::ZERO, Duration::MAX] {
            let mut settling = Settling::new(time);
            assert_eq!(settling.is_news(&2, Some(&1), Instant::now(), |value, other| value != other), time.is_zero());
        }
    }
}
