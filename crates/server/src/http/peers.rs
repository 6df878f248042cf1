//! HTTP clients for the other servers of the cluster, and whom they trust.

use std::path::Path;
use std::time::Duration;

use mainspring_wire::sse::SILENCE_MAX;
use reqwest::{Certificate, Client, ClientBuilder};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Asks other servers.
#[derive(Debug, Clone)]
pub struct Peers {
    /// Gives up when an answer pauses for longer than any stream of events does.
    pub(super) prompt: Client,
    /// Does not: output as text pauses while there is none.
    pub(super) patient: Client,
}

impl Peers {
    /// Clients that trust the certificates of this file, or the public ones. The error names the file.
    pub fn new(ca_file: Option<&Path>) -> Result<Self, String> {
        let trusted = ca_file.map(read).transpose()?;
        let build = |limit: fn(ClientBuilder) -> ClientBuilder| {
            limit(builder(trusted.clone())).build().map_err(|error| error.to_string())
        };
        Ok(Self {
            prompt: build(|builder| builder.read_timeout(SILENCE_MAX))?,
            patient: build(|builder| builder)?,
        })
    }
}

fn builder(trusted: Option<Vec<Certificate>>) -> ClientBuilder {
    // Only the first call counts; there is one provider in this program.
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    let builder = Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        // Each watcher has a connection of its own; an HTTP/2 connection has a limit of streams.
        .http1_only()
        .connect_timeout(CONNECT_TIMEOUT);
    match trusted {
        Some(trusted) => builder.tls_certs_only(trusted),
        None => builder,
    }
}

fn read(path: &Path) -> Result<Vec<Certificate>, String> {
    let wrong = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let pem = std::fs::read(path).map_err(|error| wrong(&error))?;
    let certificates = Certificate::from_pem_bundle(&pem).map_err(|error| wrong(&error))?;
    if certificates.is_empty() {
        return Err(wrong(&"there is no certificate in it"));
    }
    Ok(certificates)
}
