//! Everything that is printed goes through here: data to standard output, talk to standard error.
//!
//! Colours are dropped where they do not belong (`NO_COLOR`, pipes, `--color never`) by the streams of `anstream`, so
//! that commands write styles without asking. Commands hand over values and rows; the format is the person's choice.

mod bar;
mod format;
mod heat;
mod paint;
mod plain;
mod screen;
mod table;
mod when;

use std::io::{IsTerminal, Write};

use serde::Serialize;
use serde_json::Value;

pub(crate) use format::{Colour, Format};
pub(crate) use heat::{HeatRow, Shade, heat_map};
pub(crate) use paint::{BAD, BOLD, DIM, GOOD, Paint, WARN, state_style};
pub(crate) use plain::{plain, plain_lines};
pub(crate) use screen::{Line, Round, Screen};
pub(crate) use table::{Column, Row, Table};
pub(crate) use when::{age, bytes, clock, count, span};

use crate::failure::Failure;
use plain::only_styles;

/// Where and how a command speaks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// The format of data.
    pub(crate) format: Format,
    /// Whether talk is left out.
    pub(crate) quiet: bool,
}

impl Output {
    /// The output with this format; the choice of colour holds for the whole process.
    pub(crate) fn new(format: Format, colour: Colour, quiet: bool) -> Self {
        let choice = match colour {
            Colour::Auto => anstream::ColorChoice::Auto,
            Colour::Always => anstream::ColorChoice::Always,
            Colour::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
        Self { format, quiet }
    }

    /// A line of data, as it is.
    pub(crate) fn line(&self, line: impl std::fmt::Display) -> Result<(), Failure> {
        writeln!(anstream::stdout(), "{line}")?;
        Ok(())
    }

    /// Lines for people, with our own styles and no control character of others.
    pub(crate) fn text(&self, text: &str) -> Result<(), Failure> {
        self.line(only_styles(text.trim_end()))
    }

    /// Bytes of data as they are.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        Ok(())
    }

    /// Bytes of a task's standard error.
    pub(crate) fn raw_error(&self, bytes: &[u8]) -> Result<(), Failure> {
        std::io::stderr().lock().write_all(bytes)?;
        Ok(())
    }

    /// Words for the person, unless they asked for quiet.
    pub(crate) fn say(&self, words: impl std::fmt::Display) {
        if !self.quiet {
            // Nobody is left to tell when standard error is gone.
            let _ = writeln!(anstream::stderr(), "{}", only_styles(&words.to_string()));
        }
    }

    /// A failure and its next step; never quiet.
    pub(crate) fn fail(&self, failure: &Failure) {
        if failure.silent {
            return;
        }
        let mut err = anstream::stderr();
        let _ = writeln!(err, "{} {}", "error:".paint(BAD), plain_lines(&failure.message));
        if let Some(hint) = &failure.hint {
            let _ = writeln!(err, "{} {}", "next:".paint(BOLD), plain_lines(hint));
        }
    }

    /// One thing: as a table or text for people, or whole for programs.
    pub(crate) fn one<T: Serialize>(&self, value: &T, text: impl FnOnce() -> String) -> Result<(), Failure> {
        match self.format {
            Format::Table | Format::Wide | Format::Name => self.text(&text()),
            Format::Json | Format::Yaml => self.value(&serde_json::to_value(value).map_err(unprintable)?),
        }
    }

    /// What a change made of a thing: whole for programs; people are told in words.
    pub(crate) fn changed<T: Serialize>(&self, value: &T) -> Result<(), Failure> {
        match self.format {
            Format::Table | Format::Wide | Format::Name => Ok(()),
            Format::Json | Format::Yaml => self.value(&serde_json::to_value(value).map_err(unprintable)?),
        }
    }

    /// A list of things: one row each for people, whole for programs, names alone for scripts.
    pub(crate) fn list<T: Serialize>(
        &self,
        items: &[T],
        table: impl FnOnce() -> Table,
    ) -> Result<(), Failure> {
        match self.format {
            Format::Table | Format::Wide => {
                let table = table();
                if table.is_empty() {
                    self.say(table.empty_words());
                    return Ok(());
                }
                self.line(table.render(self.format == Format::Wide, self.room()))
            }
            Format::Name => table().names().iter().try_for_each(|name| self.line(name)),
            Format::Json | Format::Yaml => {
                self.value(&serde_json::json!({ "items": serde_json::to_value(items).map_err(unprintable)? }))
            }
        }
    }

    /// A list as it is in one round of a watch: for programs a line of JSON, or a document of YAML.
    pub(crate) fn round<T: Serialize>(
        &self,
        items: &[T],
        table: impl FnOnce() -> Table,
    ) -> Result<Round, Failure> {
        let whole = || serde_json::json!({ "items": items });
        Ok(match self.format {
            Format::Json => Round::plain(&serde_json::to_string(&whole()).map_err(unprintable)?),
            Format::Yaml => Round::plain(&format!("---\n{}", yaml(&whole())?.trim_end())),
            Format::Name => Round::plain(&table().names().join("\n")),
            Format::Table | Format::Wide => {
                let table = table();
                if table.is_empty() {
                    Round::plain(table.empty_words())
                } else {
                    table.round(self.format == Format::Wide, self.room())
                }
            }
        })
    }

    /// How wide a table may be: a terminal breaks what is wider, a pipe and `-o wide` take all.
    fn room(&self) -> Option<usize> {
        let is_bound = self.format == Format::Table && std::io::stdout().is_terminal();
        let size = is_bound.then(|| ratatui::crossterm::terminal::size().ok()).flatten();
        size.map(|(width, _)| usize::from(width)).filter(|width| *width > 0)
    }

    /// One of many things as they come, for programs: a line of JSON, or a document of YAML.
    pub(crate) fn item<T: Serialize>(&self, value: &T) -> Result<(), Failure> {
        match self.format {
            Format::Yaml => self.line(format!("---\n{}", yaml(value)?.trim_end())),
            _ => self.line(serde_json::to_string(value).map_err(unprintable)?),
        }
    }

    /// A value for programs.
    pub(crate) fn value(&self, value: &Value) -> Result<(), Failure> {
        let text = match self.format {
            Format::Yaml => yaml(value)?,
            _ => serde_json::to_string_pretty(value).map_err(unprintable)?,
        };
        self.line(text.trim_end())
    }
}

/// Whether standard error is to have colours: what `--color`, `NO_COLOR` and the terminal say together.
pub(crate) fn talk_is_coloured() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

/// The same for standard output.
pub(crate) fn data_is_coloured() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

/// A value as YAML.
pub(crate) fn yaml<T: Serialize>(value: &T) -> Result<String, Failure> {
    serde_saphyr::to_string(value).map_err(unprintable)
}

fn unprintable(error: impl std::fmt::Display) -> Failure {
    Failure::failed(format!("cannot print the answer: {error}"))
}
