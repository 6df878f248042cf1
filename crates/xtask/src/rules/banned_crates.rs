//! One TLS provider, one calendar library: the default build has none of the crates that
//! `deny.toml` bans.
//!
//! Looks at what is compiled into the product (normal and build dependencies), not at what tests use.

use anyhow::Result;

use super::{Findings, Rule, Subject, deny_list};
use crate::process;

pub(super) const RULE: Rule = Rule {
    name: "banned crates",
    remedy: "switch off the feature that pulls it in; `cargo tree --workspace -e normal,build -i CRATE` shows the way",
    check,
};

fn check(subject: &Subject<'_>) -> Result<Findings> {
    let arguments = ["tree", "--workspace", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"];
    let banned = deny_list::bans(subject.workspace)?;
    Ok(judge(&process::output_of(&mut subject.workspace.cargo(&arguments))?, &banned))
}

/// Judges lines such as `ring v0.17.14` or `xtask v0.1.0 (path)`.
fn judge(tree: &str, banned: &[(String, String)]) -> Findings {
    let present = |name: &str| tree.lines().any(|line| line.split_whitespace().next() == Some(name));
    let banned = banned.iter().filter(|(name, _)| present(name));
    Findings::failures(banned.map(|(name, reason)| format!("`{name}` is in the default build; {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tree: &str, failures: usize) {
        let banned = ["ring", "openssl-sys", "chrono"].map(|name| (name.to_owned(), "a reason".to_owned()));
        assert_eq!(judge(tree, &banned).failures.len(), failures, "{tree}");
    }

    #[test]
    fn banned_crates_are_found_by_whole_name() {
        check("serde v1.0.229\nstring v0.3.0\nchrono-tz v0.10.0\n", 0);
        check("serde v1.0.229\nring v0.17.14\n", 1);
        check("ring v0.17.14\nopenssl-sys v0.9.1\nchrono v0.4.42\nchrono v0.4.42\n", 3);
    }
}
