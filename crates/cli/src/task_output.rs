//! What a task wrote, on our own streams: its errors to our standard error, line by line. Where programs read data from our
//! standard output, all of it goes to standard error.
//!
//! A line may come in pieces: it is one line all the same, with one time, and counts once among the last ones.

use std::collections::VecDeque;

use mainspring_client::LogEvent;
use mainspring_client::api::{LogLine, LogStream};

use crate::failure::Failure;
use crate::output::{DIM, Output, Paint, plain_lines};

/// A printer of a task's output.
#[derive(Debug)]
pub(crate) struct TaskOutput {
    output: Output,
    timestamps: bool,
    /// Streams whose last line is not at its end.
    open: Vec<LogStream>,
}

impl TaskOutput {
    /// A printer; `timestamps` puts the time before each line.
    pub(crate) fn new(output: Output, timestamps: bool) -> Self {
        Self { output, timestamps, open: Vec::new() }
    }

    /// Prints what a follower is told.
    pub(crate) fn show(&mut self, event: &LogEvent) -> Result<(), Failure> {
        match event {
            LogEvent::Line(line) => self.print(std::slice::from_ref(line)),
            LogEvent::Attempt(number) => self.attempt(*number),
            LogEvent::Away => {
                self.output.say("the server is away; waiting".paint(DIM));
                Ok(())
            }
            LogEvent::End => Ok(()),
        }
    }

    /// Prints lines; neighbours of one stream at once.
    pub(crate) fn print(&mut self, lines: &[LogLine]) -> Result<(), Failure> {
        lines.chunk_by(|one, other| one.stream == other.stream).try_for_each(|lines| {
            let content: Vec<u8> = lines.iter().flat_map(|line| self.content(line)).collect();
            self.write(lines[0].stream, &content)
        })
    }

    /// The bytes of a line, or of a piece of one: only the first piece has the time.
    fn content(&mut self, line: &LogLine) -> Vec<u8> {
        let begins = !self.open.contains(&line.stream);
        self.open.retain(|stream| *stream != line.stream);
        if !line.text.ends_with('\n') {
            self.open.push(line.stream);
        }
        let time = if self.timestamps && begins { format!("{} ", line.at) } else { String::new() };
        [time.as_bytes(), &line.content()].concat()
    }

    fn attempt(&mut self, number: u32) -> Result<(), Failure> {
        for stream in std::mem::take(&mut self.open) {
            // Without times the text is the task's, byte by byte.
            if self.timestamps {
                self.write(stream, b"\n")?;
            }
        }
        if number > 1 {
            self.output.say(format!("--- attempt {number} ---").paint(DIM));
        }
        Ok(())
    }

    fn write(&self, stream: LogStream, content: &[u8]) -> Result<(), Failure> {
        match stream {
            LogStream::Stdout if !self.output.format.is_for_programs() => self.output.raw(content),
            LogStream::Stdout | LogStream::Stderr => self.output.raw_error(content),
            LogStream::System => {
                self.output.say(plain_lines(String::from_utf8_lossy(content).trim_end()).paint(DIM));
                Ok(())
            }
        }
    }
}

/// The last lines of a log, in the order of their ends.
#[derive(Debug)]
pub(crate) struct Tail {
    most: usize,
    kept: VecDeque<LogLine>,
    /// Lines that are not at their end, one of a stream at most.
    open: Vec<LogLine>,
}

impl Tail {
    /// Of so many lines.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, kept: VecDeque::new(), open: Vec::new() }
    }

    /// Takes a line, or a piece of one.
    pub(crate) fn add(&mut self, piece: LogLine) {
        let line = match self.open.iter().position(|open| open.stream == piece.stream) {
            Some(at) => {
                let mut line = self.open.remove(at);
                line.append(&piece);
                line
            }
            None => piece,
        };
        if line.text.ends_with('\n') {
            self.keep(line);
        } else {
            self.open.push(line);
        }
    }

    /// The lines, when nothing follows.
    pub(crate) fn lines(mut self) -> Vec<LogLine> {
        std::mem::take(&mut self.open).into_iter().for_each(|line| self.keep(line));
        self.kept.into()
    }

    fn keep(&mut self, line: LogLine) {
        self.kept.push_back(line);
        if self.kept.len() > self.most {
            self.kept.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use mainspring_model::Timestamp;

    use super::*;
    use crate::output::Format;

    fn line(stream: LogStream, text: &str) -> LogLine {
        LogLine::new(0, Timestamp::from_micros(7).into(), stream, text.as_bytes())
    }

    #[test]
    fn a_line_in_pieces_has_one_time() {
        let output = Output { format: Format::Table, quiet: true };
        let check = |timestamps: bool, expected: &[&str]| {
            let mut printer = TaskOutput::new(output, timestamps);
            let pieces = ["one\n", "t", "wo", "\n", "three\n"].map(|text| line(LogStream::Stdout, text));
            let texts: Vec<String> =
                pieces.iter().map(|piece| String::from_utf8(printer.content(piece)).unwrap()).collect();
            assert_eq!(texts, expected);
        };
        check(false, &["one\n", "t", "wo", "\n", "three\n"]);
        let at = Timestamp::from_micros(7);
        let [one, two, three] = ["one\n", "t", "three\n"].map(|text| format!("{at} {text}"));
        check(true, &[&one, &two, "wo", "\n", &three]);
        let mut printer = TaskOutput::new(output, true);
        printer.content(&line(LogStream::Stdout, "half"));
        let other = printer.content(&line(LogStream::Stderr, "e\n"));
        assert_eq!(other, format!("{at} e\n").into_bytes(), "streams are apart");
    }

    #[test]
    fn the_last_lines_are_lines_and_not_pieces() {
        use LogStream::{Stderr, Stdout};
        let check = |most: usize, expected: &[&str]| {
            let mut tail = Tail::new(most);
            let pieces =
                [(Stdout, "1\n"), (Stdout, "2"), (Stderr, "e\n"), (Stdout, "2\n"), (Stdout, "no end")];
            pieces.into_iter().for_each(|(stream, text)| tail.add(line(stream, text)));
            let texts: Vec<String> = tail.lines().into_iter().map(|line| line.text).collect();
            assert_eq!(texts, expected);
        };
        check(0, &[]);
        check(1, &["no end"]);
        check(2, &["22\n", "no end"]);
        check(9, &["1\n", "e\n", "22\n", "no end"]);
    }
}
