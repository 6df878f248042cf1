//! Places in a log: where every so many stored bytes begin, and where output is missing.
//!
//! A log only grows, so what was found of one is kept for a while, and the next to ask reads on from there.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use mainspring_model::log::Frame;
use mainspring_model::{AttemptToken, RunId, Timestamp};
use mainspring_wire::api::{LogGap, LogIndex, LogMark};

use super::log_walk::{End, Place, Visitor};
use crate::app::App;
use crate::error::Result;
use crate::limits::{LOG_INDEX_BYTES, LOG_INDICES_KEPT_MAX, LOG_MARK_EVERY, LOG_MARKS_MAX};
use crate::operation::Operation;
use crate::ports::LogError;
use crate::principal::Caller;

/// What was found of a log so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    /// Up to here.
    pub(super) place: Place,
    marks: Vec<(Place, i64)>,
    gaps: Vec<LogGap>,
    /// Where to stop.
    until: u64,
}

/// Indices of logs that were asked for lately, the latest first.
#[derive(Debug, Default)]
pub(crate) struct LogIndices(Mutex<VecDeque<(AttemptToken, Arc<Index>)>>);

impl LogIndices {
    fn get(&self, token: AttemptToken) -> Option<Arc<Index>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(of, _)| *of == token).map(|(_, index)| Arc::clone(index))
    }

    fn keep(&self, token: AttemptToken, index: Index) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(of, _)| *of != token);
        kept.push_front((token, Arc::new(index)));
        kept.truncate(LOG_INDICES_KEPT_MAX);
    }
}

impl Index {
    /// The last known place at or before an offset.
    pub(super) fn before(&self, offset: u64) -> Place {
        let after = self.marks.partition_point(|(place, _)| place.offset <= offset);
        after.checked_sub(1).map_or(Place::default(), |at| self.marks[at].0)
    }

    /// So many marks as an answer holds, evenly.
    fn marks(&self) -> Vec<LogMark> {
        let step = self.marks.len().div_ceil(LOG_MARKS_MAX).max(1);
        let mark = |(place, at_us): &(Place, i64)| LogMark {
            offset: place.offset,
            line: place.lines + 1,
            at: Timestamp::from_micros(*at_us).into(),
            open: place.open(),
        };
        self.marks.iter().step_by(step).map(mark).collect()
    }
}

impl Visitor for Index {
    fn frame(&mut self, place: &Place, frame: &Frame<'_>) -> bool {
        if place.offset >= self.until {
            return false;
        }
        if self.marks.last().is_none_or(|(mark, _)| place.offset - mark.offset >= LOG_MARK_EVERY) {
            self.marks.push((*place, frame.at_us));
        }
        if let Some(bytes) = frame.dropped_bytes() {
            self.missing(place, bytes);
        }
        true
    }

    fn missing(&mut self, place: &Place, bytes: u64) {
        let is_full = self.gaps.len() >= LOG_MARKS_MAX;
        match self.gaps.last_mut() {
            Some(last) if is_full => last.bytes += bytes,
            _ => self.gaps.push(LogGap { offset: place.offset, bytes }),
        }
    }
}

impl App {
    /// Places in the output of a run.
    pub async fn log_index(&self, caller: &Caller, run: RunId, attempt: Option<u32>) -> Result<LogIndex> {
        let target = self.log_target_for(caller, Operation::RunLogIndex, run, attempt).await?;
        let (index, end) = match target.token {
            Some(token) => self.index_log(token, u64::MAX).await?,
            None => (Index::default(), End { is_whole: true, ended: target.is_over, ..End::default() }),
        };
        Ok(LogIndex {
            attempt: target.attempt(),
            length: end.length,
            lines: index.place.lines,
            ended: end.ended || target.is_silent,
            partial: !end.is_whole,
            marks: index.marks(),
            gaps: index.gaps,
        })
    }

    /// The index of a log up to an offset, or as far as one request reads.
    pub(super) async fn index_log(
        &self,
        token: AttemptToken,
        until: u64,
    ) -> std::result::Result<(Index, End), LogError> {
        let mut index = self.log_indices.get(token).map(|index| Index::clone(&index)).unwrap_or_default();
        let known = index.place.offset;
        index.until = until.min(known.saturating_add(LOG_INDEX_BYTES));
        let mut place = index.place;
        let end = self.walk_log(token, &mut place, &mut index).await?;
        index.place = place;
        if place.offset > known && !end.jumped {
            self.log_indices.keep(token, index.clone());
        }
        Ok((index, end))
    }
}

#[cfg(test)]
mod tests {
    use mainspring_model::Epoch;
    use mainspring_model::log::FrameKind;

    use super::*;

    fn indexed(count: usize, content: &[u8]) -> (Index, Place) {
        let (mut index, mut place) = (Index { until: u64::MAX, ..Index::default() }, Place::default());
        for _ in 0..count {
            let frame = Frame { kind: FrameKind::Stdout, at_us: 7, content };
            assert!(index.frame(&place, &frame), "it goes on");
            place.pass(&frame);
        }
        (index, place)
    }

    #[test]
    fn marks_stand_at_frames_about_as_far_apart_as_they_should() {
        let content = [&[b'x'; 99][..], b"\n"].concat().repeat(300);
        let (index, place) = indexed(100, &content);
        assert_eq!(place.lines, 30_000);
        let marks = index.marks();
        assert_eq!((marks[0].offset, marks[0].line, marks[0].open.len()), (0, 1, 0));
        assert!(
            marks
                .windows(2)
                .all(|two| (LOG_MARK_EVERY..LOG_MARK_EVERY + 31_000)
                    .contains(&(two[1].offset - two[0].offset)))
        );
        assert_eq!(marks[1].line, marks[1].offset / 30_013 * 300 + 1);
        assert_eq!(index.before(marks[1].offset).lines + 1, marks[1].line);
        assert_eq!(index.before(marks[1].offset - 1), Place::default());
        assert_eq!(index.before(u64::MAX).offset, marks.last().expect("a mark").offset);
    }

    #[test]
    fn a_mark_within_a_line_says_so_and_an_answer_holds_a_bounded_number() {
        let (index, _) = indexed(LOG_MARKS_MAX + 500, &vec![b'x'; LOG_MARK_EVERY as usize]);
        let marks = index.marks();
        assert!((LOG_MARKS_MAX / 2..=LOG_MARKS_MAX).contains(&marks.len()), "{}", marks.len());
        assert_eq!((marks[1].line, marks[1].open.len()), (2, 1));
    }

    #[test]
    fn the_last_that_were_asked_for_are_kept() {
        let indices = LogIndices::default();
        let token = |number| AttemptToken { run: RunId::new(Timestamp::ZERO, 1), number, epoch: Epoch(1) };
        for number in 1..=LOG_INDICES_KEPT_MAX as u32 + 1 {
            indices.keep(token(number), Index::default());
        }
        assert!(indices.get(token(1)).is_none());
        assert!(indices.get(token(2)).is_some());
    }
}
