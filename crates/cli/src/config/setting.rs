//! Every setting there is: one table from which the file is checked, variables are read and the schema is made.
//!
//! A setting is `section.name` in the file and `MAINSPRING_SECTION__NAME` in the environment; a few that people set
//! often have a short variable too. What a setting means to the program is in [`super::Config`]; a test holds the two
//! together.

/// What a setting's value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// A file or directory.
    Path,
    /// A whole number, not negative.
    Number,
    /// `30s`, `1h30m`.
    Duration,
    /// Texts; in a variable, with commas between them.
    List,
    /// `key = "value"` pairs; in a variable `a=1,b=2`.
    Pairs,
}

/// One setting.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The table of the file that it is in.
    pub(crate) section: &'static str,
    /// Its key there.
    pub(crate) name: &'static str,
    /// What its value looks like.
    pub(crate) kind: Kind,
    /// A variable of its own, beside the regular one.
    pub(crate) short_variable: Option<&'static str>,
    /// What holds when nobody sets it.
    pub(crate) default: &'static str,
    /// What it does.
    pub(crate) help: &'static str,
}

impl Setting {
    /// `section.name`.
    pub(crate) fn path(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }

    /// The regular variable.
    pub(crate) fn variable(&self) -> String {
        format!("MAINSPRING_{}__{}", self.section.to_uppercase(), self.name.to_uppercase())
    }
}

const fn setting(
    path: (&'static str, &'static str),
    kind: Kind,
    default: &'static str,
    help: &'static str,
) -> Setting {
    Setting { section: path.0, name: path.1, kind, short_variable: None, default, help }
}

const fn short(variable: &'static str, mut setting: Setting) -> Setting {
    setting.short_variable = Some(variable);
    setting
}

/// The tables of the file, with what they are for.
pub(crate) const SECTIONS: &[(&str, &str)] = &[
    ("client", "How commands reach the server."),
    ("server", "The scheduler and its API (`up` and `server`)."),
    ("agent", "The agent that runs tasks on this machine (`up` and `agent`)."),
    ("log", "What long-running roles write to standard error."),
];

