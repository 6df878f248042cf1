//! What a live test stands on: a scheduler that says what the test says, and an agent process that dials it.

use std::collections::VecDeque;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use mainspring_model::{AttemptToken, Epoch, JobId, RunId, Timestamp};
use mainspring_sidecar::Layout;
use mainspring_sidecar::client::Connection;
use mainspring_sidecar::protocol::{Event, Request as Ask, VERSION};
use mainspring_wire::agent::agent_service_server::{AgentService, AgentServiceServer};
use mainspring_wire::agent::node_word::Word as Said;
use mainspring_wire::agent::owner_word::Word;
use mainspring_wire::agent::{
    Beat, FetchRequest, FileChunk, Finished, Forget, FromNode, Hello, JoinAnswer, JoinRequest, LogHave,
    OwnerWord, Redirect, Report, Spec, SpecKey, Start, Stop, ToNode, Welcome, report,
};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::{Request, Response, Status, Streaming};

/// Longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(600);
pub(super) const JOIN_TOKEN: &str = "join-me";
pub(super) const CREDENTIAL: &str = "a-credential-of-its-own";

/// A connection of the node.
pub(super) struct Call {
    pub(super) hello: Hello,
    inward: mpsc::UnboundedReceiver<FromNode>,
    outward: mpsc::Sender<Result<ToNode, Status>>,
    heard: Vec<Said>,
    /// Whether logs are acknowledged as they come, and as stored at their end.
    pub(super) takes_logs: bool,
    pub(super) log: Vec<u8>,
    pub(super) stored: bool,
}

/// What a fetch is answered with: nothing, or pieces, the last of which may be the end of the connection.
pub(super) type FetchAnswer = Result<Vec<Result<FileChunk, Status>>, Status>;

#[derive(Clone)]
struct Service {
    calls: mpsc::UnboundedSender<Call>,
    joins: Arc<Mutex<u32>>,
    files: Arc<Mutex<VecDeque<FetchAnswer>>>,
}

/// The scheduler.
pub(super) struct Scheduler {
    pub(super) url: String,
    calls: mpsc::UnboundedReceiver<Call>,
    pub(super) joins: Arc<Mutex<u32>>,
    /// What the next fetches are answered with; then nothing is found.
    pub(super) files: Arc<Mutex<VecDeque<FetchAnswer>>>,
}

impl Scheduler {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, calls) = mpsc::unbounded_channel();
        let joins = Arc::new(Mutex::new(0));
        let files = Arc::<Mutex<VecDeque<FetchAnswer>>>::default();
        let service = Service { calls: sender, joins: Arc::clone(&joins), files: Arc::clone(&files) };
        let service = AgentServiceServer::new(service);
        let server = tonic::transport::Server::builder().add_service(service);
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        Self { url, calls, joins, files }
    }

    /// The node's next connection, after its hello.
    pub(super) async fn call(&mut self) -> Call {
        within(self.calls.recv()).await.expect("the scheduler runs")
    }

    /// As [`Self::call`], and welcomes it.
    pub(super) async fn welcomed(&mut self) -> Call {
        let mut call = self.call().await;
        call.welcome().await;
        call
    }
}

#[tonic::async_trait]
impl AgentService for Service {
    type ConnectStream = ReceiverStream<Result<ToNode, Status>>;
    type FetchStream = tokio_stream::Iter<std::vec::IntoIter<Result<FileChunk, Status>>>;

    async fn fetch(&self, _: Request<FetchRequest>) -> Result<Response<Self::FetchStream>, Status> {
        match self.files.lock().unwrap().pop_front() {
            Some(answer) => answer.map(|chunks| Response::new(tokio_stream::iter(chunks))),
            None => Err(Status::not_found("it is not in the repository")),
        }
    }

    async fn join(&self, request: Request<JoinRequest>) -> Result<Response<JoinAnswer>, Status> {
        let request = request.into_inner();
        if request.token != JOIN_TOKEN {
            return Err(Status::permission_denied("no such token"));
        }
        *self.joins.lock().unwrap() += 1;
        Ok(Response::new(JoinAnswer { credential: CREDENTIAL.into(), node: request.node }))
    }

