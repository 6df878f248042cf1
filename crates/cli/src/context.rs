//! What a command of the public API needs: a client, a namespace, and a way to speak.

use mainspring_client::Client;

use crate::arguments::Global;
use crate::config::{Config, Source, load};
use crate::failure::Failure;
use crate::output::Output;
use crate::target::{Targets, read_token};

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
        let (url, token) = access(global, &config)?;
        let mut builder = Client::builder(url).retries(2);
        if let Some(token) = token {
            builder = builder.token(token);
        }
        if let Some(timeout) = config.client.timeout {
            builder = builder.timeout(timeout.0);
        }
        Ok(Self { client: builder.build()?, output, namespace })
    }

    /// The namespace that was asked for; lists without one show all.
    pub(crate) fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }
}

/// Where to ask and with which token. A URL of its own goes with a token of its own: a token is never sent to a server
/// that it was not given for.
fn access(global: &Global, config: &Config) -> Result<(String, Option<String>), Failure> {
    let explicit_token = match (&global.token_file, &config.client.token, &config.client.token_file) {
        (Some(file), ..) => Some(read_token(file)?),
        (None, Some(token), _) => Some(token.clone()),
        (None, None, Some(file)) => Some(read_token(file)?),
        (None, None, None) => None,
    };
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
            Ok((url.clone(), token))
        }
        None => match targets.current() {
            Some(target) => {
                let token = explicit_token.map_or_else(|| target.token(), |token| Ok(Some(token)))?;
                Ok((target.url.clone(), token))
            }
            None => Err(Failure::usage("no server is known")
                .hint("start one here with `mainspring up`, or sign in to one with `mainspring login URL`")),
        },
    }
}
