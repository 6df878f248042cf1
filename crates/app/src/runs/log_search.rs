//! Finding lines in the output of an attempt, in parts of a bounded size.

use mainspring_model::log::Frame;
use mainspring_model::{ErrorCode, RunId, Timestamp};
use mainspring_wire::api::{LogMatch, LogMatches, LogStream};

use super::log_pattern::{Pattern, shown};
use super::log_walk::{End, Place, Visitor, slot, stream_of};
use crate::app::App;
use crate::error::{Error, Result};
use crate::limits::{
    LOG_LINE_SEARCHED_BYTES, LOG_MATCH_TEXT_BYTES, LOG_MATCHES_DEFAULT, LOG_MATCHES_MAX, LOG_SEARCH_BYTES,
};
use crate::operation::Operation;
use crate::principal::Caller;

/// What to find where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogSearch {
    /// In the output of this attempt; without one, of the current or last.
    pub attempt: Option<u32>,
    /// What is in the line.
    pub text: String,
    /// It is a regular expression.
    pub regex: bool,
    /// Upper and lower case are not the same.
    pub case: bool,
    /// Only in this stream.
    pub stream: Option<LogStream>,
    /// In lines that begin at or after this offset of the stored log.
    pub offset: u64,
    /// Of the piece there, from this line on.
    pub index: u64,
    /// So many are listed.
    pub limit: Option<usize>,
}

/// A line that is being put together.
struct Line {
    begun: LogMatch,
    content: Vec<u8>,
}

/// A search under way.
struct Search<'a> {
    query: &'a LogSearch,
    pattern: Pattern,
    limit: usize,
    /// Where the part begins that is searched, and where it ends: lines that go on behind are followed a little.
    from: Option<Place>,
    until: u64,
    /// Where it ended, when there was more.
    stopped: Option<Place>,
    open: [Option<Line>; 2],
    found: Vec<LogMatch>,
    count: u64,
    gaps: u64,
}

impl<'a> Search<'a> {
    fn new(query: &'a LogSearch) -> Result<Self> {
        let limit = query.limit.unwrap_or(LOG_MATCHES_DEFAULT);
        if !(1..=LOG_MATCHES_MAX).contains(&limit) {
            let message = format!("must be 1 to {LOG_MATCHES_MAX}");
            return Err(Error::field(ErrorCode::InvalidRequest, "limit", message));
        }
        Ok(Self {
            pattern: Pattern::new(&query.text, query.regex, query.case)?,
            query,
            limit,
            from: None,
            until: u64::MAX,
            stopped: None,
            open: [None, None],
            found: Vec::new(),
            count: 0,
            gaps: 0,
        })
    }

    /// The lines of a frame: begun, gone on with, ended.
    fn take(&mut self, place: &Place, frame: &Frame<'_>) {
        let stream = stream_of(frame);
        let Some(slot) = slot(stream) else { return };
        if self.query.stream.is_some_and(|only| only != stream) {
            return;
        }
        let (mut line, mut goes_on) = (place.lines, place.is_open(stream));
        for (index, piece) in (0..).zip(frame.content.split_inclusive(|byte| *byte == b'\n')) {
            if !goes_on {
                line += 1;
                let is_before = place.offset == self.query.offset && index < self.query.index;
                if self.stopped.is_none() && !is_before {
                    let at = Timestamp::from_micros(frame.at_us).into();
                    let begun =
                        LogMatch { offset: place.offset, index, line, at, stream, text: String::new() };
                    self.open[slot] = Some(Line { begun, content: Vec::new() });
                }
            }
            goes_on = false;
            if let Some(open) = &mut self.open[slot] {
                let room = LOG_LINE_SEARCHED_BYTES.saturating_sub(open.content.len());
                open.content.extend_from_slice(&piece[..piece.len().min(room)]);
            }
            if piece.ends_with(b"\n")
                && let Some(line) = self.open[slot].take()
            {
                self.look(line);
            }
        }
    }

    fn look(&mut self, line: Line) {
        let shown = shown(&line.content);
        if !self.pattern.is_in(&shown) {
            return;
        }
        self.count += 1;
        if self.found.len() < self.limit {
            let head = &shown[..shown.len().min(LOG_MATCH_TEXT_BYTES)];
            self.found.push(LogMatch { text: text_of(head), ..line.begun });
        }
    }

    fn is_over(&self, place: &Place) -> bool {
        let is_far = place.offset >= self.until.saturating_add(LOG_LINE_SEARCHED_BYTES as u64);
        self.stopped.is_some() && (is_far || self.open.iter().all(Option::is_none))
    }

    fn matches(mut self, attempt: u32, place: &Place, end: End) -> LogMatches {
        for slot in 0..self.open.len() {
            if let Some(line) = self.open[slot].take() {
                self.look(line);
            }
        }
        self.found.sort_by_key(|found| found.line);
        let until = self.stopped.unwrap_or(*place).offset;
        LogMatches {
            attempt,
            matches: self.found,
            count: self.count,
            next_offset: self.stopped.map(|place| place.offset),
            searched_bytes: until - self.from.unwrap_or(*place).offset.min(until),
            gaps_bytes: self.gaps,
            length: end.length,
            ended: end.ended,
        }
    }
}

impl Visitor for Search<'_> {
    fn frame(&mut self, place: &Place, frame: &Frame<'_>) -> bool {
        if place.offset < self.query.offset {
            return true;
        }
        if self.from.is_none() {
            self.from = Some(*place);
            self.until = place.offset.saturating_add(LOG_SEARCH_BYTES);
        }
        if self.stopped.is_none() && place.offset >= self.until {
            self.stopped = Some(*place);
        }
        if self.is_over(place) {
            return false;
        }
        if self.stopped.is_none() {
            self.gaps += frame.dropped_bytes().unwrap_or(0);
        }
        self.take(place, frame);
        true
    }

    fn missing(&mut self, place: &Place, bytes: u64) {
        if place.offset >= self.query.offset && self.stopped.is_none() {
            self.gaps += bytes;
        }
    }
}

