//! A worker and an owner over a real stream.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mainspring_client::model::{Cause, limits};
use mainspring_client::worker::{Context, Error, TaskError, Worker};
use mainspring_wire::agent::owner_word::Word;
use mainspring_wire::agent::{Redirect, held, report};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::JoinHandle;

use crate::HANG_LIMIT;
use crate::owner::{Owner, Seen, cause, token};

const PATIENT_MS: u64 = 60_000;

struct Working {
    directory: TempDir,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), Error>>,
}

impl Working {
    async fn ends(mut self) -> Result<(), Error> {
        drop(self.stop.take());
        let ended = tokio::time::timeout(HANG_LIMIT, self.task).await;
        drop(self.directory);
        ended.expect("the worker leaves").unwrap()
    }

    /// Ends it, and keeps its identity for another.
    async fn leaves(mut self) -> TempDir {
        drop(self.stop.take());
        let ended = tokio::time::timeout(HANG_LIMIT, self.task).await;
        ended.expect("the worker leaves").unwrap().unwrap();
        self.directory
    }
}

fn start(url: String, join_token: Option<&str>) -> Working {
    start_in(tempfile::tempdir().unwrap(), url, join_token, Arc::default())
}

/// Lets the function `keep` go on, and tells what it kept last.
#[derive(Default)]
struct Keeping {
    go: Notify,
    kept: watch::Sender<u32>,
}

/// With an identity of its own.
fn start_in(directory: TempDir, url: String, join_token: Option<&str>, keeping: Arc<Keeping>) -> Working {
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = Worker::new(url, directory.path().join("node"))
        .join_token(join_token.map(str::to_owned))
        .name("w")
        .handler("keep", move |context: Context, _: Value| {
            let keeping = Arc::clone(&keeping);
            async move {
                for at in context.checkpoint().unwrap_or(0)..3 {
                    context.progress(f64::from(at) / 4.0, &format!("at {at}"));
                    context.keep_checkpoint(&at)?;
                    keeping.kept.send_replace(at);
                    keeping.go.notified().await;
                }
                Err::<(), _>(TaskError::new("Tired", "no more"))
            }
        })
        .handler("shout", |context: Context, _: Value| async move {
            let words = "\u{20ac}".repeat(30_000_000);
            context.progress(0.5, &words);
            Err::<(), _>(TaskError::new("Loud", words))
        })
        .handler("chatter", |context: Context, number: Number| async move {
            for line in 0..number.n {
                context.log(&format!("line {line}"));
                context.progress(0.5, &format!("line {line}"));
            }
            Ok(number.n)
        })
        .label("zone", "eu")
        .slots(2)
        .handler("double", |context: Context, number: Number| async move {
            context.log(&format!("attempt {} of {}", context.attempt(), context.attempts_max()));
            context.progress(0.5, "half");
            Ok(number.n * 2)
        })
        .handler("fail", |_: Context, _: Value| async {
            Err::<(), _>(TaskError::new("Busy", "come back later"))
        })
        .handler("panic", |_: Context, _: Value| async { panic_now("at the disco") })
        .handler("hang", |_: Context, _: Value| forever())
        .handler("polite", |context: Context, _: Value| async move {
            context.cancelled().await;
            Ok("tidied up")
        });
    let task = tokio::spawn(worker.run(async { drop(stopped.await) }));
    Working { directory, stop: Some(stop), task }
}

#[derive(serde::Deserialize)]
struct Number {
    n: i64,
}

fn panic_now(words: &str) -> Result<(), TaskError> {
    panic!("{words}")
}

fn forever() -> impl Future<Output = Result<(), TaskError>> {
    std::future::pending()
}

