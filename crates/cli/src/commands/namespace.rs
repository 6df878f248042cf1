//! `mainspring namespace`: the tree of departments.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::ask::confirm;
use crate::context::{Context, check_namespace};
use crate::failure::Failure;
use crate::output::{Column, Row, Table};

/// What `namespace` takes.
#[derive(Debug, Args)]
pub(crate) struct Namespace {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List namespaces
    List,
    /// Make a namespace, or describe it anew
    #[command(after_help = "Example: mainspring namespace set acme/data --description 'The data department'")]
    Set {
        /// The path
        path: String,
        /// What it is for
        #[arg(long, default_value = "")]
        description: String,
    },
    /// Remove a namespace that is empty
    Rm {
        /// The path
        path: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

const COLUMNS: &[Column] =
    &[Column::always("PATH"), Column::free("DESCRIPTION"), Column::wide("MADE"), Column::wide("BY")];

impl Namespace {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        match self.verb {
            Verb::List => {
                let namespaces = context.client.namespaces().all().await?;
                context.output.list(&namespaces, || {
                    let words = "no namespace has been described; one exists as soon as something is in it";
                    Table::new(COLUMNS, words).rows(namespaces.iter().map(|namespace| {
                        Row::new(&namespace.path)
                            .cell(&namespace.path)
                            .cell(&namespace.description)
                            .cell(namespace.created_at)
                            .cell(&namespace.created_by)
                    }))
                })?;
            }
            Verb::Set { path, description } => {
                check_namespace("the path", &path)?;
                let namespace = context.client.put_namespace(&path, &description).await?;
                context.output.say(format!("{} is there", namespace.path));
                context.output.changed(&namespace)?;
            }
            Verb::Rm { path, yes } => {
                confirm(&format!("Remove the namespace {path}?"), yes)?;
                context.client.delete_namespace(&path).await?;
                context.output.say(format!("{path} is removed"));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
