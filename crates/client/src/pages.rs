//! Lists that come page by page.

use std::collections::VecDeque;

use futures_util::{Stream, stream};
use mainspring_wire::api::Page;
use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;

/// A list, read as far as it is asked for.
///
/// ```no_run
/// # async fn example(client: mainspring_client::Client) -> Result<(), mainspring_client::Error> {
/// let mut runs = client.runs(&mainspring_client::RunsQuery::matching("state:final_failed"));
/// while let Some(run) = runs.next().await? {
///     println!("{} {}", run.id, run.state.name());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Pages<T> {
    client: Client,
    call: Call,
    cursor: Option<String>,
    ended: bool,
    ready: VecDeque<T>,
}

impl<T: DeserializeOwned> Pages<T> {
    pub(crate) fn new(client: &Client, call: Call) -> Self {
        Self { client: client.clone(), call, cursor: None, ended: false, ready: VecDeque::new() }
    }

    /// The next item; none at the end.
    pub async fn next(&mut self) -> Result<Option<T>, Error> {
        // A page may be empty although more follow.
        while self.ready.is_empty() && !self.ended {
            let call = self.call.clone().maybe("cursor", self.cursor.take());
            let page: Page<T> = self.client.ask(call).await?;
            self.ready.extend(page.items);
            self.ended = page.next_cursor.is_none();
            self.cursor = page.next_cursor;
        }
        Ok(self.ready.pop_front())
    }

    /// At most `limit` items.
    pub async fn take(mut self, limit: usize) -> Result<Vec<T>, Error> {
        let mut items = Vec::new();
        while items.len() < limit {
            match self.next().await? {
                Some(item) => items.push(item),
                None => break,
            }
        }
        Ok(items)
    }

    /// All of it.
    pub async fn all(self) -> Result<Vec<T>, Error> {
        self.take(usize::MAX).await
    }

    /// As a stream.
    pub fn into_stream(self) -> impl Stream<Item = Result<T, Error>> {
        stream::try_unfold(self, |mut pages| async move { Ok(pages.next().await?.map(|item| (item, pages))) })
    }
}
