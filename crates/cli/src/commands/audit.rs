//! `mainspring audit`: who did what, or tried to, newest first.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::AuditOutcome;

use crate::context::Context;
use crate::failure::Failure;
use crate::flag;
use crate::output::{BAD, Column, GOOD, Row, Table, WARN};

/// What `audit` takes.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// How many at most
    #[arg(long, default_value_t = 50, value_parser = flag::at_least_one)]
    limit: usize,
}

const COLUMNS: &[Column] = &[
    Column::always("TIME"),
    Column::name("WHO"),
    Column::always("WHAT"),
    Column::always("NAMESPACE"),
    Column::name("TO"),
    Column::always("OUTCOME"),
    Column::wide("DETAIL"),
    Column::wide("FROM"),
    Column::wide("REQUEST"),
];

impl Audit {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let entries = context.client.audit(context.namespace()).take(self.limit).await?;
        context.output.list(&entries, || {
            Table::new(COLUMNS, "nothing was changed yet").rows(entries.iter().map(|entry| {
                let text = |text: &Option<String>| text.clone().unwrap_or_default();
                let (outcome, style) = match (entry.outcome, &entry.code) {
                    (AuditOutcome::Denied, _) => ("denied", BAD),
                    (AuditOutcome::Allowed, Some(code)) => (code.as_str(), WARN),
                    (AuditOutcome::Allowed, None) => ("done", GOOD),
                };
                Row::new(entry.at)
                    .cell(entry.at)
                    .cell(&entry.actor)
                    .cell(&entry.operation)
                    .cell(text(&entry.namespace))
                    .cell(text(&entry.target))
                    .styled(outcome, style)
                    .cell(text(&entry.detail))
                    .cell(text(&entry.from))
                    .cell(text(&entry.request_id))
            }))
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