    async fn connect(
        &self,
        request: Request<Streaming<FromNode>>,
    ) -> Result<Response<Self::ConnectStream>, Status> {
        let shown = request.metadata().get("authorization").and_then(|value| value.to_str().ok());
        if shown != Some(&format!("Bearer {CREDENTIAL}")) {
            return Err(Status::unauthenticated("who are you?"));
        }
        let mut words = request.into_inner();
        let first = words.message().await?.expect("a hello");
        let [word] = &first.words[..] else { panic!("{first:?}") };
        let Some(Said::Hello(hello)) = word.word.clone() else { panic!("{word:?}") };
        let (outward, receiver) = mpsc::channel(100);
        let (sender, inward) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(Ok(batch)) = words.next().await {
                if sender.send(batch).is_err() {
                    return;
                }
            }
        });
        let heard = Vec::new();
        let call = Call { hello, inward, outward, heard, takes_logs: true, log: Vec::new(), stored: false };
        self.calls.send(call).map_err(|_| Status::unavailable("the test is over"))?;
        Ok(Response::new(ReceiverStream::new(receiver)))
    }
}

impl Call {
    pub(super) async fn say(&self, words: Vec<Word>) {
        let words = words.into_iter().map(|word| OwnerWord { word: Some(word) }).collect();
        self.outward.send(Ok(ToNode { words })).await.expect("the node listens");
    }

    pub(super) async fn welcome(&mut self) {
        let (session, beat) = (self.hello.session, self.hello.beat);
        let (heartbeat_every_us, lost_after_us) = (200_000, 20_000_000);
        let welcome = Welcome { session, beat, epoch: 1, heartbeat_every_us, lost_after_us };
        self.say(vec![Word::Welcome(welcome)]).await;
    }

    /// Orders an attempt of a job with this specification.
    pub(super) async fn start(&self, token: AttemptToken, spec: &str, params: &str) {
        let key = SpecKey::new(JobId::from_bytes([9; 16]), 0, Some(token.run));
        let json = Bytes::copy_from_slice(spec.as_bytes());
        let start = Start {
            session: self.hello.session,
            seen_beat: self.hello.beat,
            token: Some(token.into()),
            spec: Some(key.clone()),
            namespace: "acme/data".into(),
            params: Bytes::copy_from_slice(params.as_bytes()),
            checkpoint: None,
            attempts_max: 4,
            deadline_us: None,
        };
        self.say(vec![Word::Spec(Spec { key: Some(key), json }), Word::Start(start)]).await;
    }

    pub(super) async fn stop(&self, token: AttemptToken, grace: Duration) {
        let (session, grace_us) = (self.hello.session, grace.as_micros() as u64);
        self.say(vec![Word::Stop(Stop { session, token: Some(token.into()), grace_us })]).await;
    }

    pub(super) async fn forget(&self, token: AttemptToken) {
        self.say(vec![Word::Forget(Forget { token: Some(token.into()), stale: false })]).await;
    }

    pub(super) async fn redirect(&self, url: &str) {
        self.say(vec![Word::Redirect(Redirect { url: url.to_owned() })]).await;
    }

    /// The next word of the node that `wanted` takes; heartbeats are answered and logs acknowledged on the way.
    pub(super) async fn wait<T>(&mut self, mut wanted: impl FnMut(&Said) -> Option<T>) -> T {
        loop {
            while !self.heard.is_empty() {
                let word = self.heard.remove(0);
                self.answer(&word).await;
                if let Some(found) = wanted(&word) {
                    return found;
                }
            }
            let batch = within(self.inward.recv()).await.expect("the node is connected");
            self.heard.extend(batch.words.into_iter().map(|word| word.word.expect("a word")));
        }
    }

