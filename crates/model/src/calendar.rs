//! Calendars: days and times at which triggers do not fire. They have names, live in a namespace, and hold for everything
//! below it.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainspring_cron::{Calendar, DailyWindow, Days, Holiday, Misfit, Part};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::spec::Problem;

/// What a calendar says. Everything is read on the wall clock of the trigger that heeds it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CalendarSpec {
    /// What it is for.
    #[serde(skip_serializing_if = "str::is_empty")]
    #[schema(max_length = 1000)]
    pub description: Box<str>,
    /// Days of the week on which nothing fires.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weekend: Vec<Weekday>,
    /// Days on which nothing fires: `2026-12-25`, `2026-12-24..2027-01-01`, or every year `12-25`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub off: Vec<Box<str>>,
    /// Days that are worked although they are of the weekend, or off every year.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub working: Vec<Box<str>>,
    /// Times of every day at which nothing fires: `22:00-06:00`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub blackouts: Vec<Box<str>>,
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weekday {
    /// Sunday.
    Sun,
    /// Monday.
    Mon,
    /// Tuesday.
    Tue,
    /// Wednesday.
    Wed,
    /// Thursday.
    Thu,
    /// Friday.
    Fri,
    /// Saturday.
    Sat,
}

/// The calendars that a job's triggers name, as they are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calendars(BTreeMap<Box<str>, Arc<Calendar>>);

impl Calendars {
    /// None.
    pub const NONE: &Self = &Self(BTreeMap::new());

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<Calendar>> {
        self.0.get(name)
    }
}

impl FromIterator<(Box<str>, Arc<Calendar>)> for Calendars {
    fn from_iter<I: IntoIterator<Item = (Box<str>, Arc<Calendar>)>>(found: I) -> Self {
        Self(found.into_iter().collect())
    }
}

impl CalendarSpec {
    /// The longest description.
    const DESCRIPTION_BYTES_MAX: usize = 1_000;
    /// The most days, spans of days and times that one names.
    const ENTRIES_MAX: usize = 5_000;

    /// The calendar, or everything that is wrong.
    pub fn read(&self) -> Result<Calendar, Vec<Problem>> {
        let mut problems = Vec::new();
        if self.description.len() > Self::DESCRIPTION_BYTES_MAX {
            let message = format!("has more than {} bytes", Self::DESCRIPTION_BYTES_MAX);
            problems.push(Problem::new("description", message));
        }
        for (field, texts) in [("off", &self.off), ("working", &self.working), ("blackouts", &self.blackouts)]
        {
            if texts.len() > Self::ENTRIES_MAX {
                problems.push(Problem::new(field, format!("has more than {} entries", Self::ENTRIES_MAX)));
                return Err(problems);
            }
        }
        let (mut days, mut places) = (Vec::new(), Vec::new());
        for (field, texts, holiday) in
            [("off", &self.off, Holiday::Off), ("working", &self.working, Holiday::Working)]
        {
            for (at, text) in texts.iter().enumerate() {
                match text.parse::<Days>() {
                    Ok(found) => {
                        days.push((found, holiday));
                        places.push(format!("{field}[{at}]"));
                    }
                    Err(wrong) => problems.push(Problem::new(format!("{field}[{at}]"), wrong.to_string())),
                }
            }
        }
        let mut blackouts = Vec::new();
        for (at, text) in self.blackouts.iter().enumerate() {
            match text.parse::<DailyWindow>() {
                Ok(window) => blackouts.push(window),
                Err(wrong) => problems.push(Problem::new(format!("blackouts[{at}]"), wrong.to_string())),
            }
        }
        let weekend = self.weekend.iter().map(|day| *day as u8);
        let calendar = Calendar::new(weekend, days, blackouts);
        match calendar {
            Ok(calendar) if problems.is_empty() => Ok(calendar),
            Ok(_) => Err(problems),
            Err(Misfit { part, message }) => {
                let place = match part {
                    Part::Weekend => "weekend".to_owned(),
                    Part::Days(at) => std::mem::take(&mut places[at]),
                    Part::Blackouts => "blackouts".to_owned(),
                };
                problems.push(Problem::new(place, message));
                Err(problems)
            }
        }
    }
}
