//! The demonstration: a made-up company with weeks of history in a store, for whoever wants to see Mainspring at work.
//!
//! The history is not written by hand. The scheduler's own engine and the use cases live through it in virtual time, with
//! made-up machines and people ([`past`]), on a store in memory; then its rows are copied into the real one by the store
//! contract, in bounded batches ([`copy`]). So ledgers, roll-ups, attempts, events and the audit agree with each other as they
//! do in any other store.
//!
//! What is absent: sockets, files, the real clock. Whoever calls gives the store and the moment at which the history ends, and
//! keeps the logs. The same seed and moment make the same history, but for secrets.

mod cells;
mod chance;
mod character;
mod characters;
mod clock;
mod company;
mod copy;
mod error;
mod machine;
mod output;
mod owner;
mod past;
mod people;
mod read;
mod story;

use mainspring_model::{AttemptToken, Timestamp};
use mainspring_store::Store;

pub use error::Error;

/// Which history.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How many days it has.
    pub days: u32,
    /// What decides everything that chance decides.
    pub seed: u64,
    /// When it ends.
    pub until: Timestamp,
}

/// What was made.
#[derive(Debug)]
pub struct Made {
    /// The token of the person who looks at it, an admin by the name of `demo`.
    pub token: String,
    /// Runs in the store.
    pub runs: usize,
    /// The output of each attempt, as frames of `mainspring_model::log`.
    pub logs: Vec<(AttemptToken, Vec<u8>)>,
}

/// Lives through the history and writes it into an empty store, whose cells nobody owns.
pub async fn make(store: &dyn Store, options: Options) -> Result<Made, Error> {
    let past = past::live(options).await?;
    let runs = copy::copy(&past.store, store, options.until).await?;
    Ok(Made { token: past.token, runs, logs: past.logs })
}
