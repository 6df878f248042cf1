//! `mainspring explain [CODE]`: the page of an error code, a reason or a cause's exit code. Works without a server.

use std::process::ExitCode;

use clap::Args;
use mainspring_model::ErrorCode;
use mainspring_model::error::{Blame, Retry};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::nearest::nearest;
use crate::output::{BOLD, Column, Output, Paint, Row, Table};

/// What `explain` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example: mainspring explain store_unavailable")]
pub(crate) struct Explain {
    /// The code, as in an error's `code`; without one, all codes are listed
    code: Option<String>,
}

const COLUMNS: &[Column] = &[
    Column::always("CODE"),
    Column::always("WHO CAN MEND IT"),
    Column::always("TRY AGAIN"),
    Column::wide("MEANING"),
];

impl Explain {
    pub(crate) fn run(&self, output: Output) -> Result<ExitCode, Failure> {
        match &self.code {
            None => {
                let values: Vec<Value> = ErrorCode::ALL.iter().map(|code| value(*code)).collect();
                output.list(&values, || {
                    let rows = ErrorCode::ALL.iter().map(|code| {
                        let words = blame(*code);
                        Row::new(code).cell(code).cell(words).cell(retry(*code)).cell(code.help())
                    });
                    Table::new(COLUMNS, "").rows(rows)
                })?;
            }
            Some(word) => {
                let code = ErrorCode::parse(word).ok_or_else(|| unknown(word))?;
                output.one(&value(code), || page(code))?;
            }
        }
        Ok(ExitCode::SUCCESS)
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

fn value(code: ErrorCode) -> Value {
    json!({
        "code": code.name(),
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
    let failure = Failure::new(Exit::NotFound, format!("there is no error code `{word}`"));
    match nearest(word, ErrorCode::ALL.iter().map(ToString::to_string)) {
        Some(near) => failure.hint(format!("did you mean `mainspring explain {near}`?")),
        None => failure.hint("`mainspring explain` lists all codes"),
    }
}
