//! Reading expressions.
//!
//! A field is a list of items; an item is a value, a range (which may wrap: `22-2`, `FRI-MON`), everything (`*`), or a hash of
//! the job (`H`, `H(0-29)`), each with a step (`/15`). Days of the month also count from the end (`L`, `L-3`, `-1`) and to the
//! nearest weekday (`15W`, `LW`); days of the week also in the month (`5L`, `5#3`, `MON-FRI#2`).

use crate::cron::{Cron, DayRule};
use crate::error::Error;
use crate::field::{
    DAY, Days, Field, HOUR, MINUTE, MONTH, SECOND, WEEKDAY, Weekdays, YEAR_MAX, YEAR_MIN, first_from,
};
use crate::{hash, macros};

/// The longest expression.
const TEXT_BYTES_MAX: usize = 512;

impl Cron {
    /// Reads an expression. `seed` is the job's: it decides what `H` means.
    pub fn parse(text: &str, rule: DayRule, seed: u64) -> Result<Self, Error> {
        let text = text.trim();
        if text.len() > TEXT_BYTES_MAX {
            return Err(Error::new(format!("a cron expression has at most {TEXT_BYTES_MAX} characters")));
        }
        let fields = match text.strip_prefix('@') {
            Some(_) => macros::expand(text)?,
            None => text,
        };
        let parts: Vec<&str> = fields.split_ascii_whitespace().collect();
        if parts.first().is_some_and(|part| part.contains('=')) {
            return Err(Error::new("a zone does not belong into the expression; write it as `zone`"));
        }
        let (second, rest, year) = match parts.as_slice() {
            [minute, hour, day, month, weekday] => (None, [minute, hour, day, month, weekday], None),
            [second, minute, hour, day, month, weekday] => {
                (Some(second), [minute, hour, day, month, weekday], None)
            }
            [second, minute, hour, day, month, weekday, year] => {
                (Some(second), [minute, hour, day, month, weekday], Some(year))
            }
            _ => {
                return Err(Error::new(format!(
                    "a cron expression has 5 fields (minute, hour, day of month, month, day of week), 6 with the second \
                     first, or 7 with the year last; this has {}",
                    parts.len()
                )));
            }
        };
        let [minute, hour, day, month, weekday] = rest;
        let hash = |field: &Field| hash::mix(seed ^ hash::mix(field.place.into()));
        let simple = |field: &'static Field, text: &str| Reader { field, text, hash: hash(field) }.set();
        let seconds = second.map_or(Ok(1), |text| simple(&SECOND, text))?;
        let minutes = simple(&MINUTE, minute)?;
        let hours = simple(&HOUR, hour)?;
        let is_every = |text: &str| text.starts_with('*') || text.starts_with("H/") || text.starts_with("h/");
        let cron = Self {
            seconds,
            minutes,
            hours: hours as u32,
            months: simple(&MONTH, month)? as u16,
            days: Reader { field: &DAY, text: day, hash: hash(&DAY) }.days()?,
            weekdays: Reader { field: &WEEKDAY, text: weekday, hash: hash(&WEEKDAY) }.weekdays()?,
            years: year.map_or(Ok(None), |text| years(text))?,
            rule,
            elapsed: second.is_some_and(|text| is_every(text)) || is_every(minute) || is_every(hour),
            text: text.into(),
        };
        match cron.fires_ever() {
            true => Ok(cron),
            false => Err(Error::new("no day fits: the expression never fires")),
        }
    }
}

/// Reads one field.
struct Reader<'a> {
    field: &'static Field,
    text: &'a str,
    hash: u64,
}

/// One item without its step.
enum Span {
    Every,
    Range(u8, u8),
}

