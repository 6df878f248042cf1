//! A worker whose functions leave traces in a folder, for `tests/handlers.rs`: a process of its own that can be killed.
//! Its surroundings say which server (`MAINSPRING_URL`), which name (`NAME`) and which folder (`FOLDER`).

#![allow(clippy::unwrap_used, reason = "a process for tests says where it cannot go on")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mainspring_client::worker::{Context, Error, TaskError, Worker};
use serde::Deserialize;
use serde_json::{Value, json};

/// How often a function looks for a file.
const LOOK_EVERY: Duration = Duration::from_millis(20);

#[derive(Deserialize)]
struct Terms {
    a: i64,
    b: i64,
}

async fn add(context: Context, terms: Terms) -> Result<Value, TaskError> {
    context.log(&format!("adding {} and {}", terms.a, terms.b));
    Ok(json!({ "sum": terms.a + terms.b, "attempt": context.attempt(), "namespace": context.namespace() }))
}

async fn burst(context: Context, _: Value) -> Result<u32, TaskError> {
    const LINES: u32 = 20_000;
    for line in 0..LINES {
        context.log(&format!("line {line}"));
    }
    Ok(LINES)
}

/// Says that it has begun and what it was handed, goes on with the file `go`, keeps a checkpoint, and fails the first time
/// unless it was lost.
async fn steps(context: Context, folder: PathBuf) -> Result<Value, TaskError> {
    let handed: Option<u32> = context.checkpoint();
    note(&folder, "begun", &format!("{} {handed:?}", context.attempt()));
    context.progress(0.25, "a quarter");
    context.keep_checkpoint(&context.attempt())?;
    wait_for(&context, &folder, "go").await?;
    context.keep_checkpoint(&(context.attempt() + 100))?;
    note(&folder, "kept", "it");
    wait_for(&context, &folder, "end").await?;
    match handed {
        None => Err(TaskError::new("Again", "the first time fails")),
        Some(handed) => Ok(json!({ "handed": handed })),
    }
}

async fn wait_for(context: &Context, folder: &Path, name: &str) -> Result<(), TaskError> {
    while !folder.join(name).exists() {
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = context.cancelled() => {
                note(folder, "cancelled", "yes");
                return Err(TaskError::new("Cancelled", "somebody wants it to end"));
            }
        }
    }
    Ok(())
}

fn note(folder: &Path, name: &str, words: &str) {
    let mut file = std::fs::File::options().create(true).append(true).open(folder.join(name)).unwrap();
    writeln!(file, "{words}").unwrap();
}

fn panics(words: &str) -> Result<Value, TaskError> {
    panic!("{words}")
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    tracing_subscriber::fmt().init();
    let [url, name, folder] = ["MAINSPRING_URL", "NAME", "FOLDER"].map(|name| std::env::var(name).unwrap());
    let folder = PathBuf::from(folder);
    Worker::new(url, folder.join(&name).join("node"))
        .join_token(std::env::var("MAINSPRING_JOIN_TOKEN").ok())
        .name(&name)
        .handler("add", add)
        .handler("burst", burst)
        .handler("steps", move |context, _: Value| steps(context, folder.clone()))
        .handler("panics", |_, _: Value| async { panics("out of cheese") })
        .run(std::future::pending())
        .await
}
