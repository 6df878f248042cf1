//! Where a path stands in the text of a job file: line and column, for editors that mark problems.
//!
//! Only looked for when something is wrong. Text that cannot be read has no places; the deepest part of a path that is there
//! stands for the rest.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use toml::de::{DeTable, DeValue};

use super::tree::{self, Format};

/// A place in a text; both count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPlace {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// The places of everything in a text.
#[derive(Debug, Default)]
pub struct TextPlaces(Option<Node>);

/// A value and where it stands.
#[derive(Debug)]
struct Node {
    at: Option<TextPlace>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Leaf,
    List(Vec<Node>),
    /// Keys with their own places.
    Map(Vec<(String, Option<TextPlace>, Node)>),
}

impl TextPlaces {
    /// The places in a text.
    pub fn of(text: &str, format: Format) -> Self {
        Self(match format {
            // JSON is YAML, as far as places go.
            Format::Yaml | Format::Json => {
                let options = tree::yaml_options(tree::depth_max(1), 1);
                serde_saphyr::from_str_with_options::<Yaml>(text, options).ok().map(|node| node.0)
            }
            Format::Toml => DeTable::parse(text).ok().map(|table| {
                let lines = Lines::of(text);
                Node { at: None, kind: of_table(table.get_ref(), &lines) }
            }),
        })
    }

    /// Where the deepest part of a path stands that is there; none of the file as a whole.
    pub fn find(&self, path: &str) -> Option<TextPlace> {
        let (mut node, mut rest, mut found) = (self.0.as_ref()?, path, None);
        while !rest.is_empty() {
            let Some((at, next, behind)) = step(node, rest) else { break };
            (found, node, rest) = (at.or(next.at).or(found), next, behind);
        }
        found
    }
}

/// The next part of a path: its place, its value, and what follows it.
fn step<'n, 'p>(node: &'n Node, path: &'p str) -> Option<(Option<TextPlace>, &'n Node, &'p str)> {
    match &node.kind {
        Kind::Leaf => None,
        Kind::List(items) => {
            let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
            let item = items.get(index.parse::<usize>().ok()?)?;
            Some((item.at, item, rest.strip_prefix('.').unwrap_or(rest)))
        }
        Kind::Map(entries) => {
            // Keys may have dots: the longest that fits is meant.
            let fits = |key: &str| {
                let rest = path.strip_prefix(key)?;
                let ends = rest.is_empty() || rest.starts_with(['.', '[']);
                ends.then(|| rest.strip_prefix('.').unwrap_or(rest))
            };
            let fitting =
                entries.iter().filter_map(|(key, at, value)| Some((key.len(), *at, value, fits(key)?)));
            let (_, at, value, rest) = fitting.max_by_key(|(length, ..)| *length)?;
            Some((at, value, rest))
        }
    }
}

/// A tree as YAML, with the places of its values.
struct Yaml(Node);

impl<'de> Deserialize<'de> for Yaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value: Branch(kind), referenced, .. } = Spanned::<Branch>::deserialize(deserializer)?;
        Ok(Self(Node { at: place(referenced), kind }))
    }
}

struct Branch(Kind);

impl<'de> Deserialize<'de> for Branch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Kinds).map(Self)
    }
}

/// Reads what a value consists of.
struct Kinds;

macro_rules! leaves {
    ($($visit:ident($kind:ty),)*) => { $(
        fn $visit<E>(self, _: $kind) -> Result<Kind, E> {
            Ok(Kind::Leaf)
        }
    )* };
}

impl<'de> Visitor<'de> for Kinds {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    leaves! {
        visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_i128(i128), visit_u128(u128), visit_f64(f64), visit_str(&str),
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Leaf)
    }

    fn visit_none<E>(self) -> Result<Kind, E> {
        Ok(Kind::Leaf)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Kind, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Kind, A::Error> {
        let mut items = Vec::new();
        while let Some(Yaml(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Kind::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Kind, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<Key>>()? {
            match key.value.0 {
                Some(name) => {
                    let Yaml(value) = map.next_value()?;
                    entries.push((name, place(key.referenced), value));
                }
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Kind::Map(entries))
    }
}

/// A key; none when it is no text.
struct Key(Option<String>);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(String::deserialize(deserializer).ok()))
    }
}