    async fn answer(&mut self, word: &Said) {
        match word {
            Said::Heartbeat(heartbeat) => {
                let (session, beat) = (heartbeat.session, heartbeat.beat);
                self.say(vec![Word::Beat(Beat { session, beat })]).await;
            }
            Said::Log(chunk) if self.takes_logs => {
                let have = self.log.len() as u64;
                if chunk.offset == have {
                    self.log.extend_from_slice(&chunk.data);
                }
                let offset = self.log.len() as u64;
                self.stored |= chunk.end == Some(offset);
                let have = LogHave { token: chunk.token.clone(), offset, stored: self.stored };
                self.say(vec![Word::LogHave(have)]).await;
            }
            _ => {}
        }
    }

    pub(super) async fn started(&mut self, token: AttemptToken) {
        self.wait(|word| {
            report_of(word, token).filter(|report| matches!(report.news, Some(report::News::Started(_))))
        })
        .await;
    }

    pub(super) async fn finished(&mut self, token: AttemptToken) -> Finished {
        self.wait(|word| match report_of(word, token)?.news {
            Some(report::News::Finished(finished)) => Some(finished),
            _ => None,
        })
        .await
    }

    /// Returns when the log was acknowledged as stored.
    pub(super) async fn log_stored(&mut self) -> String {
        while !self.stored {
            self.wait(|word| matches!(word, Said::Log(_)).then_some(())).await;
        }
        self.log_text()
    }

    /// What the log says, without times and marks.
    pub(super) fn log_text(&self) -> String {
        let frames = mainspring_sidecar::log::frames(&self.log);
        frames.map(|frame| String::from_utf8_lossy(frame.content).into_owned()).collect()
    }
}

fn report_of(word: &Said, token: AttemptToken) -> Option<Report> {
    match word {
        Said::Report(report) if report.token == Some(token.into()) => Some(report.clone()),
        _ => None,
    }
}

/// A node's directory, and the agent that runs there.
pub(super) struct Node {
    directory: tempfile::TempDir,
    agent: Option<Child>,
    url: String,
    join_token: String,
    settings: Vec<(&'static str, String)>,
}

impl Node {
    pub(super) fn start(url: &str) -> Self {
        Self::with_token(url, JOIN_TOKEN)
    }

    pub(super) fn with_token(url: &str, join_token: &str) -> Self {
        Self::with_settings(url, join_token, Vec::new())
    }

    fn with_settings(url: &str, join_token: &str, settings: Vec<(&'static str, String)>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (url, join_token) = (url.to_owned(), join_token.to_owned());
        let mut node = Self { directory, agent: None, url, join_token, settings };
        node.start_agent();
        node
    }

    /// A node that waits no longer for an answer of its sidecar.
    pub(super) fn with_sidecar_patience(url: &str, patience: &str) -> Self {
        Self::with_settings(
            url,
            JOIN_TOKEN,
            vec![("MAINSPRING_AGENT__SIDECAR_PATIENCE", patience.to_owned())],
        )
    }

    /// A node whose tasks run as this user, and may as the other.
    pub(super) fn with_task_user(url: &str, user: &str, allowed: &str) -> Self {
        let task_user = ("MAINSPRING_AGENT__TASK_USER", user.to_owned());
        let allowed_users = ("MAINSPRING_AGENT__ALLOWED_USERS", allowed.to_owned());
        Self::with_settings(url, JOIN_TOKEN, vec![task_user, allowed_users])
    }

    pub(super) fn start_agent(&mut self) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mainspring-agent"));
        command.arg(self.data()).arg(&self.url).arg(&self.join_token).stdin(Stdio::null());
        command.env("MAINSPRING_AGENT__ALLOWED_PATHS", self.path());
        if rustix::process::geteuid().is_root() {
            command.env("MAINSPRING_AGENT__TASK_USER", "root");
        }
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        self.agent = Some(command.spawn().unwrap());
    }

    /// `kill -9`.
    pub(super) fn kill_agent(&mut self) {
        let mut agent = self.agent.take().unwrap();
        agent.kill().unwrap();
        agent.wait().unwrap();
    }

