//! One number of a calendar event: `*`, values, ranges and steps.

/// What a component may be.
#[derive(Debug)]
pub(super) struct Bounds {
    min: u16,
    max: u16,
}

pub(super) const YEAR: Bounds = Bounds { min: 1970, max: 2199 };
pub(super) const MONTH: Bounds = Bounds { min: 1, max: 12 };
pub(super) const DAY: Bounds = Bounds { min: 1, max: 31 };
pub(super) const HOUR: Bounds = Bounds { min: 0, max: 23 };
pub(super) const MINUTE: Bounds = Bounds { min: 0, max: 59 };
pub(super) const SECOND: Bounds = Bounds { min: 0, max: 59 };

/// A component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Component {
    /// Every value.
    Any,
    /// These.
    Some(Vec<Item>),
}

/// A value, a range, or one of them with a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    first: u16,
    last: Option<u16>,
    step: Option<u16>,
}

impl Component {
    /// One value.
    pub(super) fn one(value: u16) -> Self {
        Self::Some(vec![Item { first: value, last: None, step: None }])
    }

    /// Reads a component.
    pub(super) fn read(text: &str, bounds: &Bounds) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self::Any);
        }
        text.split(',').map(|item| Item::read(item, bounds)).collect::<Result<_, _>>().map(Self::Some)
    }

    /// As a field of an expression.
    pub(super) fn cron(&self, bounds: &Bounds) -> String {
        let Self::Some(items) = self else { return "*".to_owned() };
        let items: Vec<String> = items.iter().map(|item| item.cron(bounds)).collect();
        items.join(",")
    }

    /// As a field that counts days from the end of the month.
    pub(super) fn cron_from_end(&self, bounds: &Bounds) -> Result<String, String> {
        let Self::Some(items) = self else { return Err("`~` wants a number".to_owned()) };
        let days = items.iter().flat_map(|item| item.values_from_end(bounds));
        let days: Vec<String> =
            days.map(|day| if day == 1 { "L".to_owned() } else { format!("L-{}", day - 1) }).collect();
        Ok(days.join(","))
    }
}

impl Item {
    fn read(text: &str, bounds: &Bounds) -> Result<Self, String> {
        let (body, step) = match text.split_once('/') {
            Some((body, step)) => {
                let step = step.parse().ok().filter(|step| *step > 0);
                (body, Some(step.ok_or_else(|| format!("`{text}` has no step"))?))
            }
            None => (text, None),
        };
        if body == "*" {
            return Ok(Self { first: bounds.min, last: None, step });
        }
        let (first, last) = match body.split_once("..") {
            Some((first, last)) => (bounds.value(first)?, Some(bounds.value(last)?)),
            None => (bounds.value(body)?, None),
        };
        if last.is_some_and(|last| first > last) {
            return Err(format!("`{body}` goes backwards"));
        }
        Ok(Self { first, last, step })
    }

    fn cron(self, bounds: &Bounds) -> String {
        let Self { first, last, step } = self;
        match (last, step) {
            (None, None) => first.to_string(),
            (Some(last), None) => format!("{first}-{last}"),
            (_, Some(step)) if step > bounds.max => first.to_string(),
            (Some(last), Some(step)) => format!("{first}-{last}/{step}"),
            (None, Some(1)) if first == bounds.min => "*".to_owned(),
            (None, Some(step)) if first == bounds.min => format!("*/{step}"),
            (None, Some(step)) => format!("{first}/{step}"),
        }
    }

    /// Its values where they count from the end: a step goes on towards it.
    fn values_from_end(self, bounds: &Bounds) -> Vec<u16> {
        match self {
            Self { first, last: None, step: None } => vec![first],
            Self { first, last: None, step: Some(step) } => {
                (bounds.min..=first).rev().step_by(step.into()).collect()
            }
            Self { first, last: Some(last), step } => {
                (first..=last).step_by(step.unwrap_or(1).into()).collect()
            }
        }
    }
}

impl Bounds {
    fn value(&self, text: &str) -> Result<u16, String> {
        let wrong = || format!("`{text}` is not {} to {}", self.min, self.max);
        let number: u16 = text.parse().map_err(|_| wrong())?;
        // A year of two digits is near to now.
        let number = match number {
            0..70 if self.min == YEAR.min => number + 2000,
            70..100 if self.min == YEAR.min => number + 1900,
            _ => number,
        };
        if (self.min..=self.max).contains(&number) { Ok(number) } else { Err(wrong()) }
    }
}
