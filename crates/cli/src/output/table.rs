//! Tables for people: no borders, one line per thing, columns that only `-o wide` shows.

use anstyle::{AnsiColor, Color, Effects, Style};
use comfy_table::{Attribute, Cell, ContentArrangement, presets};

/// A column's heading.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    heading: &'static str,
    wide: bool,
}

impl Column {
    /// A column that is always shown.
    pub(crate) const fn always(heading: &'static str) -> Self {
        Self { heading, wide: false }
    }

    /// A column of `-o wide`.
    pub(crate) const fn wide(heading: &'static str) -> Self {
        Self { heading, wide: true }
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

    /// The table as text.
    pub(crate) fn render(&self, wide: bool) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.enforce_styling();
        let shown = |index: &usize| wide || !self.columns[*index].wide;
        let indices: Vec<usize> = (0..self.columns.len()).filter(shown).collect();
        let heading = |index: &usize| Cell::new(self.columns[*index].heading).add_attribute(Attribute::Bold);
        table.set_header(indices.iter().map(heading));
        for row in &self.rows {
            table.add_row(indices.iter().map(|index| cell(&row.cells[*index])));
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        let lines = table.lines().map(|line| line.trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn cell((text, style): &(String, Style)) -> Cell {
    let mut cell = Cell::new(text.replace(['\n', '\r', '\t'], " "));
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
    use crate::output::GOOD;

    const COLUMNS: &[Column] = &[Column::always("NAME"), Column::wide("NODE"), Column::always("STATE")];

    fn sample() -> Table {
        Table::new(COLUMNS, "none").rows([
            Row::new("a").cell("backup").cell("n1").styled("success", GOOD),
            Row::new("b").cell("report").cell("").cell("two\nlines"),
        ])
    }

    fn plain(wide: bool) -> String {
        let text = anstream::adapter::strip_str(&sample().render(wide)).to_string();
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn wide_shows_more() {
        assert_eq!(plain(false), "NAME    STATE\nbackup  success\nreport  two lines");
        assert_eq!(plain(true), "NAME    NODE  STATE\nbackup  n1    success\nreport  -     two lines");
        assert_eq!(sample().names(), ["a", "b"]);
    }
}
