//! The way to the schedulers: joining once, then one stream that is opened again whenever it breaks.
//!
//! A task of its own dials, in turn or where it is redirected to, with a wait that grows and has chance in it. What is said
//! on a stream goes through a bounded channel: a scheduler that does not read makes the node wait, not grow.

use std::time::Duration;

use mainspring_model::NodeId;
use mainspring_wire::agent::agent_service_client::AgentServiceClient;
use mainspring_wire::agent::owner_word::Word;
use mainspring_wire::agent::{
    FromNode, JoinRequest, OwnerWord, ToNode, bytes_of, may_redirect, wait_before_dial,
};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Status, Streaming};

use crate::error::Error;
use crate::identity::Identity;
use crate::options::Options;
use crate::repository::Repository;

/// Batches on their way out.
const BATCHES_MAX: usize = 4;
/// The longest batch that is taken.
const BATCH_BYTES_MAX: usize = 64 * 1024 * 1024;
const DIAL_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the rules of the node may take to follow a redirection.
const REDIAL_WAIT: Duration = Duration::from_secs(5);
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// What happens to the stream.
#[derive(Debug)]
pub(crate) enum StreamEvent {
    /// It is being opened; the node introduces itself on it.
    Opened(mpsc::Sender<FromNode>),
    /// The other end spoke.
    Words(Vec<OwnerWord>),
    /// It is gone.
    Closed,
    /// The node is not known to the schedulers and has no way to become known.
    Refused(Error),
}

/// Hang up and dial again, there if it is given.
#[derive(Debug)]
pub(crate) struct Redial {
    pub(crate) to: Option<String>,
}

/// Dials for as long as somebody listens to its events.
pub(crate) struct Dialer {
    pub(crate) node: NodeId,
    pub(crate) name: String,
    pub(crate) servers: Vec<String>,
    pub(crate) join_token: Option<String>,
    pub(crate) tls: Option<ClientTlsConfig>,
    pub(crate) identity: Identity,
    pub(crate) repository: Repository,
    /// Whether the credential was not accepted the last time.
    pub(crate) refused: bool,
    pub(crate) events: mpsc::Sender<StreamEvent>,
    pub(crate) redials: mpsc::Receiver<Redial>,
}

/// How a call came to its end.
enum CallEnd {
    /// Somebody wants another, there if it is given.
    Redial(Option<String>),
    /// It broke, after the owner had answered or before.
    Broken { welcomed: bool },
    /// Nobody listens any more.
    Unheard,
}

impl Dialer {
    pub(crate) async fn run(mut self) {
        let mut failures = 0u32;
        let mut next = usize::from(self.node.as_bytes()[15]);
        let mut redirect: Option<String> = None;
        loop {
            let redirected = redirect.is_some();
            let url = redirect.take().unwrap_or_else(|| {
                next += 1;
                self.servers[next % self.servers.len()].clone()
            });
            let outcome = self.call(&url).await;
            // A redirection is followed at once, but not for ever.
            let mut wait = true;
            match outcome {
                Ok(CallEnd::Unheard) => return,
                Ok(CallEnd::Redial(to)) => {
                    redirect = to.filter(|to| may_redirect(&url, to));
                    wait = redirect.is_none() || redirected;
                }
                Ok(CallEnd::Broken { welcomed: true }) => failures = 0,
                Ok(CallEnd::Broken { welcomed: false }) => {}
                Err(DialError::Fatal(error)) => {
                    let _ = self.events.send(StreamEvent::Refused(error)).await;
                    return;
                }
                Err(DialError::Again(status)) if self.refused => tracing::warn!(
                    %url,
                    error = %status.message(),
                    "this node is not let in: it was removed, or belongs to another cluster; an agent needs a new token (`mainspring node token`, given as MAINSPRING_JOIN_TOKEN), `mainspring up` lets its own node in when it is started again"
                ),
                Err(DialError::Again(status)) => {
                    tracing::warn!(%url, error = %status.message(), code = ?status.code(), "no scheduler there");
                }
            }
            if wait {
                failures = failures.saturating_add(1);
                tokio::time::sleep(wait_before_dial(failures, chance(&self.node, failures))).await;
            }
        }
    }

    async fn call(&mut self, url: &str) -> Result<CallEnd, DialError> {
        let endpoint = self.endpoint(url)?;
        let channel = endpoint.connect().await.map_err(|error| Status::unavailable(words_of(&error)))?;
        let mut client = AgentServiceClient::new(channel)
            .max_decoding_message_size(BATCH_BYTES_MAX)
            .max_encoding_message_size(BATCH_BYTES_MAX);
        let credential = self.credential(&mut client).await?;
        self.repository.at(client.clone(), credential.clone());
        let (sender, receiver) = mpsc::channel(BATCHES_MAX);
        let mut request = Request::new(ReceiverStream::new(receiver));
        request.metadata_mut().insert("authorization", credential);
        // What an earlier stream was told to do is of no interest to this one.
        while self.redials.try_recv().is_ok() {}
        if self.events.send(StreamEvent::Opened(sender)).await.is_err() {
            return Ok(CallEnd::Unheard);
        }
        let answer = tokio::select! {
            answer = client.connect(request) => answer,
            redial = self.redials.recv() => {
                return Ok(redial.map_or(CallEnd::Unheard, |redial| CallEnd::Redial(redial.to)));
            }
        };
        let end = match answer {
            Ok(answer) => Ok(self.listen(answer.into_inner()).await),
            Err(status) => Err(status),
        };
        if self.events.send(StreamEvent::Closed).await.is_err() {
            return Ok(CallEnd::Unheard);
        }
        end.map_err(|status| self.after_refusal(status))
    }

