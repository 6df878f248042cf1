//! What a role writes about itself to standard error: text for people, JSON for machines.

use tracing_subscriber::EnvFilter;

use crate::config::LogConfig;
use crate::failure::Failure;
use crate::output;

/// Our own words; libraries only when something is wrong.
const DEFAULT_LEVEL: &str = "info";

/// What is wrong with the settings, without beginning.
pub(crate) fn check(log: &LogConfig) -> Result<(), Failure> {
    filter(log)?;
    is_json(log).map(drop)
}

pub(super) fn begin(log: &LogConfig) -> Result<(), Failure> {
    let (filter, json) = (filter(log)?, is_json(log)?);
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if json {
        lines.json().flatten_event(true).init();
    } else {
        lines.with_ansi(output::talk_is_coloured()).with_target(false).init();
    }
    Ok(())
}

fn filter(log: &LogConfig) -> Result<EnvFilter, Failure> {
    let level = log.level.as_deref().unwrap_or(DEFAULT_LEVEL);
    let directives = if level.contains(['=', ',']) {
        level.to_owned()
    } else {
        format!(
            "warn,mainspring={level},mainspring_server={level},mainspring_agent={level},mainspring_app={level}"
        )
    };
    EnvFilter::try_new(&directives).map_err(|error| {
        Failure::usage(format!("log.level: `{level}` is not a level: {error}"))
            .hint("use error, warn, info, debug or trace")
    })
}

fn is_json(log: &LogConfig) -> Result<bool, Failure> {
    match log.format.as_deref() {
        None | Some("text") => Ok(false),
        Some("json") => Ok(true),
        Some(other) => {
            Err(Failure::usage(format!("log.format: `{other}` is no format")).hint("use text or json"))
        }
    }
}
