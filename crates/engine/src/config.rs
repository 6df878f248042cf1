//! What a cell is told at its start. Every limit has a default that suits a laptop and a company.

use std::collections::BTreeMap;
use std::time::Duration;

use mainspring_model::{CellId, Namespace, NodeId, limits};
use rustc_hash::FxHashMap;

/// How a cell behaves.
#[derive(Debug, Clone)]
pub struct Config {
    /// The cell.
    pub cell: CellId,
    /// How many cells the cluster has.
    pub cells: u16,
    /// Runs that wait in memory at most; more stay in the store and are read in by order.
    pub waiting_max: usize,
    /// Runs that wait in memory whatever there is beside them, because newcomers look at them; more begin later.
    pub kept_max: usize,
    /// Runs read from the store at once.
    pub page_rows: usize,
    /// Runs due later than this stay in the store.
    pub timed_horizon: Duration,
    /// How often arrivals are looked for when nobody hints.
    pub poll_every: Duration,
    /// A node silent for so long is lost.
    pub lost_after: Duration,
    /// How long an owner that cannot reach the store extends the leases of its nodes, counted from its last renewal.
    pub outage_max: Duration,
    /// How long an owner's own lease lasts without renewal.
    pub lease_ttl: Duration,
    /// Nodes that may be silent for longer than others.
    pub patience: FxHashMap<NodeId, Duration>,
    /// Orders and stops that are not answered are repeated so often.
    pub repeat_every: Duration,
    /// Runs that no node of the cell can take for so long are given to another cell.
    pub hand_over_after: Duration,
    /// Lines of the ledger of planned moments are kept so long.
    pub occurrences_kept: Duration,
    /// Shares of namespaces under fair share; 1 when not listed.
    pub weights: BTreeMap<Namespace, u32>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            cell: CellId(0),
            cells: 1,
            waiting_max: 200_000,
            kept_max: 200_000,
            page_rows: 1_000,
            timed_horizon: Duration::from_secs(600),
            poll_every: Duration::from_secs(30),
            lost_after: limits::LOST_AFTER,
            outage_max: limits::STORE_OUTAGE_MAX,
            lease_ttl: limits::LEASE_TTL,
            patience: FxHashMap::default(),
            repeat_every: Duration::from_secs(2),
            hand_over_after: Duration::from_secs(10),
            occurrences_kept: Duration::from_secs(90 * 86_400),
            weights: BTreeMap::new(),
        }
    }
}

impl Config {
    /// How long this node may be silent before it is lost.
    pub fn lost_after_of(&self, node: NodeId) -> Duration {
        self.patience.get(&node).map_or(self.lost_after, |patience| self.lost_after.max(*patience))
    }

    /// A node that was silent for so long takes no new work.
    pub(crate) fn quiet_after(&self) -> Duration {
        self.lost_after / 2
    }
}
