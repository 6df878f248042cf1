//! The client: where the API is, who asks, and how a request is sent, sent again and redirected.
//!
//! What can be asked is in one file for each noun: `runs.rs`, `jobs.rs`, `nodes.rs`, …

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use reqwest::header::{AUTHORIZATION, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url};
use serde::de::DeserializeOwned;

use crate::backoff::Backoff;
use crate::call::Call;
use crate::error::Error;

/// The longest wait that a server's `Retry-After` is followed.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(10);
/// How often a request is sent on.
const REDIRECTS_MAX: u32 = 4;

/// A client of the HTTP API. Cheap to clone; clones share connections.
///
/// ```no_run
/// # async fn example() -> Result<(), mainspring_client::Error> {
/// use mainspring_client::Client;
///
/// // From MAINSPRING_URL and MAINSPRING_TOKEN:
/// let client = Client::from_env()?;
/// // Or by hand:
/// let client = Client::builder("http://127.0.0.1:7468").token("ms_…").build()?;
/// println!("signed in as {}", client.me().await?.subject);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    http: reqwest::Client,
    /// Where servers of the cluster are; any of them answers anything.
    bases: Vec<Url>,
    /// The one that is asked.
    at: AtomicUsize,
    token: Option<String>,
    session: Option<String>,
    timeout: Duration,
    retries: u32,
}

impl std::fmt::Debug for Shared {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("url", &self.base().as_str()).finish_non_exhaustive()
    }
}

impl Shared {
    fn base(&self) -> &Url {
        &self.bases[self.at.load(Relaxed) % self.bases.len()]
    }

    /// Asks the server after this one from now on, unless another call has moved on already.
    fn ask_next_after(&self, asked: usize) {
        let next = (asked + 1) % self.bases.len();
        let _ = self.at.compare_exchange(asked, next, Relaxed, Relaxed);
    }
}

/// Sets a [`Client`] up.
#[derive(Clone)]
pub struct Builder {
    url: String,
    token: Option<String>,
    session: Option<String>,
    ca_pem: Option<Vec<u8>>,
    timeout: Duration,
    retries: u32,
}

impl std::fmt::Debug for Builder {
    /// Without the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Builder {
    /// The API token.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// The cookie of a console session (`name=value`), instead of a token.
    pub fn session(mut self, cookie: impl Into<String>) -> Self {
        self.session = Some(cookie.into());
        self
    }

    /// Certificates to trust when the server is `https`, in PEM; the public ones unless told.
    pub fn ca_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.ca_pem = Some(pem.into());
        self
    }

    /// How long one request may take; 30 seconds unless told. Streams and transfers of artifacts are not limited.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How often a call that may be repeated is repeated when the server is away or busy; 4 unless told.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// The client. Nothing is sent yet.
    pub fn build(self) -> Result<Client, Error> {
        let bases = self.url.split(',').map(str::trim).filter(|url| !url.is_empty()).map(base);
        let bases = bases.collect::<Result<Vec<Url>, Error>>()?;
        if bases.is_empty() {
            return Err(Error::Setup("no URL is given".into()));
        }
        // A token goes into a line of a request: what does not fit there would look like a broken connection.
        if self.token.as_ref().is_some_and(|token| HeaderValue::from_str(token).is_err()) {
            return Err(Error::Setup(
                "the token is malformed: there is a line break or a strange letter in it".into(),
            ));
        }
        // A program that has chosen its provider keeps it.
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        }
        let trusted = self.ca_pem.as_deref().map(certificates).transpose()?;
        let builder = match trusted {
            Some(trusted) => reqwest::Client::builder().tls_certs_only(trusted),
            None => reqwest::Client::builder(),
        };
        let http = builder
            .user_agent(concat!("mainspring-client/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(10))
            // Redirects to the owner of a cell must keep the token; ours are followed in `send`.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| Error::Setup(format!("cannot set HTTP up: {error}")))?;
        let Self { token, session, timeout, retries, .. } = self;
        Ok(Client {
            shared: Arc::new(Shared {
                http,
                bases,
                at: AtomicUsize::new(0),
                token,
                session,
                timeout,
                retries,
            }),
        })
    }
}

fn base(text: &str) -> Result<Url, Error> {
    let base = Url::parse(text).map_err(|error| Error::Setup(format!("`{text}` is not a URL: {error}")))?;
    if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
        return Err(Error::Setup(format!("`{text}` does not begin with http:// or https://")));
    }
    Ok(base)
}

fn certificates(pem: &[u8]) -> Result<Vec<reqwest::Certificate>, Error> {
    let read = reqwest::Certificate::from_pem_bundle(pem);
    let read =
        read.map_err(|error| Error::Setup(format!("the certificates to trust are no PEM: {error}")))?;
    match read.is_empty() {
        true => Err(Error::Setup("there is no certificate among those to trust".into())),
        false => Ok(read),
    }
}

