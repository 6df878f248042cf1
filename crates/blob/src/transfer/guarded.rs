//! HTTP that reaches only the addresses it may.
//!
//! A host that is an address is checked before it is dialled, on the first request and on each redirection; a name is
//! checked by what it resolves to, and only that is dialled. No proxy: behind one nothing could be checked.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use opendal::{Buffer, HttpBody, HttpTransport, HttpTransporter};
use opendal_http_transport_reqwest::ReqwestTransport;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, ClientBuilder, redirect};

use crate::error::{Error, FORBIDDEN};
use crate::networks::Networks;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the other end may be silent.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(60);
const REDIRECTIONS_MAX: usize = 5;

/// A client that reaches only what it may. It gives up on an answer that does not come, or breaks off.
pub(crate) fn client(networks: &Networks) -> Result<Client, Error> {
    build(builder(networks).read_timeout(SILENCE_MAX))
}

/// The same, for uploads: the answer comes after everything was sent, however long that takes.
pub(super) fn upload_client(networks: &Networks) -> Result<Client, Error> {
    build(builder(networks))
}

fn build(builder: ClientBuilder) -> Result<Client, Error> {
    builder.build().map_err(|error| Error::Client(error.to_string()))
}

fn builder(networks: &Networks) -> ClientBuilder {
    // The one provider of the build; an application that has installed it already is not disturbed.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let hosts = networks.clone();
    let follow = redirect::Policy::custom(move |attempt| {
        let host = attempt.url().host_str().unwrap_or_default().to_owned();
        if !matches!(attempt.url().scheme(), "http" | "https") || !hosts.allow_host(&host) {
            attempt.error(format!("{FORBIDDEN}{host}"))
        } else if attempt.previous().len() > REDIRECTIONS_MAX {
            attempt.error("too many redirections")
        } else {
            attempt.follow()
        }
    });
    Client::builder()
        .no_proxy()
        .redirect(follow)
        .dns_resolver(Arc::new(Resolver { networks: networks.clone() }))
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("mainspring/", env!("CARGO_PKG_VERSION")))
}

/// The same, for the storage library.
pub(crate) fn transport(networks: &Networks, client: Client) -> HttpTransporter {
    let inner = ReqwestTransport::new(client);
    HttpTransporter::new(Guarded { inner, networks: networks.clone() })
}

/// Refuses a URL whose host is an address that may not be reached.
pub(crate) fn check(networks: &Networks, url: &reqwest::Url) -> Result<(), Error> {
    let host = url.host_str().unwrap_or_default();
    if networks.allow_host(host) { Ok(()) } else { Err(Error::Forbidden { host: host.to_owned() }) }
}

struct Guarded {
    inner: ReqwestTransport,
    networks: Networks,
}

impl HttpTransport for Guarded {
    async fn fetch(&self, request: http::Request<Buffer>) -> opendal::Result<http::Response<HttpBody>> {
        let host = request.uri().host().unwrap_or_default();
        if !self.networks.allow_host(host) {
            let words = format!("{FORBIDDEN}{host}");
            return Err(opendal::Error::new(opendal::ErrorKind::PermissionDenied, words));
        }
        self.inner.fetch(request).await
    }
}

/// Resolves names to addresses that may be reached.
struct Resolver {
    networks: Networks,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let networks = self.networks.clone();
        Box::pin(async move {
            let all: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let may: Vec<SocketAddr> =
                all.into_iter().filter(|address| networks.allow(address.ip())).collect();
            if may.is_empty() {
                return Err(format!("{FORBIDDEN}{}", name.as_str()).into());
            }
            Ok(Box::new(may.into_iter()) as Addrs)
        })
    }
}
