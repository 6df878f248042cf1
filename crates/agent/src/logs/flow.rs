//! One log: how far it was captured, said and taken.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::Bytes;

/// Bytes that may be on their way and not taken.
const WINDOW: u64 = 256 * 1024;

#[derive(Debug)]
pub(super) struct Flow {
    /// How far it goes, and whether that is its end.
    end: u64,
    over: bool,
    /// How far it is in `buffered`.
    read_to: u64,
    /// Whole frames that were not said yet, with their offsets.
    buffered: VecDeque<(u64, Bytes)>,
    buffered_bytes: u64,
    said: u64,
    taken: u64,
    /// Where the parts end that were said and not answered, in order.
    unanswered: VecDeque<u64>,
    /// Whether the sidecar owes an answer, and how many of its answers are to be ignored.
    asked: bool,
    unwanted: u32,
    /// Whether it was spoken of on this connection, and its end.
    mentioned: bool,
    end_said: bool,
    stored: bool,
    /// When something was last said that nobody has answered since.
    unanswered_since: Option<Instant>,
    /// When the owner said that it has all of it and could not store it.
    unstored_since: Option<Instant>,
    /// When the owner forgot the attempt.
    pub(super) forgotten_at: Option<Instant>,
}

/// What a log wants next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Say { offset: u64, data: Bytes, gap: u64, end: Option<u64> },
    Ask { offset: u64 },
    Nothing,
}

impl Flow {
    pub(super) fn new() -> Self {
        Self {
            end: 0,
            over: false,
            read_to: 0,
            buffered: VecDeque::new(),
            buffered_bytes: 0,
            said: 0,
            taken: 0,
            unanswered: VecDeque::new(),
            asked: false,
            unwanted: 0,
            mentioned: false,
            end_said: false,
            stored: false,
            unanswered_since: None,
            unstored_since: None,
            forgotten_at: None,
        }
    }

    pub(super) fn captured(&mut self, offset: u64, frames: Bytes) {
        self.reaches(offset + frames.len() as u64, false);
        let next = offset == self.read_to && !self.asked && !self.stored;
        if next && self.untaken() + self.buffered_bytes < WINDOW {
            self.buffer(offset, frames);
        }
    }

    pub(super) fn reaches(&mut self, end: u64, over: bool) {
        self.end = self.end.max(end);
        self.over |= over;
    }

    /// An answer of the sidecar. It begins later than was asked if what lay there was dropped.
    pub(super) fn read(&mut self, offset: u64, frames: Bytes, end: u64, over: bool) {
        self.reaches(end, over);
        if self.unwanted > 0 {
            self.unwanted -= 1;
            return;
        }
        self.asked = false;
        // Nothing there although there should be: the rest is gone.
        let offset = if frames.is_empty() { offset.max(self.end) } else { offset };
        if offset > self.read_to || !frames.is_empty() {
            self.buffer(offset, frames);
        }
    }

    fn buffer(&mut self, offset: u64, frames: Bytes) {
        self.read_to = offset + frames.len() as u64;
        self.buffered_bytes += frames.len() as u64;
        self.buffered.push_back((offset, frames));
    }

    pub(super) fn unask(&mut self) {
        (self.asked, self.unwanted) = (false, 0);
    }

    /// The owner has so much: usually the part that was said next is in it. It may also have lost some, or have heard some
    /// before, and then takes nothing that does not begin there.
    pub(super) fn taken(&mut self, offset: u64) {
        let known = offset == self.taken || self.unanswered.contains(&offset);
        self.taken = offset;
        if !known {
            return self.restart();
        }
        while self.unanswered.front().is_some_and(|end| *end <= offset) {
            self.unanswered.pop_front();
            self.unanswered_since = None;
        }
        if !self.unanswered.is_empty() {
            self.unanswered_since.get_or_insert_with(Instant::now);
        }
        self.unstored_since = (self.end_said && self.unanswered.is_empty()).then(Instant::now);
    }

    /// Goes on from what was taken.
    pub(super) fn restart(&mut self) {
        (self.said, self.read_to) = (self.taken, self.taken);
        self.buffered.clear();
        self.buffered_bytes = 0;
        self.unanswered.clear();
        self.unwanted += u32::from(std::mem::take(&mut self.asked));
        (self.mentioned, self.end_said) = (false, false);
        (self.unanswered_since, self.unstored_since) = (None, None);
    }

