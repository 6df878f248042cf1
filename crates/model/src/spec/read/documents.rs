//! Files that hold several jobs: YAML documents with `---` between them, and `items`, the list that the program itself
//! prints for others to read. One job alone is a file of one document.
//!
//! `---` at the beginning of a line ends a document wherever it stands, even within quotes: YAML says so. So the text is
//! cut before it is read, and each document has the limits of a file of its own.

use serde_json::Value;

use super::from_value;
use crate::limits::{SPEC_FILE_JOBS_MAX, SPEC_PROBLEMS_MAX};
use crate::spec::tree::{self, Format};
use crate::spec::{JobSpec, Problem, SpecErrors};

/// One document of a file.
#[derive(Debug)]
pub struct Document {
    /// Which of the file, from 1.
    pub number: usize,
    /// Its jobs, or everything that is wrong with them.
    pub jobs: Result<Vec<JobSpec>, SpecErrors>,
}

/// Reads every job of a file. A document of nothing but comments counts for nothing.
pub fn parse_all(text: &str, format: Format) -> Vec<Document> {
    if format != Format::Yaml {
        return vec![Document { number: 1, jobs: read(text, format) }];
    }
    let documents = cut(text).into_iter().filter(|(_, document)| !is_empty(document));
    documents
        .enumerate()
        .map(|(index, (start, document))| Document {
            number: index + 1,
            jobs: read_part(text, start, document),
        })
        .collect()
}

/// The documents of a YAML file, each with the place where it begins.
fn cut(text: &str) -> Vec<(usize, &str)> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some(rest) = line.strip_prefix("---")
            && (rest.is_empty() || rest.starts_with(char::is_whitespace))
        {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| (*start, &text[*start..end])).collect()
}

/// Whether only comments, directives and marks stand there.
fn is_empty(document: &str) -> bool {
    let mut lines = document.lines().map(str::trim_end);
    lines.all(|line| matches!(line, "" | "---" | "...") || line.trim_start().starts_with(['#', '%']))
}

/// Reads a document. What is wrong with it is told with the lines of the whole file.
fn read_part(text: &str, start: usize, document: &str) -> Result<Vec<JobSpec>, SpecErrors> {
    let read_alone = read(document, Format::Yaml);
    if read_alone.is_ok() || start == 0 {
        return read_alone;
    }
    let lines_before = text[..start].matches('\n').count();
    read(&format!("{}{document}", "\n".repeat(lines_before)), Format::Yaml)
}

fn read(text: &str, format: Format) -> Result<Vec<JobSpec>, SpecErrors> {
    let value = tree::read::<SPEC_FILE_JOBS_MAX>(text, format)?;
    match items(&value) {
        Some(items) => all(items),
        None => {
            tree::check_size(text, 1)?;
            from_value(&value).map(|job| vec![job])
        }
    }
}

/// The list of a file that is nothing else.
fn items(value: &Value) -> Option<&[Value]> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    map.get("items")?.as_array().map(Vec::as_slice)
}

fn all(items: &[Value]) -> Result<Vec<JobSpec>, SpecErrors> {
    let (mut jobs, mut problems) = (Vec::new(), Vec::<Problem>::new());
    for (index, item) in items.iter().enumerate() {
        match from_value(item) {
            Ok(job) => jobs.push(job),
            Err(errors) => problems.extend(errors.below(&format!("items[{index}]"))),
        }
    }
    problems.truncate(SPEC_PROBLEMS_MAX);
    SpecErrors::unless_empty(problems).map(|()| jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of each document, or what is wrong with it.
    fn check(text: &str, format: Format, expected: &[&str]) {
        let said: Vec<String> = parse_all(text, format)
            .into_iter()
            .map(|document| match document.jobs {
                Ok(jobs) => jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>().join(" "),
                Err(errors) => format!("{}: {errors}", document.number),
            })
            .collect();
        assert_eq!(said, expected);
    }

    #[test]
    fn a_file_holds_any_number_of_jobs() {
        check("name: a\nscript: x\n", Format::Yaml, &["a"]);
        check(
            "%YAML 1.2\n---\nname: a\nscript: x\n...\n# b\n---\n\n--- # c\nname: c\nscript: |\n  ---\n",
            Format::Yaml,
            &["a", "c"],
        );
        check("# nothing\n", Format::Yaml, &[]);
        let list = r#"{"items": [{"name": "a", "script": "x"}, {"name": "b", "script": "x"}]}"#;
        check(list, Format::Json, &["a b"]);
        check(&format!("{list}\n---\nname: c\nscript: x"), Format::Yaml, &["a b", "c"]);
        check(
            "[[items]]\nname = 'a'\nscript = 'x'\n[[items]]\nname = 'b'\nscript = 'x'",
            Format::Toml,
            &["a b"],
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_document_and_line() {
        check(
            "name: a\nscript: x\n---\nname: b\n",
            Format::Yaml,
            &["a", "2: says nothing to run; write one of `script`, `process` and `handler`"],
        );
        let twice = parse_all("name: a\nscript: x\n---\nname: b\nname: c\n", Format::Yaml).remove(1);
        let said = twice.jobs.unwrap_err().to_string();
        assert!(said.contains("line 5"), "{said}");
        let list = r#"{"items": [{"name": "a", "script": "x"}, {"name": "b", "scrpt": "x"}]}"#;
        let said = parse_all(list, Format::Json).remove(0).jobs.unwrap_err().to_string();
        assert!(said.contains("items[1].scrpt: unknown field"), "{said}");
    }

    #[test]
    fn a_long_list_is_no_long_job() {
        let text = "x".repeat(200_000);
        let jobs: Vec<String> = (0..6).map(|n| format!("{{name: j{n}, script: '{text}'}}")).collect();
        check(&format!("items: [{}]", jobs.join(", ")), Format::Yaml, &["j0 j1 j2 j3 j4 j5"]);
        let long = format!("name: a\nscript: x\n# {}", text.repeat(6));
        check(&long, Format::Yaml, &["1: the file has more than 1048576 bytes"]);
    }
}
