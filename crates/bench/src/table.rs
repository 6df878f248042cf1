//! The figures of one subject: named lines with a unit, some with a bar. Printed for people, written as JSON
//! for programs.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;

/// What a figure must reach.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bar {
    /// No bar: a limit or a comparison.
    None,
    AtLeast(f64),
    AtMost(f64),
}

#[derive(Debug)]
struct Line {
    name: String,
    value: f64,
    unit: &'static str,
    bar: Bar,
}

/// The figures of one subject.
#[derive(Debug)]
pub(crate) struct Table {
    subject: &'static str,
    lines: Vec<Line>,
}

impl Table {
    pub(crate) fn new(subject: &'static str) -> Self {
        Self { subject, lines: Vec::new() }
    }

    pub(crate) fn add(&mut self, name: impl Into<String>, value: f64, unit: &'static str, bar: Bar) {
        self.lines.push(Line { name: name.into(), value, unit, bar });
    }

    pub(crate) fn is_good(&self) -> bool {
        self.lines.iter().all(|line| line.bar.holds(line.value))
    }

    #[expect(clippy::print_stdout, reason = "the table is what the command is for")]
    pub(crate) fn print(&self) {
        let width = self.lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
        println!("{}", self.subject);
        for line in &self.lines {
            let verdict = match (line.bar, line.bar.holds(line.value)) {
                (Bar::None, _) => "",
                (_, true) => "pass",
                (_, false) => "MISSED",
            };
            let text = format!(
                "  {:width$}  {:>14} {:9} {:>14} {verdict}",
                line.name,
                number(line.value),
                line.unit,
                line.bar.text(),
            );
            println!("{}", text.trim_end());
        }
    }

    pub(crate) fn write_json(&self, path: &Path) -> Result<()> {
        let lines: Vec<_> = self.lines.iter().map(Line::as_json).collect();
        let text = serde_json::to_string_pretty(&json!({ "subject": self.subject, "lines": lines }))?;
        std::fs::write(path, text + "\n").with_context(|| format!("write {}", path.display()))
    }
}

impl Line {
    fn as_json(&self) -> serde_json::Value {
        let (kind, bar) = match self.bar {
            Bar::None => return json!({ "name": self.name, "value": self.value, "unit": self.unit }),
            Bar::AtLeast(bar) => ("at_least", bar),
            Bar::AtMost(bar) => ("at_most", bar),
        };
        let pass = self.bar.holds(self.value);
        json!({ "name": self.name, "value": self.value, "unit": self.unit, kind: bar, "pass": pass })
    }
}

impl Bar {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::None => true,
            Self::AtLeast(bar) => value >= bar,
            Self::AtMost(bar) => value <= bar,
        }
    }

    fn text(self) -> String {
        match self {
            Self::None => String::new(),
            Self::AtLeast(bar) => format!("≥ {}", number(bar)),
            Self::AtMost(bar) => format!("≤ {}", number(bar)),
        }
    }
}

/// Large numbers with separators, small ones with two decimals.
fn number(value: f64) -> String {
    if value.abs() < 100.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        for (value, text) in [(0.834, "0.83"), (99.999, "100.00"), (600.0, "600"), (1_234_567.8, "1,234,568")]
        {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn one_missed_bar_is_enough() {
        let mut table = Table::new("t");
        table.add("limit", 1.0, "s", Bar::None);
        table.add("fast", 2.0, "/s", Bar::AtLeast(2.0));
        assert!(table.is_good());
        table.add("large", 601.0, "bytes", Bar::AtMost(600.0));
        assert!(!table.is_good());
    }
}
