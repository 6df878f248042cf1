//! What a role writes about itself to standard error: text for people, JSON for machines.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::LogConfig;
use crate::failure::Failure;

/// Our own words; libraries only when something is wrong.
const DEFAULT_LEVEL: &str = "info";

pub(super) fn begin(log: &LogConfig) -> Result<(), Failure> {
    let level = log.level.as_deref().unwrap_or(DEFAULT_LEVEL);
    let directives = if level.contains(['=', ',']) {
        level.to_owned()
    } else {
        format!(
            "warn,mainspring={level},mainspring_server={level},mainspring_agent={level},mainspring_app={level}"
        )
    };
    let filter = EnvFilter::try_new(&directives).map_err(|error| {
        Failure::usage(format!("log.level: `{level}` is not a level: {error}"))
            .hint("use error, warn, info, debug or trace")
    })?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match log.format.as_deref() {
        None | Some("text") => lines.with_ansi(std::io::stderr().is_terminal()).with_target(false).init(),
        Some("json") => lines.json().flatten_event(true).init(),
        Some(other) => {
            return Err(
                Failure::usage(format!("log.format: `{other}` is no format")).hint("use text or json")
            );
        }
    }
    Ok(())
}
