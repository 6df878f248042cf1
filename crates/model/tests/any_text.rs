//! Any text is read or refused as a duration, a moment, an interval or a calendar, without a panic; and what is read says the
//! same when it is printed and read again. Job files are in `spec_round_trip.rs`, expressions in the crate `cron`.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use mainspring_model::limits::DURATION_MAX;
use mainspring_model::spec::{Format, parse};
use mainspring_model::{CalendarSpec, duration_text, time};
use proptest::prelude::*;

/// Text that begins right and goes wrong, or is anything.
fn text(shape: &'static str) -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,24}", shape, (shape, "\\PC{0,3}", shape).prop_map(|(a, b, c)| a + &b + &c)]
}

/// Days and times as calendars name them.
fn entries() -> impl Strategy<Value = Vec<Box<str>>> {
    let day = "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
    let entry = prop_oneof![
        4 => day.prop_map(|day| day),
        2 => (day, day).prop_map(|(first, last)| format!("{first}..{last}")),
        2 => "(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
        2 => "[012][0-9]:[0-5][0-9]-[012][0-9]:[0-5][0-9]",
        1 => text("[-0-9.:]{1,12}"),
    ];
    prop::collection::vec(entry.prop_map(String::into_boxed_str), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn any_duration(text in text("([0-9]{1,19}(d|h|m|s|ms|us)){1,6}")) {
        if let Ok(read) = duration_text::parse(&text) {
            prop_assert_eq!(duration_text::parse(&duration_text::format(read)), Ok(read), "{} printed", text);
        }
    }

    #[test]
    fn every_duration_is_read_back(micros in 0..=DURATION_MAX.as_micros() as u64) {
        let span = Duration::from_micros(micros);
        prop_assert_eq!(duration_text::parse(&duration_text::format(span)), Ok(span));
    }

    #[test]
    fn any_moment(text in text("[-+]?[0-9]{4,6}-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{1,9})?(Z|[+-][0-2][0-9]:[0-5][0-9])")) {
        if let Ok(read) = time::text::parse(&text) {
            prop_assert_eq!(time::text::parse(&time::text::format(read)), Ok(read), "{} printed", text);
        }
    }

    /// An interval in an expression is the interval.
    #[test]
    fn any_interval(text in text("([0-9]{1,3}(d|h|m|s|ms|us)){1,3}")) {
        let job = |trigger: serde_json::Value| {
            let job = serde_json::json!({"name": "x", "script": "true", "triggers": [trigger]});
            parse(&job.to_string(), Format::Json).map(|job| job.triggers[0].clone())
        };
        // Space around the span is none of it, and without a span it is no interval.
        let span = text.trim();
        prop_assume!(!span.is_empty());
        let every = job(serde_json::json!({"every": span}));
        let macro_of = job(serde_json::json!({"cron": format!("@every {text}")}));
        prop_assert_eq!(macro_of.is_ok(), every.is_ok(), "{:?}: {:?}", macro_of, every);
        if let (Ok(macro_of), Ok(every)) = (macro_of, every) {
            prop_assert_eq!(every.when.kind(), "every");
            prop_assert_eq!(macro_of, every);
        }
    }

    #[test]
    fn any_calendar(off in entries(), working in entries(), blackouts in entries()) {
        let spec = CalendarSpec { off, working, blackouts, ..CalendarSpec::default() };
        let printed: CalendarSpec = serde_json::from_str(&serde_json::to_string(&spec).unwrap()).unwrap();
        prop_assert_eq!(&printed, &spec);
        if let Err(problems) = spec.read() {
            prop_assert!(!problems.is_empty());
            for problem in problems {
                let field = problem.path.split(['[', '.']).next().unwrap_or_default().to_owned();
                prop_assert!(["off", "working", "blackouts"].contains(&&*field), "{:?} names no field", problem);
            }
        }
    }
}
