//! `mainspring logs RUN`: what a run wrote; for programs, each line is a line of JSON or a document of YAML.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use mainspring_client::api::{LogLine, LogStream};
use mainspring_client::{LogEvent, LogQuery};
use mainspring_model::RunId;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::task_output::{Tail, TaskOutput};

/// What `logs` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mainspring logs -f run_01…\n  mainspring logs nightly-report --tail 20")]
pub(crate) struct Logs {
    /// The run, by id; or a job's name, for its newest run
    run: String,
    /// Go on until the run has ended
    #[arg(short, long)]
    follow: bool,
    /// Of this attempt; without it, of the current or last
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    attempt: Option<u32>,
    /// Of one stream alone
    #[arg(long, value_enum, value_name = "STREAM")]
    stream: Option<Stream>,
    /// With the time of each line
    #[arg(short, long)]
    timestamps: bool,
    /// Only the last lines
    #[arg(long, value_name = "NUMBER", conflicts_with = "follow", allow_negative_numbers = true)]
    tail: Option<usize>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Stream {
    Stdout,
    Stderr,
    System,
}

impl Logs {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let id = context.find_run(&self.run).await?;
        let stream = self.stream.map(|stream| match stream {
            Stream::Stdout => LogStream::Stdout,
            Stream::Stderr => LogStream::Stderr,
            Stream::System => LogStream::System,
        });
        let query = LogQuery { attempt: self.attempt, stream, ..LogQuery::default() };
        let printer = TaskOutput::new(context.output, self.timestamps);
        let ended = if self.follow {
            follow(context, id, &query, printer).await
        } else {
            self.read(context, id, query, printer).await
        };
        ended.map_err(|failure| match self.attempt {
            Some(_) if failure.exit == Exit::NotFound => {
                failure.hint(format!("`mainspring describe {id}` lists its attempts"))
            }
            _ => failure,
        })
    }

    /// What there is by now.
    async fn read(
        &self,
        context: &Context,
        id: RunId,
        mut query: LogQuery,
        mut printer: TaskOutput,
    ) -> Result<ExitCode, Failure> {
        let mut tail = self.tail.map(Tail::new);
        loop {
            let page = context.client.logs(id, &query).await?;
            // A part may have nothing of the stream that is wanted.
            let at_end = page.next_offset <= query.offset || page.next_offset >= page.length;
            match &mut tail {
                Some(tail) => page.lines.into_iter().for_each(|line| tail.add(line)),
                None => print(context, &mut printer, &page.lines)?,
            }
            query.offset = page.next_offset;
            if at_end {
                break;
            }
        }
        if let Some(tail) = tail {
            print(context, &mut printer, &tail.lines())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Until the run has ended, or the person stops it.
async fn follow(
    context: &Context,
    id: RunId,
    query: &LogQuery,
    printer: TaskOutput,
) -> Result<ExitCode, Failure> {
    // One listener around all of it: a key that is pressed while a line is printed counts too.
    tokio::select! {
        ended = print_to_end(context, id, query, printer) => ended.map(|()| ExitCode::SUCCESS),
        _ = tokio::signal::ctrl_c() => Err(Failure::silent(Exit::Interrupted)),
    }
}

async fn print_to_end(
    context: &Context,
    id: RunId,
    query: &LogQuery,
    mut printer: TaskOutput,
) -> Result<(), Failure> {
    let for_programs = context.output.format.is_for_programs();
    let mut log = context.client.follow_logs(id, query);
    loop {
        match log.next().await? {
            Some(LogEvent::End) | None => return Ok(()),
            Some(LogEvent::Line(line)) if for_programs => context.output.item(&line)?,
            Some(LogEvent::Attempt(_)) if for_programs => {}
            Some(event) => printer.show(&event)?,
        }
    }
}

fn print(context: &Context, printer: &mut TaskOutput, lines: &[LogLine]) -> Result<(), Failure> {
    if context.output.format.is_for_programs() {
        return lines.iter().try_for_each(|line| context.output.item(line));
    }
    printer.print(lines)
}
