//! Filters and tests of templates: the whole list. Each gives a value that is no larger than what it was given, or small.

use jiff::fmt::strtime::BrokenDownTime;
use jiff::{Span, Zoned};
use minijinja::Value;
use minijinja::machinery::ast::{CallArg, Expr};

use super::Budget;
use crate::limits::WORD_BYTES_MAX;
use crate::spec::LogicalTime;

/// The format of `date` when none is written.
const DATE: &str = "%Y-%m-%d";

/// Every filter, with the fewest and the most arguments.
const FILTERS: [(&str, usize, usize); 8] = [
    ("default", 1, 1),
    ("date", 0, 1),
    ("plus_minutes", 1, 1),
    ("plus_hours", 1, 1),
    ("plus_days", 1, 1),
    ("plus_months", 1, 1),
    ("month_start", 0, 0),
    ("month_end", 0, 0),
];

/// Every test.
const TESTS: [&str; 3] = ["defined", "undefined", "none"];

/// Looks a filter up. A format that is written in the template is read.
pub(super) fn check(name: &str, args: &[CallArg<'_>]) -> Result<(), String> {
    check_count(name, args.len())?;
    if let ("date", [CallArg::Pos(Expr::Const(format))]) = (name, args)
        && let Some(format) = format.value.as_str()
    {
        let epoch = Zoned::new(jiff::Timestamp::UNIX_EPOCH, jiff::tz::TimeZone::UTC);
        formatted(&epoch, format, &mut Budget::default())?;
    }
    Ok(())
}

/// Looks a test up.
pub(super) fn check_test(name: &str, args: &[CallArg<'_>]) -> Result<(), String> {
    match TESTS.contains(&name) {
        true if args.is_empty() => Ok(()),
        true => Err(format!("`is {name}` takes no argument")),
        false => Err(format!("unknown test: test {name} is unknown")),
    }
}

fn check_count(name: &str, count: usize) -> Result<(), String> {
    let Some((_, fewest, most)) = FILTERS.iter().find(|(filter, ..)| *filter == name) else {
        return Err(format!("unknown filter: filter {name} is unknown"));
    };
    if (*fewest..=*most).contains(&count) {
        return Ok(());
    }
    Err(format!("`{name}` takes {most} argument{}, not {count}", if *most == 1 { "" } else { "s" }))
}

/// What a filter other than `default` gives; `default` needs to know what is undefined and stands in the evaluator.
pub(super) fn apply(name: &str, value: &Value, args: &[Value], budget: &mut Budget) -> Result<Value, String> {
    check_count(name, args.len())?;
    let time = value
        .downcast_object::<LogicalTime>()
        .ok_or_else(|| format!("{name}: expected a moment, such as `logical_time`"))?;
    let by = |span: fn(i64) -> Result<Span, jiff::Error>| {
        let count = args.first().cloned().and_then(|count| i64::try_from(count).ok());
        let count = count.ok_or_else(|| format!("{name}: expected a whole number"))?;
        moved(name, span(count).and_then(|span| time.zoned().checked_add(span)))
    };
    match name {
        "date" => {
            let format = match args.first() {
                Some(format) => format.as_str().ok_or_else(|| "date: expected a format".to_owned())?,
                None => DATE,
            };
            formatted(time.zoned(), format, budget).map(Value::from)
        }
        "plus_minutes" => by(|count| Span::new().try_minutes(count)),
        "plus_hours" => by(|count| Span::new().try_hours(count)),
        "plus_days" => by(|count| Span::new().try_days(count)),
        "plus_months" => by(|count| Span::new().try_months(count)),
        "month_start" => moved(name, time.zoned().first_of_month()),
        _ => moved(name, time.zoned().last_of_month()),
    }
}

/// Whether a test holds for a value; undefined is none.
pub(super) fn test(name: &str, value: Option<&Value>) -> Result<bool, String> {
    match name {
        "defined" => Ok(value.is_some()),
        "undefined" => Ok(value.is_none()),
        "none" => Ok(value.is_some_and(Value::is_none)),
        _ => check_test(name, &[]).map(|()| false),
    }
}

fn moved(name: &str, time: Result<Zoned, jiff::Error>) -> Result<Value, String> {
    let time = time.map_err(|error| format!("invalid operation: {name}: {error}"))?;
    Ok(Value::from_object(LogicalTime::from(time)))
}

/// A moment in a format of bounded length: fields have a width of at most 255, so the text is bounded too.
fn formatted(time: &Zoned, format: &str, budget: &mut Budget) -> Result<String, String> {
    if format.len() > WORD_BYTES_MAX {
        return Err(format!(
            "date: the format has {} bytes, at most {WORD_BYTES_MAX} are allowed",
            format.len()
        ));
    }
    let mut text = String::new();
    let written = BrokenDownTime::from(time).format(format, &mut text);
    written.map_err(|error| format!("date(\"{format}\"): {error}"))?;
    budget.charge(text.len())?;
    Ok(text)
}
