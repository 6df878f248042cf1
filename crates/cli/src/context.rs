//! What a command of the public API needs: a client, a namespace, and a way to speak.

use std::path::PathBuf;

use mainspring_client::Client;
use mainspring_model::Namespace;

use crate::arguments::Global;
use crate::config::{Config, Source, load};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::target::{Targets, read_ca, read_token};

/// The surroundings of a command.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) output: Output,
    namespace: Option<String>,
}

impl Context {
    /// From flags, variables, the settings file and the last target, in this order.
    pub(crate) fn open(global: &Global, output: Output) -> Result<Self, Failure> {
        let config = load(&Source::of_process(global.config.clone()))?.config;
        let namespace = global.namespace.clone().or_else(|| config.client.namespace.clone());
        if let Some(namespace) = &namespace {
            check_namespace("--namespace", namespace)?;
        }
        let Access { url, token, ca_file } = access(global, &config)?;
        if let Some(token) = &token {
            check_token(token)?;
        }
        let mut builder = Client::builder(url).retries(2);
        if let Some(token) = token {
            builder = builder.token(token);
        }
        if let Some(ca_file) = ca_file {
            builder = builder.ca_pem(read_ca(&ca_file)?);
        }
        if let Some(timeout) = config.client.timeout {
            builder = builder.timeout(timeout.0);
        }
        Ok(Self { client: builder.build()?, output, namespace })
    }

    /// A context of a test: this server, without a token.
    #[cfg(test)]
    pub(crate) fn of(url: &str) -> Self {
        let output = Output { format: crate::output::Format::Table, quiet: true };
        let client = Client::builder(url).retries(0).build();
        Self { client: client.unwrap_or_else(|error| panic!("{error}")), output, namespace: None }
    }

    /// The namespace that was asked for; lists without one show all.
    pub(crate) fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }
}

/// What no namespace is called, the server need not be asked for.
pub(crate) fn check_namespace(what: &str, path: &str) -> Result<(), Failure> {
    let read: Result<Namespace, _> = path.parse();
    read.map(drop).map_err(|error| {
        Failure::usage(format!("{what}: {error}"))
            .hint("a namespace is one name or several with `/` between, such as `acme/data`")
    })
}

/// A token goes into a line of a request, and is one word.
pub(crate) fn check_token(token: &str) -> Result<(), Failure> {
    if token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Denied,
        "the token is malformed: there is a blank, a line break or a strange letter in it",
    )
    .hint("a token is one word that begins with `ms_`; look at MAINSPRING_TOKEN or the token file"))
}

/// Where to ask, with which token, and whom to trust.
struct Access {
    url: String,
    token: Option<String>,
    ca_file: Option<PathBuf>,
}

/// Where to ask and with which token. A URL of its own goes with a token of its own: a token is never sent to a server
/// that it was not given for.
fn access(global: &Global, config: &Config) -> Result<Access, Failure> {
    let explicit_token = match (&global.token_file, &config.client.token, &config.client.token_file) {
        (Some(file), ..) => Some(read_token(file)?),
        (None, Some(token), _) => Some(token.clone()),
        (None, None, Some(file)) => Some(read_token(file)?),
        (None, None, None) => None,
    };
    let ca_file = config.client.ca_file.clone();
    let targets = Targets::read()?;
    match global.url.as_ref().or(config.client.url.as_ref()) {
        Some(url) => {
            let same = |other: &str| other.trim_end_matches('/') == url.trim_end_matches('/');
            let known = targets.target.values().find(|target| same(&target.url));
            let token = match (explicit_token, known) {
                (Some(token), _) => Some(token),
                (None, Some(target)) => target.token()?,
                (None, None) => None,
            };
            let ca_file = ca_file.or_else(|| known.and_then(|target| target.ca_file.clone()));
            Ok(Access { url: url.clone(), token, ca_file })
        }
        None => match targets.current() {
            Some(target) => {
                let token = explicit_token.map_or_else(|| target.token(), |token| Ok(Some(token)))?;
                let ca_file = ca_file.or_else(|| target.ca_file.clone());
                Ok(Access { url: target.url.clone(), token, ca_file })
            }
            None => Err(Failure::usage("no server is known")
                .hint("start one here with `mainspring up`, or sign in to one with `mainspring login URL`")),
        },
    }
}
