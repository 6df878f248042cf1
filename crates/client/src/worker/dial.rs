//! Reaching a scheduler: the channel, the credential, the stream.

use std::time::Duration;

use mainspring_model::NodeId;
use mainspring_wire::agent::agent_service_client::AgentServiceClient;
use mainspring_wire::agent::{FromNode, JoinRequest, ToNode, bytes_of};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Status, Streaming};

use super::error::Error;

const DIAL_TIMEOUT: Duration = Duration::from_secs(5);
const KEEP_ALIVE: Duration = Duration::from_secs(10);
const BATCH_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What is needed to be let in.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) node: NodeId,
    pub(super) name: String,
    pub(super) credential: Option<String>,
    /// Whether the credential was not accepted the last time.
    pub(super) refused: bool,
    pub(super) join_token: Option<String>,
    pub(super) nonce: String,
    pub(super) ca_pem: Option<Vec<u8>>,
}

/// A stream that is open.
pub(super) struct Dialed {
    pub(super) words: Streaming<ToNode>,
}

/// Why there is no stream.
#[derive(Debug)]
pub(super) enum DialError {
    /// Trying again may help.
    Again(String),
    /// The credential was not accepted: a fresh token may help.
    NotLetIn(String),
    /// It will not.
    Fatal(Error),
}

/// What became of the join token while a stream was opened.
#[derive(Debug)]
pub(super) enum Joining {
    NotTried,
    /// The credential that it was exchanged for.
    Given(String),
    /// It was not accepted.
    UsedUp,
}

/// Opens the stream; `outward` begins with the hello. A credential that was just given comes back even when the stream
/// could not be opened.
pub(super) async fn dial(
    caller: Caller,
    url: String,
    outward: mpsc::Receiver<FromNode>,
) -> (Joining, Result<Dialed, DialError>) {
    let mut joining = Joining::NotTried;
    let dialed = async {
        let channel = endpoint(&url, caller.ca_pem.as_deref())?.connect().await.map_err(again)?;
        let mut client = AgentServiceClient::new(channel)
            .max_decoding_message_size(BATCH_BYTES_MAX)
            .max_encoding_message_size(BATCH_BYTES_MAX);
        let credential = match (&caller.credential, &caller.join_token) {
            (Some(credential), None) => credential.clone(),
            (Some(credential), Some(_)) if !caller.refused => credential.clone(),
            (None, None) => return Err(DialError::Fatal(Error::NotJoined)),
            (known, Some(token)) => match (join(&mut client, &caller, token).await, known) {
                (Ok(credential), _) => {
                    joining = Joining::Given(credential.clone());
                    credential
                }
                // The old credential stays until there is a new one.
                (Err(DialError::Fatal(error)), Some(known)) => {
                    tracing::warn!(%error, "neither the credential nor the join token was accepted");
                    joining = Joining::UsedUp;
                    known.clone()
                }
                (Err(error), _) => return Err(error),
            },
        };
        let mut request = Request::new(ReceiverStream::new(outward));
        let mut shown: MetadataValue<Ascii> = format!("Bearer {credential}")
            .parse()
            .map_err(|_| DialError::Fatal(Error::Refused("the credential cannot be sent".into())))?;
        shown.set_sensitive(true);
        request.metadata_mut().insert("authorization", shown);
        let words = client.connect(request).await.map_err(not_let_in)?.into_inner();
        Ok(Dialed { words })
    };
    let limited = tokio::time::timeout(3 * DIAL_TIMEOUT, dialed).await;
    let dialed = limited.unwrap_or_else(|_| Err(DialError::Again("no answer in time".into())));
    (joining, dialed)
}

/// Exchanges the token for a credential.
async fn join(
    client: &mut AgentServiceClient<Channel>,
    caller: &Caller,
    token: &str,
) -> Result<String, DialError> {
    let request = JoinRequest {
        token: token.to_owned(),
        node: bytes_of(caller.node.as_bytes()),
        name: caller.name.clone(),
        nonce: caller.nonce.clone().into(),
    };
    let answer = client.join(request).await.map_err(|status| match status.code() {
        Code::Unauthenticated | Code::PermissionDenied | Code::InvalidArgument => {
            DialError::Fatal(Error::Refused(status.message().to_owned()))
        }
        _ => DialError::Again(status.message().to_owned()),
    })?;
    Ok(answer.into_inner().credential)
}

fn endpoint(url: &str, ca_pem: Option<&[u8]>) -> Result<Endpoint, DialError> {
    let mut endpoint = Endpoint::from_shared(url.to_owned())
        .map_err(|error| DialError::Fatal(Error::Setup(format!("`{url}`: {error}"))))?
        .connect_timeout(DIAL_TIMEOUT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .keep_alive_while_idle(true);
    if url.starts_with("https:") {
        let config = ClientTlsConfig::new();
        let config = match ca_pem {
            Some(pem) => config.ca_certificate(Certificate::from_pem(pem)),
            None => config.trust_anchors(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        };
        endpoint = endpoint.tls_config(config).map_err(again)?;
    }
    Ok(endpoint)
}

fn again(error: tonic::transport::Error) -> DialError {
    let mut words = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        words = cause.to_string();
        source = cause.source();
    }
    DialError::Again(words)
}

/// A credential that is not accepted may have been revoked: a token that was not used yet may help.
fn not_let_in(status: Status) -> DialError {
    let message = status.message().to_owned();
    match status.code() {
        Code::Unauthenticated | Code::PermissionDenied => DialError::NotLetIn(message),
        Code::FailedPrecondition => DialError::Fatal(Error::Unfit(message)),
        _ => DialError::Again(message),
    }
}
