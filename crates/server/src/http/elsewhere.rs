//! The news of cells that other processes own, for a watcher here: each owner is asked in the watcher's name for its own.
//!
//! An owner checks what the watcher may see, as if they had come to it. One that is away is asked again until it is no owner
//! any more; whatever may have been missed meanwhile is a gap, after which the watcher reads everything anew.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use mainspring_app::{Elsewhere, Positions, WatchFilter};
use mainspring_wire::api::WatchEvent;
use mainspring_wire::sse::{Event, Parser};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};

use super::caller;
use super::edge::Edge;
use super::forward::FORWARDED;

/// News that a slow watcher may be behind all owners together; then they wait for it.
const BEHIND_MAX: usize = 1_024;
/// How long a watcher waits for the owners before it is told that they are listened to.
const OPEN_WAIT: Duration = Duration::from_secs(2);
/// How long to wait before asking again, at first and at most.
const ASK_AGAIN: Duration = Duration::from_secs(1);
const ASK_AGAIN_MAX: Duration = Duration::from_secs(10);

/// What is asked of every owner.
struct Question {
    path: String,
    headers: HeaderMap,
    client: reqwest::Client,
}

/// Listens to all other owners, until the receiver is dropped. Returns when they listen, or take too long.
pub(crate) async fn listen(
    edge: &Arc<Edge>,
    filter: &WatchFilter,
    headers: &HeaderMap,
    mark: Option<&str>,
) -> mpsc::Receiver<Elsewhere> {
    let question = Arc::new(Question::new(filter, headers, edge));
    let (told, receiver) = mpsc::channel(BEHIND_MAX);
    let mut owners = Owners { question, told, listeners: BTreeMap::new(), tasks: JoinSet::new() };
    let first = edge.app.owners_elsewhere().await;
    let opened = owners.look(&first, mark.map_or(Begin::Now, Begin::Mark));
    drop(tokio::time::timeout(OPEN_WAIT, futures_util::future::join_all(opened)).await);
    tokio::spawn(owners.keep(Arc::clone(edge), first));
    receiver
}

/// Where the watcher begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begin<'a> {
    /// With what happens now.
    Now,
    /// After this mark.
    Mark(&'a str),
    /// Before the owner was known: something may have been missed.
    Late,
}

/// Those who are listened to.
struct Owners {
    question: Arc<Question>,
    told: mpsc::Sender<Elsewhere>,
    listeners: BTreeMap<String, AbortHandle>,
    tasks: JoinSet<()>,
}

impl Owners {
    /// Listens to these and no others. Answers what says that a new one listens.
    fn look(&mut self, owners: &[String], begin: Begin<'_>) -> Vec<oneshot::Receiver<()>> {
        self.listeners.retain(|known, listener| {
            let stays = owners.contains(known);
            if !stays {
                listener.abort();
            }
            stays
        });
        let mut opened = Vec::new();
        for owner in owners {
            if self.listeners.contains_key(owner) {
                continue;
            }
            let (open, is_open) = oneshot::channel();
            let listener = Listener {
                owner: owner.clone(),
                url: format!("{}{}", owner.trim_end_matches('/'), self.question.path),
                question: Arc::clone(&self.question),
                told: self.told.clone(),
                mark: if let Begin::Mark(mark) = begin { Some(mark.to_owned()) } else { None },
                open: Some(open),
                is_late: begin == Begin::Late,
            };
            self.listeners.insert(owner.clone(), self.tasks.spawn(listener.run()));
            opened.push(is_open);
        }
        opened
    }

    /// Follows who owns the cells, until nobody wants to hear of it.
    async fn keep(mut self, edge: Arc<Edge>, mut known: Vec<String>) {
        loop {
            tokio::select! {
                () = self.told.closed() => return,
                () = edge.stop.cancelled() => return,
                owners = edge.app.owners_other_than(&known) => known = owners,
            }
            while self.tasks.try_join_next().is_some() {}
            drop(self.look(&known, Begin::Late));
        }
    }
}

impl Question {
    fn new(filter: &WatchFilter, from: &HeaderMap, edge: &Edge) -> Self {
        let session = caller::session(from, edge).map(str::to_owned);
        let cookie = caller::cookie_name(edge.secure_cookies);
        let session = session.map(|session| format!("{cookie}={session}"));
        Self::with(filter, from, session, edge.peers.prompt.clone())
    }

    fn with(
        filter: &WatchFilter,
        from: &HeaderMap,
        session: Option<String>,
        client: reqwest::Client,
    ) -> Self {
        let parts = [
            filter.namespace.as_ref().map(|namespace| format!("namespace={namespace}")),
            filter.job.map(|job| format!("job={job}")),
            filter.run.map(|run| format!("run={run}")),
            (!filter.kinds.is_empty()).then(|| {
                let kinds: Vec<&str> = filter.kinds.iter().map(|kind| kind.name()).collect();
                format!("kinds={}", kinds.join(","))
            }),
        ];
        let query: Vec<String> = parts.into_iter().flatten().collect();
        let mut headers = HeaderMap::new();
        let bearer = from.get(header::AUTHORIZATION).cloned();
        let session = session.and_then(|session| HeaderValue::try_from(session).ok());
        for (name, value) in [(header::AUTHORIZATION, bearer), (header::COOKIE, session)] {
            headers.extend(value.map(|mut value| {
                value.set_sensitive(true);
                (name, value)
            }));
        }
        headers.insert(FORWARDED, HeaderValue::from_static("1"));
        Self { path: format!("/v1/watch?{}", query.join("&")), headers, client }
    }
}

