//! A worker: functions of your own process as the bodies of jobs (`handler: send-mail` in a job file).
//!
//! ```no_run
//! # async fn example() -> Result<(), mainspring_client::worker::Error> {
//! use mainspring_client::worker::{Context, TaskError, Worker};
//!
//! #[derive(serde::Deserialize)]
//! struct Mail { to: String }
//!
//! async fn send_mail(context: Context, mail: Mail) -> Result<u32, TaskError> {
//!     context.log(&format!("to {}", mail.to));
//!     context.progress(0.5, "half way");
//!     if mail.to.is_empty() {
//!         return Err(TaskError::new("NoAddress", "there is nobody to send it to"));
//!     }
//!     Ok(1)
//! }
//!
//! Worker::new("http://127.0.0.1:7468", "/var/lib/mailer/node")
//!     .join_token(std::env::var("MAINSPRING_JOIN_TOKEN").ok())
//!     .slots(8)
//!     .handler("send-mail", send_mail)
//!     .run(std::future::pending())
//!     .await
//! # }
//! ```
//!
//! - The process is a node: it dials out, takes as many attempts at once as it has slots, and holds no database credential.
//!   `mainspring node token` makes the single-use token with which it joins; from then on its identity file lets it in.
//! - It starts when the server is down and keeps trying. Attempts survive a cut connection; when the schedulers stay away for
//!   so long that they may give the attempts to others, the worker ends them first.
//! - What a function returns is the run's result. An error fails the attempt with its class, which retry rules can match
//!   (`cause: {error: [NoAddress]}`). Input that does not fit is the class `invalid_input`, a panic is `panic`.
//! - A function that is cancelled is told by [`Context::cancelled`], and dropped at its next `.await` when the grace is over. A
//!   function that blocks its thread cannot be stopped: give such work to `tokio::task::spawn_blocking`.

mod attempts;
mod clock;
mod connection;
mod context;
mod dial;
mod error;
mod handler;
mod identity;
mod lease;
mod node;
mod orders;
mod output;
mod setup;
mod specs;
mod voice;
mod words;

pub use context::Context;
pub use error::Error;
pub use handler::TaskError;
pub use setup::Worker;