/// Every setting, in the order of the reference.
#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    short("MAINSPRING_URL", setting(("client", "url"), Kind::Text, "the target of the last `up` or `login`", "Where the API is.")),
    short("MAINSPRING_TOKEN", setting(("client", "token"), Kind::Text, "the token of that target", "The API token.")),
    short("MAINSPRING_TOKEN_FILE", setting(("client", "token_file"), Kind::Path, "", "A file that holds the API token.")),
    short("MAINSPRING_NAMESPACE", setting(("client", "namespace"), Kind::Text, "default", "The namespace of commands that name none.")),
    short("MAINSPRING_CA_FILE", setting(("client", "ca_file"), Kind::Path, "the public ones", "Certificates to trust when the server is `https`, in PEM.")),
    setting(("client", "timeout"), Kind::Duration, "30s", "How long one request may take."),
    short("MAINSPRING_DATA", setting(("server", "data"), Kind::Path, "./mainspring-data", "Where the server keeps its files.")),
    short("MAINSPRING_LISTEN", setting(("server", "listen"), Kind::Text, "127.0.0.1:7468", "The address and port of the API and of the agents' stream.")),
    setting(("server", "public_url"), Kind::Text, "http://LISTEN, with a certificate https://LISTEN", "Where others reach this server: the links that it prints, and where other schedulers send agents."),
    setting(("server", "tls_cert"), Kind::Path, "none", "The certificate under which it serves HTTP and agents, with those between it and the authority, in PEM; read again when it changes."),
    setting(("server", "tls_key"), Kind::Path, "none", "The private key of `tls_cert`, in PEM."),
    setting(("server", "ca_file"), Kind::Path, "the public ones", "Certificates with which other servers of the cluster are checked when they are `https`, in PEM."),
    short("MAINSPRING_STORE", setting(("server", "store"), Kind::Text, "sqlite:DATA/mainspring.db", "The store: `sqlite:PATH`, `postgres://…` or `mysql://…`.")),
    setting(("server", "artifacts"), Kind::Text, "DATA/artifacts", "Where artifacts are kept: `file:///DIRECTORY` or `s3://BUCKET/PREFIX?endpoint=…&region=…`; several servers share one."),
    setting(("server", "logs"), Kind::Text, "DATA/logs", "Where the output of ended runs is kept, as for artifacts."),
    setting(("server", "keep_runs"), Kind::Duration, "30d", "How long ended runs are kept whose job says nothing about it."),
    setting(("server", "keep_audit"), Kind::Duration, "400d", "How long entries of the audit are kept."),
    setting(("server", "keep_occurrences"), Kind::Duration, "90d", "How long it is told what became of the planned moments of triggers."),
    setting(("server", "roles"), Kind::List, "api, scheduler", "What this process does: `api`, `scheduler`."),
    setting(("server", "cells"), Kind::Number, "1", "How many slices the work is cut into, fixed when the store is made."),
    setting(("server", "heartbeat_every"), Kind::Duration, "5s", "How often a node says that it lives."),
    setting(("server", "lost_after"), Kind::Duration, "15s", "How long a node may be silent before its attempts are lost."),
    setting(("server", "outage_max"), Kind::Duration, "60s", "How long tasks on connected nodes go on while the store is away; the same for every server."),
    setting(("server", "connections_max"), Kind::Number, "10000, at most 3/4 of the files that the process may open", "Connections in total; beyond it the oldest that has not authenticated is closed, or the new one is refused."),
    setting(("server", "connections_per_address_max"), Kind::Number, "256", "Connections of one address that have not authenticated; beyond it the oldest of them is closed."),
    setting(("server", "trusted_proxies"), Kind::List, "none", "Reverse proxies, by address or network: their `X-Forwarded-For` is believed, and the limit for each address does not apply to them."),
    setting(("server", "header_timeout"), Kind::Duration, "10s", "Time for a TLS handshake, and for the header of a request."),
    setting(("server", "body_timeout"), Kind::Duration, "30s", "Time between two parts of a request's body; before authentication, for the whole body."),
    setting(("server", "idle_timeout"), Kind::Duration, "90s", "How long a connection without a request stays open."),
    setting(("server", "streams_max"), Kind::Number, "256", "Requests at the same time on one HTTP/2 connection."),
    setting(("server", "wrong_credentials_per_minute"), Kind::Number, "60", "Wrong credentials of one address in a minute before it is answered `429`."),
    short("MAINSPRING_SERVERS", setting(("agent", "servers"), Kind::List, "http://127.0.0.1:7468", "Where the schedulers are; one is enough, it names the others.")),
    setting(("agent", "data"), Kind::Path, "./mainspring-agent", "Where the agent keeps its identity, journal, logs and caches."),
    setting(("agent", "name"), Kind::Text, "the host's name", "What the node is called."),
    setting(("agent", "pool"), Kind::Text, "default", "The pool that it joins."),
    setting(("agent", "labels"), Kind::Pairs, "", "Facts that placement selects by."),
    setting(("agent", "slots"), Kind::Number, "32 for each core", "How many attempts may run at once."),
    setting(("agent", "weight"), Kind::Number, "1", "Its share under the `weighted` balancer."),
    setting(("agent", "cpu"), Kind::Text, "the machine's cores", "Cores that may be reserved: `4`, `500m`."),
    setting(("agent", "memory"), Kind::Text, "the machine's memory", "Memory that may be reserved: `8Gi`."),
    setting(("agent", "resources"), Kind::Pairs, "", "Anything else that may be reserved, by name: `gpu = \"2\"`, `licence = \"0.5\"`."),
    setting(("agent", "allowed_paths"), Kind::List, "none", "Directories that `file:` locations of artifacts, inputs and outputs may use; the agent reads and writes there as its own user."),
    setting(("agent", "allowed_networks"), Kind::List, "none", "Private addresses that `http:` and `https:` locations of artifacts, inputs and outputs may reach, such as `10.0.0.0/8` or `192.168.1.7`; public ones always may."),
    setting(("agent", "allowed_buckets"), Kind::List, "none", "Buckets that `s3:` locations of artifacts, inputs and outputs may use with the agent's own credentials: `BUCKET`, `BUCKET/PREFIX` or `s3://BUCKET/PREFIX?endpoint=…&region=…`."),
    setting(("agent", "task_user"), Kind::Text, "the agent's own, if that is not root", "The user that tasks run as when their job names none, a name or a number; another than its own needs an agent that runs as root. An agent of root does not start without it (`root` has to be said); `up` of root takes a number of 60706–61183 that has no account."),
    setting(("agent", "allowed_users"), Kind::List, "none", "Users that jobs may name beside `task_user` (or, without one, the agent's own); another than its own needs an agent that runs as root."),
    setting(("agent", "task_processes"), Kind::Number, "4096", "The most processes and threads of a task, where the system has cgroups; `limits.processes` of a job counts within it."),
    short("MAINSPRING_JOIN_TOKEN", setting(("agent", "join_token"), Kind::Text, "", "The single-use token of `mainspring node token`; needed the first time only.")),
    setting(("agent", "ca_file"), Kind::Path, "the public ones", "Certificates to trust when the servers are `https`, in PEM."),
    setting(("agent", "cache"), Kind::Text, "4Gi", "How much of fetched artifacts is kept for later attempts."),
    setting(("agent", "keep_logs"), Kind::Duration, "7d", "How long output is kept here that no scheduler takes."),
    setting(("agent", "sidecar_patience"), Kind::Duration, "60s", "How long the sidecar may stay without an answer before it is replaced; its tasks go on."),
    short("MAINSPRING_LOG", setting(("log", "level"), Kind::Text, "info", "`error`, `warn`, `info`, `debug`, `trace`, or a filter such as `info,mainspring_engine=debug`.")),
    setting(("log", "format"), Kind::Text, "text", "`text` for people, `json` for programs."),
];

/// The setting at `section.name`.
pub(crate) fn find(section: &str, name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.section == section && setting.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_in_a_known_section_and_named_once() {
        for (index, setting) in SETTINGS.iter().enumerate() {
            assert!(SECTIONS.iter().any(|(section, _)| *section == setting.section), "{}", setting.path());
            assert!(setting.help.ends_with('.'), "{}", setting.path());
            let twice = SETTINGS[index + 1..].iter().any(|other| other.path() == setting.path());
            assert!(!twice, "{}", setting.path());
        }
    }
}
