//! English.

use super::shape::{Shape, shape, span, times, years};
use crate::cron::{Cron, DayRule};
use crate::every::Every;
use crate::field::bits;

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

pub(super) fn every(every: &Every) -> String {
    let period = span(every.period());
    match every.offset().is_zero() {
        true => format!("every {period}"),
        false => format!("every {period}, {} after the full interval", span(every.offset())),
    }
}

pub(super) fn cron(cron: &Cron) -> String {
    let mut parts = vec![time(cron)];
    parts.extend(days(cron));
    match shape(cron.months.into(), 1, 12) {
        Shape::All => {}
        Shape::Every(step) => parts.push(format!("every {} month", ordinal(step))),
        Shape::Range(first, last) => parts.push(format!("{} to {}", month(first), month(last))),
        Shape::One(only) => parts.push(format!("in {}", month(only))),
        Shape::List(list) => parts.push(format!("in {}", and(list.into_iter().map(month)))),
    }
    if let Some(years) = years(cron) {
        let range = |(first, last): (i16, i16)| match first == last {
            true => first.to_string(),
            false => format!("{first} to {last}"),
        };
        parts.push(format!("in {}", and(years.into_iter().map(range))));
    }
    parts.join(", ")
}

fn time(cron: &Cron) -> String {
    let (second, minute) = (shape(cron.seconds, 0, 59), shape(cron.minutes, 0, 59));
    let hour = shape(cron.hours.into(), 0, 23);
    let hours = match &hour {
        Shape::All => String::new(),
        Shape::Every(step) => format!(", every {} hour", ordinal(*step)),
        Shape::One(only) => format!(", in hour {only}"),
        Shape::Range(first, last) => format!(", from hour {first} to {last}"),
        Shape::List(list) => format!(", in hours {}", and(list)),
    };
    match (&second, &minute, &hour) {
        (Shape::All, Shape::All, _) => format!("every second{hours}"),
        (Shape::Every(step), Shape::All, _) => format!("every {step} seconds{hours}"),
        (Shape::One(0), Shape::All, _) => format!("every minute{hours}"),
        (Shape::One(0), Shape::Every(step), _) => format!("every {step} minutes{hours}"),
        (Shape::One(0), Shape::One(0), Shape::All) => "every hour".to_owned(),
        (Shape::One(0), Shape::One(only), Shape::All) => format!("at minute {only} of every hour"),
        (Shape::One(0), Shape::One(only), Shape::Every(step)) => {
            format!("at minute {only} of every {} hour", ordinal(*step))
        }
        _ => match times(cron) {
            Some(times) => format!("at {}", and(times)),
            None => {
                let seconds = match &second {
                    Shape::One(0) => String::new(),
                    second => format!("at {}, ", values("second", second)),
                };
                format!("{seconds}at {}{hours}", values("minute", &minute))
            }
        },
    }
}

fn values(noun: &str, shape: &Shape) -> String {
    match shape {
        Shape::All => format!("every {noun}"),
        Shape::Every(step) => format!("every {} {noun}", ordinal(*step)),
        Shape::One(only) => format!("{noun} {only}"),
        Shape::Range(first, last) => format!("{noun}s {first} to {last}"),
        Shape::List(list) => format!("{noun}s {}", and(list)),
    }
}

fn days(cron: &Cron) -> Option<String> {
    match (month_days(cron), week_days(cron)) {
        (None, None) => None,
        (Some(days), None) => Some(days),
        (None, Some((on, days))) => Some(if on { format!("on {days}") } else { days }),
        (Some(month), Some((_, week))) => Some(match cron.rule {
            DayRule::Or => format!("{month} or on {week}"),
            DayRule::And => format!("{month} if it is {week}"),
        }),
    }
}

fn month_days(cron: &Cron) -> Option<String> {
    let days = &cron.days;
    if days.any {
        return None;
    }
    let mut parts = Vec::new();
    if days.days != 0 {
        parts.push(match shape(days.days.into(), 1, 31) {
            Shape::All => "on every day".to_owned(),
            Shape::Every(step) => format!("on every {} day of the month", ordinal(step)),
            Shape::One(only) => format!("on day {only} of the month"),
            Shape::Range(first, last) => format!("on days {first} to {last} of the month"),
            Shape::List(list) => format!("on days {} of the month", and(list)),
        });
    }
    let end = |back: u8| match back {
        0 => "the last day of the month".to_owned(),
        1 => "the day before the last of the month".to_owned(),
        back => format!("{back} days before the last day of the month"),
    };
    for back in bits(days.before_last.into()) {
        parts.push(if back < 2 { format!("on {}", end(back)) } else { end(back) });
    }
    for day in bits(days.nearest.into()) {
        parts.push(format!("on the weekday nearest to day {day}"));
    }
    for back in bits(days.nearest_before_last.into()) {
        parts.push(match back {
            0 => "on the last weekday of the month".to_owned(),
            back => format!("on the weekday nearest to {}", end(back)),
        });
    }
    Some(and(parts))
}

/// The days, and whether they want an `on` before them.
fn week_days(cron: &Cron) -> Option<(bool, String)> {
    let week = &cron.weekdays;
    if week.any {
        return None;
    }
    let mut parts = Vec::new();
    let mut on = false;
    if week.days != 0 {
        parts.push(match shape(week.days.into(), 0, 6) {
            Shape::All => "every day".to_owned(),
            Shape::Range(first, last) => format!("{} to {}", weekday(first), weekday(last)),
            _ => and(bits(week.days.into()).map(weekday)),
        });
    }
    for (at, set) in week.nth.iter().enumerate().filter(|(_, set)| **set != 0) {
        on = true;
        parts.push(format!("the {} {} of the month", ORDINALS[at], and(bits((*set).into()).map(weekday))));
    }
    if week.last != 0 {
        on = true;
        parts.push(format!("the last {} of the month", and(bits(week.last.into()).map(weekday))));
    }
    Some((on, and(parts)))
}

fn weekday(day: u8) -> &'static str {
    WEEKDAYS[usize::from(day % 7)]
}

fn month(month: u8) -> &'static str {
    MONTHS[usize::from(month.clamp(1, 12) - 1)]
}

fn ordinal(number: u8) -> String {
    let ending = match (number % 10, number % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// `a, b and c`.
fn and(items: impl IntoIterator<Item = impl ToString>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    match items.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
