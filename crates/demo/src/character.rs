//! How the jobs of the company behave in its history: how long they take, when and how they fail, and what they print.
//!
//! The same as their scripts do after the start, as far as a reader can tell. Who behaves how is the table in `characters.rs`.

use std::time::Duration;

use mainspring_model::{Cause, Timestamp};

use crate::chance::Chance;
use crate::characters::{ANYONE, CHARACTERS};

/// Troubles come in spells of so long.
const SPELL_US: i64 = 6 * 3_600_000_000;
/// A task that hangs: its timeout ends it.
const HANGS_FOR: Duration = Duration::from_secs(24 * 3_600);

/// How a job behaves.
#[derive(Debug)]
pub(crate) struct Character {
    pub(crate) job: &'static str,
    /// The median of how long it takes, and how far it strays (the sigma of a log-normal distribution).
    pub(crate) seconds: f64,
    pub(crate) spread: f64,
    pub(crate) memory_mib: u64,
    /// CPU time, in thousandths of the time it takes.
    pub(crate) cpu_permille: u64,
    pub(crate) lines: &'static [&'static str],
    pub(crate) result: Option<&'static str>,
    pub(crate) trouble: Trouble,
}

/// When and how a job fails.
#[derive(Debug)]
pub(crate) struct Trouble {
    /// Of 1,000 runs outside of a spell of trouble, and within one, so many have a first attempt that fails.
    pub(crate) usual: u64,
    pub(crate) in_spell: u64,
    /// How many in 1,000 stretches of six hours are spells.
    pub(crate) spells: u64,
    /// Of 1,000 retries, so many fail too.
    pub(crate) persists: u64,
    /// In the last hours of the history everything fails.
    pub(crate) last_hours: u64,
    pub(crate) how: How,
    pub(crate) words: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum How {
    Exit(i32),
    Oom,
    Hangs,
}

/// One attempt, as it will go.
#[derive(Debug)]
pub(crate) struct Performance {
    pub(crate) takes: Duration,
    pub(crate) cause: Cause,
    pub(crate) cpu_us: u64,
    pub(crate) memory_bytes: u64,
    /// What it prints by then, and whether that goes to the error output.
    pub(crate) lines: Vec<(String, bool)>,
    pub(crate) result: Option<String>,
}

/// Which attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Which<'a> {
    pub(crate) job: &'a str,
    /// The moment that stands for the run.
    pub(crate) moment: Timestamp,
    pub(crate) attempt: u32,
    /// When the history ends.
    pub(crate) until: Timestamp,
}

impl Trouble {
    pub(crate) const NONE: Self =
        Self { usual: 0, in_spell: 0, spells: 0, persists: 0, last_hours: 0, how: How::Exit(1), words: "" };

    fn strikes(&self, seed: u64, which: Which<'_>, chance: &mut Chance) -> bool {
        let hours = which.until.since(which.moment).as_secs() / 3_600;
        if hours < self.last_hours {
            return true;
        }
        if which.attempt > 1 {
            return chance.permille(self.persists);
        }
        let stretch = which.moment.as_micros().div_euclid(SPELL_US);
        let spell = Chance::new(seed, &format!("{}/spell/{stretch}", which.job)).permille(self.spells);
        chance.permille(if spell { self.in_spell } else { self.usual })
    }
}

