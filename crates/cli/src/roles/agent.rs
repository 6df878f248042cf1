//! Flags of an agent, laid over the settings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use mainspring_agent::Options;
use mainspring_model::{label, name, quantity};

use crate::config::AgentConfig;
use crate::failure::Failure;

/// A busy machine may be slow for a while.
const SIDECAR_PATIENCE_MIN: Duration = Duration::from_secs(5);

/// What an agent says about its machine.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct AgentFlags {
    /// The node's name [default: the host's]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The pool that the node belongs to [default: default]
    #[arg(long, value_name = "POOL")]
    pool: Option<String>,
    /// A label of the node, KEY=VALUE; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    label: Vec<String>,
    /// How many tasks it takes at once
    #[arg(long, value_name = "COUNT")]
    slots: Option<u32>,
    /// CPU that may be reserved, such as 4 or 500m [default: all]
    #[arg(long, value_name = "CORES")]
    cpu: Option<String>,
    /// Memory that may be reserved, such as 8Gi [default: all]
    #[arg(long, value_name = "BYTES")]
    memory: Option<String>,
    /// Anything else that may be reserved, NAME=AMOUNT, such as gpu=2; may be given several times
    #[arg(long, value_name = "NAME=AMOUNT")]
    resource: Vec<String>,
}

impl AgentFlags {
    /// The whole of it.
    pub(crate) fn options(
        &self,
        config: &AgentConfig,
        data: PathBuf,
        servers: Vec<String>,
    ) -> Result<Options, Failure> {
        let mut options = Options::new(data, servers);
        options.name = self.name.clone().or_else(|| config.name.clone());
        options.pool = self.pool.clone().or_else(|| config.pool.clone()).unwrap_or(options.pool);
        options.labels = config.labels.clone().unwrap_or_default();
        options.labels.extend(pairs("label", &self.label)?);
        options.slots = at_least_one("slots", self.slots.or(config.slots))?;
        options.weight = at_least_one("weight", config.weight)?.unwrap_or(options.weight);
        options.cpu_milli = amount("cpu", self.cpu.as_ref().or(config.cpu.as_ref()), quantity::parse_milli)?;
        options.memory_bytes =
            amount("memory", self.memory.as_ref().or(config.memory.as_ref()), quantity::parse_bytes)?;
        let mut named = config.resources.clone().unwrap_or_default();
        named.extend(pairs("resource", &self.resource)?);
        options.named_milli = named.into_iter().map(resource).collect::<Result<_, _>>()?;
        options.allowed_paths = config.allowed_paths.clone().unwrap_or_default();
        options.allowed_buckets = config.allowed_buckets.clone().unwrap_or_default();
        options.allowed_networks = config.allowed_networks.clone().unwrap_or_default();
        options.task_user = config.task_user.clone();
        options.allowed_users = config.allowed_users.clone().unwrap_or_default();
        options.task_processes =
            at_least_one("task_processes", config.task_processes)?.unwrap_or(options.task_processes);
        options.join_token = config.join_token.clone();
        options.ca_file = config.ca_file.clone();
        options.cache_bytes_max =
            amount("cache", config.cache.as_ref(), quantity::parse_bytes)?.unwrap_or(options.cache_bytes_max);
        options.retain = config.keep_logs.map_or(options.retain, |span| span.0);
        options.sidecar_patience = patience(config)?.unwrap_or(options.sidecar_patience);
        check_words(&options)?;
        Ok(options)
    }
}

/// What a scheduler would refuse when the node says hello.
fn check_words(options: &Options) -> Result<(), Failure> {
    name::check_name(&options.pool).map_err(|error| wrong("pool", error))?;
    for (key, value) in &options.labels {
        label::check_key(key).map_err(|error| wrong("labels", error))?;
        label::check_value(value).map_err(|error| wrong("labels", error))?;
    }
    Ok(())
}

