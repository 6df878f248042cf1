//! The one error of this crate.

use std::io;
use std::path::PathBuf;

use mainspring_model::spec::Digest;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A URL that cannot be used.
    #[error("{url}: {why}")]
    Url {
        /// Which, without its query.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// A key or path that leaves its directory, or is none.
    #[error("`{path}` is not a path inside its directory")]
    Outside {
        /// The path.
        path: String,
    },
    /// There is nothing there.
    #[error("{what}: not found")]
    NotFound {
        /// Which file or key.
        what: String,
    },
    /// More bytes than allowed.
    #[error("longer than {limit} bytes")]
    TooLarge {
        /// How many are allowed.
        limit: u64,
    },
    /// The content is not what was named.
    #[error("the digest is {found}, not {expected}")]
    Digest {
        /// What was named.
        expected: Digest,
        /// What it is.
        found: Digest,
    },
    /// An address that a stranger's URL may not reach.
    #[error("{host} is not an address that may be reached from here")]
    Forbidden {
        /// The host.
        host: String,
    },
    /// A path that a stranger's URL may not name.
    #[error("{} is not in a directory that `file:` locations may use here", path.display())]
    Place {
        /// The path.
        path: PathBuf,
    },
    /// A bucket that a stranger's URL may not name.
    #[error("`{bucket}`, there and with these settings, is not a bucket that `s3:` locations may use here")]
    Bucket {
        /// The bucket.
        bucket: String,
    },
    /// The other end answered with something else.
    #[error("{url} answered {status}")]
    Status {
        /// Which URL, without its query.
        url: String,
        /// The status.
        status: u16,
    },
    /// The other end could not be reached, or the connection broke.
    #[error("{url}: {why}")]
    Network {
        /// Which URL, without its query.
        url: String,
        /// Why.
        why: String,
    },
    /// There is no way to speak HTTP from here, to whomever.
    #[error("no HTTP client can be made on this machine: {0}")]
    Client(String),
    /// The storage refused.
    #[error("storage: {0}")]
    Storage(String),
    /// A local file could not be used.
    #[error("cannot {verb} {}: {source}", path.display())]
    File {
        /// What was tried.
        verb: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was to be stored could not be read.
    #[error("the content broke off: {0}")]
    Source(#[source] io::Error),
}

impl Error {
    pub(crate) fn file(verb: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { verb, path, source }
    }

    pub(crate) fn url(url: &str, why: impl Into<String>) -> Self {
        Self::Url { url: bare(url), why: why.into() }
    }

    pub(crate) fn storage(what: &str) -> impl FnOnce(opendal::Error) -> Self + use<> {
        let what = what.to_owned();
        move |error| match error.kind() {
            opendal::ErrorKind::NotFound => Self::NotFound { what },
            _ => Self::Storage(with_causes(&error)),
        }
    }

    pub(crate) fn network(url: &str, error: &reqwest::Error) -> Self {
        let why = with_causes(error);
        match why.split_once(FORBIDDEN) {
            Some((_, host)) => Self::Forbidden { host: host.to_owned() },
            None => Self::Network { url: bare(url), why },
        }
    }
}

/// Marks an address that may not be reached, through errors that carry only words.
pub(crate) const FORBIDDEN: &str = "forbidden address: ";

/// A URL without its query, where secrets are.
pub(crate) fn bare(url: &str) -> String {
    url.split(['?', '#']).next().unwrap_or_default().to_owned()
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let said = source.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = source.source();
    }
    text
}
