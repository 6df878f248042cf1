//! Where the clocks of the world are turned, and expressions that aim there: their times lie in the gap, in the overlap or
//! beside them, and their days fit that very day.

use std::sync::OnceLock;

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};

use super::expressions::{Chance, Kind};

/// Seconds from 1970 to 2100.
pub(crate) const END: i64 = 4_102_444_800;

/// A turn of the clocks of a zone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    /// The first second after it.
    pub(crate) at: i64,
    /// What the wall clock was ahead of UTC before it, in seconds.
    pub(crate) before: i64,
    /// What it is ahead after it.
    pub(crate) after: i64,
}

/// A zone of the database in the program.
pub(crate) fn time_zone(name: &str) -> TimeZone {
    static DATABASE: OnceLock<TimeZoneDatabase> = OnceLock::new();
    DATABASE.get_or_init(TimeZoneDatabase::bundled).get(name).unwrap()
}

/// Every turn of a zone from 1970 to 2100.
pub(crate) fn turns(name: &str) -> Vec<Turn> {
    let zone = time_zone(name);
    let end = jiff::Timestamp::from_second(END).unwrap();
    let offset = |second| i64::from(zone.to_offset(jiff::Timestamp::from_second(second).unwrap()).seconds());
    let seconds = zone.following(jiff::Timestamp::UNIX_EPOCH).map(|turn| turn.timestamp());
    let seconds = seconds.take_while(|turn| *turn < end).map(|turn| turn.as_second());
    seconds.map(|at| Turn { at, before: offset(at - 1), after: offset(at) }).collect()
}

impl Turn {
    /// An expression that aims at the turn.
    pub(crate) fn expression(&self, chance: &mut Chance, kind: Kind) -> String {
        let aim = self.aim(chance);
        let time = time(chance, kind, aim);
        format!("{time} {}", days(chance, aim))
    }

    /// A second from which the turn lies ahead, mostly near.
    pub(crate) fn shortly_before(&self, chance: &mut Chance) -> i64 {
        let span = chance.pick(&[60, 3_600, 90_000]);
        self.at - chance.below(span) as i64
    }

    /// What a wall clock shows in the gap, in the overlap, at their ends, or near them.
    fn aim(&self, chance: &mut Chance) -> DateTime {
        let (first, last) = (self.at + self.before.min(self.after), self.at + self.before.max(self.after));
        let local = match chance.below(8) {
            0 => first - 1,
            1 => first,
            2 => last - 1,
            3 => last,
            4 => first - chance.below(7_200) as i64,
            5 => last + chance.below(7_200) as i64,
            _ => first + chance.below((last - first).unsigned_abs() + 1) as i64,
        };
        // To the minute, for many turns are in the middle of none.
        let local = if chance.below(2) == 0 { local - local.rem_euclid(60) } else { local };
        Offset::UTC.to_datetime(jiff::Timestamp::from_second(local).unwrap())
    }
}

fn time(chance: &mut Chance, kind: Kind, aim: DateTime) -> String {
    let (hour, minute, second) = (aim.hour(), aim.minute(), aim.second());
    match kind {
        Kind::Fixed => format!("{second} {minute} {hour}"),
        Kind::Elapsed => match chance.below(5) {
            0 => format!("{second} {minute} *"),
            1 => format!("{second} */{} *", chance.within(10, 30)),
            2 => format!("{second} {minute} */{}", chance.within(1, 3)),
            3 => format!("*/{} {minute} {hour}", chance.within(1, 30)),
            _ => format!("{second} */{} {hour}", chance.within(1, 59)),
        },
        Kind::Several => match chance.below(3) {
            0 => format!("{second} {minute},{} {hour}-{}", chance.below(60), (hour + 2).min(23)),
            1 => format!("{second} {minute} {hour},{}", chance.below(24)),
            _ => format!("{second} {minute}-59/7 {hour}"),
        },
    }
}

/// Days that fit the day of the aim, among others.
fn days(chance: &mut Chance, aim: DateTime) -> String {
    let (day, last) = (aim.day(), aim.days_in_month());
    let weekday = aim.weekday().to_sunday_zero_offset();
    let of_month = [
        format!("{day}"),
        format!("L-{}", last - day),
        format!("{day}W"),
        format!("L-{}W", last - day),
        format!("{day}-31"),
    ];
    let of_week = [
        format!("{weekday}"),
        format!("{weekday}#{}", (day - 1) / 7 + 1),
        if day + 7 > last { format!("{weekday}L") } else { format!("0-{weekday}") },
    ];
    let of_month = &of_month[chance.below(5) as usize];
    let of_week = &of_week[chance.below(3) as usize];
    let month = if chance.below(8) == 0 { aim.month().to_string() } else { "*".to_owned() };
    let days = match chance.below(8) {
        0 | 1 => format!("{of_month} {month} *"),
        2 | 3 => format!("* {month} {of_week}"),
        4 => format!("{of_month} {month} {of_week}"),
        _ => format!("* {month} *"),
    };
    match chance.below(8) {
        0 => format!("{days} {}", aim.year().max(1970)),
        1 => format!("{days} {}-{}", (aim.year() - 1).max(1970), aim.year() + 1),
        _ => days,
    }
}