impl Reader<'_> {
    fn wrong(&self, why: impl AsRef<str>) -> Error {
        Error::in_field(self.field.name, self.text, why)
    }

    fn items(&self) -> impl Iterator<Item = &str> {
        self.text.split(',')
    }

    /// A field without specialities.
    fn set(&self) -> Result<u64, Error> {
        let mut set = 0;
        for item in self.items() {
            set |= self.item(item)?;
        }
        Ok(set)
    }

    fn days(&self) -> Result<Days, Error> {
        let mut days = Days { any: matches!(self.text, "*" | "?"), ..Days::default() };
        for item in self.items() {
            let upper = item.to_ascii_uppercase();
            let (body, is_nearest) = match upper.strip_suffix('W') {
                Some(body) => (body, true),
                None => (upper.as_str(), false),
            };
            if let Some(back) = self.before_last(body)? {
                let set = if is_nearest { &mut days.nearest_before_last } else { &mut days.before_last };
                *set |= 1 << back;
            } else if is_nearest {
                days.nearest |= 1 << self.value(body)?;
            } else if upper == "?" {
                self.alone("?")?;
                days.days = !1;
            } else {
                days.days |= self.item(item)? as u32;
            }
        }
        Ok(days)
    }

    /// How many days before the last: `L`, `L-3`, `-1`.
    fn before_last(&self, body: &str) -> Result<Option<u8>, Error> {
        let number = |text: &str, most: u8| {
            text.parse::<u8>()
                .ok()
                .filter(|back| *back <= most)
                .ok_or_else(|| self.wrong(format!("`{body}` counts from the end by 0 to {most}")))
        };
        if let Some(back) = body.strip_prefix('-') {
            let back = number(back, 31)?;
            return match back.checked_sub(1) {
                Some(back) => Ok(Some(back)),
                None => Err(self.wrong("the last day is -1")),
            };
        }
        match body.strip_prefix('L') {
            Some("") => Ok(Some(0)),
            Some(back) => {
                let back = back
                    .strip_prefix('-')
                    .ok_or_else(|| self.wrong("write `L-3` for three days before the last"))?;
                number(back, 30).map(Some)
            }
            None => Ok(None),
        }
    }

    fn weekdays(&self) -> Result<Weekdays, Error> {
        let mut weekdays = Weekdays { any: matches!(self.text, "*" | "?"), ..Weekdays::default() };
        for item in self.items() {
            if item == "?" {
                self.alone("?")?;
                weekdays.days = 0x7f;
            } else if let Some((days, nth)) = item.split_once('#') {
                let nth = nth.parse::<usize>().ok().filter(|nth| (1..=5).contains(nth));
                let nth = nth.ok_or_else(|| {
                    self.wrong("after `#` stands 1 to 5: the first to the fifth in the month")
                })?;
                weekdays.nth[nth - 1] |= fold_sunday(self.item(days)?);
            } else if let Some(day) = item.strip_suffix(['L', 'l']) {
                if day.is_empty() {
                    return Err(
                        self.wrong("`L` alone is the last day of a month; for the last Friday write `5L`")
                    );
                }
                weekdays.last |= fold_sunday(1 << self.value(day)?);
            } else {
                weekdays.days |= fold_sunday(self.item(item)?);
            }
        }
        Ok(weekdays)
    }

    fn alone(&self, what: &str) -> Result<(), Error> {
        match self.text == what {
            true => Ok(()),
            false => Err(self.wrong(format!("`{what}` stands alone"))),
        }
    }

    /// One item: a value, a range, everything or a hash, perhaps with a step.
    fn item(&self, item: &str) -> Result<u64, Error> {
        let (body, step) = match item.split_once('/') {
            Some((body, step)) => (body, Some(self.step(step)?)),
            None => (item, None),
        };
        if let Some(within) = body.strip_prefix(['H', 'h']) {
            return self.hashed(within, step);
        }
        let (first, last) = match (self.span(body)?, step) {
            (Span::Every, _) => (self.field.min, self.every_max()),
            // `5/15` begins at 5 and goes on to the end.
            (Span::Range(first, last), Some(_)) if first == last && !body.contains('-') => {
                (first, self.every_max())
            }
            (Span::Range(first, last), _) => (first, last),
        };
        Ok(self.stepped(first, last, step.unwrap_or(1)))
    }

    fn span(&self, body: &str) -> Result<Span, Error> {
        if body == "*" {
            return Ok(Span::Every);
        }
        match body.split_once('-') {
            Some((first, last)) => Ok(Span::Range(self.value(first)?, self.value(last)?)),
            None => self.value(body).map(|value| Span::Range(value, value)),
        }
    }

    /// Every `step`th from `first` to `last`; beyond the field's end it goes on at its beginning.
    fn stepped(&self, first: u8, last: u8, step: u8) -> u64 {
        let cycle = self.every_max() - self.field.min + 1;
        let length = if last >= first { last - first } else { last + cycle - first };
        let values = (0..=length).step_by(usize::from(step));
        values.map(|ahead| 1u64 << self.wrap(first, ahead, cycle)).fold(0, |set, bit| set | bit)
    }

    fn wrap(&self, first: u8, ahead: u8, cycle: u8) -> u8 {
        // Seven is a Sunday of its own and need not be wrapped.
        if u16::from(first) + u16::from(ahead) <= u16::from(self.field.max) {
            return first + ahead;
        }
        let value = u16::from(first - self.field.min) + u16::from(ahead);
        (value % u16::from(cycle)) as u8 + self.field.min
    }

    /// The last value of `*`: Sunday is not counted twice.
    fn every_max(&self) -> u8 {
        if self.field.max == WEEKDAY.max && self.field.name == WEEKDAY.name { 6 } else { self.field.max }
    }

    /// What the job's hash chooses: one value of the range, or where a step begins.
    fn hashed(&self, within: &str, step: Option<u8>) -> Result<u64, Error> {
        let (first, last) = match within {
            "" => (self.field.min, if step.is_some() { self.every_max() } else { self.field.hash_max }),
            range => {
                let inner = range.strip_prefix('(').and_then(|range| range.strip_suffix(')'));
                let Some((first, last)) = inner.and_then(|range| range.split_once('-')) else {
                    return Err(self.wrong("a hash is written `H`, `H(0-29)` or `H/15`"));
                };
                let (first, last) = (self.value(first)?, self.value(last)?);
                if first > last {
                    return Err(self.wrong("the range of a hash does not wrap"));
                }
                (first, last)
            }
        };
        let count = u64::from(last - first) + 1;
        match step {
            None => Ok(1 << (first + (self.hash % count) as u8)),
            Some(step) if u64::from(step) > count => Err(self.wrong("the step is longer than the range")),
            Some(step) => Ok(self.stepped(first + (self.hash % u64::from(step)) as u8, last, step)),
        }
    }

    fn step(&self, text: &str) -> Result<u8, Error> {
        let step = text.parse::<u8>().ok().filter(|step| (1..=self.field.max).contains(step));
        step.ok_or_else(|| self.wrong(format!("a step is 1 to {}", self.field.max)))
    }

    fn value(&self, text: &str) -> Result<u8, Error> {
        let Field { min, max, words, .. } = *self.field;
        let word = words.iter().position(|word| word.eq_ignore_ascii_case(text)).map(|at| at as u8 + min);
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = || text.parse::<u8>().ok().filter(|number| is_number && (min..=max).contains(number));
        word.or_else(number).ok_or_else(|| {
            let words = match words {
                [] => String::new(),
                [first, .., last] => format!(" or {first} to {last}"),
                [only] => format!(" or {only}"),
            };
            self.wrong(format!("`{text}` is not {min} to {max}{words}"))
        })
    }
}

