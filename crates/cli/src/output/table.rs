//! Tables for people: no borders, one line per thing, columns that only `-o wide` shows.
//!
//! Where a terminal is too narrow, words give way, with an `…`, and then names; ids are copied and stay whole.

use anstyle::{AnsiColor, Color, Effects, Style};
use comfy_table::{Attribute, Cell, ContentArrangement, presets};
use ratatui::text::Span;

use super::{Line, Round, plain};

/// A column's heading.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    heading: &'static str,
    wide: bool,
    /// Whether it changes although nothing happened.
    clock: bool,
    /// How short it may be cut where there is no room; the shortest gives way first.
    least: Option<usize>,
}

impl Column {
    /// A column that is always shown.
    pub(crate) const fn always(heading: &'static str) -> Self {
        Self { heading, wide: false, clock: false, least: None }
    }

    /// A column of ages and loads, which change by themselves.
    pub(crate) const fn clock(heading: &'static str) -> Self {
        Self { clock: true, ..Self::always(heading) }
    }

    /// A column of words, cut short where there is no room for them.
    pub(crate) const fn free(heading: &'static str) -> Self {
        Self { least: Some(3), ..Self::always(heading) }
    }

    /// A column of names, cut short where free text alone does not make room.
    pub(crate) const fn name(heading: &'static str) -> Self {
        Self { least: Some(8), ..Self::always(heading) }
    }

    /// A column of `-o wide`.
    pub(crate) const fn wide(heading: &'static str) -> Self {
        Self { wide: true, ..Self::always(heading) }
    }
}

/// One thing: its name for `-o name`, and its cells.
#[derive(Debug)]
pub(crate) struct Row {
    name: String,
    cells: Vec<(String, Style)>,
}

impl Row {
    /// A row without cells.
    pub(crate) fn new(name: impl ToString) -> Self {
        Self { name: name.to_string(), cells: Vec::new() }
    }

    /// The same with one more cell.
    pub(crate) fn cell(self, text: impl ToString) -> Self {
        self.styled(text, Style::new())
    }

    /// The same with one more cell, in a style.
    pub(crate) fn styled(mut self, text: impl ToString, style: Style) -> Self {
        let text = text.to_string();
        self.cells.push((if text.is_empty() { "-".to_owned() } else { text }, style));
        self
    }
}

/// Rows under headings.
#[derive(Debug)]
pub(crate) struct Table {
    columns: &'static [Column],
    rows: Vec<Row>,
    empty_words: String,
}

impl Table {
    /// An empty table; `empty_words` are said when it stays so.
    pub(crate) fn new(columns: &'static [Column], empty_words: impl Into<String>) -> Self {
        Self { columns, rows: Vec::new(), empty_words: empty_words.into() }
    }

    /// The same with other words when there are no rows.
    pub(crate) fn when_empty(mut self, words: String) -> Self {
        self.empty_words = words;
        self
    }

    /// The same with these rows.
    pub(crate) fn rows(mut self, rows: impl IntoIterator<Item = Row>) -> Self {
        self.rows.extend(rows);
        debug_assert!(
            self.rows.iter().all(|row| row.cells.len() == self.columns.len()),
            "{:?}",
            self.columns
        );
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn empty_words(&self) -> &str {
        &self.empty_words
    }

    /// The names alone.
    pub(crate) fn names(&self) -> Vec<String> {
        self.rows.iter().map(|row| row.name.clone()).collect()
    }

    /// The table as text, at most `room` wide if its free text can give so much way.
    pub(crate) fn render(&self, wide: bool, room: Option<usize>) -> String {
        self.lines(wide, room).join("\n")
    }

    /// The table as a round of a watch: what only grows older does not make a row another.
    pub(crate) fn round(&self, wide: bool, room: Option<usize>) -> Round {
        let indices = self.shown(wide);
        let of_row = |row: &Row| {
            let counts = indices.iter().filter(|index| !self.columns[**index].clock);
            counts.map(|index| row.cells[*index].0.as_str()).collect::<Vec<_>>().join("\0")
        };
        let keys = std::iter::once(String::new()).chain(self.rows.iter().map(of_row));
        let lines = self.lines(wide, room).into_iter().zip(keys);
        Round { lines: lines.map(|(text, key)| Line { text, key }).collect() }
    }

    /// The heading's line, and one for each row.
    fn lines(&self, wide: bool, room: Option<usize>) -> Vec<String> {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.enforce_styling();
        let indices = self.shown(wide);
        let cuts = room.map(|room| self.cuts(&indices, room)).unwrap_or_default();
        let heading = |index: &usize| Cell::new(self.columns[*index].heading).add_attribute(Attribute::Bold);
        table.set_header(indices.iter().map(heading));
        for row in &self.rows {
            table.add_row(indices.iter().map(|index| {
                let (text, style) = &row.cells[*index];
                let text = plain(text);
                match cuts.iter().find(|(cut, _)| cut == index) {
                    Some((_, most)) => cell(&shorten(&text, *most), *style),
                    None => cell(&text, *style),
                }
            }));
        }
        // The last column needs no room behind it: on a narrow terminal that room would be a line of its own.
        let last = indices.len().saturating_sub(1);
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if at == last { 0 } else { GAP }));
        }
        table.lines().map(|line| trimmed(&line)).collect()
    }

    fn shown(&self, wide: bool) -> Vec<usize> {
        (0..self.columns.len()).filter(|index| wide || !self.columns[*index].wide).collect()
    }

    /// Which columns give way, and how wide they may be, when the table is wider than the room.
    fn cuts(&self, indices: &[usize], room: usize) -> Vec<(usize, usize)> {
        let width_of = |index: usize| {
            let cells = self.rows.iter().map(|row| width(&plain(&row.cells[index].0)));
            cells.max().unwrap_or_default().max(width(self.columns[index].heading))
        };
        let gaps = usize::from(GAP) * indices.len().saturating_sub(1);
        let whole: usize = indices.iter().map(|index| width_of(*index)).sum::<usize>() + gaps;
        let mut over = whole.saturating_sub(room);
        let least_of = |index: usize| self.columns[index].least.map(|least| (least, index));
        let mut yielding: Vec<(usize, usize)> = indices.iter().filter_map(|index| least_of(*index)).collect();
        yielding.sort_unstable();
        let mut cuts = Vec::new();
        for (least, index) in yielding {
            let least = least.max(width(self.columns[index].heading));
            let less = over.min(width_of(index).saturating_sub(least));
            if less > 0 {
                cuts.push((index, width_of(index) - less));
                over -= less;
            }
        }
        cuts
    }
}

