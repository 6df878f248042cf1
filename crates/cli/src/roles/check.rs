//! Whether roles could start with these settings, without starting them.

use mainspring_client::Client;

use super::{AgentFlags, ServerFlags, logging, roles};
use crate::config::Config;
use crate::failure::Failure;

/// What is wrong with settings that are well-formed, each with its path.
pub(crate) fn problems(config: &Config) -> Vec<String> {
    let server = ServerFlags::default().options(&config.server).map(drop);
    let words = config.server.roles.clone().unwrap_or_default();
    let agent = AgentFlags::default().options(&config.agent, "agent".into(), Vec::new()).map(drop);
    let url = config.client.url.as_ref().map(|url| Client::builder(url).build().map(drop));
    let checked: [(&str, Result<(), Failure>); 5] = [
        ("server.", server),
        ("server.", roles(&words).map(drop)),
        ("agent.", agent),
        ("", logging::check(&config.log)),
        ("client.url: ", url.transpose().map(drop).map_err(Failure::from)),
    ];
    let wrong = checked.into_iter().filter_map(|(place, checked)| Some((place, checked.err()?)));
    wrong.map(|(place, failure)| format!("{place}{}", failure.message)).collect()
}
