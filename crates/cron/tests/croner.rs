//! The same as croner in every zone, over the turns of the clocks and over leap days, from 1970 to 2100.
//!
//! Where several fixed times of day are given (`30 2,14 * * *`), croner takes them for an interval: it drops those in a gap and
//! doubles those in an overlap, unlike a single time (`30 2 * * *`). Ours treats each fixed time alike, as the same times
//! in several expressions; so those are compared where no clock is turned. The other difference is a fault of croner's, told
//! at `is_made_up_for_nothing`.

use croner::parser::{CronParser, Seconds};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use mainspring_cron::{Cron, DayRule, Dst, Zone};

use super::expressions::{Chance, Kind, expression};

const MICROS: i64 = 1_000_000;

fn theirs(text: &str, zone: &TimeZone, after: i64) -> Option<i64> {
    let cron = CronParser::builder().seconds(Seconds::Required).build().parse(text).ok()?;
    let after = jiff::Timestamp::from_second(after).ok()?.to_zoned(zone.clone());
    Some(cron.find_next_occurrence(&after, false).ok()?.timestamp().as_second())
}

/// Croner's known fault: it fires at the end of a gap although the time that was asked for is not in the gap, when it has just
/// looked at the hour or the day in which the gap is.
fn is_made_up_for_nothing(text: &str, zone: &Zone, theirs: i64) -> bool {
    let (gap, end) = (theirs + zone.offset(theirs - 1), theirs + zone.offset(theirs));
    let time: Vec<i64> = text.split(' ').take(3).map(|field| field.parse().unwrap()).collect();
    let time = time[0] + 60 * time[1] + 3_600 * time[2];
    let days = gap.div_euclid(86_400)..=end.div_euclid(86_400);
    gap < end && days.into_iter().all(|day| !(gap..end).contains(&(day * 86_400 + time)))
}

fn compare(chance: &mut Chance, kind: Kind, (name, zone): (&str, &TimeZone), from: i64) {
    let text = expression(chance, kind);
    let cron = match Cron::parse(&text, DayRule::Or, 0) {
        Ok(cron) => cron,
        Err(_) => return,
    };
    let ours: Zone = name.parse().unwrap();
    let mut after = from;
    for _ in 0..3 {
        let next = cron.next(after * MICROS, &ours, Dst::default());
        let Some(theirs) = theirs(&text, zone, after) else { return };
        let next = next.unwrap() / MICROS;
        if next != theirs {
            assert!(
                kind == Kind::Fixed && is_made_up_for_nothing(&text, &ours, theirs),
                "`{text}` in {name} after {}: {} or {}",
                ours.wall_clock(after),
                ours.wall_clock(next),
                ours.wall_clock(theirs)
            );
            return;
        }
        after = next;
    }
}

#[test]
fn in_every_zone_over_every_turn() {
    let database = TimeZoneDatabase::bundled();
    let mut chance = Chance(1);
    let mut compared = 0;
    for name in Zone::names() {
        let zone = database.get(&name).unwrap();
        let end = jiff::Timestamp::from_second(4_102_444_800).unwrap();
        let turns: Vec<i64> = zone
            .following(jiff::Timestamp::UNIX_EPOCH)
            .map(|turn| turn.timestamp())
            .take_while(|turn| *turn < end)
            .map(|turn| turn.as_second())
            .collect();
        for _ in 0..24 {
            // Shortly before a turn, or anywhere.
            let from = match turns.len() as u64 {
                0 => chance.below(4_102_444_800) as i64,
                count => turns[chance.below(count) as usize] - chance.below(90_000) as i64,
            };
            let kind = chance.pick(&[Kind::Fixed, Kind::Elapsed]);
            compare(&mut chance, kind, (&name, &zone), from);
            compared += 1;
        }
    }
    assert!(compared > 10_000, "{compared}");
}

#[test]
fn where_no_clock_is_turned() {
    let database = TimeZoneDatabase::bundled();
    let mut chance = Chance(2);
    for _ in 0..6_000 {
        let name = chance.pick(&["UTC", "Etc/GMT+5", "Etc/GMT-14"]);
        let zone = database.get(name).unwrap();
        let from = chance.below(4_102_444_800) as i64;
        let kind = chance.pick(&[Kind::Fixed, Kind::Elapsed, Kind::Several]);
        compare(&mut chance, kind, (name, &zone), from);
    }
}