    pub(super) fn store(&mut self) {
        self.stored = true;
        self.buffered.clear();
    }

    pub(super) fn is_stored(&self) -> bool {
        self.stored
    }

    pub(super) fn untaken(&self) -> u64 {
        self.said.saturating_sub(self.taken)
    }

    /// Whether something was said and nobody has answered it for so long.
    pub(super) fn is_unanswered(&self, patience: Duration) -> bool {
        !self.stored && self.unanswered_since.is_some_and(|since| since.elapsed() >= patience)
    }

    /// Whether the owner has had all of it for so long and has not stored it: its disk may have been full.
    pub(super) fn is_unstored(&self, patience: Duration) -> bool {
        !self.stored && self.unstored_since.is_some_and(|since| since.elapsed() >= patience)
    }

    pub(super) fn step(&mut self) -> Step {
        if self.stored || self.untaken() >= WINDOW {
            return Step::Nothing;
        }
        if let Some((offset, data)) = self.buffered.pop_front() {
            self.buffered_bytes -= data.len() as u64;
            return self.say(offset, data);
        }
        if self.read_to < self.end && !self.asked {
            if !self.mentioned {
                return self.say(self.said, Bytes::new());
            }
            self.asked = true;
            return Step::Ask { offset: self.read_to };
        }
        if self.is_whole() && !self.end_said {
            return self.say(self.said, Bytes::new());
        }
        Step::Nothing
    }

    fn say(&mut self, offset: u64, data: Bytes) -> Step {
        let gap = offset - self.said.min(offset);
        self.said = offset + data.len() as u64;
        self.mentioned = true;
        self.unanswered.push_back(self.said);
        self.unanswered_since.get_or_insert_with(Instant::now);
        let whole = self.is_whole() && self.buffered.is_empty();
        self.end_said |= whole;
        Step::Say { offset, data, gap, end: whole.then_some(self.said) }
    }

