//! Words with a meaning that nothing acts on yet, and words that people look for elsewhere.
//!
//! A reserved word is refused with what it will mean, so that no file relies on it by accident and no
//! later part takes it for something else. `docs/spec.md` lists the same words; a test compares them.

/// Reserved words: the section, the word, what it will mean.
pub(crate) const RESERVED: &[(&str, &str, &str)] = &[
    ("job", "format", "the version of the format, once there is a second one; leave it out"),
    ("job", "http", "a body that calls an HTTP endpoint"),
    ("job", "grpc", "a body that calls a gRPC method"),
    ("job", "container", "a body that runs a container image"),
    ("job", "workflow", "a body that is a graph of steps"),
    ("job", "service", "a job that should never end, with replicas and health checks"),
    ("job", "secrets", "values from the namespace's secrets for the task"),
    ("job", "isolation", "how a task is separated from its node: process, cgroup, container, vm"),
    ("job", "preemption", "how a run makes room for a more urgent one"),
    ("job", "cache", "reuse of the result of an equal run"),
    ("job", "alerts", "who is told when a run fails, is late or did not run"),
    ("job", "plugins", "calls to your own service at points of a run's life"),
    ("artifact", "unpack", "unpacking of an archive"),
    ("parameter", "pattern", "a pattern that text must match"),
    ("concurrency", "per", "counting runs apart by node"),
    ("dispatch", "nodes", "which nodes get a broadcast or multicast"),
    ("dispatch", "count", "how many nodes or shards"),
    ("dispatch", "success", "how many of them must succeed"),
    ("dispatch", "parallel", "how many of them run at once"),
    ("dispatch mode", "broadcast", "a run on every matching node"),
    ("dispatch mode", "multicast", "a run on some of the matching nodes"),
    ("dispatch mode", "shards", "a run in numbered parts"),
    ("dispatch mode", "map", "a run whose parts the task itself creates"),
    ("parameter type", "secret", "a value from the namespace's secrets"),
    ("placement", "apart", "keeping away from runs of other jobs"),
    ("placement", "together", "staying close to runs of other jobs"),
    ("resources", "disk", "space on disk"),
    ("resources", "network", "bandwidth"),
    ("resources", "limits", "a bound above what is reserved"),
    ("resources", "profile", "the kind of load, for mixing: io, cpu or memory"),
    ("resources", "alternatives", "several requests of which one is enough"),
    ("resources", "auto", "requests learned from earlier runs"),
    ("retention", "logs", "how long logs are kept"),
    ("retention", "occurrences", "how long planned firings are kept"),
    ("retention", "artifacts", "how long outputs are kept"),
    ("retry", "on_oom", "more memory for the next attempt"),
    ("timeout", "warn", "a warning before a limit passes"),
];

/// What a reserved word will mean.
pub(super) fn reserved(section: &str, word: &str) -> Option<&'static str> {
    RESERVED.iter().find(|(in_section, name, _)| *in_section == section && *name == word).map(|entry| entry.2)
}

