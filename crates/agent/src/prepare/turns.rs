//! How many attempts have their files copied at once: so many of one namespace, and so many in all. A namespace whose
//! servers are slow keeps itself waiting and not the others.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Of one namespace.
const OF_ONE_MAX: usize = 8;
/// In all.
const OF_ALL_MAX: usize = 64;

/// The turns of a node.
#[derive(Debug)]
pub(super) struct Turns {
    all: Semaphore,
    namespaces: Mutex<FxHashMap<Box<str>, Arc<Semaphore>>>,
}

impl Default for Turns {
    fn default() -> Self {
        Self { all: Semaphore::new(OF_ALL_MAX), namespaces: Mutex::default() }
    }
}

/// A turn; it ends when this is dropped.
pub(super) struct Turn<'a> {
    _all: SemaphorePermit<'a>,
    _own: Place<'a>,
}

/// A place in the line of a namespace, and perhaps at its head.
struct Place<'a> {
    turns: &'a Turns,
    namespace: Box<str>,
    line: Arc<Semaphore>,
    at_head: bool,
}

impl Turns {
    /// Waits for a turn. First among its own: whoever waits there takes nothing from others.
    pub(super) async fn take(&self, namespace: &str) -> Result<Turn<'_>, String> {
        let mut own = self.place(namespace);
        own.line.acquire().await.map_err(|error| error.to_string())?.forget();
        own.at_head = true;
        let all = self.all.acquire().await.map_err(|error| error.to_string())?;
        Ok(Turn { _all: all, _own: own })
    }

    fn place(&self, namespace: &str) -> Place<'_> {
        let mut namespaces = self.namespaces.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Semaphore::new(OF_ONE_MAX));
        let line = Arc::clone(namespaces.entry(namespace.into()).or_insert_with(new));
        Place { turns: self, namespace: namespace.into(), line, at_head: false }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut namespaces = self.turns.namespaces.lock().unwrap_or_else(PoisonError::into_inner);
        if self.at_head {
            self.line.add_permits(1);
        }
        // The map has one, and this is the last of the others.
        if Arc::strong_count(&self.line) == 2 {
            namespaces.remove(&self.namespace);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    fn is_waiting(future: std::pin::Pin<&mut impl Future>) -> bool {
        future.poll(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    #[tokio::test]
    async fn a_slow_namespace_keeps_only_itself_waiting() {
        let turns = Turns::default();
        let mut slow = Vec::new();
        for _ in 0..OF_ONE_MAX {
            slow.push(turns.take("slow").await);
        }
        let mut next = pin!(turns.take("slow"));
        assert!(is_waiting(next.as_mut()));
        drop(turns.take("quick").await);
        slow.pop();
        drop(next.await);
        // Whoever gives up in the line leaves nothing behind.
        slow.push(turns.take("slow").await);
        {
            let mut waiting = pin!(turns.take("slow"));
            assert!(is_waiting(waiting.as_mut()));
        }
        drop(slow);
        assert!(turns.namespaces.lock().unwrap().is_empty());
    }
}
