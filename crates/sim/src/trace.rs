//! The story of a run of the simulation: a hash over everything that happened, for "same seed, same story",
//! and the last lines of it, for whoever reads a violation.

use std::collections::VecDeque;
use std::fmt::Arguments;

use mainspring_model::hash::mix;

const KEPT_QUIET: usize = 400;

/// Collects the story.
#[derive(Debug)]
pub(crate) struct Trace {
    hash: u64,
    lines: VecDeque<String>,
    kept: usize,
}

impl Trace {
    /// Keeps the last lines, or all with `verbose`.
    pub(crate) fn new(verbose: bool) -> Self {
        Self { hash: 0, lines: VecDeque::new(), kept: if verbose { usize::MAX } else { KEPT_QUIET } }
    }

    /// Something happened. The hash takes numbers, not text: it is cheap and always on.
    pub(crate) fn mark(&mut self, at: i64, what: u64) {
        self.hash = mix(self.hash ^ mix(at as u64) ^ what.rotate_left(17));
    }

    /// Something worth telling happened.
    pub(crate) fn say(&mut self, at: i64, what: Arguments<'_>) {
        let line = format!("{:>11.6} {what}", at as f64 / 1e6);
        self.mark(at, mainspring_model::hash::bytes(line.as_bytes()));
        if self.lines.len() == self.kept {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// The hash of the whole story.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// The lines that are kept.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }

    /// The kept lines that name one of `words`.
    pub(crate) fn about(&self, words: &[String]) -> Vec<&str> {
        self.lines().filter(|line| words.iter().any(|word| line.contains(word.as_str()))).collect()
    }
}