/// Sunday is 0 and 7.
fn fold_sunday(set: u64) -> u8 {
    ((set | set >> 7) & 0x7f) as u8
}

/// The years of the last field; none for every year.
fn years(text: &str) -> Result<Option<Box<[u64; 4]>>, Error> {
    let wrong = |why: &str| Error::in_field("year", text, why);
    let bounds = format!("a year is {YEAR_MIN} to {YEAR_MAX}");
    let value = |text: &str| {
        let year = text.parse::<i16>().ok().filter(|year| (YEAR_MIN..=YEAR_MAX).contains(year));
        year.ok_or_else(|| wrong(&bounds))
    };
    if text == "*" {
        return Ok(None);
    }
    let mut set = Box::new([0u64; 4]);
    for item in text.split(',') {
        let (body, step) = match item.split_once('/') {
            Some((body, step)) => {
                let step = step.parse::<u16>().ok().filter(|step| (1..=230).contains(step));
                (body, Some(step.ok_or_else(|| wrong("a step is 1 to 230"))?))
            }
            None => (item, None),
        };
        let (first, last) = match body.split_once('-') {
            _ if body == "*" => (YEAR_MIN, YEAR_MAX),
            Some((first, last)) => (value(first)?, value(last)?),
            None => (value(body)?, if step.is_some() { YEAR_MAX } else { value(body)? }),
        };
        if first > last {
            return Err(wrong("the first year is later than the last"));
        }
        for year in (first..=last).step_by(usize::from(step.unwrap_or(1))) {
            let bit = (year - YEAR_MIN) as usize;
            set[bit / 64] |= 1 << (bit % 64);
        }
    }
    Ok(Some(set))
}

