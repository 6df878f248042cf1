//! Schedules in words, for people who read no cron.
//!
//! What is said comes from the sets, not from the text: two expressions that mean the same are said alike. `shape.rs` finds
//! the shape of a set; each language has a file of its own.

mod chinese;
mod english;
mod shape;

use crate::MICROS;
use crate::cron::Cron;
use crate::schedule::{Rhythm, Schedule};

/// A language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

/// An expression in words: `at 02:30, Monday to Friday`.
pub fn cron(cron: &Cron, language: Language) -> String {
    match language {
        Language::English => english::cron(cron),
        Language::Chinese => chinese::cron(cron),
    }
}

/// A schedule in words.
pub fn schedule(schedule: &Schedule, language: Language) -> String {
    let zone = &schedule.zone;
    match (&schedule.rhythm, language) {
        (Rhythm::Cron { cron, .. }, Language::English) => format!("{} ({zone})", english::cron(cron)),
        (Rhythm::Cron { cron, .. }, Language::Chinese) => format!("{}（{zone}）", chinese::cron(cron)),
        (Rhythm::Every(every), Language::English) => english::every(every),
        (Rhythm::Every(every), Language::Chinese) => chinese::every(every),
        (Rhythm::At(at), Language::English) => format!("once, at {}", zone.wall_clock(at / MICROS)),
        (Rhythm::At(at), Language::Chinese) => format!("一次，{}", zone.wall_clock(at / MICROS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cron::DayRule;
    use crate::every::Every;

    fn check(text: &str, english: &str, chinese: &str) {
        let read = Cron::parse(text, DayRule::Or, 0).unwrap();
        assert_eq!(cron(&read, Language::English), english, "{text}");
        assert_eq!(cron(&read, Language::Chinese), chinese, "{text}");
    }

    #[test]
    fn times_of_day() {
        check("30 2 * * *", "at 02:30", "每天 02:30");
        check("0 9,17 * * *", "at 09:00 and 17:00", "每天 09:00、17:00");
        check("15 30 2 * * *", "at 02:30:15", "每天 02:30:15");
        check("* * * * *", "every minute", "每分钟");
        check("*/5 * * * *", "every 5 minutes", "每 5 分钟");
        check("* * * * * *", "every second", "每秒");
        check("*/10 * * * * *", "every 10 seconds", "每 10 秒");
        check("0 * * * *", "every hour", "每小时整点");
        check("20 * * * *", "at minute 20 of every hour", "每小时第 20 分");
        check("0 */2 * * *", "at minute 0 of every 2nd hour", "每 2 小时第 0 分");
        check("*/15 9-17 * * *", "every 15 minutes, from hour 9 to 17", "9 点至 17 点，每 15 分钟");
        check("5,35 8,20 * * *", "at 08:05, 08:35, 20:05 and 20:35", "每天 08:05、08:35、20:05、20:35");
        check("7-9 1-4 * * *", "at minutes 7 to 9, from hour 1 to 4", "1 点至 4 点，第 7 至 9 分");
    }

    #[test]
    fn days() {
        check("0 3 * * MON-FRI", "at 03:00, Monday to Friday", "周一至周五 03:00");
        check("0 3 * * 0,6", "at 03:00, Sunday and Saturday", "周日、周六 03:00");
        check("0 3 1 * *", "at 03:00, on day 1 of the month", "每月 1 日 03:00");
        check("0 3 L * *", "at 03:00, on the last day of the month", "每月最后一天 03:00");
        check(
            "0 3 L-3,15W * *",
            "at 03:00, 3 days before the last day of the month and on the weekday nearest to day 15",
            "每月倒数第 4 天、离 15 日最近的工作日 03:00",
        );
        check("0 3 * * 5L", "at 03:00, on the last Friday of the month", "每月最后一个周五 03:00");
        check("0 3 * * 1#2", "at 03:00, on the second Monday of the month", "每月第二个周一 03:00");
        check("0 3 13 * 5", "at 03:00, on day 13 of the month or on Friday", "每月 13 日或周五 03:00");
        check(
            "0 3 1 1,7 *",
            "at 03:00, on day 1 of the month, in January and July",
            "1 月、7 月，每月 1 日 03:00",
        );
        check(
            "0 0 3 1 1 * 2030-2032",
            "at 03:00, on day 1 of the month, in January, in 2030 to 2032",
            "2030 至 2032 年，1 月，每月 1 日 03:00",
        );
        let both = Cron::parse("0 3 13 * 5", DayRule::And, 0).unwrap();
        assert_eq!(cron(&both, Language::English), "at 03:00, on day 13 of the month if it is Friday");
        assert_eq!(cron(&both, Language::Chinese), "每月 13 日且为周五 03:00");
    }

    #[test]
    fn intervals() {
        let hours = |count: u64| std::time::Duration::from_secs(count * 3_600);
        let every = Schedule::new(Rhythm::Every(Every::new(hours(6), hours(1)).unwrap()));
        assert_eq!(schedule(&every, Language::English), "every 6h, 1h after the full interval");
        assert_eq!(schedule(&every, Language::Chinese), "每 6h，偏移 1h");
    }
}
