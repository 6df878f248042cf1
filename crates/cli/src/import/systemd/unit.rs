//! Unit files: sections of assignments, with drop-ins over them.

use crate::import::note::{Note, Place};

/// An assignment and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assignment {
    pub(super) section: String,
    pub(super) key: String,
    pub(super) value: String,
    file: String,
    line: usize,
    text: String,
}

/// A unit: the assignments of its file and then of its drop-ins.
#[derive(Debug, Default)]
pub(super) struct Unit {
    assignments: Vec<Assignment>,
    /// What could not be read.
    pub(super) notes: Vec<Note>,
}

impl Assignment {
    pub(super) fn place(&self) -> Place<'_> {
        Place { file: &self.file, line: self.line, text: &self.text }
    }

    /// Whether it says yes.
    pub(super) fn is_true(&self) -> bool {
        matches!(self.value.to_ascii_lowercase().as_str(), "1" | "yes" | "y" | "true" | "t" | "on")
    }
}

impl Unit {
    /// Reads files in the order in which they hold.
    pub(super) fn read<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut unit = Self::default();
        for (file, text) in files {
            unit.read_file(file, text);
        }
        unit
    }

    fn read_file(&mut self, file: &str, text: &str) {
        let mut section = String::new();
        for (line, text) in logical_lines(text) {
            let place = Place { file, line, text: &text };
            if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = name.to_owned();
            } else if let Some((key, value)) = text.split_once('=') {
                self.assignments.push(Assignment {
                    section: section.clone(),
                    key: key.trim().to_owned(),
                    value: value.trim().to_owned(),
                    file: file.to_owned(),
                    line,
                    text: text.clone(),
                });
            } else {
                self.notes.push(place.left_out("it is neither a section nor an assignment"));
            }
        }
    }

    /// Every assignment.
    pub(super) fn all(&self) -> &[Assignment] {
        &self.assignments
    }

    /// The assignments of a key that takes many; an empty one forgets those before it.
    pub(super) fn list(&self, section: &str, key: &str) -> Vec<&Assignment> {
        let mut found = Vec::new();
        for assignment in self.of(section, key) {
            if assignment.value.is_empty() {
                found.clear();
            } else {
                found.push(assignment);
            }
        }
        found
    }

    /// The assignment of a key that takes one: the last, unless that is empty.
    pub(super) fn last(&self, section: &str, key: &str) -> Option<&Assignment> {
        self.of(section, key).last().filter(|assignment| !assignment.value.is_empty())
    }

    fn of<'a>(&'a self, section: &str, key: &str) -> impl Iterator<Item = &'a Assignment> {
        self.assignments.iter().filter(move |found| found.section == section && found.key == key)
    }
}

/// Lines without comments, joined where one ends with a backslash; each with the number of its first.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        // A comment in the middle of a continued line is none of it.
        if line.starts_with(['#', ';']) || line.is_empty() && !open {
            continue;
        }
        let (part, continues) = match line.strip_suffix('\\') {
            Some(part) => (part.trim_end(), true),
            None => (line, false),
        };
        match lines.last_mut() {
            Some((_, whole)) if open => {
                whole.push(' ');
                whole.push_str(part);
            }
            _ => lines.push((index + 1, part.to_owned())),
        }
        open = continues;
    }
    lines.iter_mut().for_each(|(_, line)| line.truncate(line.trim_end().len()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_continue_and_drop_ins_hold_over_files() {
        let main =
            "# x\n[Service]\nExecStart=/bin/a \\\n# between\n  b\\\n c\nExecStart=/bin/d\nNice=1\nwhat\n";
        let unit = Unit::read([
            ("a.service", main),
            ("a.service.d/1.conf", "[Service]\nExecStart=\nExecStart=/bin/e\nNice=\n"),
        ]);
        let commands: Vec<&str> = unit.of("Service", "ExecStart").map(|found| found.value.as_str()).collect();
        assert_eq!(commands, ["/bin/a b c", "/bin/d", "", "/bin/e"]);
        let found = unit.list("Service", "ExecStart");
        assert_eq!((found.len(), found[0].place().file, found[0].place().line), (1, "a.service.d/1.conf", 3));
        assert_eq!(unit.last("Service", "Nice"), None);
        assert_eq!((unit.notes.len(), unit.notes[0].line), (1, Some(9)));
    }
}
