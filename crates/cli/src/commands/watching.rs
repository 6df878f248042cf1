//! `--watch`: a list that is drawn again when something changed.

use std::time::Duration;

use mainspring_client::WatchQuery;

use crate::context::Context;
use crate::failure::Failure;
use crate::output::Screen;

/// Ages on the screen grow although nothing happened.
const REDRAW_EVERY: Duration = Duration::from_secs(5);
/// News that come together are drawn together.
const SETTLE: Duration = Duration::from_millis(200);

/// Draws `text` now and whenever there are news, until the person stops it.
pub(crate) async fn watch<F>(context: &Context, text: impl Fn() -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<String, Failure>>,
{
    let namespace = context.namespace().map(str::to_owned);
    let mut news = context.client.watch(&WatchQuery { namespace, ..WatchQuery::default() });
    let mut screen = Screen::default();
    loop {
        screen.draw(&text().await?)?;
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
