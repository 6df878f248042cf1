//! A cron expression, as sets.

use std::fmt;

use crate::field::{Days, Weekdays};

/// When both a day of the month and a day of the week are given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DayRule {
    /// Either suffices, as cron has always had it.
    #[default]
    Or,
    /// Both must hold.
    And,
}

/// A cron expression of five fields (minute, hour, day of month, month, day of week), of six with the second before them, or of
/// seven with the year behind them.
#[derive(Clone, PartialEq, Eq)]
pub struct Cron {
    pub(crate) seconds: u64,
    pub(crate) minutes: u64,
    pub(crate) hours: u32,
    pub(crate) months: u16,
    pub(crate) days: Days,
    pub(crate) weekdays: Weekdays,
    /// Bit `n`: the year 1970 + n. None is every year.
    pub(crate) years: Option<Box<[u64; 4]>>,
    pub(crate) rule: DayRule,
    /// Whether it follows elapsed time when clocks are turned: its second, minute or hour is every one, or every so many.
    pub(crate) elapsed: bool,
    pub(crate) text: Box<str>,
}

impl Cron {
    /// What was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What holds when both a day of the month and a day of the week are given.
    pub fn day_rule(&self) -> DayRule {
        self.rule
    }

    /// Whether it follows elapsed time when clocks are turned, rather than the wall clock: one that fires at every minute or
    /// hour, or at every so many, goes on through an hour that comes twice and makes up for none that is left out.
    pub fn follows_elapsed_time(&self) -> bool {
        self.elapsed
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cron({})", self.text)
    }
}
