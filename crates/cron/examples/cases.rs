//! Prints expressions by chance and what follows a moment in every zone of the world, as lines of JSON, for another
//! implementation to check: `cargo run -p mainspring-cron --example cases`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example for tests")]

use jiff::tz::TimeZoneDatabase;
use mainspring_cron::{Cron, DayRule, Dst, Gap, Overlap, Zone};

#[path = "../tests/expressions.rs"]
mod expressions;

use expressions::{Chance, Kind, expression};

const MICROS: i64 = 1_000_000;
/// 2100-01-01.
const END: i64 = 4_102_444_800;
const CASES_OF_A_ZONE: u32 = 10;
const CASES_OF_UTC: u32 = 1_500;

fn main() {
    let database = TimeZoneDatabase::bundled();
    let mut chance = Chance(3);
    for name in Zone::names() {
        let zone = database.get(&name).unwrap();
        let end = jiff::Timestamp::from_second(END).unwrap();
        let turns = zone.following(jiff::Timestamp::UNIX_EPOCH).map(|turn| turn.timestamp());
        let turns: Vec<i64> = turns.take_while(|turn| *turn < end).map(|turn| turn.as_second()).collect();
        for _ in 0..if name == "UTC" { CASES_OF_UTC } else { CASES_OF_A_ZONE } {
            let after = match turns.len() as u64 {
                0 => chance.below(END as u64) as i64,
                count => turns[chance.below(count) as usize] - chance.below(90_000) as i64,
            };
            case(&mut chance, &name, after);
        }
    }
}

fn case(chance: &mut Chance, name: &str, after: i64) {
    let kind = chance.pick(&[Kind::Fixed, Kind::Elapsed, Kind::Several]);
    let text = expression(chance, kind);
    let (rule, rule_name) = chance.pick(&[(DayRule::Or, "or"), (DayRule::And, "and")]);
    let Ok(cron) = Cron::parse(&text, rule, 0) else { return };
    let (gap, gap_name) = chance.pick(&[(Gap::Once, "once"), (Gap::Skip, "skip")]);
    let (overlap, overlap_name) = chance.pick(&[(Overlap::First, "first"), (Overlap::Both, "both")]);
    let zone: Zone = name.parse().unwrap();
    let (mut at, mut next) = (after * MICROS, Vec::new());
    for _ in 0..3 {
        let Some(found) = cron.next(at, &zone, Dst { gap, overlap }) else { return };
        at = found;
        next.push((found / MICROS).to_string());
    }
    // What comes after the oracle's last year is not compared.
    if at / MICROS > END {
        return;
    }
    println!(
        "{{\"cron\":\"{text}\",\"rule\":\"{rule_name}\",\"zone\":\"{name}\",\"gap\":\"{gap_name}\",\"overlap\":\"{overlap_name}\",\"after\":{after},\"next\":[{}]}}",
        next.join(",")
    );
}
