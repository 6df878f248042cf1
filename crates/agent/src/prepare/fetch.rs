//! What an attempt needs before it starts, and leaves behind after it ended: artifacts, inputs, outputs.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainspring_blob::{Buckets, Limits, Networks, Places, Transfers, inside};
use mainspring_model::AttemptToken;
use mainspring_model::spec::Artifact;
use mainspring_sidecar::protocol::Start;
use mainspring_sidecar::{AttemptKey, Layout};
use serde::{Deserialize, Serialize};

use super::PUBLISH;
use super::cache::Cache;
use super::environment::upper;
use super::launch;
use super::template::Values;
use super::turns::Turns;
use super::users::Users;
use crate::core::Order;
use crate::error::Error;
use crate::options::Options;
use crate::repository::Repository;

/// The longest artifact.
const ARTIFACT_BYTES_MAX: u64 = 64 << 30;
/// The longest input.
const INPUT_BYTES_MAX: u64 = 64 << 30;

/// Copies files for attempts.
#[derive(Debug)]
pub(crate) struct Fetcher {
    layout: Layout,
    transfers: Transfers,
    repository: Repository,
    cache: Cache,
    users: Users,
    /// Before attempts start, and after they ended: what is finished does not wait for what begins.
    incoming: Turns,
    outgoing: Turns,
}

/// An input or an output as the task sees it, and where it is copied from or to.
#[derive(Debug, Serialize, Deserialize)]
struct Copy {
    name: String,
    path: PathBuf,
    url: String,
    /// Whose it is.
    #[serde(default)]
    namespace: String,
}

/// An order with its copies.
struct Plan {
    start: Box<Start>,
    inputs: Vec<Copy>,
    outputs: Vec<Copy>,
}

impl Fetcher {
    pub(crate) fn new(
        layout: Layout,
        directory: &Path,
        repository: Repository,
        options: &Options,
    ) -> Result<Arc<Self>, Error> {
        let networks = Networks::parse(options.allowed_networks.iter().map(String::as_str))
            .map_err(|why| Error::Option { name: "allowed_networks", why })?;
        let mut never = options.forbidden_paths.clone();
        never.push(options.data.clone());
        let buckets = Buckets::parse(options.allowed_buckets.iter().map(String::as_str))
            .map_err(|why| Error::Option { name: "allowed_buckets", why })?;
        let places = Places::new(options.allowed_paths.clone(), never);
        let transfers = Transfers::new(networks, places, buckets);
        let cache = Cache::new(directory.join("cache"), options.cache_bytes_max);
        let (users, incoming, outgoing) = (Users::new(options), Turns::default(), Turns::default());
        Ok(Arc::new(Self { layout, transfers, repository, cache, users, incoming, outgoing }))
    }

    /// As whom tasks run.
    pub(crate) fn users(&self) -> &Users {
        &self.users
    }

    /// An artifact from where it is: by its URL, or from the schedulers' repository.
    async fn fetch(&self, token: AttemptToken, artifact: &Artifact, to: PathBuf) -> Result<u64, String> {
        let limits = Limits { bytes_max: ARTIFACT_BYTES_MAX, digest: Some(artifact.digest) };
        let fetched = match &artifact.url {
            Some(url) => self.transfers.fetch(url, &to, limits).await.map_err(words_of),
            None => self.repository.fetch(token, artifact.digest, &to, limits).await,
        };
        fetched.map(|content| content.size)
    }

    /// Makes an order ready that needs files. The answer says whether it has outputs to be copied.
    pub(crate) async fn prepare(&self, order: &Order) -> Result<(Box<Start>, bool), String> {
        let _turn = self.incoming.take(order.namespace.as_str()).await?;
        let key = AttemptKey::from(order.token);
        let Plan { start, inputs, outputs } = self.plan(order, &key)?;
        self.make_directories(&key, start.user.is_some())?;
        let work = self.layout.work(&key);
        for artifact in &order.spec.artifacts {
            let named = |why: String| format!("artifact {} ({}): {why}", artifact.target(), artifact.digest);
            let to = inside(&work, artifact.target()).map_err(|error| named(error.to_string()))?;
            make_parents(&work, &to).map_err(named)?;
            let incoming = |to: PathBuf| self.fetch(order.token, artifact, to);
            self.cache.place(artifact, incoming, to).await.map_err(named)?;
        }
        for input in &inputs {
            let limits = Limits { bytes_max: INPUT_BYTES_MAX, digest: None };
            let fetched = self.transfers.fetch(&input.url, &input.path, limits).await;
            fetched.map_err(|error| format!("input {}: {}", input.name, words_of(error)))?;
        }
        let publishes = !outputs.is_empty();
        if publishes {
            self.remember(&key, &outputs)?;
        }
        Ok((start, publishes))
    }