/// One owner that is listened to.
struct Listener {
    owner: String,
    url: String,
    question: Arc<Question>,
    told: mpsc::Sender<Elsewhere>,
    /// Where to go on.
    mark: Option<String>,
    open: Option<oneshot::Sender<()>>,
    /// Something may have happened before it was first heard.
    is_late: bool,
}

impl Listener {
    async fn run(mut self) {
        let mut wait = ASK_AGAIN;
        while !self.told.is_closed() {
            match self.hear().await {
                Ok(()) => wait = ASK_AGAIN,
                Err(error) => {
                    if error.is_misunderstanding() {
                        self.mark = None;
                    }
                    if wait == ASK_AGAIN {
                        let error = &error as &dyn std::error::Error;
                        tracing::warn!(owner = %self.owner, error, "news of the cells of another server are not heard");
                    }
                    wait = (wait * 2).min(ASK_AGAIN_MAX);
                }
            }
            // Whoever waits for it waits no longer.
            self.open = None;
            self.is_late |= self.mark.is_none();
            tokio::select! {
                () = self.told.closed() => return,
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Hears one connection to its end.
    async fn hear(&mut self) -> Result<(), NoNews> {
        let mut request = self.question.client.get(&self.url).headers(self.question.headers.clone());
        if let Some(mark) = &self.mark {
            request = request.header("last-event-id", mark);
        }
        let mut answer = request.send().await?.error_for_status()?;
        // Whoever did not wait for us began without us.
        self.is_late |= self.mark.is_none() && self.open.as_ref().is_some_and(oneshot::Sender::is_closed);
        if std::mem::take(&mut self.is_late) && self.told.send(Elsewhere::Gap).await.is_err() {
            return Ok(());
        }
        let (mut parser, mut was_strange) = (Parser::default(), false);
        loop {
            let chunk = tokio::select! {
                () = self.told.closed() => return Ok(()),
                chunk = answer.chunk() => chunk?,
            };
            let Some(chunk) = chunk else { return Ok(()) };
            for event in parser.take(&chunk).ok_or(NoNews::Unreadable)? {
                let told = match understood(event).ok_or(NoNews::Unreadable)? {
                    Understood::News(told) => told,
                    Understood::Strange(at) => {
                        let is_first = !std::mem::replace(&mut was_strange, true);
                        if is_first && self.told.send(Elsewhere::Gap).await.is_err() {
                            return Ok(());
                        }
                        Elsewhere::At(at)
                    }
                };
                match &told {
                    Elsewhere::Told { at, .. } if *at == Positions::default() => {}
                    Elsewhere::At(at) | Elsewhere::Told { at, .. } => self.mark = Some(at.to_string()),
                    Elsewhere::Gap => {}
                }
                if self.told.send(told).await.is_err() {
                    return Ok(());
                }
                self.open = None;
            }
        }
    }
}

/// Why an owner is not heard.
#[derive(Debug, thiserror::Error)]
enum NoNews {
    #[error("it cannot be asked")]
    Request(#[source] reqwest::Error),
    #[error("what answers there tells no news")]
    Unreadable,
}

impl NoNews {
    /// Whether it may be about where we were: asked from there again, it would say the same.
    fn is_misunderstanding(&self) -> bool {
        match self {
            Self::Request(error) => error.status().is_some_and(|status| status.is_client_error()),
            Self::Unreadable => true,
        }
    }
}

impl From<reqwest::Error> for NoNews {
    fn from(error: reqwest::Error) -> Self {
        // The log names the owner.
        Self::Request(error.without_url())
    }
}

/// What an owner says with an event.
#[derive(Debug)]
enum Understood {
    News(Elsewhere),
    /// A later version tells of something that this one has no word for. It is no news here; once, it asks to read anew.
    Strange(Positions),
}

/// None when it is no owner that says it.
fn understood(event: Event) -> Option<Understood> {
    if event.is_mark() {
        return event.id?.parse().ok().map(Elsewhere::At).map(Understood::News);
    }
    if let Ok(WatchEvent { mark, what }) = serde_json::from_str(&event.data) {
        // Without a mark it is of a cell that has another owner by now.
        let at = if mark.is_empty() { Positions::default() } else { mark.parse().ok()? };
        return Some(Understood::News(Elsewhere::Told { at, what }));
    }
    event.id?.parse().ok().map(Understood::Strange)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    const NEWS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

    /// Listens to an owner that answers like this, one connection after the other. Tells what was heard until the last of
    /// them ended, and from where each was asked.
    async fn heard(begin: Begin<'_>, answers: &[String]) -> (Vec<String>, Vec<String>) {
        let owner = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", owner.local_addr().expect("an address"));
        let client = super::super::Peers::new(None).expect("clients").prompt;
        let question = Arc::new(Question::with(&WatchFilter::default(), &HeaderMap::new(), None, client));
        let (told, mut receiver) = mpsc::channel(BEHIND_MAX);
        let mut owners = Owners { question, told, listeners: BTreeMap::new(), tasks: JoinSet::new() };
        let opened = owners.look(&[address], begin);
        let mut asked = Vec::new();
        for answer in answers {
            let (mut connection, _) = owner.accept().await.expect("a connection");
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(connection.read_u8().await.expect("a request"));
            }
            let request = String::from_utf8_lossy(&request).into_owned();
            let mark = request.lines().find_map(|line| line.strip_prefix("last-event-id: "));
            asked.push(mark.unwrap_or("now").to_owned());
            connection.write_all(answer.as_bytes()).await.expect("an answer");
        }
        // It asks again when it has heard all of the last one.
        drop(owner.accept().await.expect("a connection"));
        drop((opened, owners));
        let mut words = Vec::new();
        while let Some(told) = receiver.recv().await {
            words.push(word(told));
        }
        (words, asked)
    }

    fn word(told: Elsewhere) -> String {
        match told {
            Elsewhere::At(positions) => format!("at {positions}"),
            Elsewhere::Told { at, .. } => format!("told {at}"),
            Elsewhere::Gap => "gap".to_owned(),
        }
    }

    #[tokio::test]
    async fn a_listener_goes_on_where_it_was_and_says_when_it_cannot() {
        let reset = "data: {\"mark\":\"0.3.2\",\"kind\":\"reset\"}";
        let cut = [format!("{NEWS}id: 0.3.1\n\n{reset}\nid: 0.3.2\n\n"), format!("{NEWS}id: 0.3.2\n\n")];
        let no = "HTTP/1.1 422 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let refused = [no.to_owned(), format!("{NEWS}id: 0.3.1\n\n")];
        let strange = [format!("{NEWS}data: <html>\n\n{reset}\n\n"), format!("{NEWS}id: 0.3.1\n\n")];
        let comet = |n: u32| format!("data: {{\"kind\":\"comet\"}}\nid: 0.3.{n}\n\n");
        let newer = [format!("{NEWS}{}{}", comet(4), comet(5)), format!("{NEWS}{}", comet(6))];
        let foreign = "data: {\"mark\":\"A3\",\"kind\":\"reset\"}\nid: A3";
        let foreign = [format!("{NEWS}{foreign}\n\n"), format!("{NEWS}id: 0.3.9\n\n")];
        let (cut, refused, strange, newer, foreign) = tokio::join!(
            heard(Begin::Now, &cut),
            heard(Begin::Mark("0.9.9"), &refused),
            heard(Begin::Late, &strange),
            heard(Begin::Mark("0.3.3"), &newer),
            heard(Begin::Mark("0.3.3"), &foreign)
        );
        assert_eq!(cut.0, ["at 0.3.1", "told 0.3.2", "at 0.3.2"]);
        assert_eq!(cut.1, ["now", "0.3.2"]);
        assert_eq!(refused.0, ["gap", "at 0.3.1"], "from now on is not from where it was");
        assert_eq!(refused.1, ["0.9.9", "now"]);
        assert_eq!(strange.0, ["gap", "gap", "at 0.3.1"], "nothing is taken from whoever tells no news");
        assert_eq!(strange.1, ["now", "now"]);
        assert_eq!(newer.0, ["gap", "at 0.3.4", "at 0.3.5", "gap", "at 0.3.6"], "once for a connection");
        assert_eq!(newer.1, ["0.3.3", "0.3.5"]);
        assert_eq!(
            foreign.0,
            ["gap", "at 0.3.9"],
            "news that cannot be placed are not passed over in silence"
        );
        assert_eq!(foreign.1, ["0.3.3", "now"]);
    }

    #[test]
    fn an_owner_is_understood_and_nobody_else() {
        let text = "id: 0.3.1,1.2.9\n\n: keep\n\nevent: reset\ndata: {\"mark\":\"0.3.2\",\"kind\":\"reset\"}\nid: 0.3.2\n\n\
                    event: comet\ndata: {\"mark\":\"0.3.3\",\"kind\":\"comet\"}\nid: 0.3.3\n\n\
                    data: {\"mark\":\"\",\"kind\":\"reset\"}\n\ndata: {\"mark\":\"A3\",\"kind\":\"reset\"}\nid: A3\n\n\
                    data: <html>\n\ndata: <html>\nid: 8\n\nid: 7\n\n";
        let events = Parser::default().take(text.as_bytes()).expect("short lines");
        let words = events.into_iter().map(|event| match understood(event) {
            Some(Understood::News(told)) => word(told),
            Some(Understood::Strange(positions)) => format!("strange at {positions}"),
            None => "nothing".to_owned(),
        });
        let expected = [
            "at 0.3.1,1.2.9",
            "told 0.3.2",
            "strange at 0.3.3",
            "told ",
            "nothing",
            "nothing",
            "nothing",
            "nothing",
        ];
        assert_eq!(words.collect::<Vec<_>>(), expected);
    }
}
