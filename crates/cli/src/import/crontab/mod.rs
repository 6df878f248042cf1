//! A crontab, line by line: assignments hold for the entries below them, each entry is a job.
//!
//! The dialect is that of Vixie's cron and its descendants (cronie, Debian, the BSDs). What they do is meant exactly: nothing
//! is tried again, and nothing is made up for.

mod assignment;
mod entry;
mod field;
mod percent;

use std::time::Duration;

use serde_json::json;

use super::draft::{Draft, Task, Trigger, duration, misfire_skip};
use super::job_name::{self, Names};
use super::note::{Kind, Note, Place, USERS};
use super::{Import, Settings};
use crate::literal::literal;
use assignment::Surroundings;
use entry::{Entry, Timing};

/// A crontab.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crontab<'a> {
    /// What to call it in notes.
    pub(crate) file: &'a str,
    /// Its text.
    pub(crate) text: &'a str,
    /// Whether a user stands before each command, as in `/etc/crontab`.
    pub(crate) is_system: bool,
}

/// Translates a crontab.
pub(crate) fn translate(crontab: Crontab<'_>, settings: &Settings) -> Import {
    let mut walk = Walk {
        settings,
        surroundings: Surroundings::new(&settings.zone.name),
        names: Names::default(),
        import: Import::default(),
        uses_machine_zone: false,
        lacks_home_or_user: false,
        names_users: false,
    };
    for (index, text) in crontab.text.lines().enumerate() {
        let place = Place { file: crontab.file, line: index + 1, text };
        walk.line(place, crontab.is_system);
    }
    walk.finish(crontab.file)
}

struct Walk<'a> {
    settings: &'a Settings,
    surroundings: Surroundings,
    names: Names,
    import: Import,
    uses_machine_zone: bool,
    lacks_home_or_user: bool,
    names_users: bool,
}

impl Walk<'_> {
    fn line(&mut self, place: Place<'_>, is_system: bool) {
        let text = place.text.trim();
        if text.is_empty() || text.starts_with('#') {
            return;
        }
        if let Some((name, value)) = assignment::read(text) {
            let notes = self.surroundings.assign(place, &name, value);
            return self.import.notes.extend(notes);
        }
        match entry::read(place, is_system) {
            Ok((entry, notes)) => self.entry(place, entry, notes),
            Err(why) => self.import.notes.push(place.left_out(why)),
        }
    }

    fn entry(&mut self, place: Place<'_>, entry: Entry, notes: Vec<Note>) {
        let around = &self.surroundings;
        self.lacks_home_or_user |= around.home.is_none() || entry.user.is_none();
        self.names_users |= entry.user.is_some();
        let mut draft = Draft {
            name: self.names.take(&job_name::of_command(&entry.command)),
            namespace: self.settings.namespace.clone(),
            triggers: around.trigger(&entry.timing).into_iter().collect(),
            concurrency: entry.is_single.then(|| json!({ "limit": 1, "overlap": "skip" })),
            ..Draft::default()
        };
        if matches!(entry.timing, Timing::Cron { .. }) && around.zone == self.settings.zone.name {
            self.uses_machine_zone |= self.settings.zone.is_machines;
        }
        draft.set_task(around.task(entry));
        self.import.add(place, draft, notes);
    }

    fn finish(mut self, file: &str) -> Import {
        if self.import.jobs.is_empty() {
            return self.import;
        }
        let mut say = |message: String| self.import.notes.push(Note::of_file(file, Kind::Differs, message));
        if self.uses_machine_zone {
            let zone = &self.settings.zone.name;
            say(format!("times are read in {zone}, the zone of this machine; `--zone` names another"));
        }
        say("a crontab is for one machine; these jobs run on any node of the pool `default`, and `placement` says which".into());
        if self.lacks_home_or_user {
            say("cron starts a command in the home directory of its user; without `HOME` in the crontab these start in a fresh \
                 directory, and without a user as the account that the agent gives them"
                .into());
        }
        if self.names_users {
            say(USERS.into());
        }
        self.import
    }
}

impl Surroundings {
    fn trigger(&self, timing: &Timing) -> Option<Trigger> {
        let jitter = (!self.delay_max.is_zero()).then(|| duration(self.delay_max));
        match timing {
            Timing::Cron { cron, both_days } => Some(Trigger {
                cron: Some(cron.clone()),
                zone: Some(self.zone.clone()),
                days: both_days.then_some("and"),
                jitter,
                misfire: misfire_skip(),
                ..Trigger::default()
            }),
            Timing::After(seconds) => {
                Some(Trigger { delay: Some(duration(Duration::from_secs(*seconds))), ..Trigger::default() })
            }
            Timing::Every(every) => Some(Trigger {
                every: Some(duration(*every)),
                jitter,
                misfire: misfire_skip(),
                ..Trigger::default()
            }),
            Timing::Start => None,
        }
    }

    fn task(&self, entry: Entry) -> Task {
        let looks_like_interpreter = entry.command.starts_with("#!");
        let shell = self.shell.clone().or_else(|| looks_like_interpreter.then(|| "/bin/sh".to_owned()));
        Task {
            interpreter: shell,
            text: Some(entry.command),
            env: self.variables.iter().map(|(name, value)| (name.clone(), literal(value))).collect(),
            cwd: self.home.as_deref().map(literal),
            stdin: entry.input.as_deref().map(literal),
            user: entry.user,
            ..Task::default()
        }
    }
}
