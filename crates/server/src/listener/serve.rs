//! The accept loop, and one connection from its first to its last byte.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{Request, Response, header};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use mainspring_wire::agent::agent_service_server::SERVICE_NAME;
use rustix::process::{Resource, getrlimit};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_service::Service;
use tracing::{debug, info, warn};

use super::address::{from_elsewhere, from_here};
use super::admission::Admission;
use super::bodies::{AnswerBody, MovingBody};
use super::certificate::Certificate;
use super::connection::{Connection, Overdue};
use super::limits::ListenLimits;
use super::peer::{Peer, Proxies};
use super::watched::Watched;
use crate::error::Error;
use crate::options::Options;

/// How long gRPC calls may take until their answer begins. Streams go on after it.
const GRPC_ANSWER_WAIT: Duration = Duration::from_secs(30);
/// Bytes that a request's header may have under HTTP/1.
const HEADER_BYTES_MAX: usize = 64 * 1024;
/// HTTP/2 pings: how often, and how long the other side may take to answer one.
const PING_EVERY: Duration = Duration::from_secs(20);
const PONG_WAIT: Duration = Duration::from_secs(20);
/// How long an idle HTTP/2 connection may take to end after it was told to.
const GOODBYE_WAIT: Duration = Duration::from_secs(5);
/// How long to wait when no connection can be accepted, for want of files usually.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// A socket that is open, and how it is served.
pub(crate) struct Listener {
    socket: TcpListener,
    tls: Option<(TlsAcceptor, Arc<Certificate>)>,
    limits: Arc<ListenLimits>,
    admission: Arc<Admission>,
    http: auto::Builder<TokioExecutor>,
    /// Where others reach it.
    pub(crate) url: String,
    /// Where it is reached from this machine.
    pub(crate) local_url: String,
}

impl Listener {
    /// Opens the socket and reads the certificate.
    pub(crate) async fn open(options: &Options) -> Result<Self, Error> {
        let limits = Arc::new(options.limits.clone());
        let proxies = Proxies::new(&limits.trusted_proxies).map_err(Error::Options)?;
        let tls = match options.tls.clone() {
            Some(files) => {
                let certificate = Certificate::open(files).map_err(Error::Tls)?;
                Some((certificate.acceptor().map_err(Error::Tls)?, certificate))
            }
            None => None,
        };
        let socket = TcpListener::bind(options.listen)
            .await
            .map_err(|source| Error::Listen { address: options.listen, source })?;
        let address = socket.local_addr().map_err(Error::Serve)?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = options.url.clone().unwrap_or_else(|| format!("{scheme}://{}", from_elsewhere(address)));
        if is_open_to_listeners(tls.is_some(), address) {
            warn!(
                %address,
                "tokens, parameters and output cross the network unencrypted: the server listens without TLS; set server.tls_cert and server.tls_key, or listen on a loopback address behind a proxy that has TLS"
            );
        }
        let files_max = getrlimit(Resource::Nofile).current.and_then(|count| usize::try_from(count).ok());
        let admission = Admission::new(&limits, proxies, files_max.unwrap_or(usize::MAX));
        if admission.connections_max() < limits.connections_max {
            info!(
                connections_max = admission.connections_max(),
                files_max, "fewer connections than server.connections_max: the process may open few files"
            );
        }
        Ok(Self {
            socket,
            tls,
            http: builder(&limits),
            limits,
            admission: Arc::new(admission),
            url,
            local_url: format!("{scheme}://{}", from_here(address)),
        })
    }

    /// Serves until `stop`, and then until every connection has ended.
    pub(crate) async fn serve(&self, router: Router, stop: CancellationToken) {
        let tasks = TaskTracker::new();
        if let Some((_, certificate)) = &self.tls {
            tasks.spawn(Arc::clone(certificate).follow(stop.clone()));
        }
        let shared = Arc::new(Shared {
            tls: self.tls.as_ref().map(|(acceptor, _)| acceptor.clone()),
            limits: Arc::clone(&self.limits),
            admission: Arc::clone(&self.admission),
            http: self.http.clone(),
            router,
            stop: stop.clone(),
        });
        loop {
            let accepted = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                accepted = self.socket.accept() => accepted,
            };
            match accepted {
                Ok((socket, address)) => {
                    // Without room the socket is closed here.
                    if let Some(connection) = self.admission.admit(address.ip()) {
                        tasks.spawn(Arc::clone(&shared).hold(socket, Open(connection)));
                    }
                }
                Err(error) if is_of_the_connection(&error) => {}
                Err(error) => {
                    debug!(%error, "a connection cannot be accepted");
                    self.admission.make_room();
                    sleep(ACCEPT_AGAIN).await;
                }
            }
        }
        tasks.close();
        tasks.wait().await;
    }
}

/// HTTP/1.1 and HTTP/2 with limits.
fn builder(limits: &ListenLimits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // The header timeout is ours: see `connection.rs`.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(HEADER_BYTES_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams_max)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PONG_WAIT);
    builder
}

/// What all connections share.
struct Shared {
    tls: Option<TlsAcceptor>,
    limits: Arc<ListenLimits>,
    admission: Arc<Admission>,
    http: auto::Builder<TokioExecutor>,
    router: Router,
    stop: CancellationToken,
}

/// A connection that counts until this is dropped.
struct Open(Arc<Connection>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.left();
    }
}

