//! An entry of a crontab: when, who, what.

use std::time::Duration;

use mainspring_model::duration_text;

use super::field::{FIELDS, Translated};
use super::percent;
use crate::import::note::{Note, Place};

/// An entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) timing: Timing,
    pub(super) user: Option<String>,
    pub(super) command: String,
    /// What it reads from its standard input.
    pub(super) input: Option<String>,
    /// Whether it is not started while it still runs (OpenBSD's `-s`).
    pub(super) is_single: bool,
}

/// When.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Timing {
    /// By the wall clock; perhaps on days that fit both fields.
    Cron { cron: String, both_days: bool },
    /// So many seconds after it ended (FreeBSD's `@600`).
    After(u64),
    /// Again and again after such a span (`@every 1h30m`, of crons that are written in Go).
    Every(Duration),
    /// When the machine starts.
    Start,
}

const MACROS: &[&str] = &["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// Reads an entry, with what is different about it.
pub(super) fn read(place: Place<'_>, is_system: bool) -> Result<(Entry, Vec<Note>), String> {
    let mut notes = Vec::new();
    let mut text = place.text.trim();
    if let Some(rest) =
        text.strip_prefix('-').filter(|rest| rest.starts_with(|c: char| c == '*' || c.is_ascii_digit()))
    {
        notes.push(place.no_equal("`-` keeps cron's log quiet; runs are always recorded"));
        text = rest;
    }
    let (timing, mut rest) = timing(place, text, &mut notes)?;
    let mut user = None;
    if is_system {
        let (word, after) = next_word(rest).ok_or("there is no user and no command")?;
        user = Some(user_of(place, word, &mut notes));
        rest = after;
    }
    let (is_single, rest) = flags(place, rest, &mut notes);
    let (command, input) = percent::split(rest);
    let command = command.trim().to_owned();
    if command.is_empty() {
        return Err("there is no command".to_owned());
    }
    if !is_system && command.starts_with("root ") {
        notes.push(
            place.differs("`root` is taken for the command; `--system` reads crontabs that name users"),
        );
    }
    if input.is_some() {
        notes.push(place.differs("what follows `%` is `stdin`"));
    }
    Ok((Entry { timing, user, command, input, is_single }, notes))
}

fn timing<'a>(place: Place<'_>, text: &'a str, notes: &mut Vec<Note>) -> Result<(Timing, &'a str), String> {
    if !text.starts_with('@') {
        return fields(place, text, notes);
    }
    let (word, rest) = next_word(text).ok_or("there is no command")?;
    let word = word.to_ascii_lowercase();
    let cron = |cron: &str| Timing::Cron { cron: cron.to_owned(), both_days: false };
    let timing = match word.as_str() {
        "@reboot" => {
            notes.push(place.no_equal(
                "nothing is started by the start of a machine: the job has no trigger, `mainspring run` starts it",
            ));
            Timing::Start
        }
        "@every" => {
            let (span, rest) = next_word(rest).ok_or("there is no interval and no command")?;
            let every = duration_text::parse(span).map_err(|wrong| format!("@every: {wrong}"))?;
            notes.push(place.differs(
                "`every` is counted from 1970 UTC, the same on every machine, and not from the start of cron",
            ));
            return Ok((Timing::Every(every), rest));
        }
        "@every_minute" => cron("* * * * *"),
        "@every_second" => cron("* * * * * *"),
        known if MACROS.contains(&known) => cron(known),
        _ => match word[1..].parse::<u64>() {
            Ok(seconds) if seconds > 0 => {
                notes.push(place.differs("the first run is due at once, not only after the interval"));
                Timing::After(seconds)
            }
            _ => return Err(format!("cron does not know `{word}`")),
        },
    };
    Ok((timing, rest))
}

fn fields<'a>(place: Place<'_>, text: &'a str, notes: &mut Vec<Note>) -> Result<(Timing, &'a str), String> {
    let mut rest = text;
    let mut found = Vec::with_capacity(FIELDS.len());
    for field in FIELDS {
        let (word, after) =
            next_word(rest).ok_or_else(|| "an entry has five fields and a command".to_owned())?;
        let Translated { text, differences } = field.translate(word)?;
        notes.extend(differences.into_iter().map(|message| place.differs(message)));
        found.push((word, text));
        rest = after;
    }
    let (day, weekday) = (found[2].0, found[4].0);
    // cron has a mark for a field that begins with a star, and then both must fit; ours has it for the star alone.
    let has_star = day.starts_with('*') || weekday.starts_with('*');
    let both_days = has_star && day != "*" && weekday != "*";
    if both_days {
        notes.push(place.differs(format!(
            "cron wants both days to fit because one begins with `*` (`{day}` and `{weekday}`): `days: and`"
        )));
    }
    let texts: Vec<String> = found.into_iter().map(|(_, text)| text).collect();
    Ok((Timing::Cron { cron: texts.join(" "), both_days }, rest))
}

/// The user of the column; BSD also names a group and a login class there.
fn user_of(place: Place<'_>, word: &str, notes: &mut Vec<Note>) -> String {
    let user = word.split([':', '/']).next().unwrap_or(word);
    if user != word {
        notes.push(place.no_equal("only the user of the column is kept, its group and class are not"));
    }
    user.to_owned()
}

/// The flags that BSD has before a command. No command begins with a dash.
fn flags<'a>(place: Place<'_>, text: &'a str, notes: &mut Vec<Note>) -> (bool, &'a str) {
    let (mut is_single, mut rest) = (false, text);
    while let Some((flag @ ("-n" | "-q" | "-s"), after)) = next_word(rest) {
        match flag {
            "-s" => is_single = true,
            _ => notes.push(place.no_equal(format!("`{flag}` is about mail and cron's log"))),
        }
        rest = after;
    }
    (is_single, rest)
}

fn next_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (!word.is_empty()).then(|| (word, rest.trim_start()))
}
