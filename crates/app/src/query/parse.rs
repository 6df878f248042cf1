//! Text to a query. An error names the position, counted in characters from 1, and what is expected there.

use std::str::FromStr;
use std::time::Duration;

use mainspring_model::{Cause, Namespace, NodeId, RunId, RunState, Timestamp, duration_text, label};

/// A query: every term must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// The terms, in order.
    pub terms: Vec<Term>,
}

/// A word of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Whether it must not hold.
    pub negated: bool,
    /// What it says.
    pub word: Word,
}

/// What a word says; lists are alternatives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// In one of these states.
    State(Vec<RunState>),
    /// Of one of these jobs, by name or id.
    Job(Vec<String>),
    /// In one of these namespaces or below.
    Namespace(Vec<Namespace>),
    /// With one of these labels.
    Label(Vec<(String, Option<String>)>),
    /// Ended for one of these causes.
    Cause(Vec<String>),
    /// Submitted by one of these.
    By(Vec<String>),
    /// Last seen on one of these nodes.
    Node(Vec<NodeId>),
    /// One of these.
    Id(Vec<RunId>),
    /// Fired by one of these triggers.
    Trigger(Vec<String>),
    /// Asks for one of these pools.
    Pool(Vec<String>),
    /// Waits, or waited last, for one of these reasons.
    Reason(Vec<String>),
    /// Has one of these texts, in small letters, in what people wrote about it.
    Text(Vec<String>),
    /// Made, started or ended before or after.
    Time(Clock, Comparison, Moment),
    /// Its last attempt took shorter or longer.
    Took(Comparison, Duration),
    /// Its current or last attempt.
    Attempt(Comparison, u32),
}

/// Which moment of a run is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// When it was made.
    Created,
    /// When its current or last attempt started.
    Started,
    /// When its last attempt, or the run, ended.
    Finished,
}

/// How moments, spans and numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// After, or more.
    After,
    /// At or after, or as much and more.
    From,
    /// Before, or less.
    Before,
    /// At or before, or as much and less.
    Until,
}

impl Comparison {
    /// Whether it holds between a value and the one that is asked for.
    pub fn holds<T: Ord>(self, value: T, asked: T) -> bool {
        match self {
            Self::After => value > asked,
            Self::From => value >= asked,
            Self::Before => value < asked,
            Self::Until => value <= asked,
        }
    }
}

/// A moment, or so long ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// This moment.
    At(Timestamp),
    /// So long before the query is asked.
    Ago(Duration),
}

/// Text that is not a query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at position {position}: {message}")]
pub struct QueryError {
    /// In characters, from 1.
    pub position: usize,
    /// What is wrong there.
    pub message: String,
}

/// Bytes of a query.
const QUERY_BYTES_MAX: usize = 4 * 1024;
/// Words of a query.
const TERMS_MAX: usize = 64;
/// The words of reasons.
const REASONS: [&str; 12] = [
    "begin_time",
    "backoff",
    "concurrency",
    "rate_limit",
    "resources",
    "no_node",
    "suspect",
    "priority",
    "paused",
    "cell_paused",
    "quarantined",
    "overflow",
];
/// What values are compared with, not only looked for.
const COMPARED: [&str; 5] = ["created", "started", "finished", "took", "attempt"];
const LISTED: &str = "id, state, reason, cause, job, namespace, label, by, trigger, pool, node, text";

impl FromStr for Query {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        if text.len() > QUERY_BYTES_MAX {
            return Err(QueryError { position: 1, message: format!("longer than {QUERY_BYTES_MAX} bytes") });
        }
        let mut terms = Vec::new();
        let mut at = 0;
        for part in text.split(char::is_whitespace) {
            let start = at;
            at += part.chars().count() + 1;
            if part.is_empty() {
                continue;
            }
            if terms.len() == TERMS_MAX {
                let message = format!("a query has at most {TERMS_MAX} words");
                return Err(QueryError { position: start + 1, message });
            }
            terms.push(term(part).map_err(|Wrong { skip, message }| {
                let skipped = part[..skip].chars().count();
                QueryError { position: start + skipped + 1, message }
            })?);
        }
        Ok(Self { terms })
    }
}

/// What is wrong with a part, so many bytes into it.
struct Wrong {
    skip: usize,
    message: String,
}

fn term(part: &str) -> Result<Term, Wrong> {
    let negated = part.starts_with('-');
    let rest = &part[usize::from(negated)..];
    let skip = usize::from(negated);
    let Some(end) = rest.find([':', '<', '>']) else {
        let message = format!("`{rest}` has no `:`; write `state:failed`, `job:NAME` or `created>-1h`");
        return Err(Wrong { skip, message });
    };
    let (key, value) = rest.split_at(end);
    let skip_value = skip + end;
    let word = match key {
        _ if COMPARED.contains(&key) => compared(key, value, skip_value)?,
        _ if !value.starts_with(':') => {
            let message =
                format!("`{key}` is compared with `:`; only {} have `<` and `>`", COMPARED.join(", "));
            return Err(Wrong { skip: skip_value, message });
        }
        _ => listed(key, skip, &value[1..], skip_value + 1)?,
    };
    Ok(Term { negated, word })
}

