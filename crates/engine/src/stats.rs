//! What the cell counts about itself, for metrics. Never read by a decision.

/// Counts since the cell was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Runs accepted.
    pub submitted: u64,
    /// Attempts made.
    pub placed: u64,
    /// Attempts that ended, well or not.
    pub ended: u64,
    /// Words of nodes about attempts that are not current; they changed nothing.
    pub stale_tokens: u64,
    /// Nodes given up.
    pub nodes_lost: u64,
    /// Attempts that survived a change of owner or connection.
    pub reattached: u64,
    /// Runs given to another cell.
    pub handed_over: u64,
    /// Runs that waited in the store because memory was full.
    pub spilled: u64,
}
