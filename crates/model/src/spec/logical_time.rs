//! The planned moment of a run in templates: `{{ logical_time | date("%Y%m%d") }}`, with days and months to add and the
//! ends of months. It is read on the wall clock of its trigger. The filters are in `template/filter.rs`.

use std::fmt;
use std::sync::Arc;

use jiff::Zoned;
use mainspring_cron::Zone;
use minijinja::value::{Object, ObjectRepr};

use crate::time::Timestamp;

/// A planned moment on a wall clock.
#[derive(Debug, Clone)]
pub struct LogicalTime(Zoned);

impl LogicalTime {
    /// A moment in a zone.
    pub fn new(at: Timestamp, zone: &Zone) -> Self {
        Self(zone.zoned(at.as_micros()))
    }

    pub(super) fn zoned(&self) -> &Zoned {
        &self.0
    }
}

impl From<Zoned> for LogicalTime {
    fn from(time: Zoned) -> Self {
        Self(time)
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

#[cfg(test)]
mod tests {
    use crate::spec::{Budget, LogicalTime, Template};
    use crate::time::Timestamp;

    fn check(zone: &str, text: &str, expected: &str) {
        // 2026-01-31T23:30:00Z.
        let at = Timestamp::from_micros(1_769_902_200_000_000);
        let time = LogicalTime::new(at, &zone.parse().unwrap());
        assert_eq!(
            Template::from(text).render_at(&time, &mut Budget::default()).as_deref(),
            Ok(expected),
            "{text}"
        );
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
        let render = |text: &str| Template::from(text).render_at(&time, &mut Budget::default()).unwrap_err();
        assert!(render("{{ 'x' | date }}").contains("a moment"));
        assert!(render("{{ logical_time | plus_days(9999999999) }}").contains("operation"));
        assert!(render("{{ logical_time | date('%!') }}").contains("date"));
    }
}
