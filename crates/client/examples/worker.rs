//! A worker with two functions. Start a server with `mainspring up`, then:
//!
//! ```sh
//! MAINSPRING_JOIN_TOKEN=$(mainspring node token -q) cargo run -p mainspring-client --example worker
//! mainspring submit --wait greet.yaml -p name=Ada     # name: greet, handler: greet, parameters: {name: string}
//! ```

use std::time::Duration;

use mainspring_client::worker::{Context, Error, TaskError, Worker};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Greeting {
    name: String,
}

#[derive(Serialize)]
struct Said {
    words: String,
}

async fn greet(context: Context, greeting: Greeting) -> Result<Said, TaskError> {
    if greeting.name.is_empty() {
        // A class of its own, so that a retry rule can tell it apart: `cause: {error: [NoName]}, then: fail`.
        return Err(TaskError::new("NoName", "there is nobody to greet"));
    }
    context.log(&format!("attempt {} of {}", context.attempt(), context.attempts_max()));
    Ok(Said { words: format!("hello {}", greeting.name) })
}

#[derive(Deserialize)]
struct Count {
    to: u64,
}

/// Counts slowly, goes on where an earlier attempt stopped, and stops when it is asked to.
async fn count(context: Context, count: Count) -> Result<u64, TaskError> {
    let mut at: u64 = context.checkpoint().unwrap_or(0);
    while at < count.to {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(1)) => at += 1,
            () = context.cancelled() => return Err(TaskError::new("Cancelled", format!("stopped at {at}"))),
        }
        context.progress(at as f64 / count.to as f64, &format!("{at} of {}", count.to));
        context.keep_checkpoint(&at)?;
    }
    Ok(at)
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let server = std::env::var("MAINSPRING_URL").unwrap_or_else(|_| "http://127.0.0.1:7468".to_owned());
    Worker::new(server, "./mainspring-worker/node")
        .join_token(std::env::var("MAINSPRING_JOIN_TOKEN").ok())
        .slots(4)
        .handler("greet", greet)
        .handler("count", count)
        .run(async {
            let _ = tokio::signal::ctrl_c().await;
        })
        .await
}