/// Whether this looks like a token of the API; one of an attempt opens nothing there.
pub fn is_api_token(token: &str) -> bool {
    token.starts_with("ms_")
}

impl Client {
    /// A client of the API at `url`. Several URLs of one cluster stand with commas between: when a server cannot be reached,
    /// the next is asked.
    pub fn builder(url: impl Into<String>) -> Builder {
        Builder {
            url: url.into(),
            token: None,
            session: None,
            ca_pem: None,
            timeout: Duration::from_secs(30),
            retries: 4,
        }
    }

    /// A client from `MAINSPRING_URL`, `MAINSPRING_TOKEN` (or `MAINSPRING_TOKEN_FILE`) and, for a server whose certificate is
    /// of an authority of its own, `MAINSPRING_CA_FILE`. Inside a task `MAINSPRING_TOKEN` is
    /// that of the attempt, unless its job says otherwise, and is not taken for one of the API.
    pub fn from_env() -> Result<Self, Error> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let is_task = variable("MAINSPRING_RUN_ID").is_some();
        let token = variable("MAINSPRING_TOKEN").filter(|token| !is_task || is_api_token(token));
        let url =
            variable("MAINSPRING_URL").ok_or_else(|| Error::Setup("MAINSPRING_URL is not set".into()))?;
        let token = match (token, variable("MAINSPRING_TOKEN_FILE")) {
            (Some(token), _) => Some(token),
            (None, Some(file)) => Some(std::fs::read_to_string(file)?.trim().to_owned()),
            (None, None) => None,
        };
        let mut builder = Self::builder(url);
        builder.token = token;
        builder.ca_pem = variable("MAINSPRING_CA_FILE").map(std::fs::read).transpose()?;
        builder.build()
    }

    /// Where the API is: of several URLs, the one that is asked now.
    pub fn url(&self) -> &str {
        self.shared.base().as_str()
    }

    /// Sends a call and reads the answer's JSON.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, call: Call) -> Result<T, Error> {
        let answer = self.send(call).await?;
        let body = answer.bytes().await.map_err(Error::Broken)?;
        serde_json::from_slice(&body).map_err(|error| Error::Unreadable(error.to_string()))
    }

    /// Sends a call whose answer says nothing more than that it was done.
    pub(crate) async fn tell(&self, call: Call) -> Result<(), Error> {
        self.send(call).await.map(drop)
    }

    /// Sends a call, again where that is safe and may help, and gives the answer when it is a good one.
    pub(crate) async fn send(&self, call: Call) -> Result<Response, Error> {
        self.send_with(call, Some(self.shared.timeout)).await
    }

    /// The same without a limit on how long the answer's body may take.
    pub(crate) async fn open(&self, call: Call) -> Result<Response, Error> {
        self.send_with(call, None).await
    }

    async fn send_with(&self, call: Call, timeout: Option<Duration>) -> Result<Response, Error> {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(2));
        let begun = Instant::now();
        let mut unreached = 0;
        loop {
            let asked = self.shared.at.load(Relaxed);
            let (error, wait) = match self.once(&call, timeout).await {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            if matches!(&error, Error::Unreachable { url, .. } if self.is_base(url)) {
                unreached += 1;
                self.shared.ask_next_after(asked);
                // Every server is tried once before there is a pause.
                if unreached % self.shared.bases.len() != 0 {
                    continue;
                }
            }
            // A server that lives knows of an owner that does not: it will find out, and another takes over.
            let not_passed_on = matches!(&error, Error::Api(problem) if problem.code == "not_owner");
            let sent_away = matches!(&error, Error::Unreachable { url, .. } if !self.is_base(url));
            let patient = (not_passed_on || sent_away) && begun.elapsed() < self.shared.timeout;
            // A connection that was never made carried nothing, so even a plain POST may try again.
            let safe = call.repeatable || not_passed_on || matches!(error, Error::Unreachable { .. });
            let tired = backoff.tries() >= self.shared.retries && !patient;
            if !safe || !error.is_transient() || tired {
                return Err(error);
            }
            let pause = backoff.next().max(wait.unwrap_or_default().min(RETRY_AFTER_MAX));
            tokio::time::sleep(pause).await;
        }
    }

    /// One try, along redirects: something in front of the server may know a better place.
    async fn once(
        &self,
        call: &Call,
        timeout: Option<Duration>,
    ) -> Result<Response, (Error, Option<Duration>)> {
        let mut url = self.url_of(call).map_err(|error| (error, None))?;
        for _ in 0..=REDIRECTS_MAX {
            let answer = self.request(call, url.clone(), timeout).send().await;
            let answer = answer.map_err(|source| (failed(&url, source), None))?;
            let status = answer.status();
            if status.is_success() {
                return Ok(answer);
            }
            if matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT) {
                url = next_url(&url, &answer).map_err(|error| (error, None))?;
                continue;
            }
            let wait = retry_after(&answer);
            let body = answer.bytes().await.unwrap_or_default();
            return Err((Error::from_answer(status, &body), wait));
        }
        Err((Error::Unreadable("the redirects go round in circles".into()), None))
    }

    fn request(&self, call: &Call, url: Url, timeout: Option<Duration>) -> reqwest::RequestBuilder {
        let mut request = self.shared.http.request(call.method.clone(), url);
        if let Some(token) = &self.shared.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        if let Some(session) = &self.shared.session {
            // A change that comes with a cookie must say that it comes from the server's own pages.
            let origin = self.shared.base().origin().ascii_serialization();
            request = request.header("cookie", session).header("origin", origin);
        }
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        if let Some((content_type, body)) = &call.body {
            request = request.header("content-type", *content_type).body(body.clone());
        }
        match timeout {
            Some(timeout) => request.timeout(timeout),
            None => request,
        }
    }

    /// A request whose body is a stream: sent once, without a time limit.
    pub(crate) async fn send_stream(&self, call: &Call, body: reqwest::Body) -> Result<Response, Error> {
        let url = self.url_of(call)?;
        let answer = self.request(call, url.clone(), None).body(body).send().await;
        let answer = answer.map_err(|source| failed(&url, source))?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        Err(Error::from_answer(status, &answer.bytes().await.unwrap_or_default()))
    }

    /// What the server says, whatever its status.
    pub(crate) async fn look(&self, call: Call) -> Result<(StatusCode, Vec<u8>), Error> {
        let mut left = self.shared.bases.len();
        loop {
            let (asked, url) = (self.shared.at.load(Relaxed), self.url_of(&call)?);
            left -= 1;
            match self.request(&call, url.clone(), Some(self.shared.timeout)).send().await {
                Ok(answer) => {
                    let status = answer.status();
                    return Ok((status, answer.bytes().await.map_err(Error::Broken)?.into()));
                }
                Err(source) if source.is_connect() && left > 0 => self.shared.ask_next_after(asked),
                Err(source) => return Err(failed(&url, source)),
            }
        }
    }

    /// Whether this is the origin of a URL that was given, and not of one that a server sent us to.
    fn is_base(&self, origin: &str) -> bool {
        self.shared.bases.iter().any(|base| base.origin().ascii_serialization() == origin)
    }

    fn url_of(&self, call: &Call) -> Result<Url, Error> {
        let mut url = self.shared.base().clone();
        url.path_segments_mut()
            .map_err(|()| Error::Setup(format!("`{}` cannot carry a path", self.url())))?
            .pop_if_empty()
            .extend(&call.path);
        if !call.query.is_empty() {
            url.query_pairs_mut()
                .extend_pairs(call.query.iter().map(|(name, value)| (*name, value.as_str())));
        }
        Ok(url)
    }
}