fn listed(key: &str, skip_key: usize, values: &str, skip: usize) -> Result<Word, Wrong> {
    match key {
        "state" => {
            let states = each(values, skip, |value| {
                states(value).ok_or_else(|| {
                    let known: Vec<&str> = RunState::ALL.iter().map(|state| state.name()).collect();
                    format!("`{value}` is not a state; use {}, active or ended", known.join(", "))
                })
            })?;
            Ok(Word::State(states.concat()))
        }
        "job" => Ok(Word::Job(each(values, skip, as_it_is)?)),
        "namespace" | "ns" => Ok(Word::Namespace(each(values, skip, |value| {
            value.parse::<Namespace>().map_err(|error| error.to_string())
        })?)),
        "label" => Ok(Word::Label(each(values, skip, label_of)?)),
        "cause" => Ok(Word::Cause(each(values, skip, |value| one_of(value, "a cause", &Cause::NAMES))?)),
        "reason" => Ok(Word::Reason(each(values, skip, |value| one_of(value, "a reason", &REASONS))?)),
        "by" => Ok(Word::By(each(values, skip, as_it_is)?)),
        "trigger" => Ok(Word::Trigger(each(values, skip, as_it_is)?)),
        "pool" => Ok(Word::Pool(each(values, skip, as_it_is)?)),
        "text" => Ok(Word::Text(each(values, skip, |value| Ok(value.to_lowercase()))?)),
        "id" => {
            let run = |value: &str| value.parse::<RunId>().map_err(|error| error.to_string());
            Ok(Word::Id(each(values, skip, run)?))
        }
        "node" => {
            let node = |value: &str| value.parse::<NodeId>().map_err(|error| error.to_string());
            Ok(Word::Node(each(values, skip, node)?))
        }
        _ => {
            let message = format!("`{key}` is not a word of queries; use {LISTED}, {}", COMPARED.join(", "));
            Err(Wrong { skip: skip_key, message })
        }
    }
}

/// Reads each alternative.
fn each<T>(
    values: &str,
    skip: usize,
    mut read: impl FnMut(&str) -> Result<T, String>,
) -> Result<Vec<T>, Wrong> {
    let mut at = skip;
    let mut found = Vec::new();
    for value in values.split(',') {
        if value.is_empty() {
            return Err(Wrong { skip: at, message: "a value is missing".into() });
        }
        found.push(read(value).map_err(|message| Wrong { skip: at, message })?);
        at += value.len() + 1;
    }
    Ok(found)
}

fn states(value: &str) -> Option<Vec<RunState>> {
    let all = || RunState::ALL.into_iter();
    match value {
        "active" => Some(all().filter(|state| !state.is_terminal()).collect()),
        "ended" => Some(all().filter(|state| state.is_terminal()).collect()),
        _ => all().find(|state| state.name() == value).map(|state| vec![state]),
    }
}

fn label_of(value: &str) -> Result<(String, Option<String>), String> {
    let (key, wanted) = match value.split_once('=') {
        Some((key, wanted)) => (key, Some(wanted)),
        None => (value, None),
    };
    label::check_key(key).map_err(|error| error.to_string())?;
    wanted.map_or(Ok(()), label::check_value).map_err(|error| error.to_string())?;
    Ok((key.to_owned(), wanted.map(Into::into)))
}

fn as_it_is(value: &str) -> Result<String, String> {
    Ok(value.to_owned())
}

fn one_of(value: &str, what: &str, known: &[&str]) -> Result<String, String> {
    match known.contains(&value) {
        true => Ok(value.to_owned()),
        false => Err(format!("`{value}` is not {what}; use {}", known.join(", "))),
    }
}

/// A moment, a span or a number with a comparison in front.
fn compared(key: &str, value: &str, skip: usize) -> Result<Word, Wrong> {
    let (comparison, length) = match value {
        _ if value.starts_with(">=") => (Comparison::From, 2),
        _ if value.starts_with("<=") => (Comparison::Until, 2),
        _ if value.starts_with('>') => (Comparison::After, 1),
        _ if value.starts_with('<') => (Comparison::Before, 1),
        _ => {
            let message = format!("`{key}` is compared with `<`, `<=`, `>` or `>=`");
            return Err(Wrong { skip, message });
        }
    };
    let text = &value[length..];
    let word = match key {
        "took" => duration_text::parse(text)
            .map(|span| Word::Took(comparison, span))
            .map_err(|error| error.to_string()),
        "attempt" => text
            .parse()
            .map(|number| Word::Attempt(comparison, number))
            .map_err(|_| format!("`{text}` is not a number of an attempt; write `attempt>1`")),
        "started" => moment(text).map(|moment| Word::Time(Clock::Started, comparison, moment)),
        "finished" => moment(text).map(|moment| Word::Time(Clock::Finished, comparison, moment)),
        _ => moment(text).map(|moment| Word::Time(Clock::Created, comparison, moment)),
    };
    word.map_err(|message| Wrong { skip: skip + length, message })
}

