//! A node of a few lines: it joins, says hello, and says what a test wants it to say.

use std::collections::VecDeque;

use mainspring_model::{AttemptToken, Cause, NodeId, RunId, Timestamp, log};
use mainspring_wire::agent::agent_service_client::AgentServiceClient;
use mainspring_wire::agent::node_word::Word as Said;
use mainspring_wire::agent::owner_word::Word as Heard;
use mainspring_wire::agent::{
    Accepted, Finished, FromNode, Hello, LogChunk, NodeWord, Report, Started, ToNode, bytes_of, report,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};

use super::World;

const SESSION: u64 = 1;

pub(crate) struct Node {
    said: mpsc::Sender<FromNode>,
    heard: Streaming<ToNode>,
    waiting: VecDeque<Heard>,
}

impl Node {
    /// A node that joined and was welcomed.
    pub(crate) async fn start(world: &World) -> Self {
        Self::start_as(world, NodeId::new(Timestamp::from_micros(1), 1)).await
    }

    /// The same with an id that decides about its cell.
    pub(crate) async fn start_as(world: &World, id: NodeId) -> Self {
        let token = world.app.issue_join_token(None).await.expect("a join token").token;
        let credential =
            world.app.redeem_join_token(&token, id, "fake", &[7; 32]).await.expect("a credential");
        let mut node = Self::connect(world, id, &credential).await;
        while !matches!(node.hear().await, Ok(Heard::Welcome(_))) {}
        node
    }

    async fn connect(world: &World, id: NodeId, credential: &str) -> Self {
        let endpoint = Endpoint::from_shared(format!("http://{}", world.address)).expect("an address");
        let mut client = AgentServiceClient::<Channel>::new(endpoint.connect_lazy());
        let (said, words) = mpsc::channel(16);
        let hello = Hello {
            node: bytes_of(id.as_bytes()),
            session: SESSION,
            name: "fake".into(),
            pool: "default".into(),
            cpu_milli: 1_000,
            memory_bytes: 1 << 30,
            slots: 4,
            ..Hello::default()
        };
        let word = NodeWord { word: Some(Said::Hello(hello)) };
        said.send(FromNode { words: vec![word] }).await.expect("room");
        let mut request = Request::new(ReceiverStream::new(words));
        let bearer = format!("Bearer {credential}").parse().expect("a header");
        request.metadata_mut().insert("authorization", bearer);
        let heard = client.connect(request).await.expect("a stream").into_inner();
        Self { said, heard, waiting: VecDeque::new() }
    }

    pub(crate) async fn say(&mut self, word: Said) {
        let words = vec![NodeWord { word: Some(word) }];
        // Whoever hung up is found out by listening.
        let _ = self.said.send(FromNode { words }).await;
    }

    /// The next word; an error when the server hung up.
    pub(crate) async fn hear(&mut self) -> Result<Heard, Status> {
        loop {
            if let Some(word) = self.waiting.pop_front() {
                return Ok(word);
            }
            let ToNode { words } =
                self.heard.message().await?.ok_or_else(|| Status::unavailable("it hung up"))?;
            self.waiting.extend(words.into_iter().filter_map(|word| word.word));
        }
    }

    /// Takes the start order of a run and says that it executes.
    pub(crate) async fn execute(&mut self, run: &str) -> AttemptToken {
        let token = self.ordered(run).await;
        for news in [report::News::Accepted(Accepted {}), report::News::Started(Started {})] {
            self.report(token, news).await;
        }
        token
    }

    /// Takes the start order of a run and says that it does not execute it.
    pub(crate) async fn refuse(&mut self, run: &str) {
        let token = self.ordered(run).await;
        let cause = Some((&Cause::Refused { message: "no".into() }).into());
        self.report(token, report::News::Finished(Finished { cause, ..Finished::default() })).await;
    }

    /// Says that an attempt failed, and nothing of its output.
    pub(crate) async fn end(&mut self, token: AttemptToken) {
        let cause = Some((&Cause::Exit { code: 1 }).into());
        self.report(token, report::News::Finished(Finished { cause, ..Finished::default() })).await;
    }

    async fn ordered(&mut self, run: &str) -> AttemptToken {
        let run: RunId = run.parse().expect("an id");
        loop {
            if let Heard::Start(start) = self.hear().await.expect("an order") {
                let token = AttemptToken::try_from(&start.token.expect("a token")).expect("a token");
                if token.run == run {
                    return token;
                }
            }
        }
    }

    async fn report(&mut self, token: AttemptToken, news: report::News) {
        let report = Report { session: SESSION, beat: 1, token: Some(token.into()), news: Some(news) };
        self.say(Said::Report(report)).await;
    }

    /// Says a line of output, and tells where the next one begins.
    pub(crate) async fn log(&mut self, token: AttemptToken, offset: u64, text: &str) -> u64 {
        self.log_bytes(token, offset, text.as_bytes()).await
    }

    /// The same of bytes that need not be text.
    pub(crate) async fn log_bytes(&mut self, token: AttemptToken, offset: u64, content: &[u8]) -> u64 {
        let data = [&log::header(log::FrameKind::Stdout, 1, content.len())[..], content].concat();
        let next = offset + data.len() as u64;
        let data = data.into();
        self.say(Said::Log(LogChunk { token: Some(token.into()), offset, data, ..LogChunk::default() }))
            .await;
        next
    }
}
