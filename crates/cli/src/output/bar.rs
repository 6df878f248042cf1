//! Bars for work that takes a while: on standard error of a terminal, elsewhere nothing.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Output;

impl Output {
    /// Bytes on their way.
    pub(crate) fn bytes_bar(&self, length: Option<u64>) -> ProgressBar {
        self.bar(length, "{wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left")
    }

    /// Things that are done one after the other; without a length, they are only counted.
    pub(crate) fn things_bar(&self, length: Option<u64>, things: &str) -> ProgressBar {
        match length {
            Some(_) => self.bar(length, &format!("{{wide_bar}} {{pos}} of {{len}} {things}")),
            None => self.bar(None, &format!("{{spinner}} {{pos}} {things}")),
        }
    }

    /// What a task says about its own progress, in percent.
    pub(crate) fn percent_bar(&self) -> ProgressBar {
        self.bar(Some(100), "{bar:24} {pos} % {wide_msg}")
    }

    fn bar(&self, length: Option<u64>, template: &str) -> ProgressBar {
        if self.quiet || self.format.is_for_programs() || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
        match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }
}
