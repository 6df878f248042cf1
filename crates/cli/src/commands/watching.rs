//! `--watch`: a list that is drawn again when something changed. Programs read the whole list with each change: a line of
//! JSON, or a document of YAML.

use std::time::Duration;

use mainspring_client::WatchQuery;
use serde::Serialize;

use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Screen, Table};

/// Ages on the screen grow although nothing happened.
const REDRAW_EVERY: Duration = Duration::from_secs(5);
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
    let namespace = context.namespace().map(str::to_owned);
    let mut news = context.client.watch(&WatchQuery { namespace, ..WatchQuery::default() });
    let mut screen = Screen::default();
    loop {
        let items = list().await?;
        let text = context.output.round(&items, || table(&items))?;
        if context.output.format.is_for_programs() {
            screen.append(&text)?;
        } else {
            screen.draw(&text)?;
        }
        tokio::select! {
            event = news.next() => {
                event?;
                let settled = async { while news.next().await.is_ok() {} };
                let _ = tokio::time::timeout(SETTLE, settled).await;
            }
            () = tokio::time::sleep(REDRAW_EVERY) => {}
            _ = tokio::signal::ctrl_c() => return Ok(()),
        }
    }
}
