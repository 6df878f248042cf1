//! `mainspring token`: API tokens. A secret is shown once, when it is made.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use mainspring_client::api::{CreateToken, Token as Entry, TokenScope};

use super::member::role;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Column, Row, Table};

/// What `token` takes.
#[derive(Debug, Args)]
pub(crate) struct Token {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a token and print its secret, once
    #[command(after_help = "Example: mainspring token create ci --role operator -n acme/data --ttl 30d")]
    Create {
        /// What it is for
        name: String,
        /// Who speaks with it; without it, you
        #[arg(long)]
        subject: Option<String>,
        /// At most this role: viewer, operator, editor, admin; with -n, only there and below
        #[arg(long)]
        role: Option<String>,
        /// How long it is good for; without it, 90 days
        #[arg(long, value_name = "DURATION")]
        ttl: Option<String>,
    },
    /// List tokens
    List {
        /// Everybody's
        #[arg(long)]
        all: bool,
    },
    /// Revoke tokens
    Revoke {
        /// Their ids
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}

const COLUMNS: &[Column] = &[
    Column::always("ID"),
    Column::always("SUBJECT"),
    Column::always("NAME"),
    Column::always("LIMITED TO"),
    Column::always("EXPIRES"),
    Column::wide("MADE"),
    Column::wide("BY"),
];

impl Token {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        match self.verb {
            Verb::Create { name, subject, role: word, ttl } => {
                let namespace = context.namespace().map(str::parse).transpose();
                let namespace = namespace.map_err(|error| Failure::usage(format!("--namespace: {error}")))?;
                let scope = match (word.as_deref(), &namespace) {
                    (None, None) => None,
                    (None, Some(_)) => {
                        return Err(Failure::usage("a namespace without a role limits nothing")
                            .hint("add --role viewer, operator, editor or admin"));
                    }
                    (Some(word), _) => Some(TokenScope { namespace, role: role(word)? }),
                };
                let is_limited = scope.is_some();
                let request = CreateToken { subject, name, scopes: scope.into_iter().collect(), ttl };
                let created = context.client.create_token(&request).await?;
                context.output.one(&created, || created.secret.clone())?;
                context.output.say("keep it now: it is not shown again");
                if is_limited {
                    context.output.say(
                        "--role limits the token and gives nothing: it never may do more than its subject",
                    );
                }
            }
            Verb::List { all } => {
                let tokens = context.client.tokens(all).all().await?;
                context.output.list(&tokens, || table(&tokens))?;
            }
            Verb::Revoke { ids } => {
                for id in ids {
                    context.client.revoke_token(&id).await?;
                    context.output.say(format!("{id} is revoked"));
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn table(tokens: &[Entry]) -> Table {
    Table::new(COLUMNS, "no tokens").rows(tokens.iter().map(|token| {
        let limits: Vec<String> = token
            .scopes
            .iter()
            .map(|scope| {
                let place = scope.namespace.as_ref().map_or_else(|| "everywhere".into(), ToString::to_string);
                format!("{} in {place}", scope.role.name())
            })
            .collect();
        Row::new(&token.id)
            .cell(&token.id)
            .cell(&token.subject)
            .cell(&token.name)
            .cell(limits.join(", "))
            .cell(token.expires_at.map_or_else(|| "never".to_owned(), |at| at.to_string()))
            .cell(token.created_at)
            .cell(&token.created_by)
    }))
}
