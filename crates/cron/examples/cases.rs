//! Prints expressions by chance and what follows a moment, as lines of JSON, for another implementation to check: at every turn
//! of the clocks of every zone of the world from 1970 to 2100, of every shape in every zone, and with hashes.
//! `cargo run -p mainspring-cron --example cases`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example for tests")]

use mainspring_cron::{Cron, DayRule, Dst, Gap, Overlap, Zone};

#[path = "../tests/expressions.rs"]
mod expressions;
#[allow(dead_code, reason = "the oracle finds out by itself what hashes stand for")]
#[path = "../tests/hashes.rs"]
mod hashes;
#[path = "../tests/turns.rs"]
mod turns;

use expressions::{Chance, Kind, expression};
use turns::{END, Turn, turns};

const MICROS: i64 = 1_000_000;
const CASES_OF_A_ZONE: u32 = 10;
const CASES_OF_UTC: u32 = 1_500;
const HASHES_OF_A_ZONE: u32 = 4;

/// A question.
struct Case<'a> {
    text: String,
    /// What hashes are drawn from.
    seed: u64,
    zone: &'a str,
    /// By how many seconds its clocks were turned back at most.
    back: i64,
    after: i64,
}

fn main() {
    let mut chance = Chance(3);
    for name in Zone::names() {
        let turns = turns(&name);
        let back = turns.iter().map(|turn| turn.before - turn.after).max().unwrap_or_default().max(0);
        for turn in &turns {
            let kind = chance.pick(&Kind::ALL);
            let text = turn.expression(&mut chance, kind);
            let after = turn.shortly_before(&mut chance);
            say(&mut chance, &Case { text, seed: 0, zone: &name, back, after });
        }
        for _ in 0..if name == "UTC" { CASES_OF_UTC } else { CASES_OF_A_ZONE } {
            let kind = chance.pick(&Kind::ALL);
            let text = expression(&mut chance, kind);
            let after = moment(&mut chance, &turns);
            say(&mut chance, &Case { text, seed: 0, zone: &name, back, after });
        }
        for _ in 0..HASHES_OF_A_ZONE {
            let seed = chance.draw();
            let text = hashes::hashed(&mut chance, seed).text;
            let after = moment(&mut chance, &turns);
            say(&mut chance, &Case { text, seed, zone: &name, back, after });
        }
    }
}

/// Shortly before a turn, or anywhere.
fn moment(chance: &mut Chance, turns: &[Turn]) -> i64 {
    match turns.len() {
        0 => chance.below(END as u64) as i64,
        _ => chance.pick(turns).shortly_before(chance),
    }
}

/// Prints a case with our answer. What we refuse is said to have no moment.
fn say(chance: &mut Chance, case: &Case<'_>) {
    let Case { text, seed, zone: name, back, after } = case;
    let (rule, rule_name) = chance.pick(&[(DayRule::Or, "or"), (DayRule::And, "and")]);
    let (gap, gap_name) = chance.pick(&[(Gap::Once, "once"), (Gap::Skip, "skip")]);
    let (overlap, overlap_name) = chance.pick(&[(Overlap::First, "first"), (Overlap::Both, "both")]);
    let cron = match Cron::parse(text, rule, *seed) {
        Ok(cron) => Some(cron),
        Err(wrong) => {
            assert!(wrong.to_string().contains("never fires"), "{text}: {wrong}");
            None
        }
    };
    let zone: Zone = name.parse().unwrap();
    let (mut at, mut next, mut is_over) = (after * MICROS, Vec::new(), false);
    while next.len() < 3 {
        match cron.as_ref().and_then(|cron| cron.next(at, &zone, Dst { gap, overlap })) {
            Some(found) => at = found,
            None => {
                is_over = true;
                break;
            }
        }
        // What comes after 2100 is not compared.
        if at / MICROS > END {
            break;
        }
        next.push((at / MICROS).to_string());
    }
    if next.is_empty() && !is_over {
        return;
    }
    println!(
        "{{\"cron\":\"{text}\",\"seed\":{seed},\"rule\":\"{rule_name}\",\"zone\":\"{name}\",\"gap\":\"{gap_name}\",\"overlap\":\"{overlap_name}\",\"back\":{back},\"after\":{after},\"next\":[{}],\"over\":{is_over}}}",
        next.join(",")
    );
}
