//! Attempt tokens and ids.

use mainspring_model::{AttemptToken, Epoch, JobId, NodeId, RunId};

use super::{Malformed, SpecKey, Token};

impl From<AttemptToken> for Token {
    fn from(token: AttemptToken) -> Self {
        Self { run: bytes_of(token.run.as_bytes()), number: token.number, epoch: token.epoch.0 }
    }
}

impl TryFrom<&Token> for AttemptToken {
    type Error = Malformed;

    fn try_from(token: &Token) -> Result<Self, Malformed> {
        Ok(Self { run: run_id(&token.run)?, number: token.number, epoch: Epoch(token.epoch) })
    }
}

impl SpecKey {
    /// The specification that a run pins: its job's version, or one of its own.
    pub fn new(job: JobId, version: u32, own_of: Option<RunId>) -> Self {
        Self { job: bytes_of(job.as_bytes()), version, run: own_of.map(|run| bytes_of(run.as_bytes())) }
    }
}

/// Reads a run's id.
pub fn run_id(bytes: &[u8]) -> Result<RunId, Malformed> {
    Ok(RunId::from_bytes(sixteen("run", bytes)?))
}

/// Reads a node's id.
pub fn node_id(bytes: &[u8]) -> Result<NodeId, Malformed> {
    Ok(NodeId::from_bytes(sixteen("node", bytes)?))
}

/// The bytes of an id.
pub fn bytes_of(id: &[u8; 16]) -> prost::bytes::Bytes {
    prost::bytes::Bytes::copy_from_slice(id)
}

fn sixteen(field: &'static str, bytes: &[u8]) -> Result<[u8; 16], Malformed> {
    bytes.try_into().map_err(|_| Malformed::new(field, format!("an id has 16 bytes, not {}", bytes.len())))
}
