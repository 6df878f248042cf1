//! Going over a stored log frame by frame, with the number of the line that comes next.
//!
//! A line begins with the first piece of it; the lines of all streams, and the marks of what is missing, are numbered together, from 1.

use mainspring_model::AttemptToken;
use mainspring_model::log::{Frame, FrameKind, HEADER_BYTES, frames};
use mainspring_wire::api::LogStream;

use crate::app::App;
use crate::limits::{LOG_FRAME_BYTES_MAX, LOG_PART_BYTES_MAX};
use crate::ports::LogError;

/// Where a walk stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// In the stored log.
    pub(super) offset: u64,
    /// Lines that began before.
    pub(super) lines: u64,
    /// Whether the last line of a stream has not ended: of standard output and of standard error.
    open: [bool; 2],
}

/// What looks at the frames of a walk.
pub(super) trait Visitor: Send {
    /// Sees a frame before the place moves behind it. The walk ends before the frame when it answers false.
    fn frame(&mut self, place: &Place, frame: &Frame<'_>) -> bool;

    /// Bytes are missing from here on, or cannot be read.
    fn missing(&mut self, place: &Place, bytes: u64);
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct End {
    /// How long the log is.
    pub(super) length: u64,
    /// Nothing follows that.
    pub(super) ended: bool,
    /// All that there is was seen.
    pub(super) is_whole: bool,
    /// The store had no longer what lay somewhere on the way.
    pub(super) jumped: bool,
}

impl Place {
    /// An offset of which nothing else is known.
    pub(super) fn at(offset: u64) -> Self {
        Self { offset, ..Self::default() }
    }

    /// Whether a stream's line goes on here.
    pub(super) fn is_open(&self, stream: LogStream) -> bool {
        slot(stream).is_some_and(|slot| self.open[slot])
    }

    /// The streams whose line goes on here.
    pub(super) fn open(&self) -> Vec<LogStream> {
        [LogStream::Stdout, LogStream::Stderr].into_iter().filter(|stream| self.is_open(*stream)).collect()
    }

    /// Goes behind a frame.
    pub(super) fn pass(&mut self, frame: &Frame<'_>) {
        match slot(stream_of(frame)) {
            None => self.lines += 1,
            Some(slot) if !frame.content.is_empty() => {
                let newlines = frame.content.iter().filter(|byte| **byte == b'\n').count() as u64;
                let is_open = !frame.content.ends_with(b"\n");
                self.lines += newlines + u64::from(is_open) - u64::from(self.open[slot]);
                self.open[slot] = is_open;
            }
            Some(_) => {}
        }
        self.offset += (HEADER_BYTES + frame.content.len()) as u64;
    }

    /// Goes over the frames of these bytes, until the visitor ends it: then true.
    fn over(&mut self, bytes: &[u8], visitor: &mut impl Visitor) -> bool {
        for frame in frames(bytes) {
            if !visitor.frame(self, &frame) {
                return true;
            }
            self.pass(&frame);
        }
        false
    }
}

/// The stream of a frame; a mark is the system's.
pub(super) fn stream_of(frame: &Frame<'_>) -> LogStream {
    match frame.kind {
        FrameKind::Stdout => LogStream::Stdout,
        FrameKind::Stderr => LogStream::Stderr,
        FrameKind::Dropped => LogStream::System,
    }
}

/// The place of what is remembered of a stream; what the system says are whole lines.
pub(super) fn slot(stream: LogStream) -> Option<usize> {
    match stream {
        LogStream::Stdout => Some(0),
        LogStream::Stderr => Some(1),
        LogStream::System => None,
    }
}

impl App {
    /// Walks from a place until the visitor ends it, or all was seen.
    pub(super) async fn walk_log(
        &self,
        token: AttemptToken,
        place: &mut Place,
        visitor: &mut impl Visitor,
    ) -> Result<End, LogError> {
        let mut jumped = false;
        loop {
            let part = self.log_part(token, place.offset, LOG_PART_BYTES_MAX + LOG_FRAME_BYTES_MAX).await?;
            let mut end = End { length: part.length, ended: part.ended, is_whole: false, jumped };
            if part.begin > place.offset {
                visitor.missing(place, part.begin - place.offset);
                (place.offset, jumped) = (part.begin, true);
                end.jumped = true;
            }
            if place.over(&part.data, visitor) {
                return Ok(end);
            }
            let is_last = part.begin + part.data.len() as u64 >= part.length;
            if part.data.is_empty() || place.offset > part.begin && place.offset >= part.length {
                end.is_whole = true;
                return Ok(end);
            }
            if place.offset == part.begin {
                // A frame that is only half here is whole later.
                if is_last && !part.ended {
                    end.is_whole = true;
                    return Ok(end);
                }
                visitor.missing(place, part.data.len() as u64);
                place.offset += part.data.len() as u64;
                place.lines += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use mainspring_model::log::{header, mark};

    use super::*;

    fn passed(frames_of: &[(FrameKind, &str)]) -> Place {
        let mut place = Place::default();
        for (kind, content) in frames_of {
            place.pass(&Frame { kind: *kind, at_us: 7, content: content.as_bytes() });
        }
        place
    }

    #[test]
    fn lines_are_counted_where_they_begin_whatever_they_are_cut_into() {
        let check = |frames: &[(FrameKind, &str)], lines, open: &[LogStream]| {
            let place = passed(frames);
            assert_eq!((place.lines, place.open().as_slice()), (lines, open), "{frames:?}");
        };
        check(&[], 0, &[]);
        check(&[(FrameKind::Stdout, "a\nb\n")], 2, &[]);
        check(&[(FrameKind::Stdout, "a\nb")], 2, &[LogStream::Stdout]);
        check(&[(FrameKind::Stdout, "a\nb"), (FrameKind::Stdout, "c\nd\n")], 3, &[]);
        check(&[(FrameKind::Stdout, "a"), (FrameKind::Stdout, "b"), (FrameKind::Stdout, "\n")], 1, &[]);
        check(&[(FrameKind::Stdout, "a"), (FrameKind::Stderr, "e\n"), (FrameKind::Stdout, "b\n")], 2, &[]);
        check(
            &[(FrameKind::Stdout, "a"), (FrameKind::Stderr, "e")],
            2,
            &[LogStream::Stdout, LogStream::Stderr],
        );
        check(&[(FrameKind::Stdout, ""), (FrameKind::Dropped, "0123456789abcdef")], 1, &[]);
    }

    #[test]
    fn offsets_are_those_of_the_stored_frames() {
        let mut bytes = [&header(FrameKind::Stdout, 7, 2)[..], b"a\n"].concat();
        bytes.extend_from_slice(&mark(9, 100, 0));
        struct Seen(Vec<u64>);
        impl Visitor for Seen {
            fn frame(&mut self, place: &Place, _: &Frame<'_>) -> bool {
                self.0.push(place.offset);
                self.0.len() < 2
            }
            fn missing(&mut self, _: &Place, _: u64) {}
        }
        let (mut place, mut seen) = (Place::default(), Seen(Vec::new()));
        assert!(place.over(&bytes, &mut seen), "it was ended");
        assert_eq!((seen.0, place.offset, place.lines), (vec![0, 15], 15, 1));
    }
}
