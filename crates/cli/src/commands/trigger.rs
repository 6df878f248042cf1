//! `mainspring trigger`: what fires by itself, when, and what became of it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use mainspring_client::api::{Occurrence, OccurrenceOutcome, PreviewRequest, Time, Trigger as Standing};
use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;
use crate::flag;
use crate::language::in_words;
use crate::output::{BAD, Column, DIM, GOOD, Row, Table, WARN, clock, span};

/// What `trigger` takes.
#[derive(Debug, Args)]
pub(crate) struct Trigger {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List triggers and when they fire next
    List {
        /// Only those of this job
        job: Option<String>,
        /// In every namespace, whatever the settings say
        #[arg(short = 'A', long)]
        all_namespaces: bool,
        /// How many at most
        #[arg(long, default_value_t = 500, value_parser = flag::at_least_one)]
        limit: usize,
    },
    /// Show the next moments of a trigger, of a job or only thought of
    #[command(after_help = "Examples:\n  mainspring trigger preview report nightly\n  \
                            mainspring trigger preview --cron '0 3 * * MON-FRI' --zone Europe/Berlin --count 5")]
    Preview {
        /// The job
        #[arg(required_unless_present_any = ["cron", "every"])]
        job: Option<String>,
        /// The trigger; may be left out when the job has one
        trigger: Option<String>,
        /// An expression instead of a job
        #[arg(long, conflicts_with_all = ["job", "every"], value_name = "EXPRESSION")]
        cron: Option<String>,
        /// An interval instead of a job
        #[arg(long, conflicts_with = "job", value_name = "DURATION")]
        every: Option<String>,
        /// Where the wall clock of `--cron` is read
        #[arg(long, requires = "cron")]
        zone: Option<String>,
        /// How many moments
        #[arg(long, default_value_t = 10)]
        count: u16,
        /// Moments after this, such as 2027-03-27T00:00:00Z; without it, from now on
        #[arg(long, value_name = "TIME")]
        after: Option<Time>,
    },
    /// Show what became of planned moments, the newest first
    History {
        #[command(flatten)]
        which: Which,
        /// How many at most
        #[arg(long, default_value_t = 50, value_parser = flag::at_least_one)]
        limit: usize,
    },
    /// Let a trigger fire no more
    Pause {
        #[command(flatten)]
        which: Which,
        /// Why, for those who come after
        #[arg(short, long, default_value = "")]
        message: String,
    },
    /// Let a paused trigger go on; moments that passed go by its misfire policy
    Resume {
        #[command(flatten)]
        which: Which,
        /// Why, for those who come after
        #[arg(short, long, default_value = "")]
        message: String,
    },
    /// Fire a trigger now, whatever the clock says
    Fire {
        #[command(flatten)]
        which: Which,
    },
    /// Make the token with which a webhook is called, and print where to call, once; the token before is void
    #[command(
        after_help = "Callers send `POST` to the URL, with a JSON body, a form or nothing. Where the trigger asks for a \
                            signature, they sign with the secret: HMAC-SHA256 of the body.\n\n\
                            Example: mainspring trigger token deploy push"
    )]
    Token {
        #[command(flatten)]
        which: Which,
        /// Only revoke the token that there is
        #[arg(long)]
        revoke: bool,
        /// Callers sign with the secret in this file, which ends at the line's end; without it, a secret is made
        #[arg(long, value_name = "FILE", conflicts_with = "revoke")]
        secret_file: Option<PathBuf>,
    },
    /// Have a trigger go on from another moment: the time machine
    #[command(
        after_help = "Moments between there and now go by the trigger's misfire policy. What has fired does not \
                            fire again"
    )]
    Cursor {
        /// The job
        job: String,
        /// The trigger
        trigger: String,
        /// The moment, such as 2026-11-15T00:00:00Z
        at: Time,
    },
}

/// Which trigger.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// The job
    pub(super) job: String,
    /// The trigger; may be left out when the job has one
    trigger: Option<String>,
}

const TRIGGERS: &[Column] = &[
    Column::name("JOB"),
    Column::always("TRIGGER"),
    Column::free("WHEN"),
    Column::always("NEXT"),
    Column::always("IN"),
    Column::always("STATE"),
    Column::always("FIRED"),
    Column::wide("NAMESPACE"),
    Column::wide("LAST RUN"),
    Column::wide("CURSOR"),
];
const OCCURRENCES: &[Column] = &[
    Column::always("PLANNED"),
    Column::always("OUTCOME"),
    Column::always("LATE"),
    Column::always("RUN"),
    Column::free("WHY"),
];
const MOMENTS: &[Column] =
    &[Column::always("LOCAL"), Column::always("UTC"), Column::always("IN"), Column::free("NOTE")];

