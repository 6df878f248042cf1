//! The small interface between the verbs and the drivers.
//!
//! A [`Backend`] reads, and runs a [`Work`] as one transaction on a [`Session`], to its end even when the
//! caller stops waiting, again when the server undid it for the sake of another, and never again when its end
//! is unknown. SQLite's futures are always ready, so the same bodies run on its writer thread.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use mainspring_store::Error;
use tokio::runtime::Handle;

use crate::batch::Batch;
use crate::dialect::{Dialect, Sql};
use crate::value::{Damage, Decode, Param, Rows, Value};

/// The contract's result, or one with another error.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// The cause under an error.
pub(crate) type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a transaction did not end well.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The server undid it for the sake of another: a deadlock, a lock waited for too long. Worth trying again.
    Again(Source),
    /// A batch that was written in the hope that no row is in the way met one; everything is undone. To be run again
    /// with a look at each row.
    Contested,
    /// It cannot be done now, and nothing was written.
    Failed(Source),
    /// The end was asked for and the answer is lost.
    Unknown(Source),
    /// A guard touched no row; nothing was written.
    Unmatched,
    /// The verb itself gives up; nothing was written.
    Refused(Error),
    /// The verb itself undid everything, because the writes at these positions met a conflict.
    Conflicts(Vec<u32>),
}

impl Fault {
    /// A failure with nothing but words.
    pub(crate) fn failed(source: impl Into<Source>) -> Self {
        Self::Failed(source.into())
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Again(source) | Fault::Failed(source) => Self::Unavailable(source),
            Fault::Unknown(source) => Self::Unknown(source),
            Fault::Unmatched | Fault::Contested | Fault::Conflicts(_) => {
                Self::unavailable("a row was not what it was a moment before")
            }
            Fault::Refused(error) => error,
        }
    }
}

impl From<Damage> for Fault {
    fn from(damage: Damage) -> Self {
        Self::Refused(damage.into())
    }
}

/// One of several things to do at once.
#[derive(Clone, Copy)]
pub(crate) enum Op<'a> {
    /// An update that must touch a row, else the whole transaction is undone with [`Fault::Unmatched`].
    Guard(&'static Sql, &'a [Value<'a>]),
    /// A statement.
    Execute(&'static Sql, &'a [Value<'a>]),
    /// A batch. When rows are likely in the way, it is not worth hoping that none is.
    Batch {
        /// What to do.
        batch: &'static Batch,
        /// With which rows.
        rows: &'a dyn Rows,
        /// Whether rows are likely in the way.
        contested: bool,
    },
}

/// Which rows of a batch were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Applied {
    /// Every one.
    All,
    /// Those that are true.
    Some(Vec<bool>),
}

impl Applied {
    /// Whether the row was written.
    pub(crate) fn row(&self, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::Some(rows) => rows[row],
        }
    }
}

/// An open transaction.
pub(crate) trait Session: Send {
    /// Whose SQL it speaks.
    const DIALECT: Dialect;

    /// Does all of `ops`, in order, in as few round trips as the driver can; answers one for one. After a
    /// `last` flight nothing else may be asked: it may have committed.
    fn flight(
        &mut self,
        ops: &[Op<'_>],
        last: bool,
    ) -> impl Future<Output = Result<Vec<Applied>, Fault>> + Send;

    /// Runs a statement; tells how many rows it found.
    fn execute(
        &mut self,
        text: &str,
        params: &[Value<'_>],
    ) -> impl Future<Output = Result<u64, Fault>> + Send;

    /// Reads rows; one that cannot be read fails the transaction.
    fn query<T: Send + 'static>(
        &mut self,
        text: &str,
        params: &[Value<'_>],
        decode: Decode<T>,
    ) -> impl Future<Output = Result<Vec<T>, Fault>> + Send;
}

/// The body of a transaction. May be run several times; only the last one counts.
pub(crate) trait Work: Send + Sync + 'static {
    /// What it finds out.
    type Answer: Send + 'static;
    /// Does it.
    fn run<S: Session>(&self, session: &mut S) -> impl Future<Output = Result<Self::Answer, Fault>> + Send;
}

/// The rows of a read; those that cannot be read are told apart, so that a page can leave them out.
pub(crate) type ReadRows<T> = Vec<Result<T, Damage>>;

/// A database.
pub(crate) trait Backend: Send + Sync + 'static {
    /// Whose SQL it speaks.
    const DIALECT: Dialect;

    /// Runs `work` as one transaction.
    fn transaction<W: Work>(&self, work: Arc<W>) -> impl Future<Output = Result<W::Answer, Fault>> + Send;

    /// Runs the migration as one transaction, without a limit on its time: building an index on a large table takes as
    /// long as it takes. The limits of the server are lifted by the migration itself.
    fn migration<W: Work>(&self, work: Arc<W>) -> impl Future<Output = Result<W::Answer, Fault>> + Send;

    /// Reads outside of any transaction.
    fn read<T: Send + 'static>(
        &self,
        text: Cow<'static, str>,
        params: Vec<Param>,
        decode: Decode<T>,
    ) -> impl Future<Output = Result<ReadRows<T>>> + Send;
}

/// How long a transaction may take, its tries included, before its connection is given up: longer than the servers'
/// own limits, for a server that stands still.
const ANSWER_WAIT: Duration = Duration::from_secs(90);

/// Runs to its end, or to the end of patience, whether or not the caller still waits: a future that is dropped before
/// goes on in a task of its own. While the caller waits, it costs no task.
pub(crate) async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, Fault>> + Send + 'static,
) -> Result<T, Fault> {
    let patient = tokio::time::timeout(ANSWER_WAIT, work);
    match without_limit(patient).await {
        Ok(answer) => answer,
        Err(_) => Err(Fault::Unknown("the server did not answer in time".into())),
    }
}

/// Runs to its end, however long it takes, whether or not the caller still waits.
pub(crate) fn without_limit<F: Future<Output: Send> + Send + 'static>(
    work: F,
) -> impl Future<Output = F::Output> + Send {
    ToItsEnd { work: Some(Box::pin(work)) }
}

struct ToItsEnd<F: Future<Output: Send> + Send + 'static> {
    work: Option<Pin<Box<F>>>,
}

impl<F: Future<Output: Send> + Send + 'static> Future for ToItsEnd<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        let answer = work.as_mut().poll(context);
        if answer.is_ready() {
            self.work = None;
        }
        answer
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for ToItsEnd<F> {
    fn drop(&mut self) {
        // Work that panicked cannot go on.
        let goes_on = self.work.take().filter(|_| !std::thread::panicking());
        if let (Some(work), Ok(runtime)) = (goes_on, Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}

/// An error and all that caused it, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_transaction_is_given_up_in_time_and_a_migration_is_not() {
        let slow = || async {
            tokio::time::sleep(ANSWER_WAIT * 40).await;
            Ok::<_, Fault>(7)
        };
        assert!(matches!(to_its_end(slow()).await, Err(Fault::Unknown(_))));
        assert!(matches!(without_limit(slow()).await, Ok(7)));
    }
}
