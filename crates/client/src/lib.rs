//! The Rust client of Mainspring: everything that the HTTP API can do, typed and async.
//!
//! ```no_run
//! # async fn example() -> Result<(), mainspring_client::Error> {
//! use mainspring_client::{Client, api::Submit};
//! use serde_json::json;
//!
//! let client = Client::from_env()?;
//! let submit = Submit {
//!     spec: Some(json!({ "name": "hello", "script": "echo hello" })),
//!     ..Submit::default()
//! };
//! let run = client.submit(&submit).await?;
//! let run = client.wait(run.id).await?;
//! assert!(run.state.is_terminal());
//! # Ok(())
//! # }
//! ```
//!
//! - Calls that may be repeated are repeated with a back-off when the server is away or busy; submissions carry an idempotency
//!   key, so a repetition is the same run.
//! - Lists are [`Pages`]: read one by one, as a `Vec`, or as a stream.
//! - [`LogFollow`] and [`Watch`] go on where they were when a connection is cut.
//! - [`worker`] runs functions of your own process as the bodies of jobs.
//! - Errors carry the API's stable [`code`](Error::code).
//!
//! TLS is rustls with aws-lc-rs, unless the program installed another provider before.

mod access;
mod artifacts;
mod backfills;
mod backoff;
mod calendars;
mod call;
mod client;
mod cluster;
mod error;
mod events;
mod jobs;
mod logs;
mod nodes;
mod pages;
mod runs;
mod triggers;
mod watch;
pub mod worker;

pub use artifacts::Download;
pub use client::{Builder, Client, is_api_token};
pub use error::Error;
pub use jobs::{JobText, PutJob};
pub use logs::{LogEvent, LogFollow, LogQuery};
pub use mainspring_model as model;
pub use mainspring_wire::api;
pub use pages::Pages;
pub use reqwest::Error as TransportError;
pub use runs::RunsQuery;
pub use watch::{News, Watch, WatchQuery};