/// Words from other schedulers or other places of the file, with where they belong.
const MISPLACED: &[(&str, &str, &str)] = &[
    ("job", "command", "it belongs under `process`"),
    ("job", "args", "it belongs under `process` or `script`"),
    ("job", "env", "it belongs under `process` or `script`"),
    ("job", "cwd", "it belongs under `process` or `script`"),
    ("job", "user", "it belongs under `process` or `script`"),
    ("job", "run", "write the body as `script`, `process` or `handler`"),
    ("job", "exec", "write the body as `process`"),
    ("job", "image", "it will belong under `container`, which is not acted on yet"),
    ("job", "schedule", "it belongs under `triggers`"),
    ("job", "cron", "it belongs under `triggers`"),
    ("job", "every", "it belongs under `triggers`"),
    ("job", "params", "did you mean `parameters`?"),
    ("job", "retries", "did you mean `retry`?"),
    ("job", "backoff", "it belongs under `retry`"),
    ("job", "overlap", "it belongs under `concurrency`"),
    ("job", "rate", "did you mean `rate_limit`?"),
    ("job", "balancer", "it belongs under `dispatch`"),
    ("job", "pool", "it belongs under `placement`"),
    ("job", "selector", "it belongs under `placement`"),
    ("job", "affinity", "it belongs under `placement`"),
    ("job", "sticky", "it belongs under `placement`"),
    ("job", "cpu", "it belongs under `resources`"),
    ("job", "memory", "it belongs under `resources`"),
    ("job", "tags", "did you mean `labels`?"),
    ("process", "cmd", "did you mean `command`?"),
    ("process", "environment", "did you mean `env`?"),
    ("process", "dir", "did you mean `cwd`?"),
    ("script", "environment", "did you mean `env`?"),
    ("script", "dir", "did you mean `cwd`?"),
    ("script", "source", "did you mean `text`?"),
    ("script", "language", "did you mean `interpreter`?"),
    ("retry", "count", "did you mean `max`?"),
    ("retry", "attempts", "did you mean `max`? It counts retries, not the first attempt"),
    ("retry", "delay", "write `backoff: {kind: fixed, base: 10s}`"),
    ("retry", "cap", "it belongs under `backoff`"),
    ("retry", "jitter", "it belongs under `backoff`"),
    ("backoff", "type", "did you mean `kind`?"),
    ("backoff", "delay", "did you mean `base`?"),
    ("backoff", "max", "did you mean `cap`?"),
    ("timeout", "grace", "did you mean `stop_grace`?"),
    ("trigger", "timezone", "did you mean `zone`?"),
    ("trigger", "tz", "did you mean `zone`?"),
    ("trigger", "schedule", "did you mean `cron`?"),
    ("trigger", "interval", "did you mean `every`?"),
    ("trigger", "params", "did you mean `parameters`?"),
    ("trigger", "overlap", "it belongs under the job's `concurrency`"),
    ("trigger", "catchup", "write `misfire: all`"),
    ("trigger", "signature", "it belongs under `webhook`"),
    ("trigger", "dedupe", "it belongs under `webhook`"),
    ("webhook", "secret", "it is made with the token: `mainspring trigger token JOB TRIGGER`"),
    ("webhook", "token", "it is made by `mainspring trigger token JOB TRIGGER`"),
    ("webhook", "parameters", "it belongs beside `webhook`"),
    ("webhook", "key", "did you mean `dedupe`?"),
    ("resources", "gpu", "write `named: {gpu: 1}`"),
    ("resources", "mem", "did you mean `memory`?"),
    ("rate_limit", "period", "did you mean `per`?"),
];

/// Where a misplaced word belongs.
pub(super) fn misplaced(section: &str, word: &str) -> Option<&'static str> {
    MISPLACED
        .iter()
        .find(|(in_section, name, _)| *in_section == section && *name == word)
        .map(|entry| entry.2)
}

/// Every misplaced word of a section.
pub(super) fn misplaced_words(section: &str) -> impl Iterator<Item = &'static str> {
    MISPLACED.iter().filter(move |(in_section, _, _)| *in_section == section).map(|entry| entry.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANUAL: &str = include_str!("../../../../../docs/spec.md");

    #[test]
    fn the_manual_names_every_reserved_word_as_reserved() {
        for (section, word, _) in RESERVED {
            let quoted = format!("`{word}`");
            let mut paragraphs = MANUAL.split("\n\n").flat_map(|block| match block.starts_with('|') {
                true => block.lines().collect::<Vec<_>>(),
                false => vec![block],
            });
            let is_said = paragraphs.any(|text| text.contains(&quoted) && text.contains("reserved"));
            assert!(is_said, "docs/spec.md does not say that `{word}` of {section} is reserved");
        }
    }

    #[test]
    fn no_word_is_both_reserved_and_misplaced() {
        for (section, word, _) in RESERVED {
            assert_eq!(misplaced(section, word), None, "{section} {word}");
        }
    }
}
