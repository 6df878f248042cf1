//! Crontabs and systemd timers, translated to job files.
//!
//! Pure: text goes in, an [`Import`] comes out. Reading and writing files, the machine's zone and the server are
//! `commands/import.rs`.
//!
//! Invariant: what comes out was read back by the parser of job files, and whatever does not behave as it did before has a
//! note. Absent: guesses. What has no equal is noted and left out.

pub(crate) mod crontab;
mod draft;
mod imported;
mod job_name;
mod note;
pub(crate) mod systemd;
#[cfg(test)]
mod tests;
mod zone;

pub(crate) use imported::{Import, Imported};
pub(crate) use note::Kind;
pub(crate) use zone::{Zone, is_zone, offset_of};

/// What holds for every job of an import.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Where wall clocks are read when nothing else is said.
    pub(crate) zone: Zone,
    /// The namespace to write into the files.
    pub(crate) namespace: Option<String>,
}