fn place(location: serde_saphyr::Location) -> Option<TextPlace> {
    let number = |number: u64| u32::try_from(number).ok().filter(|number| *number > 0);
    Some(TextPlace { line: number(location.line())?, column: number(location.column())? })
}

fn of_table(table: &DeTable<'_>, lines: &Lines<'_>) -> Kind {
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let name: &std::borrow::Cow<'_, str> = key.get_ref();
        (name.to_string(), lines.at(key.span().start), of_value(value, lines))
    };
    Kind::Map(table.iter().map(entry).collect())
}

fn of_value(value: &toml::Spanned<DeValue<'_>>, lines: &Lines<'_>) -> Node {
    let kind = match value.get_ref() {
        DeValue::Table(table) => of_table(table, lines),
        DeValue::Array(items) => Kind::List(items.iter().map(|item| of_value(item, lines)).collect()),
        _ => Kind::Leaf,
    };
    Node { at: lines.at(value.span().start), kind }
}

/// Where lines begin.
struct Lines<'t> {
    text: &'t str,
    begins: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, begins: std::iter::once(0).chain(breaks).collect() }
    }

    /// The place of a byte.
    fn at(&self, byte: usize) -> Option<TextPlace> {
        let line = self.begins.partition_point(|begin| *begin <= byte);
        let before = self.text.get(*self.begins.get(line.checked_sub(1)?)?..byte)?;
        let column = before.chars().count() + 1;
        Some(TextPlace { line: u32::try_from(line).ok()?, column: u32::try_from(column).ok()? })
    }
}

/// The place that a reader names in its message: `… at line 3, column 5`.
pub fn place_in_message(message: &str) -> Option<TextPlace> {
    let number = |word: &str| {
        let (_, behind) = message.rsplit_once(word)?;
        let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        behind[..digits].parse().ok().filter(|number| *number > 0)
    };
    Some(TextPlace { line: number("line ")?, column: number("column ")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, format: Format, path: &str, expected: Option<(u32, u32)>) {
        let found = TextPlaces::of(text, format).find(path).map(|at| (at.line, at.column));
        assert_eq!(found, expected, "{path} in {text}");
    }

    #[test]
    fn yaml_is_found_by_key_and_index() {
        let text = "name: etl\n# comment\nretry:\n  max: 3\n  backoff: { base: 1s }\ntriggers:\n- every: 5s\n- name: 名\n  cron: x\nlabels: {a.b/c: d}\n";
        for (path, expected) in [
            ("name", Some((1, 1))),
            ("retry", Some((3, 1))),
            ("retry.max", Some((4, 3))),
            ("retry.backoff.base", Some((5, 14))),
            ("retry.backoff.factor", Some((5, 3))),
            ("triggers[1].cron", Some((9, 3))),
            ("triggers[1].zone", Some((8, 3))),
            ("triggers[7]", Some((6, 1))),
            ("labels.a.b/c", Some((10, 10))),
            ("nothing", None),
            ("", None),
        ] {
            check(text, Format::Yaml, path, expected);
        }
    }

    #[test]
    fn json_and_toml_are_found_too() {
        let json = "{\n  \"name\": \"etl\",\n\t\"retry\": {\"max\": 3},\n  \"args\": [1, \"名\", 3]\n}";
        check(json, Format::Json, "retry.max", Some((3, 12)));
        check(json, Format::Json, "args[2]", Some((4, 20)));
        let toml =
            "name = \"etl\"\n[retry]\nmax = 3\n[[triggers]]\nevery = \"5s\"\n[[triggers]]\ncron = \"名\"\n";
        check(toml, Format::Toml, "retry.max", Some((3, 1)));
        check(toml, Format::Toml, "triggers[1].cron", Some((7, 1)));
        check(toml, Format::Toml, "retry.min", Some((2, 2)));
    }

    #[test]
    fn broken_text_has_the_place_that_its_reader_names() {
        check("a: [", Format::Yaml, "a", None);
        let at = |line, column| Some(TextPlace { line, column });
        for (message, expected) in [
            ("not valid JSON: expected value at line 3 column 15", at(3, 15)),
            ("the key `a` stands twice at line 2, column 1", at(2, 1)),
            ("no line 0, column 0", None),
            ("nothing", None),
        ] {
            assert_eq!(place_in_message(message), expected, "{message}");
        }
    }
}
