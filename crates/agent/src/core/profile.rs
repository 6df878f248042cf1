//! What a node tells about itself when it introduces itself.

use std::collections::HashMap;

use mainspring_model::NodeId;

/// The node as it describes itself.
#[derive(Debug, Clone)]
pub struct Profile {
    /// Its id, from the sidecar's journal.
    pub node: NodeId,
    /// Its name for people.
    pub name: String,
    /// Its pool.
    pub pool: String,
    /// What selectors look at.
    pub labels: HashMap<String, String>,
    /// CPU that may be reserved.
    pub cpu_milli: u64,
    /// Memory that may be reserved.
    pub memory_bytes: u64,
    /// Anything else that is counted, in thousandths.
    pub named_milli: HashMap<String, u64>,
    /// How many attempts it takes at once.
    pub slots: u32,
    /// Its share under the `weighted` balancer.
    pub weight: u32,
    /// The program's version.
    pub version: String,
}