#[tokio::test]
async fn functions_run_and_their_ends_are_told() {
    let mut owner = Owner::start().await;
    let worker = start(owner.url(), Some("join"));
    assert!(matches!(owner.next().await, Seen::Joined));
    let (hello, connection) = owner.welcomed(PATIENT_MS).await;
    assert_eq!((hello.name.as_str(), hello.slots, hello.labels["zone"].as_str()), ("w", 2, "eu"));
    assert_eq!(hello.handlers, ["chatter", "double", "fail", "hang", "keep", "panic", "polite", "shout"]);

    connection.start(token(1), "double", r#"{"n":21}"#);
    assert!(matches!(owner.next().await, Seen::Report(_, report::News::Accepted(_))));
    assert!(matches!(owner.next().await, Seen::Report(_, report::News::Started(_))));
    let (ending, log) = owner.ending(&connection, token(1)).await;
    assert_eq!((cause(&ending), ending.result.as_deref()), (Cause::Exit { code: 0 }, Some(&b"42"[..])));
    assert_eq!(log, "attempt 1 of 4\n");

    for (number, handler, params, class, words) in [
        (2, "double", r#"{"n":"x"}"#, "invalid_input", "invalid type"),
        (3, "fail", "{}", "Busy", "come back later"),
        (4, "panic", "{}", "panic", "at the disco"),
    ] {
        connection.start(token(number), handler, params);
        let (ending, _) = owner.ending(&connection, token(number)).await;
        let Cause::Error { class: said, message } = cause(&ending) else { panic!("{ending:?}") };
        assert_eq!(&*said, class);
        assert!(message.contains(words), "{message}");
    }
    connection.start(token(5), "unknown", "{}");
    let (ending, _) = owner.ending(&connection, token(5)).await;
    assert!(
        matches!(cause(&ending), Cause::Refused { message } if message.contains("no function `unknown`"))
    );

    worker.ends().await.unwrap();
    loop {
        if let Seen::Goodbye = owner.next().await {
            break;
        }
    }
}

#[tokio::test]
async fn a_stop_is_told_and_then_enforced() {
    let mut owner = Owner::start().await;
    let worker = start(owner.url(), Some("join"));
    let (_, connection) = owner.welcomed(PATIENT_MS).await;
    connection.start(token(1), "polite", "{}");
    connection.stop(token(1), 30_000_000);
    let (ending, _) = owner.ending(&connection, token(1)).await;
    assert!(ending.stopped && ending.result.as_deref() == Some(b"\"tidied up\""), "{ending:?}");
    connection.start(token(2), "hang", "{}");
    connection.stop(token(2), 1_000);
    let (ending, _) = owner.ending(&connection, token(2)).await;
    assert!(ending.stopped, "{ending:?}");
    assert!(matches!(cause(&ending), Cause::Error { class, .. } if &*class == "stopped"));
    // A stop for what never came: it must not begin afterwards.
    connection.stop(token(3), 0);
    connection.start(token(3), "double", r#"{"n":1}"#);
    let (ending, _) = owner.ending(&connection, token(3)).await;
    assert!(matches!(cause(&ending), Cause::Refused { .. }));
    worker.ends().await.unwrap();
}

#[tokio::test]
async fn attempts_survive_a_cut_and_are_told_on_the_next_connection() {
    let mut owner = Owner::start().await;
    let worker = start(owner.url(), Some("join"));
    let (first, connection) = owner.welcomed(PATIENT_MS).await;
    connection.start(token(1), "polite", "{}");
    loop {
        if let Seen::Report(_, report::News::Started(_)) = owner.next().await {
            break;
        }
    }
    connection.cut();
    let (second, connection) = owner.welcomed(PATIENT_MS).await;
    assert!(second.session > first.session && second.node == first.node);
    assert!(matches!(second.held[0].stage, Some(held::Stage::ExecutingUs(_))), "{second:?}");
    connection.stop(token(1), 30_000_000);
    let (ending, _) = owner.ending(&connection, token(1)).await;
    assert_eq!(ending.result.as_deref(), Some(&b"\"tidied up\""[..]));
    worker.ends().await.unwrap();
}

#[tokio::test]
async fn redirections_that_lead_nowhere_or_in_circles_are_survived_at_leisure() {
    let mut owner = Owner::start().await;
    let worker = start(owner.url(), Some("join"));
    let begun = Instant::now();
    for url in ["no place at all".to_owned(), owner.url(), owner.url(), owner.url()] {
        let connection = loop {
            if let Seen::Hello(_, connection) = owner.next().await {
                break connection;
            }
        };
        connection.say(Word::Redirect(Redirect { url }));
    }
    owner.welcomed(PATIENT_MS).await;
    // One wait after the nonsense, and one before each but the first of those that lead back.
    assert!(begun.elapsed() >= Duration::from_millis(300), "{:?}", begun.elapsed());
    worker.ends().await.unwrap();
}

#[tokio::test]
async fn without_answers_attempts_end_before_others_may_have_them() {
    let mut owner = Owner::start().await;
    let worker = start(owner.url(), Some("join"));
    let (_, connection) = owner.welcomed(400).await;
    connection.start(token(1), "hang", "{}");
    loop {
        if let Seen::Report(_, report::News::Started(_)) = owner.next().await {
            break;
        }
    }
    connection.cut();
    // The next connections are never welcomed: the lease runs out, and the attempt with it.
    let (hello, connection) = loop {
        if let Seen::Hello(hello, connection) = owner.next().await {
            if matches!(hello.held.first().and_then(|held| held.stage.as_ref()), Some(held::Stage::Over(_))) {
                break (hello, connection);
            }
            connection.cut();
        }
    };
    connection.welcome(hello.beat, PATIENT_MS);
    let (ending, _) = owner.ending(&connection, token(1)).await;
    assert!(matches!(cause(&ending), Cause::Lost { .. }), "{ending:?}");
    worker.ends().await.unwrap();
}

#[tokio::test]
async fn a_worker_waits_for_its_server_and_knows_a_refusal() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let worker = start(format!("http://{address}"), Some("join"));
    tokio::task::yield_now().await;
    let mut owner = Owner::on(tokio::net::TcpListener::bind(address).await.unwrap());
    owner.welcomed(PATIENT_MS).await;
    worker.ends().await.unwrap();

    let refused = start(owner.url(), Some("used up"));
    let error = tokio::time::timeout(HANG_LIMIT, refused.task).await.unwrap().unwrap().unwrap_err();
    assert!(matches!(error, Error::Refused(_)), "{error}");
    assert!(matches!(start(owner.url(), None).ends().await.unwrap_err(), Error::NotJoined));
}

/// What the worker says next about progress, as the last word of the progress and the checkpoint.
async fn progressed(owner: &mut Owner) -> (Option<String>, Option<String>) {
    loop {
        match owner.next().await {
            Seen::Report(_, report::News::Progressed(news)) => {
                let checkpoint = news.checkpoint.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
                return (news.progress.map(|progress| progress.message), checkpoint);
            }
            Seen::Report(_, report::News::Finished(ending)) => panic!("{ending:?}"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_checkpoint_that_was_kept_while_the_owner_was_away_is_said_when_it_is_back() {
    let mut owner = Owner::start().await;
    let keeping = Arc::new(Keeping::default());
    let worker = start_in(tempfile::tempdir().unwrap(), owner.url(), Some("join"), Arc::clone(&keeping));
    let (_, connection) = owner.welcomed(PATIENT_MS).await;
    connection.start_from(token(1), "keep", "{}", Some("1"));
    let both = |at: u32| (Some(format!("at {at}")), Some(at.to_string()));
    assert_eq!(progressed(&mut owner).await, both(1), "it goes on where an earlier attempt stopped");
    connection.cut();
    let (hello, connection) = owner.met().await;
    // The worker is not welcomed yet, and the function goes on.
    keeping.go.notify_one();
    keeping.kept.subscribe().wait_for(|at| *at == 2).await.unwrap();
    connection.welcome(hello.beat, PATIENT_MS);
    assert_eq!(progressed(&mut owner).await, both(2));
    // Nobody knows whether the owner kept it. Even a function that has failed meanwhile has it said again.
    connection.cut();
    keeping.go.notify_one();
    let (hello, connection) = loop {
        let (hello, connection) = owner.met().await;
        if matches!(hello.held[0].stage, Some(held::Stage::Over(_))) {
            break (hello, connection);
        }
        connection.cut();
    };
    connection.welcome(hello.beat, PATIENT_MS);
    assert_eq!(progressed(&mut owner).await, both(2), "before the end");
    let (ending, _) = owner.ending(&connection, token(1)).await;
    assert!(matches!(cause(&ending), Cause::Error { class, .. } if &*class == "Tired"));
    worker.ends().await.unwrap();
}

#[tokio::test]
async fn a_burst_of_words_keeps_the_connection() {
    const LINES: usize = 100_000;
    let mut owner = Owner::start().await;
    let worker = start(owner.url(), Some("join"));
    let (_, connection) = owner.welcomed(PATIENT_MS).await;
    connection.start(token(1), "polite", "{}");
    connection.start(token(2), "chatter", &format!(r#"{{"n":{LINES}}}"#));
    // Hellos are no part of this: a second one would mean that the connection was given up.
    let (ending, log) = owner.ending_on(&connection, token(2)).await;
    assert_eq!(ending.result.as_deref(), Some(LINES.to_string().as_bytes()));
    let expected: String = (0..LINES).map(|line| format!("line {line}\n")).collect();
    assert!(log == expected, "{} of {} bytes", log.len(), expected.len());
    connection.stop(token(1), 30_000_000);
    owner.ending_on(&connection, token(1)).await;
    worker.ends().await.unwrap();
}

#[tokio::test]
async fn words_that_are_too_long_are_cut_and_keep_the_connection() {
    let mut owner = Owner::start().await;
    let worker = start(owner.url(), Some("join"));
    let (_, connection) = owner.welcomed(PATIENT_MS).await;
    connection.start(token(1), "shout", "{}");
    let (said, _) = progressed(&mut owner).await;
    assert!(said.unwrap().len() <= limits::MESSAGE_BYTES_MAX);
    let (ending, _) = owner.ending_on(&connection, token(1)).await;
    let Cause::Error { message, .. } = cause(&ending) else { panic!("an error") };
    assert!(message.len() <= limits::MESSAGE_BYTES_MAX && message.contains("bytes more"), "{message}");
    worker.ends().await.unwrap();
}

#[tokio::test]
async fn a_worker_that_was_removed_joins_anew_with_a_fresh_token() {
    let mut owner = Owner::start().await;
    let worker = start(owner.url(), Some("join"));
    let (first, connection) = owner.welcomed(PATIENT_MS).await;
    owner.remove_nodes();
    connection.cut();
    // It was let in once: somebody may let it in again.
    for _ in 0..2 {
        while !matches!(owner.next().await, Seen::TurnedAway) {}
    }
    let directory = worker.leaves().await;
    let worker = start_in(directory, owner.url(), Some("join 1"), Arc::default());
    let (second, _) = owner.welcomed(PATIENT_MS).await;
    assert_eq!(second.node, first.node);
    assert!(second.session > first.session);
    worker.ends().await.unwrap();
}
