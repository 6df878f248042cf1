//! The output of an attempt of the history, as the frames that a node sends.

use std::time::Duration;

use mainspring_model::Timestamp;
use mainspring_model::log::{FrameKind, header};

/// These lines, spread over the time that the attempt took.
pub(crate) fn frames(lines: &[(String, bool)], from: Timestamp, took: Duration) -> Vec<u8> {
    let mut frames = Vec::new();
    for (index, (line, is_error)) in lines.iter().enumerate() {
        let at = from + took * (index as u32 + 1) / (lines.len() as u32 + 1);
        let kind = if *is_error { FrameKind::Stderr } else { FrameKind::Stdout };
        frames.extend_from_slice(&header(kind, at.as_micros(), line.len() + 1));
        frames.extend_from_slice(line.as_bytes());
        frames.push(b'\n');
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_within_the_time_of_the_attempt() {
        let lines = [("one".to_owned(), false), ("two".to_owned(), true)];
        let bytes = frames(&lines, Timestamp::from_micros(1_000), Duration::from_micros(300));
        let read: Vec<_> = mainspring_model::log::frames(&bytes).collect();
        assert_eq!(read.iter().map(|frame| frame.at_us).collect::<Vec<_>>(), [1_100, 1_200]);
        assert_eq!((read[1].kind, read[1].content), (FrameKind::Stderr, &b"two\n"[..]));
    }
}
