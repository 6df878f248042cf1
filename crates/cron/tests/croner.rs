//! The same as croner in every zone, at every turn of its clocks from 1970 to 2100, and over leap days. What differs is told
//! in `DIFFERENCES.md`, and nothing else is let pass.

use std::panic::catch_unwind;

use croner::errors::CronError;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Zoned;
use mainspring_cron::{Cron, DayRule, Dst, Zone};

use super::differences::Difference;
use super::expressions::{Chance, Kind, expression};
use super::turns::{END, time_zone, turns};

const MICROS: i64 = 1_000_000;

/// What came of asking croner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Compared {
    Same,
    /// A difference that `DIFFERENCES.md` lists.
    Listed,
    /// Croner does not know the words, or we refuse it because it never fires: croner would look until the year 5000.
    Unknown,
    /// Any other difference.
    Different(String),
}

/// What croner says of the next three moments.
pub(crate) fn compare_with_croner(text: &str, rule: DayRule, kind: Kind, name: &str, from: i64) -> Compared {
    let parser = CronParser::builder().seconds(Seconds::Required).year(Year::Optional);
    let Ok(theirs) = parser.dom_and_dow(rule == DayRule::And).build().parse(&in_their_words(text)) else {
        return Compared::Unknown;
    };
    let Ok(cron) = Cron::parse(text, rule, 0) else { return Compared::Unknown };
    let theirs_zone = time_zone(name);
    let zone: Zone = name.parse().unwrap();
    let mut after = from;
    for _ in 0..3 {
        let next = cron.next(after * MICROS, &zone, Dst::default()).map(|next| next / MICROS);
        let begin = jiff::Timestamp::from_second(after).unwrap().to_zoned(theirs_zone.clone());
        let Ok(found) = ask(&theirs, &begin) else { return Compared::Listed };
        if next != found {
            let difference = Difference { text, kind, zone: &zone, name, after, ours: next, theirs: found };
            return if difference.is_listed() {
                Compared::Listed
            } else {
                Compared::Different(format!("{difference} ({rule:?})"))
            };
        }
        match next {
            Some(next) => after = next,
            None => break,
        }
    }
    Compared::Same
}

/// Difference 3: croner counts the years of `*/4` from the year 1.
fn in_their_words(text: &str) -> String {
    match text.rsplit_once(" */") {
        Some((rest, step)) if text.split(' ').count() == 7 => format!("{rest} 1970-2199/{step}"),
        _ => text.to_owned(),
    }
}

/// Croner's next second. Difference 4: at some turns it panics.
fn ask(cron: &croner::Cron, after: &Zoned) -> Result<Option<i64>, ()> {
    let found = catch_unwind(|| cron.find_next_occurrence(after, false));
    match found.map_err(drop)? {
        Ok(found) => Ok(Some(found.timestamp().as_second())),
        Err(CronError::TimeSearchLimitExceeded) => Ok(None),
        Err(other) => panic!("croner fails at `{}`: {other}", cron.as_str()),
    }
}

/// How often croner was asked, and how often that came of it.
#[derive(Debug, Default)]
struct Tally {
    same: u32,
    listed: u32,
    unknown: u32,
    different: Vec<String>,
}

impl Tally {
    fn count(&mut self, compared: Compared) {
        match compared {
            Compared::Same => self.same += 1,
            Compared::Listed => self.listed += 1,
            Compared::Unknown => self.unknown += 1,
            Compared::Different(words) => self.different.push(words),
        }
    }

    fn assert(mut self, same_min: u32) {
        let count = self.different.len();
        self.different.truncate(20);
        assert!(count == 0 && self.same >= same_min, "{count} differ: {self:#?}");
    }
}

#[test]
fn at_every_turn_of_every_zone() {
    let (mut chance, mut tally) = (Chance(1), Tally::default());
    for name in Zone::names() {
        for turn in turns(&name) {
            // Several times of day are left out here: difference 1.
            let kind = chance.pick(&[Kind::Fixed, Kind::Elapsed]);
            let rule = chance.pick(&[DayRule::Or, DayRule::And]);
            let text = turn.expression(&mut chance, kind);
            let from = turn.shortly_before(&mut chance);
            tally.count(compare_with_croner(&text, rule, kind, &name, from));
        }
    }
    tally.assert(10_000);
}

#[test]
fn expressions_of_every_shape_in_every_zone() {
    let (mut chance, mut tally) = (Chance(2), Tally::default());
    for name in Zone::names() {
        let is_still = turns(&name).is_empty();
        for _ in 0..24 {
            let kind =
                if is_still { chance.pick(&Kind::ALL) } else { chance.pick(&[Kind::Fixed, Kind::Elapsed]) };
            let rule = chance.pick(&[DayRule::Or, DayRule::And]);
            let text = expression(&mut chance, kind);
            tally.count(compare_with_croner(&text, rule, kind, &name, chance.below(END as u64) as i64));
        }
    }
    tally.assert(10_000);
}

#[test]
fn where_no_clock_is_turned() {
    let (mut chance, mut tally) = (Chance(3), Tally::default());
    for _ in 0..6_000 {
        let name = chance.pick(&["UTC", "Etc/GMT+5", "Etc/GMT-14"]);
        let kind = chance.pick(&Kind::ALL);
        let rule = chance.pick(&[DayRule::Or, DayRule::And]);
        let text = expression(&mut chance, kind);
        tally.count(compare_with_croner(&text, rule, kind, name, chance.below(END as u64) as i64));
    }
    tally.assert(4_500);
}
