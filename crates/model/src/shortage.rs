//! What nodes lack of one dimension: how much a run asks for, and how much there is at most. The words for amounts are here,
//! those for the whole reason with [`crate::reason::Reason`] and [`crate::no_node::NoNode`].

use serde::{Deserialize, Serialize};

use crate::quantity::format_milli;

/// A dimension of which nodes have less than a run asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortage {
    /// `slots`, `cpu`, `memory` or a named countable.
    #[serde(default)]
    pub dimension: Box<str>,
    /// How much the run asks for: thousandths of cpu and of a countable, bytes of memory.
    #[serde(default)]
    pub wanted: u64,
    /// What the nodes have of it. Looking at each takes time, so a try that failed in passing leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
}

/// What nodes that lack something have of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// How many lack it.
    pub nodes: u32,
    /// The most that one of them has.
    pub most: u64,
}

impl Shortage {
    /// How much the run asks for, such as `8 CPU`.
    pub fn wanted_text(&self) -> String {
        self.with_unit(self.wanted)
    }

    /// The most that a node has of it, such as `1.5 CPU`.
    pub fn most_text(&self) -> Option<String> {
        self.seen.map(|seen| self.with_unit(seen.most))
    }

    /// What is lacking, as a noun.
    pub fn noun(&self) -> &str {
        match &*self.dimension {
            "cpu" => "CPU",
            other => other,
        }
    }

    fn with_unit(&self, amount: u64) -> String {
        match &*self.dimension {
            "slots" => format!("{amount} {}", if amount == 1 { "slot" } else { "slots" }),
            "memory" => format!("{} of memory", size(amount)),
            _ => format!("{} {}", countable(amount), self.noun()),
        }
    }

    /// An amount beside one that has its unit already.
    pub(crate) fn bare(&self, amount: u64) -> String {
        match &*self.dimension {
            "slots" => amount.to_string(),
            "memory" => size(amount),
            _ => countable(amount),
        }
    }
}

/// `1.5` where a specification would write `1500m`.
fn countable(milli: u64) -> String {
    if milli.is_multiple_of(1_000) {
        return format_milli(milli);
    }
    let text = format!("{}.{:03}", milli / 1_000, milli % 1_000);
    text.trim_end_matches('0').to_owned()
}

/// `1.5 GiB`, never rounded up: what is too little has to look so.
fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let Some((name, unit)) = UNITS.into_iter().find(|(_, unit)| bytes >= *unit) else {
        return format!("{bytes} B");
    };
    let hundredths = u128::from(bytes) * 100 / u128::from(unit);
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    format!("{} {name}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dimension: &str, wanted: u64, expected: &str) {
        let shortage = Shortage { dimension: dimension.into(), wanted, seen: None };
        assert_eq!(shortage.wanted_text(), expected);
    }

    #[test]
    fn amounts_have_the_unit_of_their_dimension() {
        check("slots", 1, "1 slot");
        check("slots", 2, "2 slots");
        check("cpu", 8_000, "8 CPU");
        check("cpu", 1_500, "1.5 CPU");
        check("cpu", 1_005, "1.005 CPU");
        check("gpu", 2_000, "2 gpu");
        check("memory", 900, "900 B of memory");
        check("memory", 64 << 30, "64 GiB of memory");
        check("memory", 3 << 29, "1.5 GiB of memory");
        check("memory", (4 << 30) - 1, "3.99 GiB of memory");
    }
}
