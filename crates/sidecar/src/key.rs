//! The name of an attempt: run, number, epoch of the owner that made it.
//!
//! The same three as the token of the model, in a form that is cheap to send and to journal. One key is executed at
//! most once by a sidecar, whatever is sent how often.

use std::fmt;
use std::str::FromStr;

use mainspring_model::{AttemptToken, Epoch, RunId};
use serde::{Deserialize, Serialize};

/// One attempt of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AttemptKey {
    /// The bytes of the run's id.
    pub run: [u8; 16],
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The epoch of the scheduler that made it.
    pub epoch: u64,
}

impl AttemptKey {
    /// The run as people see it.
    pub fn run_id(&self) -> RunId {
        RunId::from_bytes(self.run)
    }
}

impl From<AttemptToken> for AttemptKey {
    fn from(token: AttemptToken) -> Self {
        Self { run: *token.run.as_bytes(), attempt: token.number, epoch: token.epoch.0 }
    }
}

impl From<AttemptKey> for AttemptToken {
    fn from(key: AttemptKey) -> Self {
        Self { run: key.run_id(), number: key.attempt, epoch: Epoch(key.epoch) }
    }
}

/// Also the name of the attempt's directory.
impl fmt::Display for AttemptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.run_id(), self.attempt, self.epoch)
    }
}

impl FromStr for AttemptKey {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.rsplitn(3, '-');
        let epoch = parts.next().and_then(|part| part.parse().ok()).ok_or(())?;
        let attempt = parts.next().and_then(|part| part.parse().ok()).ok_or(())?;
        let run: RunId = parts.next().and_then(|part| part.parse().ok()).ok_or(())?;
        Ok(Self { run: *run.as_bytes(), attempt, epoch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_name_is_read_back() {
        let key = AttemptKey { run: [7; 16], attempt: 3, epoch: 12 };
        assert_eq!(key.to_string().parse(), Ok(key));
        assert!("lost+found".parse::<AttemptKey>().is_err());
        assert!("run_x-1-1".parse::<AttemptKey>().is_err());
    }
}
