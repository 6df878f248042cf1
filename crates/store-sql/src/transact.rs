//! A transaction on a server with other clients: tried until it has ended, in the hope that no row is in the way, and
//! with a look at each row when that hope failed.

use std::future::Future;

use crate::backoff::Backoff;
use crate::session::{Fault, Result, Session, Work};

/// A session that can be ended.
pub(crate) trait Ending: Session {
    /// Keeps or undoes what was done.
    fn end(self, keep: bool) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// Runs `work` to its end. `open` makes a session; its argument says whether it looks at each row.
pub(crate) async fn transact<W: Work, S: Ending, F>(
    work: &W,
    open: impl Fn(bool) -> F + Send + Sync,
) -> Result<W::Answer, Fault>
where
    F: Future<Output = Result<S, Fault>> + Send,
{
    let mut backoff = Backoff::default();
    let mut careful = false;
    loop {
        match once(work, open(careful).await?).await {
            Err(Fault::Contested) if !careful => careful = true,
            Err(Fault::Again(source)) => match backoff.pause() {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(Fault::Failed(source)),
            },
            ended => return ended,
        }
    }
}

async fn once<W: Work, S: Ending>(work: &W, mut session: S) -> Result<W::Answer, Fault> {
    let answer = work.run(&mut session).await;
    let ended = session.end(answer.is_ok()).await;
    match answer {
        Ok(answer) => ended.map(|()| answer),
        Err(fault) => Err(fault),
    }
}
