//! A service: what runs, and what surrounds it.

use std::time::Duration;

use serde_json::json;

use super::exec::{self, Command};
use super::reason::reason;
use super::span;
use super::specifier::UnitName;
use super::unit::{Assignment, Unit};
use crate::import::draft::{Draft, Task, duration};
use crate::import::note::Note;
use crate::literal::literal;

const SERVICE: &str = "Service";
/// Keys that are translated below, or that change nothing here.
const KNOWN: &[&str] = &[
    "ExecStartPre",
    "ExecStart",
    "ExecStartPost",
    "Environment",
    "User",
    "WorkingDirectory",
    "Type",
    "TimeoutStartSec",
    "TimeoutStopSec",
    "TimeoutSec",
    "RuntimeMaxSec",
    "MemoryMax",
    "MemoryLimit",
];
/// Values that say what is so here anyway.
const SAME: &[(&str, &[&str])] = &[
    ("Restart", &["no"]),
    ("StandardOutput", &["journal", "inherit"]),
    ("StandardError", &["journal", "inherit"]),
    ("StandardInput", &["null"]),
    ("KillMode", &["control-group"]),
    ("RemainAfterExit", &["no", "false", "0", "off"]),
    ("SendSIGKILL", &["yes", "true", "1", "on"]),
    ("KillSignal", &["SIGTERM", "15"]),
];

/// A service on its way to a job.
pub(super) struct Service<'a> {
    pub(super) unit: &'a Unit,
    pub(super) name: UnitName<'a>,
    pub(super) notes: Vec<Note>,
}

