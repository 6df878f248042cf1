//! The choices of `-o` and `--color`.

use clap::ValueEnum;

/// How data is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for people.
    #[default]
    Table,
    /// The table with more columns.
    Wide,
    /// JSON, as the API answers.
    Json,
    /// The same as YAML.
    Yaml,
    /// Names or ids alone, one on each line.
    Name,
}

impl Format {
    /// Whether a program reads it.
    pub(crate) fn is_for_programs(self) -> bool {
        matches!(self, Self::Json | Self::Yaml)
    }
}

/// When colours are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
