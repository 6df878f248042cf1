//! Job files on the command line: one job, or all that a file or a directory holds, with everything that is wrong.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use mainspring_model::JobSpec;
use mainspring_model::spec::{self, Format, SpecErrors};

use crate::failure::Failure;

const MEND: &str = "mend the fields above; `mainspring explain invalid_spec` says more";

/// A job and the text that says it.
pub(crate) struct FileJob {
    pub(crate) spec: JobSpec,
    /// The file, if it holds this job alone: it is kept with the version.
    pub(crate) text: Option<(String, Format)>,
}

/// The one job of a file.
pub(crate) fn read_one(path: &Path, format: Format) -> Result<JobSpec, Failure> {
    spec::parse(&text_of(path)?, format)
        .map_err(|errors| Failure::usage(words(&path.display().to_string(), &errors)).hint(MEND))
}

/// Every job of every file and directory, or everything that is wrong with any of them.
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<FileJob>, Failure> {
    let (mut specs, mut problems) = (Vec::new(), Vec::new());
    for given in paths {
        let files = expand(given)?;
        if files.is_empty() {
            return Err(Failure::usage(format!("no job file was found in {}", given.display()))
                .hint("job files end in .yaml, .yml, .json or .toml"));
        }
        for path in files {
            let text = text_of(&path)?;
            match read_file(&path, &text) {
                Ok(read) => specs.extend(read),
                Err(wrong) => problems.extend(wrong),
            }
        }
    }
    if problems.is_empty() {
        return Ok(specs);
    }
    Err(Failure::usage(problems.join("\n")).hint(format!("nothing was changed; {MEND}")))
}

/// The jobs of one file, whose name says its language.
fn read_file(path: &Path, text: &str) -> Result<Vec<FileJob>, Vec<String>> {
    let format = Format::of_file(&path.to_string_lossy()).unwrap_or(Format::Yaml);
    let documents = spec::parse_all(text, format);
    let several = documents.len() > 1;
    if documents.is_empty() {
        return Err(vec![format!("{}: there is no job in it", path.display())]);
    }
    let (mut specs, mut problems) = (Vec::new(), Vec::new());
    for document in documents {
        let place = if several { format!(", document {}", document.number) } else { String::new() };
        match document.jobs {
            Ok(jobs) => specs.extend(jobs),
            Err(errors) => problems.push(words(&format!("{}{place}", path.display()), &errors)),
        }
    }
    let text = (specs.len() == 1 && !several).then(|| (text.to_owned(), format));
    let of_file = |spec: JobSpec| FileJob { spec, text: text.clone() };
    if problems.is_empty() { Ok(specs.into_iter().map(of_file).collect()) } else { Err(problems) }
}

fn words(place: &str, errors: &SpecErrors) -> String {
    format!("{place}:\n  {}", errors.to_string().replace('\n', "\n  "))
}

fn text_of(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).map(drop)
    } else {
        fs::read_to_string(path).map(|read| text = read)
    };
    read.map_err(|error| {
        Failure::usage(format!("cannot read {}: {error}", path.display())).hint(
            "name a job file that is here and may be read, a directory of them, or `-` for standard input",
        )
    })?;
    Ok(text)
}

/// The job files of a directory, in order of name, or the file itself.
fn expand(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let cannot = |error| Failure::usage(format!("cannot list {}: {error}", path.display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(cannot)? {
        let entry = entry.map_err(cannot)?.path();
        let hidden = entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && (entry.is_dir() || Format::of_file(&entry.to_string_lossy()).is_some()) {
            found.push(entry);
        }
    }
    found.sort();
    let mut files = Vec::new();
    for entry in found {
        files.extend(expand(&entry)?);
    }
    Ok(files)
}
