//! Styles by meaning, never by colour name: the one table of how states look.

use std::fmt;

use anstyle::{AnsiColor, Color, Style};
use mainspring_model::RunState;

const fn of(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// Ended well.
pub(crate) const GOOD: Style = of(AnsiColor::Green);
/// Needs attention.
pub(crate) const WARN: Style = of(AnsiColor::Yellow);
/// Ended badly.
pub(crate) const BAD: Style = of(AnsiColor::Red).bold();
/// Under way.
pub(crate) const LIVE: Style = of(AnsiColor::Cyan);
/// Beside the point.
pub(crate) const DIM: Style = Style::new().dimmed();
/// The point.
pub(crate) const BOLD: Style = Style::new().bold();

/// How a state looks, in tables, in `top` and in sentences.
pub(crate) const fn state_style(state: RunState) -> Style {
    match state {
        RunState::Ready => DIM,
        RunState::Waiting => WARN,
        RunState::Running => LIVE,
        RunState::Failed => of(AnsiColor::Red),
        RunState::Success => GOOD,
        RunState::FinalFailed => BAD,
        RunState::Cancelled | RunState::Skipped => of(AnsiColor::Magenta),
    }
}

/// Text with a style.
pub(crate) struct Painted<T> {
    text: T,
    style: Style,
}

/// Gives text a style.
pub(crate) trait Paint: Sized {
    /// The same text in this style.
    fn paint(self, style: Style) -> Painted<Self> {
        Painted { text: self, style }
    }
}

impl<T: fmt::Display> Paint for T {}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.style.render(), self.text, self.style.render_reset())
    }
}