/// A moment, or so long ago.
fn moment(text: &str) -> Result<Moment, String> {
    match text.strip_prefix('-') {
        Some(ago) => duration_text::parse(ago).map(Moment::Ago).map_err(|error| error.to_string()),
        None => point(text).map(Moment::At),
    }
}

/// A day, or a moment.
fn point(text: &str) -> Result<Timestamp, String> {
    let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let at: Result<jiff::Timestamp, _> = whole.parse();
    at.map(|at| Timestamp::from_micros(at.as_microsecond())).map_err(|_| {
        format!(
            "`{text}` is not a time; write `2026-01-31`, `2026-01-31T08:00:00Z`, or `-2h` for two hours ago"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[Term], (usize, &str)>) {
        match (text.parse::<Query>(), expected) {
            (Ok(query), Ok(terms)) => assert_eq!(query.terms, terms, "{text}"),
            (Err(error), Err((position, words))) => {
                assert_eq!(error.position, position, "{text}: {error}");
                assert!(error.message.contains(words), "{text}: {error}");
            }
            (got, want) => panic!("{text}: got {got:?}, want {want:?}"),
        }
    }

    fn is(word: Word) -> Term {
        Term { negated: false, word }
    }

    #[test]
    fn words_are_read() {
        check("", Ok(&[]));
        check("  state:failed ", Ok(&[is(Word::State(vec![RunState::Failed]))]));
        check(
            "-state:success,skipped job:etl",
            Ok(&[
                Term { negated: true, word: Word::State(vec![RunState::Success, RunState::Skipped]) },
                is(Word::Job(vec!["etl".into()])),
            ]),
        );
        check(
            "label:team=data,gpu",
            Ok(&[is(Word::Label(vec![("team".into(), Some("data".into())), ("gpu".into(), None)]))]),
        );
        check(
            "ns:acme/data cause:exit by:ann",
            Ok(&[
                is(Word::Namespace(vec!["acme/data".parse().unwrap()])),
                is(Word::Cause(vec!["exit".into()])),
                is(Word::By(vec!["ann".into()])),
            ]),
        );
    }

    #[test]
    fn moments_are_days_times_or_spans() {
        let at = |micros| Moment::At(Timestamp::from_micros(micros));
        check(
            "created>1970-01-02",
            Ok(&[is(Word::Time(Clock::Created, Comparison::After, at(86_400_000_000)))]),
        );
        check(
            "created<=1970-01-01T00:00:01+00:00",
            Ok(&[is(Word::Time(Clock::Created, Comparison::Until, at(1_000_000)))]),
        );
        let ago = Moment::Ago(Duration::from_secs(7200));
        check("created>=-2h", Ok(&[is(Word::Time(Clock::Created, Comparison::From, ago))]));
        check("created<-2h", Ok(&[is(Word::Time(Clock::Created, Comparison::Before, ago))]));
        check("started>-2h", Ok(&[is(Word::Time(Clock::Started, Comparison::After, ago))]));
        check("finished<=-2h", Ok(&[is(Word::Time(Clock::Finished, Comparison::Until, ago))]));
        check("took>=2h", Ok(&[is(Word::Took(Comparison::From, Duration::from_secs(7200)))]));
        check("attempt>1", Ok(&[is(Word::Attempt(Comparison::After, 1))]));
    }

    #[test]
    fn errors_name_the_position() {
        check("failed", Err((1, "has no `:`")));
        check("state:failed oops:1", Err((14, "not a word")));
        check("state:failed,oops", Err((14, "not a state")));
        check("-state:oops", Err((8, "not a state")));
        check("state:", Err((7, "missing")));
        check("by:ann,,bob", Err((8, "missing")));
        check("état:1", Err((1, "not a word")));
        check("by:é cause:x", Err((12, "not a cause")));
        check("created:1", Err((8, "compared with")));
        check("created>x", Err((9, "not a time")));
        check("created>-2", Err((9, "no unit")));
        check("state>failed", Err((6, "only created")));
        check("took>x", Err((6, "`x`")));
        check("attempt>many", Err((9, "not a number")));
        check("attempt:1", Err((8, "compared with")));
        check("reason:oops", Err((8, "not a reason")));
        check("id:oops", Err((4, "run")));
        check(&"by:x ".repeat(65), Err((321, "at most 64")));
        check(&"x".repeat(5000), Err((1, "longer")));
    }
}
