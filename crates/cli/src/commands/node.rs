//! `mainspring node`: what is done to nodes. `mainspring nodes` lists them.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use mainspring_client::api::{self, JoinTokenRequest, NodeState};
use mainspring_model::Labels;

use crate::ask::confirm;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{BOLD, Paint, count};

/// What `node` takes.
#[derive(Debug, Args)]
pub(crate) struct Node {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Give a node no more work; what runs may finish
    #[command(after_help = "Example: mainspring node drain worker-1 --patience 30m")]
    Drain {
        /// The node, by name or id
        node: String,
        /// How long what runs may go on before it is moved; without it, 1h
        #[arg(long, value_name = "DURATION")]
        patience: Option<String>,
    },
    /// Give a drained node work again
    Resume {
        /// The node, by name or id
        node: String,
    },
    /// Give up a silent node whose machine is gone: its runs go elsewhere now, not when its lease is over
    #[command(
        after_help = "Only for machines that are off: a task that still executes there would be executed twice.\n\
                            Example: mainspring node lose worker-1"
    )]
    Lose {
        /// The node, by name or id
        node: String,
    },
    /// Take a node's credential: it is not let in again. One that is lost or has left is listed no more
    #[command(name = "rm")]
    Remove {
        /// The nodes, by name or id
        #[arg(required = true, value_name = "NODE")]
        nodes: Vec<String>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Make a token with which one machine joins once
    Token {
        /// Only for this pool
        #[arg(long)]
        pool: Option<String>,
        /// How long it is good for; without it, 1h
        #[arg(long, value_name = "DURATION")]
        ttl: Option<String>,
    },
    /// Lay labels over a node's own; `key-` removes one
    #[command(after_help = "Example: mainspring node label worker-1 zone=eu spot-")]
    Label {
        /// The node, by name or id
        node: String,
        /// `key=value`, or `key-`
        #[arg(required = true, value_name = "LABEL")]
        labels: Vec<String>,
    },
}

impl Node {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        match self.verb {
            Verb::Drain { node, patience } => {
                let patience = patience.as_deref().map(mainspring_model::duration_text::parse).transpose();
                let patience = patience.map_err(|error| Failure::usage(format!("--patience: {error}")))?;
                let drained = context.client.drain_node(context.find_node(&node).await?, patience).await?;
                let until = drained.drain_deadline.map(|at| format!(" until {at}")).unwrap_or_default();
                context.output.say(format!("{} takes no new work; what runs may go on{until}", drained.name));
                context.output.changed(&drained)?;
            }
            Verb::Resume { node } => {
                let node = context.client.resume_node(context.find_node(&node).await?).await?;
                context.output.say(format!("{} takes work again", node.name));
                context.output.changed(&node)?;
            }
            Verb::Lose { node } => {
                let node = context.client.lose_node(context.find_node(&node).await?).await?;
                context.output.say(format!("{} is lost; what it held goes elsewhere", node.name));
                context.output.changed(&node)?;
            }
            Verb::Remove { nodes, yes } => {
                for node in nodes {
                    let id = context.find_node(&node).await?;
                    // One that never connected has no row; its credential goes all the same.
                    if let Some(question) = context.client.node(id).await.ok().as_ref().and_then(question) {
                        confirm(&question, yes)?;
                    }
                    context.client.remove_node(id).await?;
                    let then = match context.client.node(id).await {
                        Ok(_) => "; when it is lost, the same command takes it from the list",
                        Err(_) => " and is listed no more",
                    };
                    context.output.say(format!("{node} is not let in again{then}"));
                }
            }
            Verb::Token { pool, ttl } => {
                let token = context.client.create_join_token(&JoinTokenRequest { pool, ttl }).await?;
                context.output.one(&token, || token.token.clone())?;
                let url = context.client.url().trim_end_matches('/');
                context.output.say(format!(
                    "{} on the machine: MAINSPRING_JOIN_TOKEN={} mainspring agent --server {url}\n\
                     It is good for one node, until {}.",
                    "next:".paint(BOLD),
                    token.token,
                    token.expires_at
                ));
            }
            Verb::Label { node, labels } => {
                let node = context.find_node(&node).await?;
                let before = context.client.node(node).await?;
                let mut assigned = before.assigned_labels.clone();
                for label in &labels {
                    assigned = changed(&assigned, label)?;
                }
                for key in labels.iter().filter_map(|label| own(&before, label)) {
                    context.output.say(format!(
                        "`{key}` is the node's own label and stays; `{key}=VALUE` lays another value over it"
                    ));
                }
                let node = context.client.label_node(node, assigned).await?;
                context.output.say(format!("{}: {}", node.name, super::nodes::labels(&node.labels)));
                context.output.changed(&node)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What is asked before a node is removed; nothing of one that is gone.
fn question(node: &api::Node) -> Option<String> {
    if matches!(node.state, NodeState::Lost | NodeState::Left) {
        return None;
    }
    let silent = if node.connected == Some(false) { ", silent" } else { "" };
    let runs = match node.running {
        Some(0) | None => String::new(),
        Some(running) => format!(" and has {}", count(running, "run")),
    };
    Some(format!(
        "{} is {}{silent}{runs}; it is disconnected and not let in again without a new token. Remove it?",
        node.name,
        node.state.name()
    ))
}

/// The key of a label that is to go although nobody laid it over the node's own.
fn own<'a>(node: &api::Node, change: &'a str) -> Option<&'a str> {
    let key = change.strip_suffix('-').filter(|key| !key.contains('='))?;
    (node.labels.get(key).is_some() && node.assigned_labels.get(key).is_none()).then_some(key)
}

fn changed(labels: &Labels, change: &str) -> Result<Labels, Failure> {
    let wrong = |error: mainspring_model::label::LabelError| Failure::usage(format!("`{change}`: {error}"));
    let (key, value) = match (change.split_once('='), change.strip_suffix('-')) {
        (Some((key, value)), _) => (key, Some(value)),
        (None, Some(key)) => (key, None),
        (None, None) => {
            return Err(Failure::usage(format!("`{change}` is neither `key=value` nor `key-`"))
                .hint(format!("`{change}=VALUE` sets the label, `{change}-` removes it")));
        }
    };
    let mut next = Labels::new();
    for (kept, value) in labels.iter().filter(|(kept, _)| &***kept != key) {
        next.insert(kept, value).map_err(wrong)?;
    }
    if let Some(value) = value {
        next.insert(key, value).map_err(wrong)?;
    }
    Ok(next)
}
