//! `mainspring top`: nodes and runs as they are now, in the terminal.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use mainspring_client::api::{Cluster, Node, Run};
use mainspring_client::{RunsQuery, WatchQuery};
use mainspring_model::RunState;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Paragraph, Row, Table};
use ratatui::{DefaultTerminal, Frame};
use tokio::sync::mpsc;

use super::nodes::running;
use super::runs::{took, why};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{age, bytes, clock, count};

/// What `top` takes.
#[derive(Debug, Args)]
#[command(after_help = "Keys: q ends it, a shows active runs only or all")]
pub(crate) struct Top {}

/// News that come together are drawn together.
const SETTLE: Duration = Duration::from_millis(250);
/// Loads and ages change without news.
const REDRAW_EVERY: Duration = Duration::from_secs(2);
const RUNS_MAX: usize = 200;
/// From this width on, ids of runs are whole.
const WHOLE_IDS_WIDTH: u16 = 97;
/// From this width on, every column is there.
const ALL_COLUMNS_WIDTH: u16 = 75;

#[derive(Default)]
struct View {
    cluster: Option<Cluster>,
    nodes: Vec<Node>,
    runs: Vec<Run>,
    active_only: bool,
    trouble: Option<String>,
}

impl Top {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        if !std::io::stdout().is_terminal() {
            return Err(
                Failure::usage("`top` needs a terminal").hint("`mainspring runs --watch` works in a pipe")
            );
        }
        // The first look happens before the screen is taken, so that a refusal is read in peace.
        let mut view = View { active_only: true, ..View::default() };
        view.look(context).await?;
        let mut terminal = ratatui::try_init()?;
        let done = live(context, &mut view, &mut terminal).await;
        ratatui::restore();
        done.map(|()| ExitCode::SUCCESS)
    }
}

async fn live(context: &Context, view: &mut View, terminal: &mut DefaultTerminal) -> Result<(), Failure> {
    let (keys, mut pressed) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        while let Ok(event) = event::read() {
            if keys.send(event).is_err() {
                break;
            }
        }
    });
    let namespace = context.namespace().map(str::to_owned);
    let mut news = context.client.watch(&WatchQuery { namespace, ..WatchQuery::default() });
    loop {
        terminal.draw(|frame| view.draw(frame, context.client.url()))?;
        tokio::select! {
            key = pressed.recv() => match key {
                Some(Event::Key(key)) => match key.code {
                    KeyCode::Char('q') | KeyCode::Esc => return Ok(()),
                    KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return Ok(()),
                    KeyCode::Char('a') => view.active_only = !view.active_only,
                    _ => continue,
                },
                Some(_) => continue,
                None => return Ok(()),
            },
            event = news.next() => {
                if event.is_ok() {
                    let settled = async { while news.next().await.is_ok() {} };
                    let _ = tokio::time::timeout(SETTLE, settled).await;
                } else {
                    tokio::time::sleep(REDRAW_EVERY).await;
                }
            }
            () = tokio::time::sleep(REDRAW_EVERY) => {}
        }
        view.trouble = view.look(context).await.err().map(|failure| failure.message);
    }
}

impl View {
    async fn look(&mut self, context: &Context) -> Result<(), Failure> {
        let query = RunsQuery {
            namespace: context.namespace().map(str::to_owned),
            q: self.active_only.then(|| "state:active".to_owned()),
            page_size: Some(RUNS_MAX),
        };
        self.runs = context.client.runs(&query).take(RUNS_MAX).await?;
        // A person with a role in one namespace alone sees no nodes; that is no reason to see no runs.
        self.nodes = present(context.client.nodes(None, None).all().await.unwrap_or_default());
        self.cluster = context.client.cluster().await.ok();
        Ok(())
    }

    fn draw(&self, frame: &mut Frame<'_>, url: &str) {
        let nodes_height = u16::try_from(self.nodes.len()).unwrap_or(u16::MAX).clamp(1, 8) + 2;
        let [head, nodes, runs, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(nodes_height),
            Constraint::Min(3),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        frame.render_widget(Paragraph::new(self.headline(url)), head);
        frame.render_widget(self.nodes(), nodes);
        frame.render_widget(self.runs(runs.width), runs);
        let foot_text = match &self.trouble {
            Some(trouble) => Line::styled(trouble.clone(), Style::new().fg(Color::Red)),
            None => {
                let what = if self.active_only { "all runs" } else { "active runs only" };
                Line::styled(format!("q quit   a {what}"), Style::new().add_modifier(Modifier::DIM))
            }
        };
        frame.render_widget(Paragraph::new(foot_text), foot);
    }

    fn headline(&self, url: &str) -> Line<'static> {
        let cells = self.cluster.iter().flat_map(|cluster| &cluster.cells);
        let (waiting, running) = cells.fold((0, 0), |(waiting, running), cell| {
            (waiting + cell.waiting.unwrap_or(0), running + cell.running.unwrap_or(0))
        });
        let members = self.cluster.as_ref().map_or(0, |cluster| cluster.members.len());
        Line::from(vec![
            Span::styled("Mainspring ", Style::new().add_modifier(Modifier::BOLD)),
            Span::raw(format!(
                "{url}   {running} running, {waiting} waiting, {}, {}",
                count(self.nodes.len(), "node"),
                count(members, "scheduler")
            )),
        ])
    }

