//! The result of an import: jobs that were read back, and notes.

use mainspring_model::JobSpec;
use mainspring_model::spec::{self, Format, SpecErrors};

use super::draft::Draft;
use super::note::{Note, Place};
use crate::output::yaml;

/// What came of a crontab or a directory of units.
#[derive(Debug, Default)]
pub(crate) struct Import {
    /// The jobs, in the order of their origins.
    pub(crate) jobs: Vec<Imported>,
    /// Notes that belong to no job.
    pub(crate) notes: Vec<Note>,
}

/// A job file.
#[derive(Debug)]
pub(crate) struct Imported {
    /// What to call it.
    pub(crate) file: String,
    /// What the text was read back as.
    pub(crate) spec: JobSpec,
    /// The file, with its origin and its notes in comments.
    pub(crate) text: String,
    /// What to know about it.
    pub(crate) notes: Vec<Note>,
}

impl Import {
    /// Adds a job. A trigger that the parser refuses is left out with a note; so is the job, should nothing else help.
    pub(super) fn add(&mut self, place: Place<'_>, draft: Draft, notes: Vec<Note>) {
        let mut draft = draft;
        let mut notes = notes;
        draft.name_triggers();
        let refused = match Imported::read_back(place, &draft, &notes) {
            Ok(job) => return self.jobs.push(job),
            Err(refused) => refused,
        };
        draft.triggers.clear();
        notes.push(place.left_out(format!("the job has no trigger: {refused}")));
        match Imported::read_back(place, &draft, &notes) {
            Ok(job) => self.jobs.push(job),
            Err(refused) => self.notes.push(place.left_out(refused)),
        }
    }

    /// Every note, by file and line; what is about a whole file comes first.
    pub(crate) fn all_notes(&self) -> Vec<&Note> {
        let mut notes: Vec<&Note> =
            self.notes.iter().chain(self.jobs.iter().flat_map(|job| &job.notes)).collect();
        notes.sort_by(|a, b| (a.line.is_some(), &a.file, a.line).cmp(&(b.line.is_some(), &b.file, b.line)));
        notes
    }
}

impl Imported {
    fn read_back(place: Place<'_>, draft: &Draft, notes: &[Note]) -> Result<Self, String> {
        let mut text = comment(&format!("From {}:{}: {}", place.file, place.line, place.text.trim()));
        for note in notes {
            let is_here = (note.file.as_str(), note.line) == (place.file, Some(place.line));
            text.push_str(&comment(&match is_here {
                true => format!("Note, {}: {}", note.kind.words(), note.message),
                false => format!("Note, {note}"),
            }));
        }
        text.push_str(&yaml(draft).map_err(|failure| failure.message)?);
        let in_words = |errors: SpecErrors| errors.to_string().replace('\n', "; ");
        let spec = spec::parse(&text, Format::Yaml).map_err(in_words)?;
        // What is read must be what was meant, however the text was quoted.
        let meant = serde_json::to_value(draft).map_err(|error| error.to_string())?;
        if spec::from_value(&meant).map_err(in_words)? != spec {
            return Err("YAML cannot carry it".to_owned());
        }
        Ok(Self { file: format!("{}.yaml", draft.name), spec, text, notes: notes.to_vec() })
    }
}

/// One line of comment, whatever is in the text.
fn comment(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("# {}\n", text.trim_end())
}