fn failed(url: &Url, source: reqwest::Error) -> Error {
    if source.is_connect() {
        let url = url.origin().ascii_serialization();
        return Error::Unreachable { url, source: source.without_url() };
    }
    Error::Broken(source.without_url())
}

fn next_url(url: &Url, answer: &Response) -> Result<Url, Error> {
    let location = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let next = location.and_then(|location| url.join(location).ok());
    let next = next.ok_or_else(|| Error::Unreadable("a redirect without a place to go".into()))?;
    if url.scheme() == "https" && next.scheme() != "https" {
        return Err(Error::Unreadable(format!(
            "a redirect from https to {next}, which would show the token"
        )));
    }
    Ok(next)
}

fn retry_after(answer: &Response) -> Option<Duration> {
    let value = answer.headers().get(RETRY_AFTER)?.to_str().ok()?;
    value.parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_a_task_the_token_of_the_attempt_is_not_taken_for_one_of_the_api() {
        let check = |variables: &[(&str, &str)], token: Option<&str>| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(have, _)| *have == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            let client = Client::from_variables(variable).expect("a client");
            assert_eq!(client.shared.token.as_deref(), token, "{variables:?}");
        };
        let url = ("MAINSPRING_URL", "http://127.0.0.1:7468");
        let task = ("MAINSPRING_RUN_ID", "run_01hf7yat00000000000000000a");
        let of_attempt = ("MAINSPRING_TOKEN", "run_01hf7yat00000000000000000a.1.7");
        let of_person = ("MAINSPRING_TOKEN", "ms_abc");
        check(&[url, of_person], Some("ms_abc"));
        check(&[url, task, of_person], Some("ms_abc"));
        check(&[url, task, of_attempt], None);
        check(&[url, ("MAINSPRING_TOKEN", "")], None);
    }
}
