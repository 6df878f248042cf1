//! `OnCalendar=`: what systemd calls a calendar event, as a cron expression.
//!
//! `[weekdays] [year-month-day] [hour:minute[:second]] [zone]`, or a word such as `daily`. All that it can say in whole seconds
//! and in the years from 1970 to 2199 an expression can say too.

use super::component::{Component, DAY, HOUR, MINUTE, MONTH, SECOND, YEAR};
use crate::import::is_zone;

/// A calendar event as an expression.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Calendar {
    pub(super) cron: String,
    /// The zone that it names.
    pub(super) zone: Option<String>,
    /// Whether the day of the month and that of the week must both fit.
    pub(super) both_days: bool,
    /// Whether it follows elapsed time when clocks are turned: every minute or hour, or every so many.
    pub(super) is_elapsed: bool,
}

const WORDS: &[(&[&str], &str)] = &[
    (&["minutely"], "* * * * *"),
    (&["hourly"], "0 * * * *"),
    (&["daily"], "0 0 * * *"),
    (&["weekly"], "0 0 * * MON"),
    (&["monthly"], "0 0 1 * *"),
    (&["quarterly"], "0 0 1 1,4,7,10 *"),
    (&["semiannually", "semi-annually", "biannually", "bi-annually"], "0 0 1 1,7 *"),
    (&["yearly", "annually", "anually"], "0 0 1 1 *"),
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Translates a calendar event, or says what is in the way.
pub(super) fn translate(text: &str) -> Result<Calendar, String> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let zone = words.len().checked_sub(1).filter(|last| *last > 0 && is_zone(words[*last]));
    let zone = zone.map(|last| words.remove(last).to_owned());
    if let [word] = words.as_slice() {
        let known = WORDS.iter().find(|(names, _)| names.iter().any(|name| name.eq_ignore_ascii_case(word)));
        if let Some((_, cron)) = known {
            let is_elapsed = matches!(*cron, "* * * * *" | "0 * * * *");
            return Ok(Calendar { cron: (*cron).to_owned(), zone, both_days: false, is_elapsed });
        }
    }
    let mut words = words.into_iter().peekable();
    let weekdays = words.next_if(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
    let date = words.next_if(|word| !word.contains(':'));
    let time = words.next();
    if weekdays.is_none() && date.is_none() && time.is_none() || words.next().is_some() {
        return Err("it is not a calendar event".to_owned());
    }
    let weekdays = weekdays.map(read_weekdays).transpose()?;
    let date = date.map_or_else(|| Ok(Date::default()), read_date)?;
    let time = time.map_or_else(|| Ok(Time::midnight()), read_time)?;
    Ok(expression(weekdays, &date, &time, zone))
}

struct Date {
    year: Component,
    month: Component,
    /// The day as it stands in the expression.
    day: String,
}

struct Time {
    hour: Component,
    minute: Component,
    second: Component,
}

impl Default for Date {
    fn default() -> Self {
        Self { year: Component::Any, month: Component::Any, day: "*".to_owned() }
    }
}

impl Time {
    fn midnight() -> Self {
        Self { hour: Component::one(0), minute: Component::one(0), second: Component::one(0) }
    }
}

fn expression(weekdays: Option<String>, date: &Date, time: &Time, zone: Option<String>) -> Calendar {
    let (hour, minute) = (time.hour.cron(&HOUR), time.minute.cron(&MINUTE));
    let (second, year) = (time.second.cron(&SECOND), date.year.cron(&YEAR));
    let both_days = weekdays.is_some() && date.day != "*";
    let weekday = weekdays.unwrap_or_else(|| "*".to_owned());
    let mut cron = format!("{minute} {hour} {} {} {weekday}", date.day, date.month.cron(&MONTH));
    let has_year = year != "*";
    if has_year || second != "0" {
        cron = format!("{second} {cron}");
    }
    if has_year {
        cron = format!("{cron} {year}");
    }
    let is_elapsed = [&second, &minute, &hour].into_iter().any(|field| field.starts_with('*'));
    Calendar { cron, zone, both_days, is_elapsed }
}

fn read_weekdays(text: &str) -> Result<String, String> {
    let number = |word: &str| {
        let fits = |name: &&str| name.eq_ignore_ascii_case(word) || name[..3].eq_ignore_ascii_case(word);
        WEEKDAYS.iter().position(fits).ok_or_else(|| format!("`{word}` is not a day of the week"))
    };
    let short = |index: usize| WEEKDAYS[index][..3].to_ascii_uppercase();
    let mut items = Vec::new();
    for item in text.trim_end_matches(',').split(',') {
        match item.split_once("..").or_else(|| item.split_once('-')) {
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if first > last {
                    return Err(format!("`{item}` goes backwards"));
                }
                items.push(format!("{}-{}", short(first), short(last)));
            }
            None => items.push(short(number(item)?)),
        }
    }
    Ok(items.join(","))
}

