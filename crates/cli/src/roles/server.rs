//! Flags of a server, laid over the settings.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use mainspring_server::{ListenLimits, Options, Roles, TlsFiles};

use crate::config::ServerConfig;
use crate::failure::Failure;

/// Where a person looks who wrote a wrong setting.
const SETTINGS: &str = "`mainspring config list -o wide` shows every setting, with its default";
const DATA: &str = "mainspring-data";
const LISTEN: &str = "127.0.0.1:7468";
/// How long a process that was killed may hold its port.
const DYING_MAX: Duration = Duration::from_secs(1);

/// What a server takes.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct ServerFlags {
    /// The store: sqlite:FILE, postgres://… or mysql://… [default: SQLite in the data directory]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Where it keeps its identity, logs and artifacts [default: ./mainspring-data]
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,
    /// Where it listens [default: 127.0.0.1:7468]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// How others reach it, when that is not where it listens
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Serve the web console from this folder instead of the program, to develop it
    #[arg(long, value_name = "DIRECTORY")]
    console_dir: Option<PathBuf>,
}

impl ServerFlags {
    /// Those of an embedded store in this folder, as a demonstration has it.
    pub(crate) fn embedded(data: PathBuf, listen: Option<String>, console_dir: Option<PathBuf>) -> Self {
        Self { data: Some(data), listen, console_dir, ..Self::default() }
    }

    /// The data directory.
    pub(crate) fn data(&self, config: &ServerConfig) -> PathBuf {
        self.data.clone().or_else(|| config.data.clone()).unwrap_or_else(|| DATA.into())
    }

    /// The whole of it.
    pub(crate) fn options(&self, config: &ServerConfig) -> Result<Options, Failure> {
        let data = self.data(config);
        let store = self.store.clone().or_else(|| config.store.clone());
        let store = store.unwrap_or_else(|| format!("sqlite:{}", data.join("mainspring.db").display()));
        let mut options = Options::new(store, data);
        options.listen =
            address(self.listen.as_ref().or(config.listen.as_ref()).map_or(LISTEN, |text| text))?;
        options.url = self.public_url.clone().or_else(|| config.public_url.clone());
        options.tls = tls(config)?;
        options.ca_file = config.ca_file.clone();
        options.limits = limits(config);
        options.console = self.console_dir.clone();
        options.artifacts = config.artifacts.clone();
        options.logs = config.logs.clone();
        options.keeping.runs = config.keep_runs.map_or(options.keeping.runs, |span| span.0);
        options.keeping.audit = config.keep_audit.map_or(options.keeping.audit, |span| span.0);
        let kept = options.keeping.occurrences;
        options.keeping.occurrences = config.keep_occurrences.map_or(kept, |span| span.0);
        options.cells = config.cells.unwrap_or(options.cells);
        options.heartbeat_every = config.heartbeat_every.map_or(options.heartbeat_every, |span| span.0);
        options.lost_after = config.lost_after.map_or(options.lost_after, |span| span.0);
        options.outage_max = config.outage_max.map_or(options.outage_max, |span| span.0);
        options.check().map_err(|why| Failure::usage(why).hint(SETTINGS))?;
        Ok(options)
    }
}

/// A certificate needs its key.
fn tls(config: &ServerConfig) -> Result<Option<TlsFiles>, Failure> {
    match (config.tls_cert.clone(), config.tls_key.clone()) {
        (Some(cert), Some(key)) => Ok(Some(TlsFiles { cert, key })),
        (None, None) => Ok(None),
        (Some(_), None) => {
            Err(Failure::usage("tls_cert: its private key is missing; set server.tls_key").hint(SETTINGS))
        }
        (None, Some(_)) => {
            Err(Failure::usage("tls_key: its certificate is missing; set server.tls_cert").hint(SETTINGS))
        }
    }
}

/// What the listener allows.
fn limits(config: &ServerConfig) -> ListenLimits {
    let default = ListenLimits::default();
    let count = |told: Option<u32>, default: usize| told.map_or(default, |count| count as usize);
    ListenLimits {
        connections_max: count(config.connections_max, default.connections_max),
        connections_per_address_max: count(
            config.connections_per_address_max,
            default.connections_per_address_max,
        ),
        trusted_proxies: config.trusted_proxies.clone().unwrap_or_default(),
        header_timeout: config.header_timeout.map_or(default.header_timeout, |span| span.0),
        body_timeout: config.body_timeout.map_or(default.body_timeout, |span| span.0),
        idle_timeout: config.idle_timeout.map_or(default.idle_timeout, |span| span.0),
        streams_max: config.streams_max.unwrap_or(default.streams_max),
        wrong_credentials_per_minute: config
            .wrong_credentials_per_minute
            .unwrap_or(default.wrong_credentials_per_minute),
    }
}

/// Whether somebody else listens there for longer than a process takes to die: one that was killed just now may hold the
/// port for a moment. The server itself has the last word, when it listens.
pub(crate) async fn check_port(listen: SocketAddr) -> Result<(), Failure> {
    let begun = Instant::now();
    loop {
        match TcpListener::bind(listen) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && begun.elapsed() < DYING_MAX => {
                tokio::time::sleep(DYING_MAX / 20).await;
            }
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                return Err(Failure::failed(format!("cannot listen on {listen}: {error}"))
                    .hint("is a server up already? `--listen 127.0.0.1:0` takes a port that is free"));
            }
            Ok(_) | Err(_) => return Ok(()),
        }
    }
}

/// `api`, `scheduler`, or both.
pub(crate) fn roles(words: &[String]) -> Result<Roles, Failure> {
    let mut roles = Roles { api: false, scheduler: false };
    for word in words {
        match word.as_str() {
            "api" => roles.api = true,
            "scheduler" => roles.scheduler = true,
            other => {
                return Err(Failure::usage(format!("roles: there is no role `{other}`"))
                    .hint("use api, scheduler, or both"));
            }
        }
    }
    Ok(roles)
}

fn address(text: &str) -> Result<SocketAddr, Failure> {
    let wrong = || {
        Failure::usage(format!("listen: `{text}` is no address"))
            .hint("write HOST:PORT, such as 127.0.0.1:7468")
    };
    text.to_socket_addrs().map_err(|_| wrong())?.next().ok_or_else(wrong)
}
