//! What becomes known of a request while it is handled here, for whoever may have to pass it on: its body, and which server
//! knows what nobody here does.
//!
//! It belongs to the task that handles the request. Outside of a request that may be passed on there is none, and nothing is
//! kept: such a request is answered here or nowhere.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use mainspring_model::{CellId, RunId};

use super::forward::Passable;

tokio::task_local! {
    static UNDER_WAY: RefCell<UnderWay>;
}

/// What became known.
#[derive(Default)]
pub(super) struct UnderWay {
    request: Option<Arc<Passable>>,
    /// Its body, once somebody has read it.
    pub(super) body: Bytes,
    /// A cell of this process could say how things stand.
    pub(super) here: bool,
    /// By address, of what each other server would have known how it stands.
    pub(super) elsewhere: BTreeMap<String, Subjects>,
    /// Its runs can be left to the store when their owner is not reached.
    pub(super) may_deposit: bool,
    /// An owner that was not reached.
    unreached: Option<String>,
}

/// What a server knows better than others: these runs, and what is in these cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Subjects {
    pub(super) runs: BTreeSet<RunId>,
    pub(super) cells: BTreeSet<CellId>,
}

impl Subjects {
    /// Runs of a cell.
    pub(crate) fn runs(runs: &[RunId]) -> Self {
        Self { runs: runs.iter().copied().collect(), cells: BTreeSet::new() }
    }

    /// A whole cell.
    pub(crate) fn cell(cell: CellId) -> Self {
        Self { runs: BTreeSet::new(), cells: BTreeSet::from([cell]) }
    }
}

/// Handles a request that may be passed on; `unreached` is an owner that it was passed on to in vain.
pub(super) async fn observed<T>(
    request: Arc<Passable>,
    unreached: Option<String>,
    handling: impl Future<Output = T>,
) -> (T, UnderWay) {
    let handled = async {
        let answer = handling.await;
        (answer, UNDER_WAY.with(RefCell::take))
    };
    let begun = UnderWay { request: Some(request), unreached, ..UnderWay::default() };
    UNDER_WAY.scope(RefCell::new(begun), handled).await
}

/// The request under way, if it may be passed on.
pub(super) fn request() -> Option<Arc<Passable>> {
    UNDER_WAY.try_with(|under_way| under_way.borrow().request.clone()).ok().flatten()
}

/// Keeps the body of the request under way for another server.
pub(super) fn keep_body(body: &Bytes) {
    let _ = UNDER_WAY.try_with(|under_way| under_way.borrow_mut().body = body.clone());
}

/// A cell of this process said how things stand.
pub(crate) fn is_known_here() {
    let _ = UNDER_WAY.try_with(|under_way| under_way.borrow_mut().here = true);
}

/// The server at `url` would have said how these stand.
pub(crate) fn is_known_at(url: &str, subjects: Subjects) {
    let _ = UNDER_WAY.try_with(|under_way| {
        let mut under_way = under_way.borrow_mut();
        let known = under_way.elsewhere.entry(url.to_owned()).or_default();
        known.runs.extend(subjects.runs);
        known.cells.extend(subjects.cells);
    });
}

/// Whether the request under way goes to the server at `url` before its runs are left to the store. One that came from
/// another server, or was not taken there, does not.
pub(crate) fn goes_to(url: &str) -> bool {
    let goes = |under_way: &RefCell<UnderWay>| {
        let mut under_way = under_way.borrow_mut();
        under_way.may_deposit = under_way.unreached.as_deref() != Some(url);
        under_way.may_deposit
    };
    UNDER_WAY.try_with(goes).unwrap_or(false)
}