impl Shared {
    async fn hold(self: Arc<Self>, socket: TcpStream, open: Open) {
        if let Err(error) = socket.set_nodelay(true) {
            debug!(%error, "small messages of a connection may be late");
        }
        let connection = Arc::clone(&open.0);
        tokio::select! {
            () = connection.closing() => {}
            () = self.secured(socket, &open.0) => {}
        }
    }

    async fn secured(self: &Arc<Self>, socket: TcpStream, connection: &Arc<Connection>) {
        let Some(tls) = &self.tls else { return self.talk(socket, connection).await };
        match timeout(self.limits.header_timeout, tls.accept(socket)).await {
            Ok(Ok(stream)) => self.talk(stream, connection).await,
            Ok(Err(error)) => debug!(%error, from = %connection.address, "a TLS handshake failed"),
            Err(_) => self.admission.late_handshake(),
        }
    }

    async fn talk<S>(self: &Arc<Self>, stream: S, connection: &Arc<Connection>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let watched = Watched::new(stream, Arc::clone(connection), self.limits.body_timeout);
        let service = service_fn(|request| {
            let (shared, connection) = (Arc::clone(self), Arc::clone(connection));
            async move { Ok::<_, Infallible>(shared.answer(request, connection).await) }
        });
        let mut serving = pin!(self.http.serve_connection(TokioIo::new(watched), service));
        let ended = tokio::select! {
            ended = serving.as_mut() => ended,
            overdue = connection.overdue(&self.limits) => {
                self.admission.closed(overdue);
                if overdue == Overdue::Header {
                    return;
                }
                serving.as_mut().graceful_shutdown();
                timeout(GOODBYE_WAIT, serving.as_mut()).await.unwrap_or(Ok(()))
            }
            () = self.stop.cancelled() => {
                serving.as_mut().graceful_shutdown();
                tokio::select! {
                    ended = serving.as_mut() => ended,
                    _ = connection.overdue(&self.limits) => return,
                }
            }
        };
        if let Err(error) = ended {
            debug!(%error, from = %connection.address, "a connection broke");
        }
    }

    async fn answer(&self, request: Request<Incoming>, connection: Arc<Connection>) -> Response<AnswerBody> {
        let in_flight = connection.begin(request.version());
        // A stranger's requests wait for each other; at most the listener's limit of streams do.
        let _slot = match connection.is_authenticated() {
            true => None,
            false => connection.slots.acquire().await.ok(),
        };
        let (mut parts, body) = request.into_parts();
        let address = self.admission.proxies.client(connection.address, &parts.headers);
        let is_grpc = is_grpc(&parts);
        let body = match is_grpc && is_stream(&parts) {
            // A node speaks when it has something to say. Pings tell whether it is there.
            true => Body::new(body),
            false => Body::new(MovingBody::new(body, Arc::clone(&connection), self.limits.body_timeout)),
        };
        parts.extensions.insert(Peer { address, connection: Arc::clone(&connection) });
        let answer = self.router.clone().call(Request::from_parts(parts, body));
        let answer = match is_grpc {
            true => in_time(answer).await,
            false => answer.await,
        };
        let answer = answer.unwrap_or_else(|never| match never {});
        answer.map(|body| AnswerBody::new(body, in_flight))
    }
}

fn is_grpc(parts: &Parts) -> bool {
    let kind = parts.headers.get(header::CONTENT_TYPE).map(|kind| kind.as_bytes());
    kind.is_some_and(|kind| kind.starts_with(b"application/grpc"))
}

/// Whether it is the stream of a node, which lasts as long as the node does.
fn is_stream(parts: &Parts) -> bool {
    let method = parts.uri.path().strip_prefix('/').and_then(|path| path.strip_prefix(SERVICE_NAME));
    method == Some("/Connect")
}

/// The answer of a gRPC call; of one that takes too long, that it did (4 is "deadline exceeded").
async fn in_time<E>(answer: impl Future<Output = Result<Response<Body>, E>>) -> Result<Response<Body>, E> {
    let too_late = || ([(header::CONTENT_TYPE, "application/grpc")], [("grpc-status", "4")]).into_response();
    timeout(GRPC_ANSWER_WAIT, answer).await.unwrap_or_else(|_| Ok(too_late()))
}

/// Whether others on the network can read what is said here.
fn is_open_to_listeners(is_encrypted: bool, address: SocketAddr) -> bool {
    !is_encrypted && !address.ip().is_loopback()
}

/// Whether an error of `accept` says nothing about the next connection.
fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_not_answered_ends_and_says_so() {
        let begun = Instant::now();
        let ended = in_time(std::future::pending::<Result<_, Infallible>>()).await.unwrap();
        assert_eq!(begun.elapsed(), GRPC_ANSWER_WAIT);
        assert_eq!(ended.headers()["grpc-status"], "4");
        let answered = in_time(async { Ok::<_, Infallible>("done".into_response()) }).await.unwrap();
        assert!(!answered.headers().contains_key("grpc-status"));
    }

    #[test]
    fn a_listener_is_warned_about_off_loopback_without_tls() {
        for (address, is_encrypted, expected) in [
            ("127.0.0.1:80", false, false),
            ("[::1]:80", false, false),
            ("0.0.0.0:80", false, true),
            ("[::]:80", false, true),
            ("192.0.2.1:80", false, true),
            ("192.0.2.1:80", true, false),
        ] {
            assert_eq!(is_open_to_listeners(is_encrypted, address.parse().unwrap()), expected, "{address}");
        }
    }
}
