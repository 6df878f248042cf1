//! The writer thread: it takes what waits in its queue into one transaction (group commit), so that one sync
//! serves many callers. Each caller's work is undone by itself when it fails; when the commit fails, all fail.
//!
//! Work that reached the queue runs to its end, whether or not the caller still waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use futures_util::FutureExt;
use mainspring_store::Error;
use tokio::sync::oneshot;

use super::Settings;
use super::fault;
use super::session::SqliteSession;
use crate::session::{Fault, Result, Work};

/// Callers that one transaction serves at most, so that the first does not wait for ever for its answer.
const GROUP_MAX: usize = 64;
/// Callers that may wait; one more is told that the store is unavailable.
const QUEUE_MAX: usize = 100_000;

/// A handle on the thread. It ends when the handle is dropped.
pub(super) struct Writer {
    jobs: Sender<Box<dyn Job>>,
    /// How many wait. A channel with a limit of its own would take the room of all of them from the beginning.
    waiting: Arc<AtomicUsize>,
}

impl Writer {
    /// Opens the file and starts the thread.
    pub(super) async fn start(settings: Settings) -> Result<Self> {
        let (jobs, queue) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let taken = Arc::clone(&waiting);
        let (opened, opening) = oneshot::channel();
        let body = move || match settings.connect_writer() {
            Ok(connection) => {
                if opened.send(Ok(())).is_ok() {
                    serve(&mut SqliteSession::new(connection), &queue, &taken);
                }
            }
            Err(error) => drop(opened.send(Err(settings.cannot_open(&error)))),
        };
        thread::Builder::new().name("sqlite-writer".into()).spawn(body).map_err(Error::unavailable)?;
        opening.await.map_err(Error::unavailable)??;
        Ok(Self { jobs, waiting })
    }

    /// Runs `work` in the next transaction.
    pub(super) async fn run<W: Work>(&self, work: Arc<W>) -> Result<W::Answer, Fault> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Queued { work, answer: None, reply });
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= QUEUE_MAX {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(Fault::failed("too many writes wait for the SQLite file"));
        }
        if self.jobs.send(job).is_err() {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(Fault::failed("the SQLite writer has stopped"));
        }
        // The thread answers every job that it took; if it died, the end of this one is not known.
        answer.await.unwrap_or_else(|gone| Err(Fault::Unknown(gone.into())))
    }
}

/// Work in the queue.
trait Job: Send {
    /// Does the work; tells whether it is to be kept.
    fn run(&mut self, session: &mut SqliteSession) -> bool;
    /// Answers the caller: what the work found out, or that the transaction around it failed.
    fn finish(self: Box<Self>, end: Result<(), Fault>);
}

struct Queued<W: Work> {
    work: Arc<W>,
    answer: Option<Result<W::Answer, Fault>>,
    reply: oneshot::Sender<Result<W::Answer, Fault>>,
}

impl<W: Work> Job for Queued<W> {
    fn run(&mut self, session: &mut SqliteSession) -> bool {
        let answer = self.work.run(session).now_or_never();
        let answer = answer.unwrap_or_else(|| Err(Fault::failed("work on SQLite did not end at once")));
        let kept = answer.is_ok();
        self.answer = Some(answer);
        kept
    }

    fn finish(self: Box<Self>, end: Result<(), Fault>) {
        let answer = match (end, self.answer) {
            (_, Some(Err(fault))) => Err(fault),
            (Err(fault), _) => Err(fault),
            (Ok(()), Some(answer)) => answer,
            (Ok(()), None) => Err(Fault::failed("work on SQLite was not run")),
        };
        // Nobody waits any more: the work is done all the same.
        let _ = self.reply.send(answer);
    }
}

fn serve(session: &mut SqliteSession, queue: &Receiver<Box<dyn Job>>, waiting: &AtomicUsize) {
    while let Ok(first) = queue.recv() {
        let mut group = vec![first];
        group.extend(queue.try_iter().take(GROUP_MAX - 1));
        waiting.fetch_sub(group.len(), Ordering::Relaxed);
        let end = transact(session, &mut group);
        for job in group {
            job.finish(match &end {
                Ok(()) => Ok(()),
                Err(Fault::Unknown(source)) => Err(Fault::Unknown(source.to_string().into())),
                Err(fault) => Err(Fault::failed(format!("{fault:?}"))),
            });
        }
    }
}

/// Runs a group in one transaction. The write lock is taken at the beginning, so that nothing read can be stale.
fn transact(session: &mut SqliteSession, group: &mut [Box<dyn Job>]) -> Result<(), Fault> {
    session.control("BEGIN IMMEDIATE").map_err(fault::of_statement)?;
    let done = match group {
        [only] => only.run(session).then_some(()).ok_or(Undone),
        many => run_many(session, many),
    };
    if done.is_err() {
        // SQLite may have rolled back by itself; then there is nothing left to roll back.
        if !session.connection.is_autocommit() {
            session.control("ROLLBACK").map_err(fault::of_statement)?;
        }
        return Err(Fault::failed("SQLite undid the transaction"));
    }
    session.control("COMMIT").map_err(|error| {
        let fault = fault::of_commit(&error);
        if !session.connection.is_autocommit() {
            let _ = session.control("ROLLBACK");
        }
        fault
    })
}

/// The whole transaction is gone.
struct Undone;

fn run_many(session: &mut SqliteSession, group: &mut [Box<dyn Job>]) -> Result<(), Undone> {
    for job in group {
        session.control("SAVEPOINT work").map_err(|_| Undone)?;
        if !job.run(session) {
            if session.connection.is_autocommit() {
                return Err(Undone);
            }
            session.control("ROLLBACK TO work").map_err(|_| Undone)?;
        }
        session.control("RELEASE work").map_err(|_| Undone)?;
    }
    Ok(())
}