impl Trigger {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let namespace = context.namespace();
        match self.verb {
            Verb::List { job, all_namespaces, limit } => {
                let pages = match &job {
                    Some(job) => context.client.job_triggers(namespace, job),
                    None => context.client.triggers(namespace.filter(|_| !all_namespaces)),
                };
                let triggers = pages.take(limit).await?;
                context.output.list(&triggers, || table(&triggers))?;
            }
            Verb::Preview { job, trigger, cron, every, zone, count, after } => {
                let mut of = (None, None);
                let mut written = match (job, cron, every) {
                    (Some(job), ..) => {
                        let found = Which { job, trigger }.find(context).await?;
                        of = (Some(found.namespace), Some(found.job_name));
                        found.spec
                    }
                    (None, Some(cron), _) => json!({"cron": cron}),
                    (None, None, every) => json!({"every": every}),
                };
                if let Some(zone) = zone {
                    written["zone"] = zone.into();
                }
                let (trigger, (namespace, job)) = (written.to_string(), of);
                preview(context, &PreviewRequest { trigger, namespace, job, after, count: Some(count) })
                    .await?;
            }
            Verb::History { which, limit } => {
                let name = which.name(context).await?;
                let lines = context.client.trigger_history(namespace, &which.job, &name).take(limit).await?;
                context.output.list(&lines, || history(&lines))?;
            }
            Verb::Pause { which, message } => {
                let name = which.name(context).await?;
                let trigger = context.client.pause_trigger(namespace, &which.job, &name, &message).await?;
                context.output.changed(&trigger)?;
                let job = &which.job;
                context.output.say(format!(
                    "{job}/{name} fires no more; `mainspring trigger resume {job} {name}` lets it go on"
                ));
            }
            Verb::Resume { which, message } => {
                let name = which.name(context).await?;
                let trigger = context.client.resume_trigger(namespace, &which.job, &name, &message).await?;
                context.output.changed(&trigger)?;
                context.output.say(format!("{}/{name} goes on{}", which.job, next(&trigger)));
            }
            Verb::Fire { which } => {
                let name = which.name(context).await?;
                let made = context.client.fire_trigger(namespace, &which.job, &name).await?;
                context.output.one(&made, || made.id.to_string())?;
                context.output.say(format!("`mainspring logs -f {}` follows it", made.id));
            }
            Verb::Token { which, revoke: true, .. } => {
                let name = which.name(context).await?;
                context.client.revoke_hook_token(namespace, &which.job, &name).await?;
                context.output.say(format!("the token of {}/{name} is revoked", which.job));
            }
            Verb::Token { which, secret_file, .. } => {
                let name = which.name(context).await?;
                let secret = secret_file.as_deref().map(secret).transpose()?;
                let made = context.client.create_hook_token(namespace, &which.job, &name, secret).await?;
                let url = format!("{}{}", context.client.url().trim_end_matches('/'), made.path);
                context.output.one(&made, || format!("url     {url}\nsecret  {}", made.secret))?;
                context.output.say("keep both now: they are not shown again");
            }
            Verb::Cursor { job, trigger, at } => {
                let moved = context.client.move_trigger(namespace, &job, &trigger, at).await?;
                context.output.changed(&moved)?;
                context.output.say(format!(
                    "{job}/{trigger} goes on from {at}; `mainspring trigger list {job}` shows when it fires next"
                ));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Which {
    /// The trigger's name: the one that was given, or the only one.
    pub(super) async fn name(&self, context: &Context) -> Result<String, Failure> {
        match &self.trigger {
            Some(name) => Ok(name.clone()),
            None => Ok(self.find(context).await?.name),
        }
    }

    async fn find(&self, context: &Context) -> Result<Standing, Failure> {
        let (client, namespace) = (&context.client, context.namespace());
        if let Some(name) = &self.trigger {
            return Ok(client.trigger(namespace, &self.job, name).await?);
        }
        let mut triggers = client.job_triggers(namespace, &self.job).take(1_000).await?;
        match triggers.len() {
            0 => Err(Failure::usage(format!("{} has no trigger; give it one under `triggers`", self.job))),
            1 => Ok(triggers.remove(0)),
            _ => {
                let names: Vec<&str> = triggers.iter().map(|trigger| trigger.name.as_str()).collect();
                Err(Failure::usage(format!(
                    "{} has several triggers: {}; name one",
                    self.job,
                    names.join(", ")
                )))
            }
        }
    }
}

/// The secret in a file.
fn secret(file: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", file.display())))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

async fn preview(context: &Context, request: &PreviewRequest) -> Result<(), Failure> {
    let preview = context.client.preview_trigger(request).await?;
    let now = clock();
    context.output.say(in_words(&preview.description));
    context.output.list(&preview.moments, || {
        Table::new(MOMENTS, "nothing is planned").rows(preview.moments.iter().map(|moment| {
            Row::new(moment.at)
                .cell(&moment.local)
                .cell(short(moment.at))
                .cell(span(moment.at.0.since(now)))
                .styled(&moment.note, WARN)
        }))
    })
}

fn table(triggers: &[Standing]) -> Table {
    let now = clock();
    Table::new(TRIGGERS, "no triggers; a job file has them under `triggers`").rows(triggers.iter().map(
        |trigger| {
            let (state, style) = match &trigger.pause {
                Some(_) => ("paused", WARN),
                None if trigger.job_pause.is_some() => ("job paused", WARN),
                None if !trigger.missing_jobs.is_empty() => ("no job", BAD),
                None if trigger.next.is_none()
                    && trigger.spec.get("cron").or(trigger.spec.get("every")).is_some() =>
                {
                    ("over", DIM)
                }
                None if has_fired_enough(trigger) => ("over", DIM),
                None if trigger.waits_for.is_some() => ("waits", WARN),
                None => ("active", GOOD),
            };
            let is_held = trigger.pause.is_some() || trigger.job_pause.is_some();
            let next = trigger.fires_at.filter(|_| !is_held);
            let due = match &trigger.waits_for {
                _ if !trigger.missing_jobs.is_empty() => {
                    format!("there is no {}", trigger.missing_jobs.join(", "))
                }
                Some(job) => format!("when {job} succeeded"),
                None => next.map(|next| span(next.0.since(now))).unwrap_or_default(),
            };
            Row::new(format!("{}/{}", trigger.job_name, trigger.name))
                .cell(&trigger.job_name)
                .cell(&trigger.name)
                .cell(in_words(&trigger.description))
                .cell(next.map(short).unwrap_or_default())
                .cell(due)
                .styled(state, style)
                .cell(trigger.fired)
                .cell(&trigger.namespace)
                .cell(trigger.last_run.map(|run| run.to_string()).unwrap_or_default())
                .cell(short(trigger.cursor))
        },
    ))
}

/// Whether a webhook fired as often as it may: no next moment says so.
fn has_fired_enough(trigger: &Standing) -> bool {
    let count = trigger.spec.get("count").and_then(serde_json::Value::as_u64);
    trigger.spec.get("webhook").is_some() && count.is_some_and(|count| trigger.fired >= count)
}

fn history(lines: &[Occurrence]) -> Table {
    Table::new(OCCURRENCES, "nothing was planned yet").rows(lines.iter().map(|line| {
        let style = match line.outcome {
            OccurrenceOutcome::Fired => GOOD,
            OccurrenceOutcome::Merged => DIM,
            OccurrenceOutcome::Skipped => WARN,
            OccurrenceOutcome::Missed => BAD,
        };
        let planned = match line.through {
            Some(through) => format!("{} to {}", short(line.planned), short(through)),
            None => short(line.planned),
        };
        let outcome = match (line.through, line.count) {
            (None, _) => line.outcome.name().to_owned(),
            (Some(_), Some(count)) => format!("{} × {count}", line.outcome.name()),
            (Some(_), None) => format!("{} × many", line.outcome.name()),
        };
        Row::new(line.planned)
            .cell(planned)
            .styled(outcome, style)
            .cell(span(std::time::Duration::from_millis(line.late_ms)))
            .cell(line.run.map(|run| run.to_string()).unwrap_or_default())
            .cell(match line.backfill {
                Some(backfill) if line.reason.is_empty() => backfill.to_string(),
                _ => line.reason.clone(),
            })
    }))
}

/// A moment to the second.
pub(super) fn short(at: Time) -> String {
    let text = at.to_string();
    match text.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => text,
    }
}

fn next(trigger: &Standing) -> String {
    trigger.fires_at.map(|at| format!("; it fires next at {}", short(at))).unwrap_or_default()
}