    /// Whether nothing follows what is buffered.
    fn is_whole(&self) -> bool {
        self.over && self.read_to >= self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(length: u64) -> Bytes {
        vec![b'x'; length as usize].into()
    }

    fn say(offset: u64, length: u64, end: Option<u64>) -> Step {
        Step::Say { offset, data: bytes(length), gap: 0, end }
    }

    fn flow() -> Flow {
        Flow::new()
    }

    #[test]
    fn a_short_log_is_one_word() {
        let mut flow = flow();
        flow.captured(0, bytes(20));
        flow.reaches(20, true);
        assert_eq!(flow.step(), say(0, 20, Some(20)));
        assert_eq!(flow.step(), Step::Nothing);
        flow.taken(20);
        assert_eq!(flow.step(), Step::Nothing);
    }

    #[test]
    fn a_log_that_could_not_be_stored_is_ended_again() {
        let mut flow = flow();
        flow.captured(0, bytes(20));
        flow.reaches(20, true);
        assert_eq!(flow.step(), say(0, 20, Some(20)));
        assert!(!flow.is_unstored(Duration::ZERO), "nobody said so");
        flow.taken(20);
        assert!(flow.is_unstored(Duration::ZERO) && !flow.is_unanswered(Duration::ZERO));
        flow.restart();
        assert_eq!(flow.step(), say(20, 0, Some(20)), "the end is enough");
        flow.store();
        assert!(!flow.is_unstored(Duration::ZERO));
    }

    #[test]
    fn no_more_than_a_window_is_untaken_and_the_rest_is_asked_for() {
        let mut flow = flow();
        flow.captured(0, bytes(WINDOW));
        flow.captured(WINDOW, bytes(10));
        assert_eq!(flow.step(), say(0, WINDOW, None));
        assert_eq!(flow.step(), Step::Nothing);
        flow.taken(WINDOW);
        assert_eq!(flow.step(), Step::Ask { offset: WINDOW });
        assert_eq!(flow.step(), Step::Nothing);
        flow.captured(WINDOW + 10, bytes(5));
        flow.read(WINDOW, bytes(10), WINDOW + 15, false);
        assert_eq!(flow.step(), say(WINDOW, 10, None));
        assert_eq!(flow.step(), Step::Ask { offset: WINDOW + 10 });
        flow.read(WINDOW + 10, bytes(5), WINDOW + 15, true);
        assert_eq!(flow.step(), say(WINDOW + 10, 5, Some(WINDOW + 15)));
    }

    #[test]
    fn a_new_connection_goes_on_from_what_was_taken() {
        let mut flow = flow();
        flow.captured(0, bytes(10));
        flow.captured(10, bytes(10));
        assert_eq!(flow.step(), say(0, 10, None));
        assert_eq!(flow.step(), say(10, 10, None));
        flow.taken(10);
        flow.restart();
        assert_eq!(flow.step(), say(10, 0, None), "it is spoken of before its attempt's end is");
        assert_eq!(flow.step(), Step::Ask { offset: 10 });
        flow.restart();
        flow.read(10, bytes(10), 20, false);
        assert_eq!(flow.step(), say(10, 0, None));
        assert_eq!(flow.step(), Step::Ask { offset: 10 });
        flow.read(10, bytes(10), 20, true);
        assert_eq!(flow.step(), say(10, 10, Some(20)));
    }

    #[test]
    fn the_owner_decides_where_it_goes_on() {
        let mut flow = flow();
        flow.captured(0, bytes(10));
        assert_eq!(flow.step(), say(0, 10, None));
        flow.taken(10);
        flow.taken(0); // another owner, which has nothing
        assert_eq!(flow.step(), say(0, 0, None));
        assert_eq!(flow.step(), Step::Ask { offset: 0 });
        flow.taken(10); // which has all of it after all
        flow.read(0, bytes(10), 10, true);
        assert_eq!(flow.step(), say(10, 0, Some(10)));
    }

    #[test]
    fn an_owner_that_has_the_middle_of_a_part_gets_the_rest() {
        let mut flow = flow();
        flow.reaches(100, true);
        assert_eq!(flow.step(), say(0, 0, None));
        assert_eq!(flow.step(), Step::Ask { offset: 0 });
        flow.read(0, bytes(80), 100, true);
        assert_eq!(flow.step(), say(0, 80, None));
        flow.taken(50); // an answer to the first word, by an owner that has that much
        assert_eq!(flow.step(), say(50, 0, None));
        flow.taken(50); // and to the second, which it could not take
        assert_eq!(flow.step(), Step::Ask { offset: 50 });
        flow.read(50, bytes(50), 100, true);
        assert_eq!(flow.step(), say(50, 50, Some(100)));
        flow.taken(50);
        assert!(flow.is_unanswered(Duration::ZERO));
        flow.taken(100);
        assert!(!flow.is_unanswered(Duration::ZERO));
    }

    #[test]
    fn what_was_dropped_is_told_with_its_size() {
        let mut flow = flow();
        flow.reaches(1_000, true);
        assert_eq!(flow.step(), say(0, 0, None));
        assert_eq!(flow.step(), Step::Ask { offset: 0 });
        flow.read(0, bytes(100), 1_000, true);
        assert_eq!(flow.step(), say(0, 100, None));
        assert_eq!(flow.step(), Step::Ask { offset: 100 });
        flow.read(900, bytes(100), 1_000, true);
        assert_eq!(flow.step(), Step::Say { offset: 900, data: bytes(100), gap: 800, end: Some(1_000) });
        flow.taken(1_000);
        flow.restart();
        assert_eq!(flow.step(), say(1_000, 0, Some(1_000)));
    }

    #[test]
    fn a_log_that_cannot_be_read_ends_with_a_gap() {
        let mut flow = flow();
        flow.reaches(50, true);
        assert_eq!(flow.step(), say(0, 0, None));
        assert_eq!(flow.step(), Step::Ask { offset: 0 });
        flow.read(50, Bytes::new(), 50, true);
        assert_eq!(flow.step(), Step::Say { offset: 50, data: bytes(0), gap: 50, end: Some(50) });
        assert_eq!(flow.step(), Step::Nothing);
    }

    #[test]
    fn what_nobody_answers_is_said_again() {
        let mut flow = flow();
        flow.captured(0, bytes(10));
        assert!(!flow.is_unanswered(Duration::ZERO));
        assert_eq!(flow.step(), say(0, 10, None));
        assert!(flow.is_unanswered(Duration::ZERO) && !flow.is_unanswered(Duration::from_secs(60)));
        flow.taken(10);
        assert!(!flow.is_unanswered(Duration::ZERO));
    }
}
