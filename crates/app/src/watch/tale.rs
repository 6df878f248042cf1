//! What a caller is told, in order, and how far that is: the part of a watch that decides.
//!
//! Whoever is cut off goes on from the last mark that they were sent. So a mark is never sent before all that it covers,
//! be that only the word to read everything anew.

use std::collections::VecDeque;

use mainspring_wire::api::{WatchEvent, WatchWhat};

use super::positions::{Hearing, Positions};
use super::view::View;
use crate::ports::{Changed, News};

/// What another process tells, which has looked at what the caller may see.
#[derive(Debug)]
pub enum Elsewhere {
    /// Where it begins.
    At(Positions),
    /// A piece of news.
    Told {
        /// The positions behind it.
        at: Positions,
        /// What happened.
        what: WatchWhat,
    },
    /// Something may have been missed.
    Gap,
}

/// Who listens, and so of which cells the marks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listener {
    /// Whoever asked: they may go on at another process, with a mark of all cells.
    Caller,
    /// Another process in their name: it hears of the other cells from others.
    Process,
}

/// One caller's story.
pub(super) struct Tale {
    pub(super) view: View,
    listener: Listener,
    heard: Positions,
    ready: VecDeque<WatchEvent>,
}

impl Tale {
    /// Goes on from these positions.
    pub(super) fn new(view: View, listener: Listener, heard: Positions) -> Self {
        Self { view, listener, heard, ready: VecDeque::new() }
    }

    /// Where the story stands before its first event; none where that event says so itself.
    pub(super) fn begin(&self, own: impl Fn() -> Positions) -> Option<String> {
        self.ready.is_empty().then(|| self.mark(own)).filter(|mark| !mark.is_empty())
    }

    /// The next event.
    pub(super) fn next(&mut self) -> Option<WatchEvent> {
        self.ready.pop_front()
    }

    /// Hears a piece of news of a cell of this process.
    pub(super) fn hear(&mut self, news: &News, own: impl Fn() -> Positions) {
        if news.what.is_passing() {
            // It has no place of its own.
            return self.pass(self.view.of(&news.what), own);
        }
        let hearing = self.heard.hear(news.mark);
        if hearing == Hearing::Told {
            return;
        }
        if hearing == Hearing::Gap || matches!(news.what, Changed::Owner) {
            self.reset(&own);
        }
        if let Some(what) = self.view.of(&news.what) {
            self.ready.push_back(WatchEvent { mark: self.mark(own), what });
        }
    }

    fn pass(&mut self, what: Option<WatchWhat>, own: impl Fn() -> Positions) {
        if let Some(what) = what {
            self.ready.push_back(WatchEvent { mark: self.mark(own), what });
        }
    }

    /// Some news of our own cells are not to be had: goes on from where they are now.
    pub(super) fn miss(&mut self, own: impl Fn() -> Positions) {
        self.heard.go_to(&own());
        self.reset(own);
    }

    /// Hears what another process tells of its cells. What it says of ours is not the latest.
    pub(super) fn hear_elsewhere(&mut self, told: Elsewhere, own: impl Fn() -> Positions) {
        match told {
            Elsewhere::At(positions) => self.heard.go_to(&positions.without(&own())),
            Elsewhere::Gap => self.reset(own),
            Elsewhere::Told { at, what } => {
                if what.is_passing() {
                    return self.pass(Some(what), own);
                }
                let marks = at.without(&own());
                if what == WatchWhat::Reset {
                    self.heard.go_to(&marks);
                    return self.reset(own);
                }
                if marks == Positions::default() {
                    return; // Of a cell that is ours by now.
                }
                let hearing = marks.marks().map(|mark| self.heard.hear(mark)).max();
                if hearing == Some(Hearing::Gap) {
                    self.reset(&own);
                }
                if hearing != Some(Hearing::Told) {
                    self.ready.push_back(WatchEvent { mark: self.mark(own), what });
                }
            }
        }
    }

    /// Has the caller read everything anew, once for all that changed hands together.
    fn reset(&mut self, own: impl Fn() -> Positions) {
        if self.ready.back().is_some_and(|last| last.what == WatchWhat::Reset) {
            self.ready.pop_back();
        }
        self.ready.push_back(WatchEvent { mark: self.mark(own), what: WatchWhat::Reset });
    }

    fn mark(&self, own: impl Fn() -> Positions) -> String {
        match self.listener {
            Listener::Caller => self.heard.to_string(),
            Listener::Process => self.heard.clone().within(&own()).to_string(),
        }
    }
}

#[cfg(test)]
mod tests;
