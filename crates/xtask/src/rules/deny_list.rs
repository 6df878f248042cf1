//! What `deny.toml` says: the one place for licences that are allowed and crates that are not.

use anyhow::{Context, Result};
use toml::Value;

use crate::workspace::Workspace;

/// The licences that are allowed.
pub(super) fn licences(workspace: &Workspace) -> Result<Vec<String>> {
    let list = read(workspace)?;
    let allow = list["licenses"]["allow"].as_array().context("deny.toml: licenses.allow is a list")?;
    allow.iter().map(|name| Ok(name.as_str().context("deny.toml: a licence is text")?.to_owned())).collect()
}

/// The crates that are not, each with the reason.
pub(super) fn bans(workspace: &Workspace) -> Result<Vec<(String, String)>> {
    let list = read(workspace)?;
    let deny = list["bans"]["deny"].as_array().context("deny.toml: bans.deny is a list")?;
    let field = |ban: &Value, name: &str| {
        let text = ban.get(name).and_then(Value::as_str);
        text.map(str::to_owned).with_context(|| format!("deny.toml: a ban has a `{name}`"))
    };
    deny.iter().map(|ban| Ok((field(ban, "crate")?, field(ban, "reason")?))).collect()
}

fn read(workspace: &Workspace) -> Result<Value> {
    let text = std::fs::read_to_string(workspace.path("deny.toml")).context("deny.toml cannot be read")?;
    toml::from_str(&text).context("deny.toml is not valid")
}
