//! `mainspring whoami`: who the server thinks you are, and what you may do.

use std::process::ExitCode;

use clap::Args;

use crate::context::Context;
use crate::failure::Failure;
use crate::output::{BOLD, Paint};

/// What `whoami` takes.
#[derive(Debug, Args)]
pub(crate) struct Whoami {}

impl Whoami {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let me = context.client.me().await?;
        context.output.one(&me, || {
            let mut text = format!("{} at {}\n", (&me.subject).paint(BOLD), context.client.url());
            for grant in &me.grants {
                let namespace = grant.namespace.as_ref();
                let place = namespace.map_or_else(|| "everywhere".to_owned(), |path| format!("in {path}"));
                text.push_str(&format!("  {} {place}\n", grant.role.name()));
            }
            if !me.admins.items.is_empty() {
                let named = me.admins.items.iter().map(|admin| match &admin.namespace {
                    Some(namespace) => format!("{} ({namespace})", admin.subject),
                    None => admin.subject.clone(),
                });
                let more = if me.admins.partial { " and others" } else { "" };
                text.push_str(&format!(
                    "  who can give roles: {}{more}\n",
                    named.collect::<Vec<_>>().join(", ")
                ));
            }
            if let Some(at) = me.expires_at {
                text.push_str(&format!("  the token is good until {at}\n"));
            }
            text
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
