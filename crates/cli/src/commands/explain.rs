//! `mainspring explain [CODE]`: the page of an error code, of a reason for which runs wait, of a cause for which they end, or
//! of an exit code. Works without a server.

use std::process::ExitCode;

use clap::Args;
use mainspring_model::ErrorCode;
use mainspring_model::error::{Blame, Retry};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::glossary::{self, Page};
use crate::nearest::nearest;
use crate::output::{BOLD, Column, Output, Paint, Row, Table};

/// What `explain` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mainspring explain store_unavailable\n  mainspring explain no_node\n  \
    mainspring explain oom\n  mainspring explain 124")]
pub(crate) struct Explain {
    /// An error's code, a reason's or a cause's kind, or an exit code; without one, all are listed
    code: Option<String>,
}

const COLUMNS: &[Column] = &[
    Column::always("CODE"),
    Column::always("KIND"),
    Column::wide("WHO CAN MEND IT"),
    Column::wide("TRY AGAIN"),
    Column::free("MEANING"),
];

impl Explain {
    pub(crate) fn run(&self, output: Output) -> Result<ExitCode, Failure> {
        match &self.code {
            None => list(output)?,
            Some(word) => explain(output, word)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(output: Output) -> Result<(), Failure> {
    let pages = glossary::pages();
    let codes = ErrorCode::ALL.iter().map(|code| value(*code));
    let values: Vec<Value> = codes.chain(pages.iter().map(Page::value)).collect();
    output.list(&values, || {
        let codes = ErrorCode::ALL.iter().map(|code| {
            let row = Row::new(code).cell(code).cell("error code");
            row.cell(blame(*code)).cell(retry(*code)).cell(code.help())
        });
        let others = pages.iter().map(|page| {
            Row::new(&page.word).cell(&page.word).cell(page.kind).cell("").cell("").cell(page.meaning)
        });
        Table::new(COLUMNS, "").rows(codes.chain(others))
    })
}

/// The pages of a word: one may be a reason and a cause.
fn explain(output: Output, word: &str) -> Result<(), Failure> {
    if let Some(code) = ErrorCode::parse(word) {
        return output.one(&value(code), || page(code));
    }
    let found: Vec<Page> = glossary::pages().into_iter().filter(|page| page.word == word).collect();
    match found.as_slice() {
        [] => Err(unknown(word)),
        [one] => output.one(&one.value(), || text(one)),
        several => {
            let values: Vec<Value> = several.iter().map(Page::value).collect();
            output.one(&values, || several.iter().map(text).collect::<Vec<_>>().join("\n\n"))
        }
    }
}

fn page(code: ErrorCode) -> String {
    format!(
        "{}\n\n{}\n\nWho can mend it: {}.\nTrying again:    {}.\nExit code:       {}.",
        code.paint(BOLD),
        code.help(),
        blame(code),
        retry(code),
        Exit::of_code(code).number()
    )
}

fn text(page: &Page) -> String {
    let kind = match page.kind {
        "reason" => "a reason for which a run waits",
        "cause" => "a cause for which an attempt ends",
        other => other,
    };
    let mut text = format!("{} ({kind})\n\n{}", (&page.word).paint(BOLD), page.meaning);
    if !page.next.is_empty() {
        text.push_str(&format!("\n\nWhat to do: {}.", page.next));
    }
    if let Some(code) = page.exit_code {
        text.push_str(&format!("\nExit code:  {code}, of commands that wait for the run."));
    }
    text
}

fn value(code: ErrorCode) -> Value {
    json!({
        "code": code.name(),
        "kind": "error code",
        "help": code.help(),
        "blame": blame(code),
        "retry": retry(code),
        "exit_code": Exit::of_code(code).number(),
    })
}

fn blame(code: ErrorCode) -> &'static str {
    match code.blame() {
        Blame::Caller => "the caller",
        Blame::Us => "Mainspring's makers",
        Blame::Dependency => "whoever runs the server",
    }
}

fn retry(code: ErrorCode) -> &'static str {
    match code.retry() {
        Retry::Never => "no use: the answer stays the same",
        Retry::AfterRefresh => "after reading the thing again",
        Retry::Later => "later, with the same idempotency key",
    }
}

fn unknown(word: &str) -> Failure {
    let failure = Failure::new(Exit::NotFound, format!("there is no code `{word}`"));
    let words = glossary::pages().into_iter().map(|page| page.word);
    match nearest(word, ErrorCode::ALL.iter().map(ToString::to_string).chain(words)) {
        Some(near) => failure.hint(format!("did you mean `mainspring explain {near}`?")),
        None => failure.hint("`mainspring explain` lists all codes"),
    }
}
