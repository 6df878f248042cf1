//! One request, as data: it can be sent again, and to another scheduler.

use bytes::Bytes;
use reqwest::Method;
use serde::Serialize;

use crate::error::Error;

/// A request that is not bound to a connection.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: Method,
    /// Parts of the path; a `/` within a part is escaped.
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Option<(&'static str, Bytes)>,
    /// Whether sending it twice is the same as sending it once.
    pub(crate) repeatable: bool,
}

impl Call {
    fn new(method: Method, path: &[&str], repeatable: bool) -> Self {
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        Self { method, path, query: Vec::new(), headers: Vec::new(), body: None, repeatable }
    }

    pub(crate) fn get(path: &[&str]) -> Self {
        Self::new(Method::GET, path, true)
    }

    pub(crate) fn put(path: &[&str]) -> Self {
        Self::new(Method::PUT, path, true)
    }

    pub(crate) fn delete(path: &[&str]) -> Self {
        Self::new(Method::DELETE, path, true)
    }

    /// A `POST` that must not be sent twice by itself.
    pub(crate) fn post(path: &[&str]) -> Self {
        Self::new(Method::POST, path, false)
    }

    /// A `POST` that says the same however often it is sent: cancel, pause, drain…
    pub(crate) fn post_repeatable(path: &[&str]) -> Self {
        Self::new(Method::POST, path, true)
    }

    pub(crate) fn query(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    pub(crate) fn maybe(self, name: &'static str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    /// Only if the thing still has this revision.
    pub(crate) fn if_match(self, revision: Option<u64>) -> Self {
        match revision {
            Some(revision) => self.header("if-match", format!("\"{revision}\"")),
            None => self,
        }
    }

    /// A text in a language of its own.
    pub(crate) fn text(mut self, media_type: &'static str, text: &str) -> Self {
        self.body = Some((media_type, text.to_owned().into()));
        self
    }

    pub(crate) fn json(mut self, body: &impl Serialize) -> Result<Self, Error> {
        let body = serde_json::to_vec(body).map_err(|error| Error::Setup(error.to_string()))?;
        self.body = Some(("application/json", body.into()));
        Ok(self)
    }
}
