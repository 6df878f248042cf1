//! An owner of nodes, as a scheduler is one: welcomes, orders, acknowledges.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use mainspring_client::model::{AttemptToken, Cause, Epoch, JobId, NodeId, RunId, Timestamp};
use mainspring_wire::agent::agent_service_server::{AgentService, AgentServiceServer};
use mainspring_wire::agent::{
    Beat, FetchRequest, FileChunk, Finished, Forget, FromNode, Hello, JoinAnswer, JoinRequest, LogChunk,
    LogHave, NodeWord, OwnerWord, Spec, SpecKey, Start, Stop, ToNode, Welcome, node_id, node_word,
    owner_word, report,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Request, Response, Status, Streaming};

/// What a node did, in order.
#[derive(Debug)]
pub(crate) enum Seen {
    Joined,
    Hello(Box<Hello>, Connection),
    Report(AttemptToken, report::News),
    Log(LogChunk),
    Goodbye,
    /// Somebody came with a credential that does not count any more.
    TurnedAway,
    Gone,
}

/// The owner's end of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    outward: mpsc::UnboundedSender<Result<ToNode, Status>>,
    pub(crate) session: u64,
}

impl Connection {
    pub(crate) fn say(&self, word: owner_word::Word) {
        let _ = self.outward.send(Ok(ToNode { words: vec![OwnerWord { word: Some(word) }] }));
    }

    pub(crate) fn cut(&self) {
        let _ = self.outward.send(Err(Status::unavailable("cut by the test")));
    }

    pub(crate) fn welcome(&self, beat: u64, lost_after_ms: u64) {
        self.say(owner_word::Word::Welcome(Welcome {
            session: self.session,
            beat,
            epoch: 1,
            heartbeat_every_us: lost_after_ms * 1000 / 4,
            lost_after_us: lost_after_ms * 1000,
        }));
    }

    /// Orders an attempt of a job with this handler.
    pub(crate) fn start(&self, token: AttemptToken, handler: &str, params: &str) {
        self.start_from(token, handler, params, None);
    }

    /// One that goes on from a checkpoint.
    pub(crate) fn start_from(
        &self,
        token: AttemptToken,
        handler: &str,
        params: &str,
        checkpoint: Option<&str>,
    ) {
        let key = SpecKey::new(JobId::new(Timestamp::ZERO, 1), 0, Some(token.run));
        let json = format!(r#"{{"name":"job","handler":{{"name":"{handler}"}}}}"#);
        self.say(owner_word::Word::Spec(Spec { key: Some(key.clone()), json: json.into() }));
        self.say(owner_word::Word::Start(Start {
            session: self.session,
            seen_beat: 1,
            token: Some(token.into()),
            spec: Some(key),
            namespace: "default".into(),
            params: params.to_owned().into(),
            checkpoint: checkpoint.map(|checkpoint| checkpoint.to_owned().into()),
            attempts_max: 4,
            ..Start::default()
        }));
    }

    pub(crate) fn stop(&self, token: AttemptToken, grace_us: u64) {
        self.say(owner_word::Word::Stop(Stop { session: self.session, token: Some(token.into()), grace_us }));
    }

    pub(crate) fn forget(&self, token: AttemptToken) {
        self.say(owner_word::Word::Forget(Forget { token: Some(token.into()), stale: false }));
    }

    /// The chunk was taken, and the log stored if that was its end.
    pub(crate) fn taken(&self, chunk: &LogChunk) {
        let offset = chunk.offset + chunk.data.len() as u64;
        let have = LogHave { token: chunk.token.clone(), offset, stored: chunk.end == Some(offset) };
        self.say(owner_word::Word::LogHave(have));
    }
}

/// A scheduler on a real socket; heartbeats are answered by itself.
pub(crate) struct Owner {
    pub(crate) address: SocketAddr,
    /// How often the nodes were removed: each time their credentials change.
    removals: Arc<AtomicU32>,
    seen: mpsc::UnboundedReceiver<Seen>,
}

impl Owner {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::on(listener)
    }

