//! Which buckets an `s3:` URL that a stranger chose may name. The node's own credentials sign such a request, so nothing is
//! allowed that its operator did not list; and a listed bucket is where the operator says, not where the stranger says.

use reqwest::Url;

use crate::error::Error;
use crate::location;

/// Buckets that may be used, each as a whole or below a prefix. By default there are none.
#[derive(Debug, Clone, Default)]
pub struct Buckets(Vec<Url>);

impl Buckets {
    /// Reads a list of `BUCKET`, `BUCKET/PREFIX`, or `s3://BUCKET/PREFIX?endpoint=…&region=…`.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let one = |text: &str| {
            let url = if text.starts_with("s3:") { text.to_owned() } else { format!("s3://{text}") };
            let url = location::parse(&url).map_err(|error| error.to_string())?;
            match url.host_str() {
                Some(bucket) if !bucket.is_empty() => Ok(url),
                _ => Err(format!("`{text}` names no bucket")),
            }
        };
        texts.into_iter().map(one).collect::<Result<_, _>>().map(Self)
    }

    /// The URL with the settings of the list. Its own, if it has any, must be the same.
    pub(crate) fn find(&self, url: &Url) -> Result<Url, Error> {
        let fits = |listed: &&Url| {
            let settings: Vec<_> = listed.query_pairs().collect();
            listed.host_str() == url.host_str()
                && is_below(url.path(), listed.path())
                && url.query_pairs().all(|setting| settings.contains(&setting))
        };
        let refused = || Error::Bucket { bucket: url.host_str().unwrap_or_default().to_owned() };
        let listed = self.0.iter().find(fits).ok_or_else(refused)?;
        let mut found = url.clone();
        found.set_query(listed.query());
        Ok(found)
    }
}

fn is_below(path: &str, prefix: &str) -> bool {
    let prefix = prefix.trim_end_matches('/');
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(listed: &[&str], url: &str, found: Option<&str>) {
        let buckets = Buckets::parse(listed.iter().copied()).unwrap();
        let answer = buckets.find(&url.parse().unwrap()).ok();
        assert_eq!(answer.map(|url| url.to_string()).as_deref(), found, "{listed:?} {url}");
    }

    #[test]
    fn only_what_is_listed_and_only_there() {
        check(&[], "s3://data/x", None);
        check(&["data"], "s3://data/x", Some("s3://data/x"));
        check(&["data"], "s3://database/x", None);
        check(&["data"], "s3://data/x?endpoint=https://elsewhere.example", None);
        check(&["data/in"], "s3://data/in/x", Some("s3://data/in/x"));
        check(&["data/in"], "s3://data/inner/x", None);
        check(&["data/in"], "s3://data/in/../out/x", None);
        let listed = "s3://data?endpoint=https://minio.example&region=eu";
        check(&[listed], "s3://data/x", Some("s3://data/x?endpoint=https://minio.example&region=eu"));
        let own = "s3://data/x?region=eu";
        check(&[listed], own, Some("s3://data/x?endpoint=https://minio.example&region=eu"));
        check(&[listed], "s3://data/x?region=us", None);
        assert!(Buckets::parse(["s3:///x"]).is_err());
    }
}
