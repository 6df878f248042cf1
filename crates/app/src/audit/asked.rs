//! One request, and whether it was written down. The edge observes each request; whoever writes an entry says so here, so
//! that what failed before anybody wrote one is written down at the end.
//!
//! Invariant: a request is handled in one task. What is spawned for it tells before it is spawned.

use std::cell::{Cell, RefCell};
use std::future::Future;

use crate::operation::Operation;
use crate::principal::Caller;

tokio::task_local! {
    static ASKED: Asked;
}

#[derive(Default)]
struct Asked {
    operation: Cell<Option<Operation>>,
    caller: RefCell<Option<Caller>>,
    told: Cell<bool>,
}

/// What became known of a request.
#[derive(Debug)]
pub struct Observed {
    /// What it is; none when no route takes it.
    pub operation: Option<Operation>,
    /// Who asks, if they could be told.
    pub caller: Option<Caller>,
    /// Whether it is written down already, or need not be.
    pub told: bool,
}

/// Handles a request and tells what became known of it.
pub async fn observe<F: Future>(handling: F) -> (F::Output, Observed) {
    let observed = async {
        let output = handling.await;
        let observed = ASKED.with(|asked| Observed {
            operation: asked.operation.get(),
            caller: asked.caller.take(),
            told: asked.told.get(),
        });
        (output, observed)
    };
    ASKED.scope(Asked::default(), observed).await
}

/// The request under way is this.
pub fn asks_for(operation: Operation) {
    // Outside of a request nobody observes.
    let _ = ASKED.try_with(|asked| asked.operation.set(Some(operation)));
}

/// The request under way is theirs.
pub fn asked_by(caller: &Caller) {
    let _ = ASKED.try_with(|asked| asked.caller.replace(Some(caller.clone())));
}

/// The request under way is written down, or changes nothing.
pub(crate) fn told() {
    let _ = ASKED.try_with(|asked| asked.told.set(true));
}
