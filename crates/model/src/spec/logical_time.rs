//! The planned moment of a run in templates: `{{ logical_time | date("%Y%m%d") }}`, with days and months to add and the
//! ends of months. It is read on the wall clock of its trigger.

use std::fmt;
use std::sync::Arc;

use jiff::{Span, Zoned};
use mainspring_cron::Zone;
use minijinja::value::{Object, ObjectRepr, Value};
use minijinja::{Environment, Error, ErrorKind};

use crate::time::Timestamp;

/// A planned moment on a wall clock.
#[derive(Debug, Clone)]
pub struct LogicalTime(Zoned);

impl LogicalTime {
    /// A moment in a zone.
    pub fn new(at: Timestamp, zone: &Zone) -> Self {
        Self(zone.zoned(at.as_micros()))
    }

    fn plus(&self, span: Span) -> Result<Self, Error> {
        self.0.checked_add(span).map(Self).map_err(out_of_range)
    }
}

impl fmt::Display for LogicalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0.datetime(), self.0.offset())
    }
}

impl Object for LogicalTime {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Teaches templates what to do with moments.
pub(super) fn add_filters(environment: &mut Environment<'_>) {
    environment.add_filter("date", |value: &Value, format: Option<String>| {
        let format = format.unwrap_or_else(|| "%Y-%m-%d".to_owned());
        let time = time(value)?;
        jiff::fmt::strtime::format(&format, &time.0)
            .map_err(|error| Error::new(ErrorKind::InvalidOperation, format!("date(\"{format}\"): {error}")))
    });
    let by = |span: fn(i64) -> Result<Span, jiff::Error>| {
        move |value: &Value, count: i64| -> Result<Value, Error> {
            let span = span(count).map_err(out_of_range)?;
            time(value)?.plus(span).map(Value::from_object)
        }
    };
    environment.add_filter("plus_minutes", by(|count| Span::new().try_minutes(count)));
    environment.add_filter("plus_hours", by(|count| Span::new().try_hours(count)));
    environment.add_filter("plus_days", by(|count| Span::new().try_days(count)));
    environment.add_filter("plus_months", by(|count| Span::new().try_months(count)));
    environment.add_filter("month_start", |value: &Value| to(value, Zoned::first_of_month));
    environment.add_filter("month_end", |value: &Value| to(value, Zoned::last_of_month));
}

fn to(value: &Value, day: fn(&Zoned) -> Result<Zoned, jiff::Error>) -> Result<Value, Error> {
    day(&time(value)?.0).map(LogicalTime).map(Value::from_object).map_err(out_of_range)
}

fn time(value: &Value) -> Result<Arc<LogicalTime>, Error> {
    value.downcast_object::<LogicalTime>().ok_or_else(|| {
        Error::new(ErrorKind::InvalidOperation, "expected a moment, such as `logical_time`".to_owned())
    })
}

fn out_of_range(error: jiff::Error) -> Error {
    Error::new(ErrorKind::InvalidOperation, error.to_string())
}

#[cfg(test)]
mod tests {
    use crate::spec::{LogicalTime, Template};
    use crate::time::Timestamp;

    fn check(zone: &str, text: &str, expected: &str) {
        // 2026-01-31T23:30:00Z.
        let at = Timestamp::from_micros(1_769_902_200_000_000);
        let time = LogicalTime::new(at, &zone.parse().unwrap());
        assert_eq!(Template::from(text).render_at(&time, 1_000).as_deref(), Ok(expected), "{text}");
    }

    #[test]
    fn moments_are_shown_on_the_wall_clock_of_their_zone() {
        check("UTC", "{{ logical_time }}", "2026-01-31T23:30:00+00");
        check("UTC", "{{ logical_time | date }}", "2026-01-31");
        check("Asia/Shanghai", "{{ logical_time | date('%Y%m%d %H:%M') }}", "20260201 07:30");
        check("UTC", "{{ logical_time | plus_months(1) | date }}", "2026-02-28");
        check("UTC", "{{ logical_time | plus_days(-1) | date('%d') }}", "30");
        check(
            "UTC",
            "{{ logical_time | month_start | date }}/{{ logical_time | month_end | date }}",
            "2026-01-01/2026-01-31",
        );
        check("UTC", "{{ logical_time | plus_hours(1) | date('%FT%T') }}", "2026-02-01T00:30:00");
    }

    #[test]
    fn what_is_no_moment_is_told() {
        let time = LogicalTime::new(Timestamp::ZERO, &mainspring_cron::Zone::UTC);
        let render = |text: &str| Template::from(text).render_at(&time, 1_000).unwrap_err();
        assert!(render("{{ 'x' | date }}").contains("a moment"));
        assert!(render("{{ logical_time | plus_days(9999999999) }}").contains("operation"));
        assert!(render("{{ logical_time | date('%!') }}").contains("date"));
    }
}