fn read_date(text: &str) -> Result<Date, String> {
    let (head, day) = match text.rsplit_once('~') {
        Some((head, day)) => (head, Component::read(day, &DAY)?.cron_from_end(&DAY)?),
        None => {
            let (head, day) =
                text.rsplit_once('-').ok_or_else(|| format!("`{text}` is neither a date nor a time"))?;
            (head, Component::read(day, &DAY)?.cron(&DAY))
        }
    };
    let (year, month) = match head.split_once('-') {
        Some((year, month)) => (Component::read(year, &YEAR)?, month),
        None => (Component::Any, head),
    };
    Ok(Date { year, month: Component::read(month, &MONTH)?, day })
}

fn read_time(text: &str) -> Result<Time, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let (hour, minute, second) = match parts.as_slice() {
        [hour, minute] => (*hour, *minute, "0"),
        [hour, minute, second] => (*hour, *minute, *second),
        _ => return Err(format!("`{text}` is not a time of the day")),
    };
    if second.replace("..", "-").contains('.') {
        return Err("nothing fires at parts of a second".to_owned());
    }
    Ok(Time {
        hour: Component::read(hour, &HOUR)?,
        minute: Component::read(minute, &MINUTE)?,
        second: Component::read(second, &SECOND)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<(&str, Option<&str>, bool), &str>) {
        match (translate(text), expected) {
            (Ok(found), Ok((cron, zone, both_days))) => {
                let found = (found.cron.as_str(), found.zone.as_deref(), found.both_days);
                assert_eq!(found, (cron, zone, both_days), "{text}");
            }
            (Err(why), Err(words)) => assert!(why.contains(words), "{text}: {why}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn events_are_expressions() {
        check("Mon..Fri *-*-* 03:00:00 Europe/Berlin", Ok(("0 3 * * MON-FRI", Some("Europe/Berlin"), false)));
        check("hourly", Ok(("0 * * * *", None, false)));
        check("Weekly UTC", Ok(("0 0 * * MON", Some("UTC"), false)));
        check("*-*-01", Ok(("0 0 1 * *", None, false)));
        check("*:0/15", Ok(("*/15 * * * *", None, false)));
        check("*:5/15", Ok(("5/15 * * * *", None, false)));
        check("*-*-* 00/2:30", Ok(("30 */2 * * *", None, false)));
        check("9..17/2:00", Ok(("0 9-17/2 * * *", None, false)));
        check("Mon *-*-1..7 4:00", Ok(("0 4 1-7 * MON", None, true)));
        check("Sat,Monday..wed 12..14:10,20,30", Ok(("10,20,30 12-14 * * SAT,MON-WED", None, false)));
        check("*:*:00/10", Ok(("*/10 * * * * *", None, false)));
        check("05-01", Ok(("0 0 1 5 *", None, false)));
        check("2027-03-04 05:06:07", Ok(("7 6 5 4 3 * 2027", None, false)));
        check("27..29-1/6-1", Ok(("0 0 0 1 */6 * 2027-2029", None, false)));
        check("*-*~01", Ok(("0 0 L * *", None, false)));
        check("*-02~3,1", Ok(("0 0 L-2,L 2 *", None, false)));
        check("Mon *-05~07/1", Ok(("0 0 L-6,L-5,L-4,L-3,L-2,L-1,L 5 MON", None, true)));
        check("*-*~01..03", Ok(("0 0 L,L-1,L-2 * *", None, false)));
        check("Mon,", Ok(("0 0 * * MON", None, false)));
    }

    #[test]
    fn what_cannot_be_said_is_told() {
        check("10:00:00.5", Err("parts of a second"));
        check("Fri..Mon", Err("goes backwards"));
        check("10..8:00", Err("goes backwards"));
        check("25:00", Err("`25` is not 0 to 23"));
        check("*-13-01", Err("`13` is not 1 to 12"));
        check("@1895716396", Err("neither a date nor a time"));
        check("Mon 10:00 Mars/Olympus", Err("not a calendar event"));
        check("fortnightly", Err("not a day of the week"));
        check("1:2:3:4", Err("not a time of the day"));
        check("", Err("not a calendar event"));
        check("2300-01-01", Err("`2300` is not 1970 to 2199"));
    }
}