impl Service<'_> {
    /// Fills in what runs; false when nothing does.
    pub(super) fn fill(&mut self, draft: &mut Draft) -> bool {
        let Some(mut task) = self.commands() else { return false };
        self.surround(&mut task);
        draft.set_task(task);
        self.time_limits(draft);
        self.memory(draft);
        // A timer that elapses while its service runs starts nothing.
        draft.concurrency = Some(json!({ "limit": 1, "overlap": "skip" }));
        self.kind();
        self.others();
        true
    }

    fn commands(&mut self) -> Option<Task> {
        let mut commands = Vec::new();
        for key in ["ExecStartPre", "ExecStart", "ExecStartPost"] {
            for assignment in self.unit.list(SERVICE, key) {
                commands.extend(self.command(assignment)?);
            }
        }
        if self.unit.list(SERVICE, "ExecStart").is_empty() {
            return None;
        }
        if let [only] = commands.as_slice()
            && let Some(words) = only.plain_words()
        {
            let mut words = words.iter().map(|word| literal(word));
            return Some(Task { command: words.next(), args: words.collect(), ..Task::default() });
        }
        Some(Task { text: Some(script(&commands)), ..Task::default() })
    }

    fn command(&mut self, assignment: &Assignment) -> Option<Vec<Command>> {
        let mut unknown = Vec::new();
        let read = exec::read(&assignment.value, |word| {
            let (text, not_known) = self.name.expand(word);
            unknown.extend(not_known);
            text
        });
        self.tell_unknown(assignment, unknown);
        let commands = match read {
            Ok(commands) => commands,
            Err(why) => {
                self.notes.push(assignment.place().left_out(why));
                return None;
            }
        };
        for prefix in commands.iter().flat_map(|command| &command.unknown_prefixes) {
            let message = match prefix {
                '@' => "`@` gives the program another name; here it is called by its path".to_owned(),
                _ => format!("`{prefix}` changes privileges; here the whole task has those of its user"),
            };
            self.notes.push(assignment.place().no_equal(message));
        }
        Some(commands)
    }

    /// A value with its specifiers filled in.
    fn expanded(&mut self, assignment: &Assignment) -> String {
        let (text, unknown) = self.name.expand(&assignment.value);
        self.tell_unknown(assignment, unknown);
        text
    }

    fn tell_unknown(&mut self, assignment: &Assignment, specifiers: Vec<String>) {
        for specifier in specifiers {
            let message = format!("`{specifier}` is known only to systemd and stays as it is");
            self.notes.push(assignment.place().no_equal(message));
        }
    }

    fn surround(&mut self, task: &mut Task) {
        for assignment in self.unit.list(SERVICE, "Environment") {
            self.variables(assignment, task);
        }
        if let Some(assignment) = self.unit.last(SERVICE, "User") {
            task.user = Some(self.expanded(assignment));
        }
        if let Some(assignment) = self.unit.last(SERVICE, "WorkingDirectory") {
            let path = self.expanded(assignment);
            let (path, may_lack) = path.strip_prefix('-').map_or((path.as_str(), false), |path| (path, true));
            if path.starts_with('~') {
                self.notes
                    .push(assignment.place().no_equal("the home directory of the user is not known here"));
            } else {
                task.cwd = Some(literal(path));
            }
            if may_lack {
                self.notes.push(assignment.place().differs("a directory that is missing is an error here"));
            }
        }
    }

    fn variables(&mut self, assignment: &Assignment, task: &mut Task) {
        let words = match exec::split(&assignment.value) {
            Ok(words) => words,
            Err(why) => return self.notes.push(assignment.place().left_out(why)),
        };
        for word in words {
            let (word, unknown) = self.name.expand(&word.text);
            self.tell_unknown(assignment, unknown);
            match word.split_once('=') {
                Some((name, value)) if !name.is_empty() && !name.starts_with("MAINSPRING_") => {
                    task.env.insert(name.to_owned(), literal(value));
                }
                _ => self
                    .notes
                    .push(assignment.place().left_out(format!("`{word}` gives no variable a value"))),
            }
        }
    }

    fn time_limits(&mut self, draft: &mut Draft) {
        let start =
            ["TimeoutStartSec", "TimeoutSec"].into_iter().find_map(|key| self.unit.last(SERVICE, key));
        let is_oneshot = self.type_name() == "oneshot";
        let limit = if is_oneshot { start } else { self.unit.last(SERVICE, "RuntimeMaxSec") };
        if let Some(limit) = limit.and_then(|limit| self.span(limit)) {
            draft.timeout.insert("run", duration(limit));
        }
        if let Some(assignment) = self.unit.last(SERVICE, "RuntimeMaxSec").filter(|_| is_oneshot) {
            self.notes.push(
                assignment.place().differs("it has no effect on a service of the type `oneshot`, nor here"),
            );
        }
        let stop = ["TimeoutStopSec", "TimeoutSec"].into_iter().find_map(|key| self.unit.last(SERVICE, key));
        let Some(stop) = stop else { return };
        match self.span(stop) {
            Some(grace) => {
                draft.timeout.insert("stop_grace", duration(grace));
            }
            None => self
                .notes
                .push(stop.place().differs("a task that does not stop when asked is killed after 10s")),
        }
    }

    /// The most memory: it is reserved here, and the limit of the whole task.
    fn memory(&mut self, draft: &mut Draft) {
        let limit = ["MemoryMax", "MemoryLimit"].into_iter().find_map(|key| self.unit.last(SERVICE, key));
        let Some(limit) = limit.filter(|limit| !matches!(limit.value.as_str(), "" | "infinity")) else {
            return;
        };
        match size(&limit.value) {
            Some(size) => {
                draft.resources.insert("memory", size);
                self.notes.push(limit.place().differs("it is reserved too: a node has to have so much free"));
            }
            None => {
                let why =
                    format!("`{}` is no number of bytes; write `resources: {{memory: …}}`", limit.value);
                self.notes.push(limit.place().left_out(why));
            }
        }
    }

    /// A limit in time; none when it is for ever, which systemd also writes as 0.
    fn span(&mut self, assignment: &Assignment) -> Option<Duration> {
        match span::parse(&assignment.value) {
            Ok(span) => span.filter(|span| !span.is_zero()),
            Err(why) => {
                self.notes.push(assignment.place().left_out(why));
                None
            }
        }
    }

    fn type_name(&self) -> &str {
        self.unit.last(SERVICE, "Type").map_or("simple", |assignment| assignment.value.as_str())
    }

    fn kind(&mut self) {
        let Some(assignment) = self.unit.last(SERVICE, "Type") else { return };
        let message = match assignment.value.as_str() {
            "oneshot" | "simple" | "exec" => return,
            "forking" => "a run ends with its program, and what that left behind is ended with it",
            "idle" => "it starts without waiting for others",
            _ => "nobody waits for its word that it is ready; a run ends with its program",
        };
        self.notes.push(assignment.place().differs(message));
    }

    /// Everything else is told.
    fn others(&mut self) {
        for assignment in self.unit.all() {
            let (key, value) = (assignment.key.as_str(), assignment.value.as_str());
            let is_same = SAME.iter().any(|(same, values)| *same == key && values.contains(&value));
            let is_told = match assignment.section.as_str() {
                SERVICE => !KNOWN.contains(&key) && !is_same,
                "Unit" => !matches!(key, "Description" | "Documentation" | "DefaultDependencies"),
                _ => false,
            };
            if is_told && !value.is_empty() {
                self.notes.push(assignment.place().no_equal(reason(key)));
            }
        }
    }
}

/// A size as a job file writes it: systemd's suffixes are powers of 1024.
fn size(text: &str) -> Option<String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    digits.parse::<u64>().ok().filter(|number| *number > 0)?;
    match &text[digits.len()..] {
        "" | "B" => Some(digits.to_owned()),
        unit @ ("K" | "M" | "G" | "T") => Some(format!("{digits}{unit}i")),
        _ => None,
    }
}

/// Several commands as a script: one after the other, until one fails.
fn script(commands: &[Command]) -> String {
    let mut text = String::new();
    let splits = commands.iter().any(Command::has_split_words);
    text.push_str(match (commands.len() > 1, splits) {
        (true, true) => "set -ef\n",
        (true, false) => "set -e\n",
        (false, true) => "set -f\n",
        (false, false) => "",
    });
    for command in commands {
        text.push_str(&command.shell());
        text.push('\n');
    }
    text
}