/// Blanks between columns.
const GAP: u16 = 2;

/// Places of the terminal that a text takes.
fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// The text within so many places of the terminal.
fn shorten(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut used = 0;
    let kept = text.chars().take_while(|c| {
        used += width(c.encode_utf8(&mut [0; 4]));
        used < most
    });
    kept.chain(['…']).collect()
}

/// The line without blanks at its end, which may stand before the end of a style.
fn trimmed(line: &str) -> String {
    let line = line.trim_end();
    let at = line.rfind("\x1b[").unwrap_or(line.len());
    let (text, end) = line.split_at(at);
    // Nothing may follow it: the blanks before a cell of the last column stand before the end of a style, too.
    let is_last = end.find('m').is_some_and(|closes| closes + 1 == end.len());
    if is_last { format!("{}{end}", text.trim_end()) } else { line.to_owned() }
}

fn cell(text: &str, style: Style) -> Cell {
    let mut cell = Cell::new(text);
    if let Some(Color::Ansi(color)) = style.get_fg_color() {
        cell = cell.fg(match color {
            AnsiColor::Green => comfy_table::Color::DarkGreen,
            AnsiColor::Yellow => comfy_table::Color::DarkYellow,
            AnsiColor::Red => comfy_table::Color::DarkRed,
            AnsiColor::Cyan => comfy_table::Color::DarkCyan,
            AnsiColor::Magenta => comfy_table::Color::DarkMagenta,
            _ => comfy_table::Color::Reset,
        });
    }
    if style.get_effects().contains(Effects::BOLD) {
        cell = cell.add_attribute(Attribute::Bold);
    }
    if style.get_effects().contains(Effects::DIMMED) {
        cell = cell.add_attribute(Attribute::Dim);
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{DIM, GOOD};

    const COLUMNS: &[Column] = &[
        Column::always("NAME"),
        Column::clock("AGE"),
        Column::wide("NODE"),
        Column::always("STATE"),
        Column::free("WHY"),
    ];

    fn sample(age: &str) -> Table {
        Table::new(COLUMNS, "none").rows([
            Row::new("a").cell("backup").cell(age).cell("n1").styled("success", GOOD).styled("", DIM),
            Row::new("b").cell("report").cell(age).cell("").cell("two\nlines").cell("some words 等待 here"),
        ])
    }

    fn plain(wide: bool, room: Option<usize>) -> String {
        let text = sample("1s").render(wide, room);
        let is_padded = |line: &str| anstream::adapter::strip_str(line).to_string().ends_with(' ');
        assert!(!text.lines().any(is_padded), "{text:?}");
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn wide_shows_more() {
        assert_eq!(
            plain(false, None),
            "NAME    AGE  STATE      WHY\nbackup  1s   success    -\nreport  1s   two lines  some words 等待 here"
        );
        assert_eq!(
            plain(true, None),
            "NAME    AGE  NODE  STATE      WHY\nbackup  1s   n1    success    -\n\
             report  1s   -     two lines  some words 等待 here"
        );
        assert_eq!(sample("1s").names(), ["a", "b"]);
    }

    #[test]
    fn a_number_behind_a_style_keeps_its_distance() {
        const COLUMNS: &[Column] = &[Column::always("STATE"), Column::always("FIRED")];
        let row = |text: &str| Row::new("a").styled("active", GOOD).cell(text);
        let text = Table::new(COLUMNS, "none").rows([row("0"), row("5m")]).render(false, None);
        let text = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(text, "STATE   FIRED\nactive  0\nactive  5m");
    }

    #[test]
    fn free_text_gives_way_on_a_narrow_terminal() {
        for room in [20, 30, 38, 40, 43] {
            let text = plain(false, Some(room));
            let most = text.lines().map(width).max().unwrap();
            assert!(most <= room.max(27) && text.contains('…'), "{most} in {room}:\n{text}");
            assert!(text.contains("two lines"), "what is no free text stays whole:\n{text}");
        }
        assert_eq!(plain(false, Some(44)), plain(false, None));
    }

    #[test]
    fn what_grows_older_is_the_same_row() {
        let keys =
            |age| sample(age).round(false, None).lines.into_iter().map(|line| line.key).collect::<Vec<_>>();
        assert_eq!(keys("1s"), keys("6s"));
        assert_eq!(keys("1s").len(), 3);
    }
}
