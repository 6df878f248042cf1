//! A directory of units: each timer with its service is a job.
//!
//! Drop-ins (`X.timer.d/*.conf`) hold over their units. What the units say about machines (mounts, cgroups, order at the
//! start) has no equal, and each of it is told.

mod calendar;
mod component;
mod exec;
mod reason;
mod service;
mod span;
mod specifier;
mod timer;
mod unit;

use std::collections::BTreeMap;

use super::draft::Draft;
use super::job_name::Names;
use super::note::{Kind, Note, Place, USERS};
use super::{Import, Settings};
use service::Service;
use specifier::UnitName;
use timer::Timer;
use unit::Unit;

/// Text files by their path in the directory: `a.timer`, `a.timer.d/10.conf`.
pub(crate) type Files = BTreeMap<String, String>;

/// Translates every timer of a directory.
pub(crate) fn translate(files: &Files, settings: &Settings) -> Import {
    let mut walk = Walk {
        files,
        settings,
        names: Names::default(),
        import: Import::default(),
        uses_machine_zone: false,
        lacks_home_or_user: false,
        names_users: false,
    };
    for file in files.keys().filter(|file| file.ends_with(".timer") && !file.contains('/')) {
        walk.timer(file);
    }
    walk.finish()
}

struct Walk<'a> {
    files: &'a Files,
    settings: &'a Settings,
    names: Names,
    import: Import,
    uses_machine_zone: bool,
    lacks_home_or_user: bool,
    names_users: bool,
}

impl Walk<'_> {
    fn timer(&mut self, file: &str) {
        let name = UnitName::new(file);
        if name.is_template() {
            let message = "a template is no timer; its instances are, and they are not in the directory";
            return self.import.notes.push(Note::of_file(file, Kind::NoEqual, message));
        }
        let Some(unit) = self.unit(file) else { return };
        let service_name = match unit.last("Timer", "Unit") {
            Some(assignment) => name.expand(&assignment.value).0,
            None => format!("{}.service", name.stem()),
        };
        let Some(service) = self.unit(&service_name).filter(|_| service_name.ends_with(".service")) else {
            let message = format!("what it starts, {service_name}, is no service in the directory");
            return self.import.notes.push(Note::of_file(file, Kind::LeftOut, message));
        };
        self.job(file, &service_name, &unit, &service);
    }

    fn job(&mut self, file: &str, service_name: &str, unit: &Unit, service_unit: &Unit) {
        let mut timer =
            Timer { unit, settings: self.settings, notes: unit.notes.clone(), uses_machine_zone: false };
        let triggers = timer.triggers();
        let name = UnitName::new(service_name);
        let mut service = Service { unit: service_unit, name, notes: service_unit.notes.clone() };
        let describe =
            |unit: &Unit| unit.last("Unit", "Description").map(|found| name.expand(&found.value).0);
        let mut draft = Draft {
            namespace: self.settings.namespace.clone(),
            description: describe(service_unit).or_else(|| describe(unit)),
            triggers,
            ..Draft::default()
        };
        let moments = Timer::moments(unit);
        let place = match moments.first() {
            Some(first) => first.place(),
            None => Place { file, line: 1, text: "[Timer]" },
        };
        let runs = service.fill(&mut draft);
        let mut notes = timer.notes;
        notes.append(&mut service.notes);
        if !runs {
            notes.push(place.left_out(format!("{service_name} has no `ExecStart` that can be run")));
            return self.import.notes.append(&mut notes);
        }
        if moments.is_empty() {
            notes.push(place.no_equal("the timer says not when: the job has no trigger"));
        }
        draft.name = self.names.take(UnitName::new(file).stem());
        self.uses_machine_zone |= timer.uses_machine_zone;
        let task = draft.process.as_ref().or(draft.script.as_ref());
        self.lacks_home_or_user |= task.is_some_and(|task| task.cwd.is_none() || task.user.is_none());
        self.names_users |= task.is_some_and(|task| task.user.is_some());
        self.import.add(place, draft, notes);
    }

    /// A unit with its drop-ins; an instance is made from its template.
    fn unit(&self, file: &str) -> Option<Unit> {
        let template = UnitName::new(file).template();
        let of_template = template.as_deref().and_then(|template| self.files.get_key_value(template));
        let (path, text) = self.files.get_key_value(file).or(of_template)?;
        let folders = template.iter().map(String::as_str).chain([file]).map(|name| format!("{name}.d/"));
        let drop_ins = folders.flat_map(|folder| {
            let inside =
                self.files.range(folder.clone()..).take_while(move |(path, _)| path.starts_with(&folder));
            inside.filter(|(path, _)| path.ends_with(".conf"))
        });
        let all = std::iter::once((path, text)).chain(drop_ins);
        Some(Unit::read(all.map(|(path, text)| (path.as_str(), text.as_str()))))
    }

    fn finish(mut self) -> Import {
        if self.import.jobs.is_empty() {
            return self.import;
        }
        let mut say =
            |message: String| self.import.notes.push(Note::of_file("*.timer", Kind::Differs, message));
        if self.uses_machine_zone {
            let zone = &self.settings.zone.name;
            say(format!("times are read in {zone}, the zone of this machine; `--zone` names another"));
        }
        say("units are for one machine; these jobs run on any node of the pool `default`, and `placement` says which".into());
        if self.lacks_home_or_user {
            say("a service without `User=` runs as root and one without `WorkingDirectory=` in `/`; these jobs run as the account \
                 that the agent gives them, in a fresh directory"
                .into());
        }
        if self.names_users {
            say(USERS.into());
        }
        self.import
    }
}
