//! The settings in force, as people read them. Credentials that URLs may carry are left out.

use std::fmt::Display;
use std::time::Duration;

use mainspring_model::{MemberId, duration_text};
use mainspring_wire::api::{Setting, Settings};

use crate::options::Options;

/// What a server goes by that reached its port at `url`.
pub(crate) fn of(options: &Options, member: MemberId, url: &str) -> Settings {
    let Options {
        store,
        data,
        artifacts,
        logs,
        listen,
        url: _,
        tls,
        ca_file,
        limits,
        console,
        roles,
        cells,
        heartbeat_every,
        lost_after,
        outage_max,
        resident,
        waiting_max,
        recheck_every,
        store_wait,
        keeping,
    } = options;
    let roles = [(roles.api, "api"), (roles.scheduler, "scheduler")];
    let roles: Vec<&str> = roles.into_iter().filter(|(has, _)| *has).map(|(_, name)| name).collect();
    let mut list = List::default();
    list.add("server", "store", without_secrets(store));
    list.add("server", "data", data.display());
    list.maybe("server", "artifacts", artifacts.as_deref().map(without_secrets));
    list.maybe("server", "logs", logs.as_deref().map(without_secrets));
    list.add("server", "roles", roles.join(", "));
    list.maybe("server", "console_dir", console.as_ref().map(|folder| folder.display()));
    list.maybe("server", "resident_node", *resident);
    list.add("listener", "listen", listen);
    list.add("listener", "url", without_secrets(url));
    list.maybe("listener", "tls_certificate", tls.as_ref().map(|files| files.cert.display()));
    list.maybe("listener", "ca_file", ca_file.as_ref().map(|file| file.display()));
    list.add("listener", "connections_max", limits.connections_max);
    list.add("listener", "connections_per_address_max", limits.connections_per_address_max);
    list.add("listener", "trusted_proxies", limits.trusted_proxies.join(", "));
    list.time("listener", "header_timeout", limits.header_timeout);
    list.time("listener", "body_timeout", limits.body_timeout);
    list.time("listener", "idle_timeout", limits.idle_timeout);
    list.add("listener", "streams_max", limits.streams_max);
    list.add("listener", "wrong_credentials_per_minute", limits.wrong_credentials_per_minute);
    list.add("cluster", "cells", cells);
    list.time("cluster", "heartbeat_every", *heartbeat_every);
    list.time("cluster", "lost_after", *lost_after);
    list.time("cluster", "outage_max", *outage_max);
    list.add("cluster", "waiting_max", waiting_max);
    list.time("cluster", "recheck_every", *recheck_every);
    list.time("cluster", "store_wait", *store_wait);
    list.time("retention", "runs", keeping.runs);
    list.time("retention", "counters", keeping.counters);
    list.time("retention", "audit", keeping.audit);
    list.time("retention", "occurrences", keeping.occurrences);
    Settings { member, software: env!("CARGO_PKG_VERSION").into(), settings: list.0 }
}

#[derive(Default)]
struct List(Vec<Setting>);

impl List {
    fn add(&mut self, group: &str, name: &str, value: impl Display) {
        self.maybe(group, name, Some(value));
    }

    fn maybe(&mut self, group: &str, name: &str, value: Option<impl Display>) {
        let value = value.map(|value| value.to_string()).filter(|value| !value.is_empty());
        self.0.push(Setting { group: group.into(), name: name.into(), value });
    }

    fn time(&mut self, group: &str, name: &str, value: Duration) {
        self.add(group, name, duration_text::format(value));
    }
}

/// A URL without who signs in and without its query, where secrets may be; a path as it is.
fn without_secrets(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.split('?').next().unwrap_or_default().to_owned();
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    // Also of a password that nobody escaped.
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    format!("{scheme}://{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_without_credentials() {
        let check = |url: &str, expected: &str| assert_eq!(without_secrets(url), expected);
        check("sqlite:/var/lib/mainspring/store.db", "sqlite:/var/lib/mainspring/store.db");
        check("postgres://ann:p@ss/word@db:5432/jobs?password=x", "postgres://db:5432/jobs");
        check("postgres://ann:secret@db:5432/jobs?sslkey=x", "postgres://db:5432/jobs");
        check("mysql://db", "mysql://db");
        check("s3://bucket/prefix?access_key=x&secret=y", "s3://bucket/prefix");
        check("http://[::1]:8080/x", "http://[::1]:8080/x");
    }

    #[test]
    fn no_secret_of_an_option_is_told() {
        let options = Options {
            artifacts: Some("s3://bucket/a?secret_access_key=hidden".into()),
            ..Options::new("postgres://ann:hidden@db/jobs", "/data")
        };
        let told = of(&options, MemberId::MIN, "http://ann:hidden@here");
        let text = serde_json::to_string(&told).expect("JSON");
        assert!(!text.contains("hidden"), "{text}");
        assert!(text.contains("postgres://db/jobs"), "{text}");
    }
}