impl Character {
    /// How the job of this name behaves.
    pub(crate) fn of(job: &str) -> &'static Self {
        CHARACTERS.iter().find(|character| character.job == job).unwrap_or(&ANYONE)
    }

    /// How an attempt goes. The same seed gives the same.
    pub(crate) fn perform(&self, seed: u64, which: Which<'_>) -> Performance {
        let Which { moment, attempt, .. } = which;
        let concern = format!("{}/{}/{attempt}", which.job, moment.as_micros());
        let mut chance = Chance::new(seed, &concern);
        let seconds = chance.log_normal(self.seconds, self.spread);
        let fails = self.trouble.strikes(seed, which, &mut chance);
        // What fails has come some of the way.
        let part = if fails { chance.within(150, 900) } else { 1_000 };
        let seconds = seconds * part as f64 / 1_000.0;
        let printed = self.lines.len() * part as usize / 1_000;
        let mut lines: Vec<(String, bool)> =
            self.lines[..printed].iter().map(|line| (drawn(line, &mut chance), false)).collect();
        let mut takes = Duration::from_secs_f64(seconds.max(0.02));
        let mut cause = Cause::Exit { code: 0 };
        let memory_mib = chance.within(self.memory_mib * 8 / 10, self.memory_mib * 12 / 10);
        if fails {
            lines.push((drawn(self.trouble.words, &mut chance), true));
            cause = match self.trouble.how {
                How::Exit(code) => Cause::Exit { code },
                How::Oom => Cause::Oom,
                How::Hangs => Cause::Exit { code: 0 },
            };
            if matches!(self.trouble.how, How::Hangs) {
                takes = HANGS_FOR;
            }
        }
        let cpu = takes.min(Duration::from_secs_f64(seconds.max(0.02))).as_micros() as u64;
        Performance {
            takes,
            cause,
            cpu_us: cpu * self.cpu_permille / 1_000,
            memory_bytes: memory_mib << 20,
            lines,
            result: self.result.filter(|_| !fails).map(|result| drawn(result, &mut chance)),
        }
    }
}

/// The line with its numbers drawn.
fn drawn(line: &str, chance: &mut Chance) -> String {
    let mut text = String::with_capacity(line.len());
    for (index, part) in line.split('<').enumerate() {
        let range = part.split_once('>').and_then(|(range, rest)| {
            let (low, high) = range.split_once('-')?;
            Some((low.parse().ok()?, high.parse().ok()?, rest))
        });
        match range.filter(|_| index > 0) {
            Some((low, high, rest)) => text.push_str(&format!("{}{rest}", chance.within(low, high))),
            None => {
                // No range: what was split is put together again.
                text.push_str(if index > 0 { "<" } else { "" });
                text.push_str(part);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn which(job: &str, minute: i64) -> Which<'_> {
        let until = Timestamp::from_micros(60_000_000 * 1_000_000);
        Which { job, moment: Timestamp::from_micros(minute * 60_000_000), attempt: 1, until }
    }

    #[test]
    fn lines_have_their_numbers_drawn_and_nothing_else_changed() {
        let mut chance = Chance::new(1, "line");
        assert_eq!(drawn("a <5-5> b <7-7>", &mut chance), "a 5 b 7");
        assert_eq!(drawn("a < b", &mut chance), "a < b");
        assert_eq!(drawn("<k-m> x", &mut chance), "<k-m> x");
    }

    #[test]
    fn failures_come_in_spells() {
        let mail = Character::of("send-order-mails");
        let failed = |day: i64| {
            (0..144)
                .filter(|ten| {
                    let done = mail.perform(4, which("send-order-mails", day * 1_440 + ten * 10));
                    done.cause != Cause::Exit { code: 0 }
                })
                .count()
        };
        let days: Vec<usize> = (0..100).map(failed).collect();
        let quiet = days.iter().filter(|failed| **failed <= 3).count();
        let bad = days.iter().filter(|failed| **failed >= 10).count();
        assert!(quiet > 60 && bad > 8, "{days:?}");
    }

    #[test]
    fn the_last_hours_of_a_carrier_fail() {
        let nord = Character::of("sync-carrier-nord");
        let last = Which {
            moment: which("", 0).until - Duration::from_secs(3_600),
            ..which("sync-carrier-nord", 0)
        };
        for attempt in 1..5 {
            assert_eq!(nord.perform(9, Which { attempt, ..last }).cause, Cause::Exit { code: 77 });
        }
    }
}