    pub(crate) fn on(listener: tokio::net::TcpListener) -> Self {
        let (tell, seen) = mpsc::unbounded_channel();
        let address = listener.local_addr().unwrap();
        let removals = Arc::new(AtomicU32::new(0));
        let service = Service { tell, removals: Arc::clone(&removals) };
        let routes = tonic::service::Routes::new(AgentServiceServer::new(service)).into_axum_router();
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, removals, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// No credential counts any more, and the next join token is `join 1`, `join 2` …
    pub(crate) fn remove_nodes(&self) {
        self.removals.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) async fn next(&mut self) -> Seen {
        let next = tokio::time::timeout(crate::HANG_LIMIT, self.seen.recv()).await;
        next.expect("the worker does something").unwrap()
    }

    /// The next hello.
    pub(crate) async fn met(&mut self) -> (Hello, Connection) {
        loop {
            if let Seen::Hello(hello, connection) = self.next().await {
                return (*hello, connection);
            }
        }
    }

    /// The next hello, welcomed.
    pub(crate) async fn welcomed(&mut self, lost_after_ms: u64) -> (Hello, Connection) {
        let (hello, connection) = self.met().await;
        connection.welcome(hello.beat, lost_after_ms);
        (hello, connection)
    }

    /// How the attempt ended; logs on the way are stored.
    pub(crate) async fn ending(
        &mut self,
        connection: &Connection,
        token: AttemptToken,
    ) -> (Finished, String) {
        self.ending_unless(connection, token, |_| false).await
    }

    /// The same, and nobody hung up meanwhile.
    pub(crate) async fn ending_on(
        &mut self,
        connection: &Connection,
        token: AttemptToken,
    ) -> (Finished, String) {
        let hung_up = |seen: &Seen| matches!(seen, Seen::Gone | Seen::Hello(..));
        self.ending_unless(connection, token, hung_up).await
    }

    async fn ending_unless(
        &mut self,
        connection: &Connection,
        token: AttemptToken,
        never: fn(&Seen) -> bool,
    ) -> (Finished, String) {
        let mut text = String::new();
        let mut ending = None;
        let mut log_ended = true;
        loop {
            let seen = self.next().await;
            assert!(!never(&seen), "{seen:?}");
            match seen {
                Seen::Report(of, report::News::Finished(finished)) if of == token => ending = Some(finished),
                Seen::Log(chunk) => {
                    for frame in mainspring_client::model::log::frames(&chunk.data) {
                        text.push_str(std::str::from_utf8(frame.content).unwrap());
                    }
                    log_ended = chunk.end.is_some();
                    connection.taken(&chunk);
                }
                _ => {}
            }
            // A log is told before the ending; an empty one is not told at all.
            if let Some(ending) = ending.take_if(|_| log_ended) {
                connection.forget(token);
                return (ending, text);
            }
        }
    }
}

pub(crate) fn token(number: u128) -> AttemptToken {
    AttemptToken { run: RunId::new(Timestamp::from_micros(1), number), number: 1, epoch: Epoch(1) }
}

pub(crate) fn cause(ending: &Finished) -> Cause {
    ending.cause.clone().unwrap().told_by(NodeId::MIN).unwrap()
}

struct Service {
    tell: mpsc::UnboundedSender<Seen>,
    removals: Arc<AtomicU32>,
}

impl Service {
    fn of_these_nodes(&self, word: &str) -> String {
        match self.removals.load(Ordering::SeqCst) {
            0 => word.to_owned(),
            removals => format!("{word} {removals}"),
        }
    }
}

#[tonic::async_trait]
impl AgentService for Service {
    type ConnectStream = Pin<Box<dyn tokio_stream::Stream<Item = Result<ToNode, Status>> + Send>>;
    type FetchStream = tokio_stream::Empty<Result<FileChunk, Status>>;

    async fn fetch(&self, _: Request<FetchRequest>) -> Result<Response<Self::FetchStream>, Status> {
        Err(Status::not_found("functions have no files"))
    }

    async fn join(&self, request: Request<JoinRequest>) -> Result<Response<JoinAnswer>, Status> {
        let JoinRequest { token, node, .. } = request.into_inner();
        if token != self.of_these_nodes("join") {
            return Err(Status::permission_denied("the join token is used up"));
        }
        node_id(&node).unwrap();
        self.tell.send(Seen::Joined).unwrap();
        Ok(Response::new(JoinAnswer { credential: self.of_these_nodes("credential"), node }))
    }

    async fn connect(
        &self,
        request: Request<Streaming<FromNode>>,
    ) -> Result<Response<Self::ConnectStream>, Status> {
        let shown = request.metadata().get("authorization").unwrap().to_str().unwrap();
        if shown != format!("Bearer {}", self.of_these_nodes("credential")) {
            let _ = self.tell.send(Seen::TurnedAway);
            return Err(Status::unauthenticated("nobody knows this node"));
        }
        let mut inward = request.into_inner();
        let (outward, words) = mpsc::unbounded_channel();
        let tell = self.tell.clone();
        tokio::spawn(async move {
            while let Ok(Some(batch)) = inward.message().await {
                for NodeWord { word } in batch.words {
                    let seen = match word.unwrap() {
                        node_word::Word::Hello(hello) => {
                            let connection = Connection { outward: outward.clone(), session: hello.session };
                            Seen::Hello(Box::new(hello), connection)
                        }
                        node_word::Word::Heartbeat(heartbeat) => {
                            let beat = Beat { session: heartbeat.session, beat: heartbeat.beat };
                            let word = OwnerWord { word: Some(owner_word::Word::Beat(beat)) };
                            let _ = outward.send(Ok(ToNode { words: vec![word] }));
                            continue;
                        }
                        node_word::Word::Report(report) => {
                            let token = AttemptToken::try_from(report.token.as_ref().unwrap()).unwrap();
                            Seen::Report(token, report.news.unwrap())
                        }
                        node_word::Word::Log(chunk) => Seen::Log(chunk),
                        node_word::Word::Goodbye(_) => Seen::Goodbye,
                    };
                    let _ = tell.send(seen);
                }
            }
            let _ = tell.send(Seen::Gone);
        });
        Ok(Response::new(Box::pin(UnboundedReceiverStream::new(words))))
    }
}