    /// Writes down where the outputs go. Not by the sidecar, which gives its files to the task's user: whoever can change
    /// this one has the agent copy what it may read.
    fn remember(&self, key: &AttemptKey, outputs: &[Copy]) -> Result<(), String> {
        let memo = self.layout.attempt(key).join(PUBLISH);
        let text = serde_json::to_vec(outputs).map_err(|error| error.to_string())?;
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&memo);
        let written = file.and_then(|mut file| file.write_all(&text));
        written.map_err(|error| format!("cannot write {}: {error}", memo.display()))
    }

    /// Where the task finds an output, or leaves it.
    fn output(&self, key: &AttemptKey, name: &str) -> PathBuf {
        self.layout.work(key).join(format!("output-{}", upper(name).to_lowercase()))
    }

    /// Copies the outputs of an attempt that ended well to where its directory says.
    pub(crate) async fn publish(&self, key: AttemptKey) -> Result<(), String> {
        let memo = self.layout.attempt(&key).join(PUBLISH);
        let text = tokio::fs::read(&memo).await.map_err(|error| format!("{}: {error}", memo.display()))?;
        let outputs: Vec<Copy> = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        let namespace = outputs.first().map_or("", |output| &output.namespace);
        let _turn = self.outgoing.take(namespace).await?;
        for output in &outputs {
            let path = self.output(&key, &output.name);
            let stored = self.transfers.store(&path, &output.url).await;
            stored.map_err(|error| format!("output {}: {}", output.name, words_of(error)))?;
        }
        Ok(())
    }

    /// Everything that can be said before anything is copied.
    fn plan(&self, order: &Order, key: &AttemptKey) -> Result<Plan, String> {
        let values = Values::new(order);
        let mut start = Box::new(launch::start(order, &values, &self.layout, &self.users)?);
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (name, template) in &order.spec.inputs {
            let place = values.render(|| format!("inputs.{name}"), template)?;
            let path = self.layout.attempt(key).join("inputs").join(upper(name).to_lowercase());
            let seen = add(&mut inputs, order, name, path, place);
            start.env.push((format!("MAINSPRING_INPUT_{}", upper(name)), seen));
        }
        for (name, template) in &order.spec.outputs {
            let place = values.render(|| format!("outputs.{name}"), template)?;
            let path = self.output(key, name);
            let seen = add(&mut outputs, order, name, path, place);
            start.env.push((format!("MAINSPRING_OUTPUT_{}", upper(name)), seen));
        }
        Ok(Plan { start, inputs, outputs })
    }

    /// The sidecar takes directories that are there as they are, and gives the working directory to the task's user.
    fn make_directories(&self, key: &AttemptKey, other_user: bool) -> Result<(), String> {
        let attempt = self.layout.attempt(key);
        let modes = [
            (attempt.clone(), if other_user { 0o711 } else { 0o700 }),
            (self.layout.work(key), 0o700),
            // The sidecar gives it to the task's user, as the working directory.
            (attempt.join("inputs"), 0o700),
        ];
        for (path, mode) in modes {
            let made = DirBuilder::new().recursive(true).mode(mode).create(&path);
            made.map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        }
        Ok(())
    }
}

/// What a person reads; of a path or bucket that may not be used, what would allow it.
fn words_of(error: mainspring_blob::Error) -> String {
    match &error {
        mainspring_blob::Error::Place { path } => {
            let directory = path.parent().unwrap_or(path).display();
            format!(
                "{error}; if jobs are to use it, set `allowed_paths = [\"{directory}\"]` under `[agent]` in the node's \
                 mainspring.toml (or MAINSPRING_AGENT__ALLOWED_PATHS); the agent's own data stays closed"
            )
        }
        mainspring_blob::Error::Bucket { bucket } => format!(
            "{error}; if jobs are to use it with the node's own credentials, set `allowed_buckets = [\"{bucket}\"]` under \
             `[agent]` in the node's mainspring.toml (or MAINSPRING_AGENT__ALLOWED_BUCKETS)"
        ),
        mainspring_blob::Error::Forbidden { .. } => format!(
            "{error}; if jobs are to reach it, list its network, such as `allowed_networks = [\"10.0.0.0/8\"]`, under \
             `[agent]` in the node's mainspring.toml (or MAINSPRING_AGENT__ALLOWED_NETWORKS)"
        ),
        _ => error.to_string(),
    }
}

/// Remembers a copy if the place is a URL; what the task is told.
fn add(copies: &mut Vec<Copy>, order: &Order, name: &str, path: PathBuf, place: String) -> String {
    if !Transfers::is_url(&place) {
        return place;
    }
    let seen = path.to_string_lossy().into_owned();
    let namespace = order.namespace.to_string();
    copies.push(Copy { name: name.to_owned(), path, url: place, namespace });
    seen
}

fn make_parents(work: &Path, to: &Path) -> Result<(), String> {
    match to.parent() {
        Some(parent) if parent != work => {
            let made = DirBuilder::new().recursive(true).mode(0o755).create(parent);
            made.map_err(|error| format!("cannot make {}: {error}", parent.display()))
        }
        _ => Ok(()),
    }
}
