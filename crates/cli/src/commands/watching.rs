//! `--watch`: a list that is drawn again when something changed. Programs read the whole list with each change: a line of
//! JSON, or a document of YAML.
//!
//! A server that goes away while it is watched is waited for; one that was never there is a failure.

use std::time::Duration;

use mainspring_client::WatchQuery;
use serde::Serialize;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Screen, Table};

/// Ages on the screen grow although nothing happened.
const REDRAW_EVERY: Duration = Duration::from_secs(5);
/// How long a server that is away is left alone.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// News that come together are drawn together.
const SETTLE: Duration = Duration::from_millis(200);

/// Draws the list now and whenever there are news, until the person stops it.
pub(crate) async fn watch<T, F>(
    context: &Context,
    list: impl Fn() -> F,
    table: impl Fn(&[T]) -> Table,
) -> Result<(), Failure>
where
    T: Serialize,
    F: Future<Output = Result<Vec<T>, Failure>>,
{
    // Around all of it: a server that hangs must not keep the person.
    tokio::select! {
        ended = rounds(context, list, table) => ended,
        _ = tokio::signal::ctrl_c() => Err(Failure::silent(Exit::Interrupted)),
    }
}

async fn rounds<T, F>(
    context: &Context,
    list: impl Fn() -> F,
    table: impl Fn(&[T]) -> Table,
) -> Result<(), Failure>
where
    T: Serialize,
    F: Future<Output = Result<Vec<T>, Failure>>,
{
    let namespace = context.namespace().map(str::to_owned);
    let mut news = context.client.watch(&WatchQuery { namespace, ..WatchQuery::default() });
    let mut screen = Screen::default();
    let (mut drawn, mut away) = (false, false);
    loop {
        let items = match list().await {
            Ok(items) => items,
            Err(failure) if drawn && failure.exit == Exit::Unavailable => {
                if !std::mem::replace(&mut away, true) {
                    context.output.say(format!("{failure}; waiting"));
                    // Programs were told all of it, and are not told again.
                    if !context.output.format.is_for_programs() {
                        screen.is_written_over();
                    }
                }
                tokio::time::sleep(LOOK_AGAIN).await;
                continue;
            }
            Err(failure) => return Err(failure),
        };
        let round = context.output.round(&items, || table(&items))?;
        if context.output.format.is_for_programs() {
            screen.append(&round)?;
        } else {
            screen.draw(&round)?;
        }
        (drawn, away) = (true, false);
        tokio::select! {
            event = news.next() => match event {
                Ok(_) => {
                    let settled = async { while news.next().await.is_ok() {} };
                    let _ = tokio::time::timeout(SETTLE, settled).await;
                }
                Err(error) if error.is_transient() => tokio::time::sleep(LOOK_AGAIN).await,
                Err(error) => return Err(error.into()),
            },
            () = tokio::time::sleep(REDRAW_EVERY) => {}
        }
    }
}
