// SPDX-License-Identifier: MIT
//! Paths that a test gives instead of the kernel's.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::path::Path;

/// Paths that a test gives instead of the kernel's, to what a program makes of [`Target::script`](crate::Target::script). A
/// clone is the same script.
///
/// ```
/// use reachability::{Path, Reason, Script, Target};
///
/// # fn main() -> Result<(), reachability::Error> {
/// let script = Script::new(Path::unreachable(Reason::NoCarrier));
/// let mut paths = Target::script(&script).watch()?;
/// assert!(!paths.next_change()?.unwrap().is_reachable());
/// script.play(Path::reachable());
/// assert!(paths.next_change()?.unwrap().is_reachable());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Script(Arc<Mutex<State>>);

struct State {
    path: Path,
    watches: Vec<Weak<OnPlay>>,
}

/// What a watch does when its script has played.
pub(crate) type OnPlay = dyn Fn() + Send + Sync;

impl Script {
    /// A script that begins with this path.
    #[must_use]
    pub fn new(path: Path) -> Script {
        Script(Arc::new(Mutex::new(State { path, watches: Vec::new() })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path that was played last.
    #[must_use]
    pub fn path(&self) -> Path {
        self.lock().path.clone()
    }

    /// How many watches, streams and timers follow the script: a test can check that its program has dropped all.
    #[must_use]
    pub fn watches(&self) -> usize {
        self.lock().watches.iter().filter(|watch| watch.strong_count() > 0).count()
    }

    /// Sets the path. A watch that is slow gets only the newest path.
    pub fn play(&self, path: Path) {
        let watches = {
            let mut state = self.lock();
            state.path = path;
            state.watches.retain(|watch| watch.strong_count() > 0);
            state.watches.clone()
        };
        for on_play in watches.iter().filter_map(Weak::upgrade) {
            on_play(); // without the lock: it may run a task
        }
    }

    pub(crate) fn follow(&self, on_play: &Arc<OnPlay>) {
        self.lock().watches.push(Arc::downgrade(on_play));
    }
}

impl PartialEq for Script {
    fn eq(&self, other: &Script) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Script {}

impl Hash for Script {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Script").field(&self.path()).finish()
    }
}