fn at_least_one(name: &str, number: Option<u32>) -> Result<Option<u32>, Failure> {
    match number {
        Some(0) => Err(wrong(name, "0 is too few; at least 1")),
        number => Ok(number),
    }
}

fn wrong(name: &str, why: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{name}: {why}")).hint("`mainspring agent --help` says what each means")
}

fn patience(config: &AgentConfig) -> Result<Option<Duration>, Failure> {
    let patience = config.sidecar_patience.map(|span| span.0);
    match patience {
        Some(patience) if patience < SIDECAR_PATIENCE_MIN => Err(wrong(
            "sidecar_patience",
            format!("{patience:?} is too short; at least {SIDECAR_PATIENCE_MIN:?}"),
        )),
        patience => Ok(patience),
    }
}

fn resource((name, text): (String, String)) -> Result<(String, u64), Failure> {
    name::check_name(&name).map_err(|error| wrong("resources", error))?;
    let milli =
        quantity::parse_milli(&text).map_err(|error| wrong("resources", format!("{name}: {error}")))?;
    Ok((name, milli))
}

/// Words such as `zone=a`.
fn pairs(flag: &str, words: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let one = |word: &String| {
        let (key, value) = word.split_once('=').ok_or_else(|| {
            let example =
                if flag == "label" { "KEY=VALUE, such as zone=a" } else { "NAME=AMOUNT, such as gpu=2" };
            Failure::usage(format!("{flag}: `{word}` has no value")).hint(format!("write {example}"))
        })?;
        Ok((key.to_owned(), value.to_owned()))
    };
    words.iter().map(one).collect()
}

fn amount<E: std::fmt::Display>(
    name: &str,
    text: Option<&String>,
    parse: fn(&str) -> Result<u64, E>,
) -> Result<Option<u64>, Failure> {
    let parsed = text.map(|text| parse(text).map_err(|error| wrong(name, error)));
    parsed.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Span;

    fn options(flags: &AgentFlags, config: &AgentConfig) -> Result<Options, String> {
        let options = flags.options(config, "data".into(), vec!["http://a".to_owned()]);
        options.map_err(|failure| failure.to_string())
    }

    #[test]
    fn every_setting_reaches_the_agent() {
        let config = AgentConfig {
            resources: Some([("gpu".to_owned(), "2".to_owned()), ("tape".to_owned(), "1".to_owned())].into()),
            ca_file: Some("ca.pem".into()),
            cache: Some("1Gi".to_owned()),
            keep_logs: Some(Span(Duration::from_secs(3600))),
            sidecar_patience: Some(Span(Duration::from_secs(300))),
            ..AgentConfig::default()
        };
        let flags = AgentFlags { resource: vec!["gpu=0.5".to_owned()], ..AgentFlags::default() };
        let options = options(&flags, &config).unwrap();
        assert_eq!(options.named_milli, [("gpu".to_owned(), 500), ("tape".to_owned(), 1000)].into());
        assert_eq!(options.ca_file, Some("ca.pem".into()));
        assert_eq!(options.cache_bytes_max, 1 << 30);
        assert_eq!(options.retain, Duration::from_secs(3600));
        assert_eq!(options.sidecar_patience, Duration::from_secs(300));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |flags: AgentFlags, config: AgentConfig| options(&flags, &config).unwrap_err();
        let resource = |word: &str| AgentFlags { resource: vec![word.to_owned()], ..AgentFlags::default() };
        assert!(wrong(resource("gpu"), AgentConfig::default()).contains("`gpu` has no value"));
        assert!(wrong(resource("gpu=many"), AgentConfig::default()).contains("gpu: `many`"));
        assert!(wrong(resource("G P U=1"), AgentConfig::default()).contains("resources"));
        let hasty =
            AgentConfig { sidecar_patience: Some(Span(Duration::from_secs(1))), ..AgentConfig::default() };
        assert!(wrong(AgentFlags::default(), hasty).contains("too short"));
    }
}