    /// `kill -9` of the sidecar.
    pub(super) fn kill_sidecar(&self) {
        let mut sidecar = self.signal_sidecar("-KILL");
        // The socket closes when the process is gone.
        while let Ok(Some(_)) = sidecar.receive() {}
    }

    /// The sidecar is there and does nothing.
    pub(super) fn freeze_sidecar(&self) {
        self.signal_sidecar("-STOP");
    }

    fn signal_sidecar(&self, signal: &str) -> Connection {
        let mut sidecar = Connection::connect(&self.layout().socket()).unwrap();
        sidecar.send(&[Ask::Hello { version: VERSION, subscribe: false }]).unwrap();
        let Ok(Some(Event::Welcome { pid, .. })) = sidecar.receive() else { panic!("no welcome") };
        assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
        sidecar
    }

    pub(super) fn terminate_agent(&self) {
        let pid = self.agent.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    }

    /// Waits for the end of the agent; whether it ended well.
    pub(super) async fn agent_ended(&mut self) -> bool {
        let mut agent = self.agent.take().unwrap();
        let ended = tokio::task::spawn_blocking(move || agent.wait().unwrap());
        within(ended).await.unwrap().success()
    }

    /// Whether a sidecar listens.
    pub(super) fn has_sidecar(&self) -> bool {
        Connection::connect(&self.layout().socket()).is_ok()
    }

    /// Listens in the place of a sidecar.
    pub(super) fn listen_as_sidecar(&self) -> UnixListener {
        let path = self.layout().socket();
        let _ = std::fs::remove_file(&path);
        UnixListener::bind(path).unwrap()
    }

    /// Returns when nothing of the attempt is left on the node.
    pub(super) async fn forgets(&self, token: AttemptToken) {
        let path = self.layout().attempt(&token.into());
        within(async {
            while path.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
    }

    fn layout(&self) -> Layout {
        Layout::new(self.data())
    }

    pub(super) fn data(&self) -> PathBuf {
        self.directory.path().join("node")
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if self.agent.is_some() {
            self.kill_agent();
        }
        if let Ok(mut sidecar) = Connection::connect(&self.layout().socket()) {
            let _ = sidecar
                .send(&[Ask::Hello { version: VERSION, subscribe: false }, Ask::Shutdown { force: true }]);
            let _ = sidecar.set_receive_timeout(Some(PATIENCE));
            while let Ok(Some(_)) = sidecar.receive() {}
        }
    }
}

/// Something that a task waits for, without a time.
pub(super) struct Waiting {
    fifo: PathBuf,
    passes: PathBuf,
}

impl Waiting {
    pub(super) fn new(directory: &Path) -> Self {
        let name = format!("gate-{}", std::fs::read_dir(directory).unwrap().count());
        let fifo = directory.join(&name);
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        Self { fifo, passes: directory.join(format!("{name}-passes")) }
    }

    /// What a task says to wait here.
    pub(super) fn wait_in_shell(&self) -> String {
        format!("cat {} > /dev/null; echo passed >> {}", self.fifo.display(), self.passes.display())
    }

    /// Lets the task pass that waits, or will.
    pub(super) fn open(&self) {
        let fifo = self.fifo.clone();
        std::thread::spawn(move || std::fs::write(fifo, "go"));
    }

    /// Returns when a task has passed.
    pub(super) async fn passed(&self) {
        within(async {
            while self.passes() == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
    }

    pub(super) fn passes(&self) -> usize {
        std::fs::read_to_string(&self.passes).map_or(0, |text| text.lines().count())
    }
}

pub(super) fn token(run: u128) -> AttemptToken {
    AttemptToken {
        run: RunId::new(Timestamp::from_micros(1_700_000_000_000_000), run),
        number: 1,
        epoch: Epoch(1),
    }
}

pub(super) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it ends within PATIENCE, a guard against a hang")
}
