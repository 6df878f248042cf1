//! Every request that a page of the console makes when it is opened, page by page, as its code has them (`console/src`: the calls
//! in `use*.ts` of each feature). What several pages ask is listed with the first.

use std::time::{Duration, SystemTime};

use super::history::Written;
use crate::e2e::http::Request;

/// A request of a page.
pub(super) struct Asked {
    pub(super) name: String,
    pub(super) request: Request,
    /// A list or details: what has a bar. The rest looks at the whole cluster.
    pub(super) is_bound: bool,
}

/// All of them; the first is the read of one run, which the others are held against.
pub(super) fn all(written: &Written, token: &str) -> Vec<Asked> {
    let Written { namespace, job, run, failed } = written;
    let day = ago(24);
    let week = ago(7 * 24);
    let of_job = format!("namespace={}", escaped(namespace.as_str()));
    let before = format!("q=job:{job}%20state:success&{of_job}&limit=1");
    let lists = [
        ("Run", format!("/v1/runs/{run}")),
        ("shell", "/v1/me".to_owned()),
        ("shell", "/v1/namespaces?limit=1000".to_owned()),
        ("Overview", format!("/v1/stats?from={day}")),
        ("Overview, a week", format!("/v1/stats?from={week}")),
        ("Overview", "/v1/jobs?limit=1000".to_owned()),
        ("Overview", "/v1/triggers?limit=1000".to_owned()),
        ("Overview", "/v1/nodes?limit=1000".to_owned()),
        ("Runs", "/v1/runs?limit=100".to_owned()),
        ("Runs", format!("/v1/runs?limit=100&{of_job}")),
        ("Runs", "/v1/runs?limit=100&q=state:final_failed".to_owned()),
        ("Runs", "/v1/runs?limit=100&q=state:running,waiting".to_owned()),
        ("Run", format!("/v1/runs/{failed}/why")),
        ("Run", format!("/v1/runs/{failed}/attempts")),
        ("Run", format!("/v1/runs/{failed}/timeline")),
        ("Run", format!("/v1/runs/{failed}/logs?limit=262144")),
        ("Run, last success", format!("/v1/runs?{before}")),
        ("Run, again", format!("/v1/runs/{run}/spec")),
        ("Job", format!("/v1/jobs/{job}?{of_job}")),
        ("Job", format!("/v1/jobs/{job}/triggers?{of_job}")),
        ("Job", format!("/v1/jobs/{job}/versions?{of_job}&limit=100")),
        ("Job", format!("/v1/stats?{of_job}&job={job}&from={week}")),
        ("Job", format!("/v1/runs?limit=100&q=job:{job}&{of_job}")),
        ("Nodes", "/v1/pools".to_owned()),
    ];
    let cluster = [("Overview", "/v1/doctor"), ("Overview", "/v1/cluster")];
    let lists = lists.into_iter().map(|(page, path)| asked(page, &path, token, true));
    lists.chain(cluster.into_iter().map(|(page, path)| asked(page, path, token, false))).collect()
}

fn asked(page: &str, path: &str, token: &str, is_bound: bool) -> Asked {
    let mut name = path.to_owned();
    // Ids say nothing to a reader.
    for word in path.split(['/', '?', '&', '=']).filter(|word| word.len() > 24 && word.starts_with("run_")) {
        name = name.replace(word, "{run}");
    }
    let name = match name.split_once("from=") {
        Some((before, _)) => format!("{before}from=…"),
        None => name,
    };
    Asked { name: format!("{page}: {name}"), request: Request::new("GET", path, token, None), is_bound }
}

/// A moment so many hours ago, as the console writes it.
fn ago(hours: u64) -> String {
    let at = SystemTime::now() - Duration::from_secs(hours * 3_600);
    let micros = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_micros();
    escaped(&mainspring_model::Timestamp::from_micros(micros as i64).to_string())
}

fn escaped(text: &str) -> String {
    text.replace('/', "%2F").replace(':', "%3A").replace('+', "%2B")
}