    fn nodes(&self) -> Table<'_> {
        let now = clock();
        let rows = self.nodes.iter().map(|node| {
            let used =
                node.cpu_used_milli.map_or_else(String::new, |milli| format!("{:.1}", milli as f64 / 1000.0));
            let memory = node.memory_used_bytes.map_or_else(String::new, bytes);
            let color = match super::nodes::state(node).0 {
                "up" => Color::Green,
                "lost" => Color::Red,
                _ => Color::Yellow,
            };
            Row::new(vec![
                Cell::from(node.name.as_str()),
                Cell::from(node.pool.as_str()),
                Cell::from(super::nodes::state(node).0.to_owned()).style(Style::new().fg(color)),
                Cell::from(running(node)),
                Cell::from(used),
                Cell::from(memory),
                Cell::from(node.seen_at.map(|at| age(at.0, now)).unwrap_or_default()),
            ])
        });
        let widths = [24, 12, 11, 12, 6, 12, 6].map(Constraint::Length);
        Table::new(rows, widths)
            .header(heading(["NODE", "POOL", "STATE", "RUNNING", "CPU", "MEMORY", "SEEN"]))
            .block(Block::new())
    }

    /// Where there is little room, ids are told by their ends, and then whatever else a person can do without is left out.
    fn runs(&self, width: u16) -> Table<'_> {
        let now = clock();
        let (short, few) = (width < WHOLE_IDS_WIDTH, width < ALL_COLUMNS_WIDTH);
        let rows = self.runs.iter().map(|run| {
            let id = run.id.to_string();
            let mut cells = vec![
                Cell::from(if short { end_of(&id) } else { id }),
                Cell::from(run.job_name.clone().unwrap_or_default()),
                Cell::from(run.state.name()).style(Style::new().fg(state_color(run.state))),
                Cell::from(age(run.created_at.0, now)),
            ];
            if !few {
                cells.extend([Cell::from(took(run)), Cell::from(why(run))]);
            }
            Row::new(cells)
        });
        let id = Constraint::Length(if short { 9 } else { 31 });
        let [job, state, age, took] = [24, 13, 6, 8].map(Constraint::Length);
        if few {
            return Table::new(rows, [id, Constraint::Fill(1), state, age])
                .header(heading(["RUN", "JOB", "STATE", "AGE"]));
        }
        Table::new(rows, [id, job, state, age, took, Constraint::Min(10)])
            .header(heading(["RUN", "JOB", "STATE", "AGE", "TOOK", "WHY"]))
    }
}

/// Those that have not left.
fn present(mut nodes: Vec<Node>) -> Vec<Node> {
    nodes.retain(|node| node.state != "left");
    nodes
}

/// The end of an id: its beginning is the time, and much the same for all that is seen at once.
fn end_of(id: &str) -> String {
    format!("…{}", &id[id.len().saturating_sub(8)..])
}

fn heading<const N: usize>(words: [&'static str; N]) -> Row<'static> {
    Row::new(words).style(Style::new().add_modifier(Modifier::BOLD))
}

const fn state_color(state: RunState) -> Color {
    match state {
        RunState::Ready => Color::DarkGray,
        RunState::Waiting => Color::Yellow,
        RunState::Running => Color::Cyan,
        RunState::Success => Color::Green,
        RunState::Failed | RunState::FinalFailed => Color::Red,
        RunState::Cancelled | RunState::Skipped => Color::Magenta,
    }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use serde_json::json;

    use super::*;

    fn check(width: u16, there: &[&str], absent: &[&str]) {
        let (id, job) = ("run_01hf7yat00000000000000000a", "job_00000000000000000000000001");
        let run = json!({
            "id": id, "namespace": "default", "job": job, "job_name": "etl", "job_version": 1, "ad_hoc": true,
            "state": "final_failed", "version": 1, "attempt": 2, "attempts_max": 4, "losses": 0, "priority": 0,
            "submitted_by": "ann", "created_at": "2026-01-01T00:00:00Z",
        });
        let view = View { runs: vec![serde_json::from_value(run).unwrap()], ..View::default() };
        let mut terminal = Terminal::new(TestBackend::new(width, 8)).unwrap();
        terminal.draw(|frame| view.draw(frame, "http://h")).unwrap();
        let screen = terminal.backend().to_string();
        there.iter().for_each(|words| assert!(screen.contains(words), "`{words}` is missing in {screen}"));
        absent.iter().for_each(|words| assert!(!screen.contains(words), "`{words}` is in {screen}"));
    }

    #[test]
    fn runs_are_told_apart_on_any_screen() {
        check(120, &["run_01hf7yat00000000000000000a", "etl", "final_failed", "WHY"], &[]);
        check(80, &["…0000000a ", "etl", "final_failed", "WHY"], &["run_0"]);
        check(40, &["…0000000a ", "etl", "final_failed", "AGE"], &["run_0", "WHY"]);
    }

    #[test]
    fn one_of_a_kind_is_one() {
        let check = |view: &View, end: &str| {
            let words = view.headline("u").to_string();
            assert!(words.ends_with(end), "{words}");
        };
        check(&View::default(), "0 nodes, 0 schedulers");
        let time = "2026-01-01T00:00:00Z";
        let id = "mem_01hf7yat00000000000000000a";
        let member = json!({ "id": id, "address": "", "seen_at": time, "load": 0, "software": "0" });
        let cluster = json!({ "software": "0", "now": time, "members": [member], "cells": [] });
        let node = |state: &str| {
            let node = json!({
                "id": "node_01hf7yat00000000000000000a", "name": "a", "pool": "default", "cell": 0, "state": state,
                "labels": {}, "capacity": {}, "slots": 1, "weight": 1, "revision": 1, "joined_at": time,
                "updated_at": time,
            });
            serde_json::from_value(node).unwrap()
        };
        let cluster = serde_json::from_value(cluster).unwrap();
        let nodes = present(vec![node("left"), node("up")]);
        check(&View { cluster: Some(cluster), nodes, ..View::default() }, "1 node, 1 scheduler");
    }
}
