//! `mainspring member`: who has which role where. A role holds in its namespace and in all below.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use mainspring_client::api::{Member as Entry, Role};

use crate::context::Context;
use crate::failure::Failure;
use crate::nearest::nearest;
use crate::output::{Column, Row, Table};

/// What `member` takes.
#[derive(Debug, Args)]
pub(crate) struct Member {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List who has which role
    List,
    /// Give somebody a role in the namespace of -n, or everywhere
    #[command(after_help = "Example: mainspring member set ann editor -n acme/data")]
    Set {
        /// Who
        subject: String,
        /// viewer, operator, editor or admin
        role: String,
    },
    /// Take somebody's role in the namespace of -n, or the one everywhere
    Rm {
        /// Who
        subject: String,
    },
}

const COLUMNS: &[Column] = &[
    Column::always("SUBJECT"),
    Column::always("ROLE"),
    Column::always("NAMESPACE"),
    Column::wide("SINCE"),
    Column::wide("BY"),
];

impl Member {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let namespace = context.namespace();
        let place = namespace.unwrap_or("every namespace");
        match self.verb {
            Verb::List => {
                let members = context.client.members(namespace).all().await?;
                context.output.list(&members, || table(&members))?;
            }
            Verb::Set { subject, role: word } => {
                let member = context.client.put_member(&subject, namespace, role(&word)?).await?;
                context.output.say(format!("{subject} is {} in {place}", member.role.name()));
                if let Some(namespace) = namespace.filter(|_| !context.output.quiet)
                    && is_empty(context, namespace).await
                {
                    context
                        .output
                        .say(format!("nothing is in {namespace} yet: no job, and nobody has described it"));
                }
                context.output.changed(&member)?;
            }
            Verb::Rm { subject } => {
                context.client.delete_member(&subject, namespace).await?;
                context.output.say(format!("{subject} has no role of their own in {place} any more"));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether a namespace has no job and was not described, as one that is misspelled; not when that cannot be read.
async fn is_empty(context: &Context, namespace: &str) -> bool {
    let jobs = context.client.jobs(Some(namespace), false).take(1).await;
    let described = context.client.namespaces().all().await;
    let is_there = |path: &str| path == namespace || path.starts_with(&format!("{namespace}/"));
    jobs.is_ok_and(|jobs| jobs.is_empty())
        && described.is_ok_and(|described| !described.iter().any(|one| is_there(&one.path.to_string())))
}

/// The role with this name.
pub(super) fn role(word: &str) -> Result<Role, Failure> {
    Role::ALL.into_iter().find(|role| role.name() == word).ok_or_else(|| {
        let names = Role::ALL.map(|role| role.name().to_owned());
        let failure = Failure::usage(format!("there is no role `{word}`"));
        match nearest(word, names) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => {
                failure.hint("roles: viewer, operator, editor, admin, each may do more than the one before")
            }
        }
    })
}

fn table(members: &[Entry]) -> Table {
    Table::new(COLUMNS, "no members; `mainspring member set WHO ROLE` makes one").rows(members.iter().map(
        |member| {
            let place = member.namespace.as_ref().map_or_else(|| "everywhere".into(), ToString::to_string);
            Row::new(&member.subject)
                .cell(&member.subject)
                .cell(member.role.name())
                .cell(place)
                .cell(member.granted_at)
                .cell(&member.granted_by)
        },
    ))
}
