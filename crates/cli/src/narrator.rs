//! What a person who waits for a run is told beside its output: how an attempt ended and when the next begins, what a run
//! that does not start waits for, and how far a task says it is.
//!
//! Progress is a bar on a terminal, which gives way to every line that is printed, and nothing elsewhere.

use std::time::Duration;

use indicatif::ProgressBar;
use mainspring_client::api::{Progress, Reason, Run, Why};
use mainspring_model::RunState;
use tokio::time::Instant;

use crate::commands::runs::attempt_of;
use crate::language::{is_in_chinese, message, remedy};
use crate::output::{DIM, Output, Paint, clock, plain, span};

/// How long a run may stay where it is before the person is told what it waits for.
const PATIENCE: Duration = Duration::from_secs(3);

/// One who tells.
pub(crate) struct Narrator {
    output: Output,
    bar: ProgressBar,
    /// The state and the attempt that were seen last.
    place: Option<(RunState, u32)>,
    since: Instant,
    /// Whether all is said about that place.
    told: bool,
}

impl Narrator {
    pub(crate) fn new(output: Output) -> Self {
        let bar = ProgressBar::hidden();
        Self { output, bar, place: None, since: Instant::now(), told: false }
    }

    /// Looks at the run, and tells what is new.
    pub(crate) fn see(&mut self, run: &Run) {
        let place = (run.state, run.attempt);
        if self.place.replace(place) != Some(place) {
            self.since = Instant::now();
            self.told = !matches!(run.state, RunState::Ready | RunState::Waiting);
            if run.state == RunState::Failed {
                failed_attempt(run).iter().for_each(|line| self.say(line));
            }
        }
        match &run.progress {
            Some(progress) if run.state == RunState::Running => self.show(progress),
            _ => self.clear(),
        }
    }

    /// Returns when the run has been where it is for so long that the person wants to know why.
    pub(crate) async fn patience(since: Option<Instant>) {
        match since {
            Some(since) => tokio::time::sleep_until(since + PATIENCE).await,
            None => std::future::pending().await,
        }
    }

    /// Since when the run waits, if the person has not been told why.
    pub(crate) fn waits_since(&self) -> Option<Instant> {
        (!self.told).then_some(self.since)
    }

    /// Tells why the run waits.
    pub(crate) fn explain(&mut self, why: Option<&Why>) {
        self.told = true;
        let Some(why) = why else { return };
        if why.state.is_terminal() || why.state == RunState::Running {
            return;
        }
        // The summary has the next step in it already.
        match &why.reason {
            Some(reason) => in_lines(why.state, reason).iter().for_each(|line| self.say(line)),
            None => self.say(&format!("{}: {}", why.state.name(), why.summary)),
        }
    }

    /// The bar that lines have to get past.
    pub(crate) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    fn say(&self, words: &str) {
        self.bar.suspend(|| self.output.say(plain(words).paint(DIM)));
    }

    fn show(&mut self, progress: &Progress) {
        if self.bar.is_hidden() {
            self.bar = self.output.percent_bar();
        }
        self.bar.set_message(plain(&progress.message));
        self.bar.set_position(percent(progress));
    }

    fn clear(&mut self) {
        self.bar.finish_and_clear();
        self.bar = ProgressBar::hidden();
    }
}

impl Drop for Narrator {
    fn drop(&mut self) {
        self.clear();
    }
}

/// How an attempt ended that is not the last, and what comes next. Each line is in one language, and the server tells a cause
/// in English only.
fn failed_attempt(run: &Run) -> Vec<String> {
    let cause = run.cause.as_ref().map_or("failed", |cause| cause.message.as_str());
    let mut words = format!("attempt {}: {cause}", attempt_of(run));
    let Some(reason) = &run.reason else { return vec![words] };
    let left = reason.until.map(|until| span(until.0.since(clock())));
    if is_in_chinese(reason) {
        let left = left.map(|left| format!("（还有 {left}）")).unwrap_or_default();
        return vec![words, format!("{}{left}", message(reason))];
    }
    let left = left.map(|left| format!(" (in {left})")).unwrap_or_default();
    words.push_str(&format!("; {}{left}", message(reason)));
    vec![words]
}

/// Why a run waits and what to do, each line in one language.
fn in_lines(state: RunState, reason: &Reason) -> [String; 2] {
    if is_in_chinese(reason) {
        let state = match state {
            RunState::Ready => "就绪",
            RunState::Failed => "失败",
            _ => "等待",
        };
        return [format!("{state}：{}", message(reason)), format!("下一步：{}", remedy(reason))];
    }
    [format!("{}: {}", state.name(), message(reason)), format!("next: {}", remedy(reason))]
}

/// How far a task is: `40 % reading`.
pub(crate) fn percentage(progress: &Progress) -> String {
    format!("{} % {}", percent(progress), plain(&progress.message)).trim_end().to_owned()
}

fn percent(progress: &Progress) -> u64 {
    (progress.fraction * 100.0).clamp(0.0, 100.0).round() as u64
}
