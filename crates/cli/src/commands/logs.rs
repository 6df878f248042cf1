//! `mainspring logs RUN`: what a run wrote.

use std::collections::VecDeque;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use mainspring_client::api::LogStream;
use mainspring_client::{LogEvent, LogQuery};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::follow::{LineStyle, print, show};

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
    #[arg(long, value_name = "NUMBER")]
    attempt: Option<u32>,
    /// Of one stream alone
    #[arg(long, value_enum, value_name = "STREAM")]
    stream: Option<Stream>,
    /// With the time of each line
    #[arg(short, long)]
    timestamps: bool,
    /// Only the last lines
    #[arg(long, value_name = "NUMBER", conflicts_with = "follow")]
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
        let style = LineStyle { timestamps: self.timestamps };
        let stream = self.stream.map(|stream| match stream {
            Stream::Stdout => LogStream::Stdout,
            Stream::Stderr => LogStream::Stderr,
            Stream::System => LogStream::System,
        });
        let mut query = LogQuery { attempt: self.attempt, stream, ..LogQuery::default() };
        if self.follow {
            let mut log = context.client.follow_logs(id, &query);
            loop {
                tokio::select! {
                    event = log.next() => match event? {
                        Some(LogEvent::End) | None => return Ok(ExitCode::SUCCESS),
                        Some(event) if context.output.format.is_for_programs() => self.as_json(context, &event)?,
                        Some(event) => show(context.output, &event, style)?,
                    },
                    _ = tokio::signal::ctrl_c() => return Err(Failure::silent(Exit::Interrupted)),
                }
            }
        }
        let mut kept = VecDeque::new();
        loop {
            let page = context.client.logs(id, &query).await?;
            // A part may have nothing of the stream that is wanted.
            let at_end = page.next_offset <= query.offset || page.next_offset >= page.length;
            for line in page.lines {
                if let Some(most) = self.tail {
                    kept.push_back(line);
                    if kept.len() > most {
                        kept.pop_front();
                    }
                } else if context.output.format.is_for_programs() {
                    self.as_json(context, &LogEvent::Line(line))?;
                } else {
                    print(context.output, &line, style)?;
                }
            }
            query.offset = page.next_offset;
            if at_end {
                break;
            }
        }
        kept.iter().try_for_each(|line| print(context.output, line, style))?;
        Ok(ExitCode::SUCCESS)
    }

    /// One JSON object on each line.
    fn as_json(&self, context: &Context, event: &LogEvent) -> Result<(), Failure> {
        match event {
            LogEvent::Line(line) => {
                let line = serde_json::to_string(line).map_err(|error| Failure::failed(error.to_string()))?;
                context.output.line(line)
            }
            LogEvent::Attempt(_) | LogEvent::End => Ok(()),
        }
    }
}