    async fn listen(&mut self, mut words: Streaming<ToNode>) -> CallEnd {
        let mut welcomed = false;
        loop {
            let batch = tokio::select! {
                batch = words.message() => batch,
                redial = self.redials.recv() => {
                    return redial.map_or(CallEnd::Unheard, |redial| CallEnd::Redial(redial.to));
                }
            };
            match batch {
                Ok(Some(ToNode { words })) => {
                    welcomed |= words.iter().any(|word| matches!(word.word, Some(Word::Welcome(_))));
                    let redirected = words.iter().any(|word| matches!(word.word, Some(Word::Redirect(_))));
                    if self.events.send(StreamEvent::Words(words)).await.is_err() {
                        return CallEnd::Unheard;
                    }
                    // A scheduler hangs up after it named another; its word comes first.
                    if redirected && let Ok(redial) = timeout(REDIAL_WAIT, self.redials.recv()).await {
                        return redial.map_or(CallEnd::Unheard, |redial| CallEnd::Redial(redial.to));
                    }
                }
                Ok(None) => return CallEnd::Broken { welcomed },
                Err(status) => {
                    tracing::info!(error = %status.message(), code = ?status.code(), "the stream broke");
                    return CallEnd::Broken { welcomed };
                }
            }
        }
    }

    /// A credential that is not accepted may have been revoked: a token that was not used yet may help.
    fn after_refusal(&mut self, status: Status) -> DialError {
        if status.code() == Code::FailedPrecondition {
            return DialError::Fatal(Error::Unfit(status.message().to_owned()));
        }
        self.refused = is_refusal(&status);
        DialError::Again(status)
    }

    async fn credential(
        &mut self,
        client: &mut AgentServiceClient<Channel>,
    ) -> Result<MetadataValue<Ascii>, DialError> {
        let known = self.identity.credential(self.node).map_err(DialError::Fatal)?;
        let credential = match (known, self.join_token.clone()) {
            (Some(known), None) => known,
            (Some(known), Some(_)) if !self.refused => known,
            // The old credential stays until there is a new one.
            (Some(known), Some(token)) => self.join(client, token).await.or_else(|error| match error {
                DialError::Fatal(Error::JoinRefused(why)) => {
                    tracing::warn!(why, "neither the credential nor the join token was accepted");
                    self.join_token = None;
                    Ok(known)
                }
                error => Err(error),
            })?,
            (None, Some(token)) => self.join(client, token).await?,
            (None, None) => return Err(DialError::Fatal(Error::NotJoined)),
        };
        let mut value: MetadataValue<Ascii> = format!("Bearer {credential}")
            .parse()
            .map_err(|_| Status::internal("the credential has characters that cannot be sent"))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Exchanges the token for a credential.
    async fn join(
        &mut self,
        client: &mut AgentServiceClient<Channel>,
        token: String,
    ) -> Result<String, DialError> {
        let nonce = self.identity.nonce().map_err(DialError::Fatal)?.into();
        let node = bytes_of(self.node.as_bytes());
        let request = JoinRequest { token, node, name: self.name.clone(), nonce };
        let answer = client.join(request).await.map_err(|status| {
            if is_refusal(&status) || status.code() == Code::InvalidArgument {
                DialError::Fatal(Error::JoinRefused(status.message().to_owned()))
            } else {
                DialError::Again(status)
            }
        })?;
        let credential = answer.into_inner().credential;
        self.identity.keep_credential(self.node, &credential).map_err(DialError::Fatal)?;
        (self.join_token, self.refused) = (None, false);
        Ok(credential)
    }

    fn endpoint(&self, url: &str) -> Result<Endpoint, DialError> {
        let wrong = |error: tonic::transport::Error| Status::invalid_argument(words_of(&error));
        let mut endpoint = Endpoint::from_shared(url.to_owned())
            .map_err(wrong)?
            .connect_timeout(DIAL_TIMEOUT)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)
            .keep_alive_while_idle(true)
            .initial_stream_window_size(1024 * 1024)
            .initial_connection_window_size(4 * 1024 * 1024);
        if url.starts_with("https:")
            && let Some(tls) = &self.tls
        {
            endpoint = endpoint.tls_config(tls.clone()).map_err(wrong)?;
        }
        Ok(endpoint)
    }
}

enum DialError {
    /// Trying again may help.
    Again(Status),
    /// It will not.
    Fatal(Error),
}

impl From<Status> for DialError {
    fn from(status: Status) -> Self {
        Self::Again(status)
    }
}

fn is_refusal(status: &Status) -> bool {
    matches!(status.code(), Code::Unauthenticated | Code::PermissionDenied)
}

/// Whom to trust, for schedulers behind TLS.
pub(crate) fn tls(options: &Options) -> Result<Option<ClientTlsConfig>, Error> {
    if !options.servers.iter().any(|server| server.starts_with("https:")) {
        return Ok(None);
    }
    let config = ClientTlsConfig::new();
    Ok(Some(match &options.ca_file {
        Some(path) => {
            let pem = std::fs::read(path).map_err(Error::file("read", path))?;
            config.ca_certificate(Certificate::from_pem(pem))
        }
        None => config.trust_anchors(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
    }))
}

fn chance(node: &NodeId, failures: u32) -> u64 {
    let time = crate::tasks::wall_us() as u64;
    mainspring_model::hash::mix(node.hash64() ^ time ^ u64::from(failures))
}

/// An error with what it was caused by: the transport's own words say little.
fn words_of(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text.push_str(": ");
        text.push_str(&source.to_string());
        cause = source.source();
    }
    text
}