/// Text of bytes that may have been cut within a character.
fn text_of(bytes: &[u8]) -> String {
    let whole = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    };
    String::from_utf8_lossy(whole).into_owned()
}

impl App {
    /// Lines in the output of a run that match.
    pub async fn search_log(&self, caller: &Caller, run: RunId, query: &LogSearch) -> Result<LogMatches> {
        let mut search = Search::new(query)?;
        let target = self.log_target_for(caller, Operation::RunLogSearch, run, query.attempt).await?;
        let Some(token) = target.token else {
            let end = End { ended: target.is_over, ..End::default() };
            return Ok(search.matches(0, &Place::default(), end));
        };
        let mut place = Place::default();
        if query.offset > 0 {
            let (index, end) = self.index_log(token, query.offset).await?;
            if index.place.offset < query.offset && !end.is_whole {
                // The way there is longer than one request goes: the next one goes on.
                let there = Place::at(query.offset);
                search.stopped = Some(there);
                return Ok(search.matches(token.number, &there, end));
            }
            place = index.before(query.offset);
        }
        let mut end = self.walk_log(token, &mut place, &mut search).await?;
        end.ended |= target.is_silent;
        Ok(search.matches(token.number, &place, end))
    }
}

#[cfg(test)]
mod tests {
    use mainspring_model::log::FrameKind::{self, Dropped, Stderr, Stdout};

    use super::*;

    /// The lines that are found, and the place after all of it.
    fn search(query: &LogSearch, frames: &[(FrameKind, &[u8])]) -> LogMatches {
        let (mut search, mut place) = (Search::new(query).expect("a query"), Place::default());
        for (kind, content) in frames {
            let frame = Frame { kind: *kind, at_us: 7, content };
            if !search.frame(&place, &frame) {
                break;
            }
            place.pass(&frame);
        }
        search.matches(1, &place, End::default())
    }

    fn of(text: &str) -> LogSearch {
        LogSearch { text: text.into(), ..LogSearch::default() }
    }

    fn check(query: &LogSearch, frames: &[(FrameKind, &[u8])], expected: &[(u64, u64, u64, &str)]) {
        let found = search(query, frames);
        let told: Vec<_> =
            found.matches.iter().map(|one| (one.offset, one.index, one.line, one.text.as_str())).collect();
        assert_eq!((told.as_slice(), found.count), (expected, expected.len() as u64));
    }

    #[test]
    fn lines_are_found_where_they_begin_whatever_they_are_cut_into() {
        let frames: [(FrameKind, &[u8]); 4] =
            [(Stdout, b"one\ntw"), (Stderr, b"err o\n"), (Stdout, b"o\nthree o"), (Stdout, b"f\n\nfour")];
        check(
            &of("o"),
            &frames,
            &[
                (0, 0, 1, "one"),
                (0, 1, 2, "two"),
                (19, 0, 3, "err o"),
                (38, 1, 4, "three of"),
                (60, 2, 6, "four"),
            ],
        );
        check(&LogSearch { stream: Some(LogStream::Stderr), ..of("o") }, &frames, &[(19, 0, 3, "err o")]);
        // The line that began before is none of what follows.
        check(&LogSearch { offset: 38, ..of("o") }, &frames, &[(38, 1, 4, "three of"), (60, 2, 6, "four")]);
        check(&LogSearch { index: 1, ..of("n") }, &frames, &[]);
    }

    #[test]
    fn all_are_counted_and_so_many_listed() {
        let lines = b"x\ny\n".repeat(1000);
        let found =
            search(&LogSearch { limit: Some(3), ..of("x") }, &[(Stdout, &lines), (Dropped, &[9; 16])]);
        assert_eq!((found.matches.len(), found.count, found.next_offset), (3, 1000, None));
        assert_eq!(found.gaps_bytes, u64::from_le_bytes([9; 8]));
        for limit in [0, LOG_MATCHES_MAX + 1] {
            assert!(Search::new(&LogSearch { limit: Some(limit), ..of("x") }).is_err(), "{limit}");
        }
    }

    #[test]
    fn a_search_stops_after_its_part_and_goes_on_where_it_stopped() {
        let block = [b"head\n".as_slice(), &vec![b'-'; (1 << 20) - 10], b"\ntail"].concat();
        let frames: Vec<(FrameKind, &[u8])> = vec![(Stdout, &block); 40];
        let first = search(&of("tailhead"), &frames);
        let next = first.next_offset.expect("more");
        assert!((LOG_SEARCH_BYTES..LOG_SEARCH_BYTES + (2 << 20)).contains(&next), "{next}");
        let second = search(&LogSearch { offset: next, ..of("tailhead") }, &frames);
        assert_eq!((first.count + second.count, second.next_offset), (39, None));
        assert_eq!(first.searched_bytes + second.searched_bytes, (block.len() as u64 + 13) * 40);
        let lines = first.matches.last().zip(second.matches.first()).map(|(a, b)| b.line - a.line);
        assert_eq!(lines, Some(2));
    }

    #[test]
    fn a_match_shows_the_head_of_a_long_line() {
        let line = "é".repeat(LOG_MATCH_TEXT_BYTES);
        let found = search(&of("é"), &[(Stdout, format!("x{line}").as_bytes())]);
        assert_eq!(found.matches[0].text.len(), LOG_MATCH_TEXT_BYTES - 1);
    }
}