impl Cron {
    /// Whether it fires in a year.
    pub(crate) fn has_year(&self, year: i16) -> bool {
        match &self.years {
            None => true,
            Some(_) if !(YEAR_MIN..=YEAR_MAX).contains(&year) => false,
            Some(years) => {
                let bit = (year - YEAR_MIN) as u32;
                first_from(years[(bit / 64) as usize], bit % 64) == Some(bit % 64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::bits;

    fn parse(text: &str) -> Cron {
        Cron::parse(text, DayRule::Or, 0x5eed).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn values(set: impl Into<u64>) -> Vec<u8> {
        bits(set.into()).collect()
    }

    fn minutes(text: &str) -> Vec<u8> {
        values(parse(&format!("{text} * * * *")).minutes)
    }

    #[test]
    fn lists_ranges_and_steps() {
        assert_eq!(minutes("5"), [5]);
        assert_eq!(minutes("5,7-9"), [5, 7, 8, 9]);
        assert_eq!(minutes("*/20"), [0, 20, 40]);
        assert_eq!(minutes("10-30/10"), [10, 20, 30]);
        assert_eq!(minutes("40/15"), [40, 55]);
        assert_eq!(minutes("55-5/5"), [0, 5, 55]);
        assert_eq!(minutes("*").len(), 60);
    }

    #[test]
    fn names_and_wraps() {
        let cron = parse("0 22-2 * nov-feb fri-mon");
        assert_eq!(values(cron.hours), [0, 1, 2, 22, 23]);
        assert_eq!(values(cron.months), [1, 2, 11, 12]);
        assert_eq!(values(cron.weekdays.days), [0, 1, 5, 6]);
        assert_eq!(values(parse("0 0 * * 7").weekdays.days), [0]);
        assert_eq!(values(parse("0 0 * * 5-7").weekdays.days), [0, 5, 6]);
        assert_eq!(values(parse("0 0 * * */2").weekdays.days), [0, 2, 4, 6]);
        assert_eq!(values(parse("0 0 * * 6-2").weekdays.days), [0, 1, 2, 6]);
    }

    #[test]
    fn days_from_the_end_and_near_weekdays() {
        let days = parse("0 0 L,L-3,-2,15W,LW,L-1W,7 * ?").days;
        assert_eq!(values(days.before_last), [0, 1, 3]);
        assert_eq!(values(days.nearest), [15]);
        assert_eq!(values(days.nearest_before_last), [0, 1]);
        assert_eq!(values(days.days), [7]);
        let weekdays = parse("0 0 * * 5L,1#3,MON-FRI#2,6").weekdays;
        assert_eq!((values(weekdays.last), values(weekdays.days)), (vec![5], vec![6]));
        assert_eq!((values(weekdays.nth[2]), values(weekdays.nth[1])), (vec![1], vec![1, 2, 3, 4, 5]));
    }

    #[test]
    fn a_hash_is_the_jobs_own_and_stays() {
        let of = |text: &str, seed: u64| Cron::parse(text, DayRule::Or, seed).unwrap();
        assert_eq!(of("H H * * *", 1).minutes, of("H H * * *", 1).minutes);
        let seen: std::collections::BTreeSet<u64> =
            (0..200).map(|seed| of("H * * * *", seed).minutes).collect();
        assert!(seen.len() > 40, "{} of 60 minutes", seen.len());
        for seed in 0..100 {
            assert!(values(of("H(0-29) * * * *", seed).minutes)[0] < 30);
            let stepped = values(of("H/15 * * * *", seed).minutes);
            assert_eq!((stepped.len(), stepped[1] - stepped[0]), (4, 15));
            assert!(values(of("0 0 H * *", seed).days.days)[0] <= 28);
            assert_eq!(values(of("0 0 * * H", seed).weekdays.days).len(), 1);
            assert_eq!(of("h/5 h(2-4) * * *", seed).minutes, of("H/5 H(2-4) * * *", seed).minutes);
        }
    }

    #[test]
    fn each_field_draws_for_itself() {
        let pairs = |draw: fn(Cron) -> (u64, u64), text: &str| {
            let draws = (0..2_000).map(|seed| draw(Cron::parse(text, DayRule::Or, seed).unwrap()));
            draws.collect::<std::collections::BTreeSet<_>>().len()
        };
        // Of 3,600 pairs 2,000 draws meet about 1,535, and nearly all of 672.
        assert!(pairs(|cron| (cron.seconds, cron.minutes), "H H * * * *") > 1_400);
        assert!(pairs(|cron| (cron.hours.into(), cron.days.days.into()), "0 H H * *") > 600);
    }

    #[test]
    fn six_and_seven_fields_and_macros() {
        let cron = parse("30 0 12 1 1 * 2027,2030-2032/2");
        assert_eq!(values(cron.seconds), [30]);
        assert!(cron.has_year(2027) && cron.has_year(2032) && !cron.has_year(2031) && !cron.has_year(2300));
        assert_eq!(parse("@Daily").hours, 1);
        assert!(parse("@hourly").follows_elapsed_time() && !parse("30 2,14 * * *").follows_elapsed_time());
        assert!(parse("*/5 2 * * *").follows_elapsed_time() && parse("H/5 2 * * *").follows_elapsed_time());
        assert!(parse("h/5 2 * * *").follows_elapsed_time() && !parse("H 2 * * *").follows_elapsed_time());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_field() {
        for (text, words) in [
            ("* * * *", "this has 4"),
            ("60 * * * *", "minute `60`: `60` is not 0 to 59"),
            ("* * * JANN *", "`JANN` is not 1 to 12 or JAN to DEC"),
            ("* * 0 * *", "`0` is not 1 to 31"),
            ("*/0 * * * *", "a step is 1 to 59"),
            ("* * L3 * *", "write `L-3`"),
            ("* * * * L", "write `5L`"),
            ("* * * * 5#6", "after `#` stands 1 to 5"),
            ("* * ?,3 * *", "`?` stands alone"),
            ("? * * * *", "`?` is not 0 to 59"),
            ("H(9-3) * * * *", "does not wrap"),
            ("TZ=UTC * * * * *", "write it as `zone`"),
            ("@every 5m", "write `every: 90s`"),
            ("@fortnightly", "there are @yearly"),
            ("0 0 30 2 *", "never fires"),
            ("0 0 0 1 1 * 1969", "a year is 1970 to 2199"),
            ("+5 * * * *", "is not 0 to 59"),
            ("", "this has 0"),
        ] {
            let parsed = Cron::parse(text, DayRule::Or, 0);
            let error = parsed.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
