//! The company: its namespaces, its people, its calendar and its jobs, which are files in `company/`.

use std::time::Duration;

use mainspring_model::spec::Format;
use mainspring_model::{CalendarSpec, JobSpec, Namespace, Timestamp};
use mainspring_wire::api::Role;

use crate::error::Error;

/// What every description says.
pub(crate) const MADE_UP: &str = "Made-up data of `mainspring demo`.";

/// Namespaces, and what they are for.
pub(crate) const NAMESPACES: [(&str, &str); 5] = [
    ("linden", "Linden Books, a mail-order bookshop that does not exist."),
    ("linden/shop", "What customers see."),
    ("linden/data", "What the company knows about itself."),
    ("linden/warehouse", "Shelves, parcels and carriers."),
    ("linden/ops", "Machines, backups, certificates."),
];

/// People, where they have a role, and which.
pub(crate) const PEOPLE: [(&str, &str, Role); 6] = [
    ("ann", "linden/data", Role::Editor),
    ("bo", "linden/ops", Role::Editor),
    ("bo", "linden/warehouse", Role::Operator),
    ("mei", "linden/shop", Role::Editor),
    ("tariq", "linden", Role::Viewer),
    ("release-pipeline", "linden", Role::Editor),
];

/// The jobs, as they are at the end.
const FILES: [&str; 4] = [
    include_str!("../company/shop.yaml"),
    include_str!("../company/data.yaml"),
    include_str!("../company/warehouse.yaml"),
    include_str!("../company/ops.yaml"),
];

/// A job as a file says it.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) namespace: Namespace,
    pub(crate) name: String,
    pub(crate) text: String,
}

/// An earlier form of a job: what was there instead of what is there now.
pub(crate) struct Earlier {
    pub(crate) job: &'static str,
    pub(crate) now: &'static str,
    pub(crate) then: &'static str,
    /// Who changed it, and after which part of the history, in thousandths.
    pub(crate) by: &'static str,
    pub(crate) at_permille: u32,
}

/// Changes of jobs, in their order.
pub(crate) const CHANGES: [Earlier; 3] = [
    Earlier {
        job: "import-orders",
        now: "retry:\n  max: 3\n  backoff: { kind: exponential, base: 30s, cap: 5m }",
        then: "retry: 1",
        by: "ann",
        at_permille: 310,
    },
    Earlier {
        job: "import-orders",
        now: "memory: 256Mi",
        then: "memory: 128Mi",
        by: "ann",
        at_permille: 640,
    },
    Earlier { job: "refresh-prices", now: "*/15 6-22", then: "*/30 6-22", by: "mei", at_permille: 180 },
];

/// Every job, with the moments of the sale: it began in the history and ends after it.
pub(crate) fn files(begin: Timestamp, until: Timestamp) -> Result<Vec<File>, Error> {
    let sale =
        [("@begin@", begin + until.since(begin) * 6 / 7), ("@end@", until + Duration::from_secs(30 * 3_600))];
    let texts = FILES.iter().flat_map(|file| file.split("\n---\n"));
    texts
        .map(|text| {
            let text = sale.iter().fold(text.to_owned(), |text, (word, at)| {
                text.replace(word, &mainspring_model::time::text::format(whole_second(*at)))
            });
            let spec = read(&text)?;
            let namespace = spec.namespace.clone().unwrap_or_default();
            Ok(File { namespace, name: spec.name.to_string(), text })
        })
        .collect()
}

/// The file as it was before the changes from `next` on.
pub(crate) fn before(file: &File, next: usize) -> String {
    let later = CHANGES[next..].iter().filter(|change| change.job == file.name);
    later.fold(file.text.clone(), |text, change| text.replace(change.now, change.then))
}

/// Days on which the company rests.
pub(crate) fn holidays() -> CalendarSpec {
    CalendarSpec {
        description: format!("Public holidays. {MADE_UP}").into(),
        off: ["01-01", "05-01", "10-03", "12-25", "12-26"].map(Into::into).into(),
        ..CalendarSpec::default()
    }
}

fn read(text: &str) -> Result<JobSpec, Error> {
    mainspring_model::spec::parse(text, Format::Yaml)
        .map_err(|errors| Error::Broken(format!("a job of the company: {errors}")))
}

fn whole_second(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(at.as_micros().div_euclid(1_000_000) * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::{Character, Which};

    const BEGIN: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

    fn all() -> Vec<File> {
        files(BEGIN, BEGIN + Duration::from_secs(14 * 86_400)).unwrap()
    }

    #[test]
    fn every_job_says_that_it_is_made_up() {
        let files = all();
        assert!((22..=30).contains(&files.len()), "{}", files.len());
        for File { name, text, .. } in &files {
            let spec = read(text).unwrap();
            assert_eq!(spec.labels.get("demo"), Some("true"), "{name}");
            assert!(spec.description.as_deref().unwrap_or_default().contains("Made-up"), "{name}");
        }
    }

    #[test]
    fn every_change_changes_something_and_earlier_forms_can_be_read() {
        let files = all();
        for (index, change) in CHANGES.iter().enumerate() {
            let file = files.iter().find(|file| file.name == change.job).unwrap();
            let (then, now) = (before(file, index), before(file, index + 1));
            assert_ne!(then, now, "{}", change.now);
            read(&then).unwrap();
        }
    }

    #[test]
    fn every_job_that_runs_prints_something() {
        for File { name, .. } in all() {
            let which = Which { job: &name, moment: BEGIN, attempt: 1, until: BEGIN };
            assert!(!Character::of(&name).perform(1, which).lines.is_empty(), "{name}");
        }
    }
}
