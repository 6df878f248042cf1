//! Simplified Chinese.

use super::shape::{Shape, shape, span, times, years};
use crate::cron::{Cron, DayRule};
use crate::every::Every;
use crate::field::bits;

const WEEKDAYS: [&str; 7] = ["周日", "周一", "周二", "周三", "周四", "周五", "周六"];
const ORDINALS: [&str; 5] = ["第一个", "第二个", "第三个", "第四个", "第五个"];

pub(super) fn every(every: &Every) -> String {
    let period = span(every.period());
    match every.offset().is_zero() {
        true => format!("每 {period}"),
        false => format!("每 {period}，偏移 {}", span(every.offset())),
    }
}

pub(super) fn cron(cron: &Cron) -> String {
    let mut when = Vec::new();
    if let Some(years) = years(cron) {
        let range = |(first, last): (i16, i16)| match first == last {
            true => format!("{first} 年"),
            false => format!("{first} 至 {last} 年"),
        };
        when.push(list(years.into_iter().map(range)));
    }
    match shape(cron.months.into(), 1, 12) {
        Shape::All => {}
        Shape::Every(step) => when.push(format!("每 {step} 个月")),
        Shape::Range(first, last) => when.push(format!("{first} 月至 {last} 月")),
        Shape::One(only) => when.push(format!("{only} 月")),
        Shape::List(months) => when.push(list(months.into_iter().map(|month| format!("{month} 月")))),
    }
    let days = days(cron);
    let time = match (time(cron), &days) {
        (Time::OfDay(times), Some(days)) => format!("{days} {times}"),
        (Time::OfDay(times), None) => format!("每天 {times}"),
        (Time::Rhythm(rhythm), Some(days)) => format!("{days}，{rhythm}"),
        (Time::Rhythm(rhythm), None) => rhythm,
    };
    when.push(time);
    when.join("，")
}

/// Times of day, or something that goes on all day.
enum Time {
    OfDay(String),
    Rhythm(String),
}

fn time(cron: &Cron) -> Time {
    let (second, minute) = (shape(cron.seconds, 0, 59), shape(cron.minutes, 0, 59));
    let hour = shape(cron.hours.into(), 0, 23);
    let hours = match &hour {
        Shape::All => String::new(),
        Shape::Every(step) => format!("每 {step} 小时，"),
        Shape::One(only) => format!("{only} 点，"),
        Shape::Range(first, last) => format!("{first} 点至 {last} 点，"),
        Shape::List(hours) => format!("{}，", list(hours.iter().map(|hour| format!("{hour} 点")))),
    };
    Time::Rhythm(match (&second, &minute, &hour) {
        (Shape::All, Shape::All, _) => format!("{hours}每秒"),
        (Shape::Every(step), Shape::All, _) => format!("{hours}每 {step} 秒"),
        (Shape::One(0), Shape::All, _) => format!("{hours}每分钟"),
        (Shape::One(0), Shape::Every(step), _) => format!("{hours}每 {step} 分钟"),
        (Shape::One(0), Shape::One(0), Shape::All) => "每小时整点".to_owned(),
        (Shape::One(0), Shape::One(only), Shape::All) => format!("每小时第 {only} 分"),
        (Shape::One(0), Shape::One(only), Shape::Every(step)) => format!("每 {step} 小时第 {only} 分"),
        _ => match times(cron) {
            Some(times) => return Time::OfDay(list(times)),
            None => {
                let seconds = match &second {
                    Shape::One(0) => String::new(),
                    second => format!("，{}", values("秒", second)),
                };
                format!("{hours}{}{seconds}", values("分", &minute))
            }
        },
    })
}

fn values(noun: &str, shape: &Shape) -> String {
    match shape {
        Shape::All => format!("每{noun}"),
        Shape::Every(step) => format!("每 {step} {noun}"),
        Shape::One(only) => format!("第 {only} {noun}"),
        Shape::Range(first, last) => format!("第 {first} 至 {last} {noun}"),
        Shape::List(numbers) => format!("第 {} {noun}", list(numbers)),
    }
}

fn days(cron: &Cron) -> Option<String> {
    match (month_days(cron), week_days(cron)) {
        (None, None) => None,
        (Some(days), None) | (None, Some(days)) => Some(days),
        (Some(month), Some(week)) => Some(match cron.rule {
            DayRule::Or => format!("{month}或{week}"),
            DayRule::And => format!("{month}且为{week}"),
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
            Shape::All => "的每一天".to_owned(),
            Shape::Every(step) => format!("每隔 {step} 天"),
            Shape::One(only) => format!(" {only} 日"),
            Shape::Range(first, last) => format!(" {first} 日至 {last} 日"),
            Shape::List(days) => format!(" {}", list(days.iter().map(|day| format!("{day} 日")))),
        });
    }
    for back in bits(days.before_last.into()) {
        parts.push(match back {
            0 => "最后一天".to_owned(),
            back => format!("倒数第 {} 天", back + 1),
        });
    }
    for day in bits(days.nearest.into()) {
        parts.push(format!("离 {day} 日最近的工作日"));
    }
    for back in bits(days.nearest_before_last.into()) {
        parts.push(match back {
            0 => "最后一个工作日".to_owned(),
            back => format!("离倒数第 {} 天最近的工作日", back + 1),
        });
    }
    Some(format!("每月{}", list(parts)))
}

fn week_days(cron: &Cron) -> Option<String> {
    let week = &cron.weekdays;
    if week.any {
        return None;
    }
    let mut parts = Vec::new();
    if week.days != 0 {
        parts.push(match shape(week.days.into(), 0, 6) {
            Shape::All => "每天".to_owned(),
            Shape::Range(first, last) => format!("{}至{}", weekday(first), weekday(last)),
            _ => list(bits(week.days.into()).map(weekday)),
        });
    }
    for (at, set) in week.nth.iter().enumerate().filter(|(_, set)| **set != 0) {
        parts.push(format!("每月{}{}", ORDINALS[at], list(bits((*set).into()).map(weekday))));
    }
    if week.last != 0 {
        parts.push(format!("每月最后一个{}", list(bits(week.last.into()).map(weekday))));
    }
    Some(list(parts))
}

fn weekday(day: u8) -> &'static str {
    WEEKDAYS[usize::from(day % 7)]
}

fn list(items: impl IntoIterator<Item = impl ToString>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join("、")
}
