//! A URL of a directory or a bucket as an operator of the storage library.
//!
//! `file:///dir`, or `s3://bucket/prefix?endpoint=…&region=…`; credentials for S3 are given, or come from the environment or
//! the usual files, never from the URL.

use std::path::PathBuf;

use opendal::layers::RetryLayer;
use opendal::services::{Fs, S3};
use opendal::{HttpTransporter, OperationContext, Operator};
use reqwest::Url;

use crate::error::Error;

/// The region that S3-compatible servers without regions take.
const REGION_DEFAULT: &str = "us-east-1";
/// How often a request that failed for a moment is sent again.
const RETRIES: usize = 4;

/// What S3 requests are signed with.
#[derive(Clone)]
pub struct Credentials {
    /// Whose key.
    pub access_key_id: String,
    /// The key.
    pub secret_access_key: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Credentials({})", self.access_key_id)
    }
}

/// Reads a URL.
pub(crate) fn parse(url: &str) -> Result<Url, Error> {
    Url::parse(url).map_err(|error| Error::url(url, error.to_string()))
}

/// The path of a `file:` URL.
pub(crate) fn path_of(url: &Url) -> Result<PathBuf, Error> {
    url.to_file_path().map_err(|()| Error::url(url.as_str(), "a file URL is `file:///` and an absolute path"))
}

/// A directory.
pub(crate) fn directory(url: &Url) -> Result<Operator, Error> {
    let path = path_of(url)?;
    let root = path.to_str().ok_or_else(|| Error::url(url.as_str(), "the path is not text"))?;
    let operator = Operator::new(Fs::default().root(root)).map_err(Error::storage(root))?;
    Ok(operator)
}

/// A bucket, with everything below `root` of it.
pub(crate) fn bucket(
    url: &Url,
    root: &str,
    credentials: Option<&Credentials>,
    transport: HttpTransporter,
) -> Result<Operator, Error> {
    let bucket = url.host_str().filter(|host| !host.is_empty());
    let bucket = bucket.ok_or_else(|| Error::url(url.as_str(), "an S3 URL is `s3://bucket/prefix`"))?;
    let mut service = S3::default().bucket(bucket).root(root);
    if let Some(Credentials { access_key_id, secret_access_key }) = credentials {
        service =
            service.access_key_id(access_key_id).secret_access_key(secret_access_key).disable_config_load();
    }
    let mut region = None;
    for (name, value) in url.query_pairs() {
        service = match &*name {
            "endpoint" => service.endpoint(&value),
            "region" => {
                region = Some(value.into_owned());
                service
            }
            "virtual_host_style" if value == "true" => service.enable_virtual_host_style(),
            _ => return Err(Error::url(url.as_str(), format!("unknown setting `{name}`"))),
        };
    }
    let from_environment =
        || ["AWS_REGION", "AWS_DEFAULT_REGION"].into_iter().find_map(|name| std::env::var(name).ok());
    let region = region.or_else(from_environment).unwrap_or_else(|| REGION_DEFAULT.to_owned());
    let operator = Operator::new(service.region(&region)).map_err(Error::storage(bucket))?;
    let context = OperationContext::new().with_http_transport(transport);
    Ok(operator.with_context(context).layer(RetryLayer::new().with_max_times(RETRIES).with_jitter()))
}
