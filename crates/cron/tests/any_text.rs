//! Any text is read or refused, in time and without a panic; and what is read says the same when it is printed and read again.
//! Texts are drawn from all of Unicode, from the letters of expressions, and from expressions in which something was changed.

use std::time::Duration;

use mainspring_cron::describe::{self, Language};
use mainspring_cron::{Calendar, Cron, DailyWindow, DayRule, Days, Dst, Every, Holiday, Schedule, Zone};
use mainspring_cron::{Rhythm, every_of};
use proptest::prelude::*;

use super::expressions::{Chance, Kind, expression};
use super::hashes::hashed;

/// What a text becomes in which something was changed: letters taken out, put in or doubled, or cut off.
pub(crate) fn changed(text: &str, chance: &mut Chance) -> String {
    const PIECES: [&str; 28] = [
        "*",
        "/",
        "-",
        ",",
        "#",
        "L",
        "W",
        "H",
        "?",
        "(",
        ")",
        " ",
        "0",
        "7",
        "60",
        "99999999999999999999",
        "+",
        "=",
        "@",
        "..",
        ":",
        "\u{e9}",
        "\u{5468}",
        "\0",
        "\t",
        "\u{a0}",
        "mon",
        "~",
    ];
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..chance.within(1, 4) {
        let at = chance.below(letters.len() as u64 + 1) as usize;
        match chance.below(5) {
            0 if at < letters.len() => drop(letters.remove(at)),
            1 => letters.truncate(at),
            2 if at < letters.len() => letters.extend_from_within(at..),
            3 if at < letters.len() => letters[at] = chance.pick(&['*', '5', 'L', 'W', '#', '/', '-', ' ']),
            _ => drop(letters.splice(at..at, chance.pick(&PIECES).chars())),
        }
    }
    letters.into_iter().collect()
}

/// Reads an expression, and if it can be read, uses it for everything that there is.
fn check_expression(text: &str, seed: u64) -> Result<(), TestCaseError> {
    let rule = if seed.is_multiple_of(2) { DayRule::Or } else { DayRule::And };
    let Ok(cron) = Cron::parse(text, rule, seed) else { return Ok(()) };
    let again = Cron::parse(&cron.to_string(), rule, seed);
    prop_assert_eq!(again.as_ref(), Ok(&cron), "{} printed", text);
    let after = (seed % 4_102_444_800) as i64 * 1_000_000;
    let next = cron.next(after, &Zone::UTC, Dst::default());
    prop_assert!(next.is_none_or(|next| next > after), "{text}: {next:?}");
    let schedule = Schedule::new(Rhythm::Cron { cron: Box::new(cron), dst: Dst::default() });
    for language in [Language::English, Language::Chinese] {
        prop_assert!(!describe::schedule(&schedule, language).is_empty());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn any_expression(text in "\\PC{0,60}", seed: u64) {
        check_expression(&text, seed)?;
        drop(text.parse::<Zone>());
    }

    #[test]
    fn what_looks_like_an_expression(text in "[-0-9*/,?LWH#()A-Z ]{0,40}", seed: u64) {
        check_expression(&text, seed)?;
    }

    #[test]
    fn expressions_in_which_something_was_changed(seed: u64) {
        let mut chance = Chance(seed);
        let kind = chance.pick(&Kind::ALL);
        let text = if chance.below(4) == 0 { hashed(&mut chance, seed).text } else { expression(&mut chance, kind) };
        check_expression(&changed(&text, &mut chance), seed)?;
    }

    #[test]
    fn any_interval(span in "\\PC{0,20}", secs: u64, offset: u64, after: i64) {
        for text in [span.clone(), format!("@every {span}"), format!("@EVERY\t{span}")] {
            prop_assert!(every_of(&text).is_none_or(|read| text.contains(read) && read == read.trim()));
        }
        let _ = Every::new(Duration::from_secs(secs), Duration::from_secs(offset));
        let period = secs % 400_000_000 + 1;
        let Ok(every) = Every::new(Duration::from_secs(period), Duration::from_secs(offset % period)) else {
            return Ok(());
        };
        prop_assert!(every.next(after).is_none_or(|next| next > after));
        let schedule = Schedule::new(Rhythm::Every(every));
        prop_assert!(!describe::schedule(&schedule, Language::Chinese).is_empty());
    }

    #[test]
    fn any_day_and_time_of_a_calendar(text in "\\PC{0,24}", digits in "[-+0-9.:T ]{4,23}", seed: u64) {
        let mut chance = Chance(seed);
        let known = ["2026-12-25", "2026-12-24..2027-01-01", "12-25", "02-29", "22:00-06:00"];
        let near = changed(chance.pick(&known), &mut chance);
        for text in [text, digits, near] {
            if let Ok(days) = text.parse::<Days>() {
                prop_assert_eq!(days.to_string().parse::<Days>(), Ok(days), "{} printed", text);
                drop(Calendar::new([0], [(days, Holiday::Off)], vec![]));
            }
            if let Ok(window) = text.parse::<DailyWindow>() {
                prop_assert_eq!(window.to_string().parse::<DailyWindow>(), Ok(window), "{} printed", text);
                drop(Calendar::new([0], [], vec![window]));
            }
        }
    }
}
