//! The fields of an entry: what cron understands, as our expressions say it.
//!
//! Values, names, ranges, steps and lists are the same in both. Different are random values (`0~59`), steps beyond the end,
//! and what cron refuses.

/// A field of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    name: &'static str,
    min: u8,
    /// The last value, and the largest step that our expressions take.
    max: u8,
    /// The last value of all of them: Sunday is not counted twice.
    last: u8,
    words: &'static [&'static str],
}

/// The five, in order.
pub(super) const FIELDS: [Field; 5] = [
    Field { name: "minute", min: 0, max: 59, last: 59, words: &[] },
    Field { name: "hour", min: 0, max: 23, last: 23, words: &[] },
    Field { name: "day of month", min: 1, max: 31, last: 31, words: &[] },
    Field {
        name: "month",
        min: 1,
        max: 12,
        last: 12,
        words: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    },
    Field {
        name: "day of week",
        min: 0,
        max: 7,
        last: 6,
        words: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
    },
];

/// A field as our expressions say it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Translated {
    pub(super) text: String,
    /// What is different.
    pub(super) differences: Vec<String>,
}

impl Field {
    /// Translates a field, or says why cron would refuse it.
    pub(super) fn translate(&self, text: &str) -> Result<Translated, String> {
        let mut differences = Vec::new();
        let items: Result<Vec<String>, String> =
            text.split(',').map(|item| self.item(item, &mut differences)).collect();
        let items = items.map_err(|why| format!("{} `{text}`: {why}", self.name))?;
        Ok(Translated { text: items.join(","), differences })
    }

    fn item(&self, item: &str, differences: &mut Vec<String>) -> Result<String, String> {
        let (body, step) = match item.split_once('/') {
            Some((body, step)) => (body, Some(step)),
            None => (item, None),
        };
        let step = step.map(|step| {
            step.parse::<u16>().ok().filter(|step| *step > 0).ok_or("a step is a number above 0")
        });
        let step = step.transpose()?;
        let (first, written) = self.span(body, item, step.is_some(), differences)?;
        Ok(match step {
            None => written,
            Some(step) if step <= self.max.into() => format!("{written}/{step}"),
            Some(step) => {
                differences.push(format!(
                    "a step of {step} goes beyond the end of the {}: only its first value is left",
                    self.name
                ));
                first
            }
        })
    }

    /// The first value of an item without its step, and the whole of it.
    fn span(
        &self,
        body: &str,
        item: &str,
        has_step: bool,
        differences: &mut Vec<String>,
    ) -> Result<(String, String), String> {
        if body == "*" {
            return Ok((self.min.to_string(), body.to_owned()));
        }
        if let Some((first, last)) = body.split_once('~') {
            let first = if first.is_empty() { self.min } else { self.value(first)? };
            let last = if last.is_empty() { self.last } else { self.value(last)? };
            if first > last {
                return Err(format!("`{body}` goes backwards"));
            }
            differences.push(format!(
                "cron draws `{item}` anew when it reads the crontab; here it is drawn from the job's name and stays"
            ));
            let hash = format!("H({first}-{last})");
            return Ok((hash.clone(), hash));
        }
        if let Some((first, last)) = body.split_once('-') {
            if self.value(first)? > self.value(last)? {
                differences.push(format!(
                    "cron refuses `{item}`, which goes backwards; here it goes on over the end"
                ));
            }
            return Ok((first.to_owned(), body.to_owned()));
        }
        self.value(body)?;
        if has_step {
            differences
                .push(format!("most crons refuse `{item}`; here it begins at {body} and goes on to the end"));
        }
        Ok((body.to_owned(), body.to_owned()))
    }

    fn value(&self, text: &str) -> Result<u8, String> {
        let word = self.words.iter().position(|word| word.eq_ignore_ascii_case(text));
        let word = word.and_then(|at| u8::try_from(at).ok()).map(|at| at + self.min);
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number =
            text.parse::<u8>().ok().filter(|value| is_number && (self.min..=self.max).contains(value));
        word.or(number).ok_or_else(|| format!("`{text}` is not {} to {}", self.min, self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(field: usize, text: &str, expected: Result<(&str, usize), &str>) {
        match (FIELDS[field].translate(text), expected) {
            (Ok(found), Ok((text, differences))) => {
                assert_eq!((found.text.as_str(), found.differences.len()), (text, differences), "{found:?}");
            }
            (Err(why), Err(words)) => assert!(why.contains(words), "{text}: {why}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn fields_are_what_cron_understands() {
        check(0, "*/5", Ok(("*/5", 0)));
        check(0, "0,15,30-45/5", Ok(("0,15,30-45/5", 0)));
        check(0, "*/60", Ok(("0", 1)));
        check(1, "9-17/24", Ok(("9", 1)));
        check(1, "22-2", Ok(("22-2", 1)));
        check(0, "5/15", Ok(("5/15", 1)));
        check(0, "~", Ok(("H(0-59)", 1)));
        check(0, "10~20", Ok(("H(10-20)", 1)));
        check(1, "~3,12", Ok(("H(0-3),12", 1)));
        check(3, "Jan-mar,DEC", Ok(("Jan-mar,DEC", 0)));
        check(4, "mon-fri", Ok(("mon-fri", 0)));
        check(4, "5-7", Ok(("5-7", 0)));
        check(0, "60", Err("minute `60`: `60` is not 0 to 59"));
        check(2, "L", Err("day of month"));
        check(2, "0", Err("is not 1 to 31"));
        check(4, "monday", Err("day of week"));
        check(0, "*/0", Err("a step is a number above 0"));
        check(0, "H", Err("is not"));
        check(0, "", Err("is not"));
        check(0, "5,", Err("is not"));
    }
}
