//! Flags of an agent, laid over the settings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use mainspring_agent::Options;
use mainspring_model::{label, name, quantity};

use crate::config::AgentConfig;
use crate::failure::Failure;

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
        options.labels.extend(labels(&self.label)?);
        options.slots = at_least_one("slots", self.slots.or(config.slots))?;
        options.weight = at_least_one("weight", config.weight)?.unwrap_or(options.weight);
        options.cpu_milli = amount("cpu", self.cpu.as_ref().or(config.cpu.as_ref()), quantity::parse_milli)?;
        options.memory_bytes =
            amount("memory", self.memory.as_ref().or(config.memory.as_ref()), quantity::parse_bytes)?;
        options.allowed_paths = config.allowed_paths.clone().unwrap_or_default();
        options.allowed_buckets = config.allowed_buckets.clone().unwrap_or_default();
        options.allowed_networks = config.allowed_networks.clone().unwrap_or_default();
        options.task_user = config.task_user.clone();
        options.allowed_users = config.allowed_users.clone().unwrap_or_default();
        options.join_token = config.join_token.clone();
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

fn labels(words: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let one = |word: &String| {
        let (key, value) = word.split_once('=').ok_or_else(|| {
            Failure::usage(format!("label: `{word}` has no value")).hint("write KEY=VALUE, such as zone=a")
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
