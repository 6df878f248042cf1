//! Reading what tasks write: pipes into logs, progress files into lines.
//!
//! A pipe is always emptied, whatever becomes of its content, so a task never waits for its reader.

use std::mem::MaybeUninit;

use bytes::Bytes;
use rustix::fs::inotify;

use super::Supervisor;
use crate::clock::wall_us;
use crate::layout::PROGRESS;
use crate::log::{CONTENT_AT, FrameKind};
use crate::pipe::{self, Read};
use crate::protocol::Event;

/// Reads of one pipe in one turn, so that a flood does not keep others waiting.
const READS_PER_TURN: usize = 4;
/// Reads of a pipe whose task is over: more than a pipe can hold.
const READS_AT_THE_END: usize = 64;

impl Supervisor {
    /// Reads a pipe of a task that has something. The kernel tells of pipes in the order in which they got it, so what was
    /// written first to one is stored before what was written later to the other.
    pub(super) fn read_output(&mut self, slot: usize, kind: FrameKind) {
        self.drain(slot, kind, READS_PER_TURN);
    }

    /// Reads what is left in the pipes of a task that is over, and closes them.
    pub(super) fn read_last_output(&mut self, slot: usize) {
        for kind in [FrameKind::Stdout, FrameKind::Stderr] {
            self.drain(slot, kind, READS_AT_THE_END);
        }
        if let Some(task) = self.tasks.get_mut(slot) {
            task.stdout = None;
            task.stderr = None;
        }
    }

    fn drain(&mut self, slot: usize, kind: FrameKind, reads: usize) {
        let Some(task) = self.tasks.get_mut(slot) else { return };
        for _ in 0..reads {
            let pipe = match kind {
                FrameKind::Stdout => &mut task.stdout,
                _ => &mut task.stderr,
            };
            let Some(open) = pipe.as_ref() else { return };
            let bytes = match pipe::read(open, &mut self.buffer[CONTENT_AT..]) {
                Read::Bytes(bytes) => bytes,
                Read::Nothing => return,
                Read::End => {
                    *pipe = None;
                    return;
                }
            };
            let frame = &mut self.buffer[..CONTENT_AT + bytes];
            let mut subscriber = self.subscriber.and_then(|number| self.connections.get_mut(number));
            let key = task.key;
            task.capture.add(kind, wall_us(), frame, |offset, frames| {
                if let Some(connection) =
                    subscriber.as_mut().filter(|connection| connection.has_room_for_log())
                {
                    connection.push(Event::Log { key, offset, frames: Bytes::copy_from_slice(frames) });
                }
            });
            if bytes < self.buffer.len() - CONTENT_AT {
                // A short read emptied the pipe; if not, the loop will say so.
                return;
            }
        }
    }

    /// Reads the progress files that changed.
    pub(super) fn read_progress(&mut self) {
        let mut room = [MaybeUninit::<u8>::uninit(); 4096];
        let mut changed = Vec::new();
        let mut events = inotify::Reader::new(&self.watches, &mut room);
        while let Ok(event) = events.next() {
            // The name is there if the directory says it: the file is another from now on.
            let made = match event.file_name() {
                Some(name) if name.to_bytes() != PROGRESS.as_bytes() => continue,
                name => name.is_some(),
            };
            if let Some(slot) = self.watched.get(&event.wd())
                && !changed.contains(&(*slot, made))
            {
                changed.push((*slot, made));
            }
        }
        for (slot, made) in changed {
            if made {
                self.watch_file(slot);
            }
            self.tell_progress(slot, false);
        }
    }

    pub(super) fn tell_progress(&mut self, slot: usize, over: bool) {
        let Some(task) = self.tasks.get_mut(slot) else { return };
        let (key, lines) = (task.key, task.progress.lines(&self.layout.progress(&task.key), over));
        let Some(connection) = self.subscriber.and_then(|number| self.connections.get_mut(number)) else {
            return;
        };
        for line in lines {
            // To an agent that does not keep up, the latest line is worth the most.
            match connection.has_room_for_log() && !connection.unsaid.contains_key(&key) {
                true => connection.push(Event::Progress { key, line }),
                false => drop(connection.unsaid.insert(key, line)),
            }
        }
    }
}
