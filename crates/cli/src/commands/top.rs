//! `mainspring top`: nodes and runs as they are now, in the terminal.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use mainspring_client::api::{Cluster, Node, NodeState, Run};
use mainspring_client::{RunsQuery, Watch, WatchQuery};
use mainspring_model::RunState;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Paragraph, Row, Table};
use tokio::sync::mpsc;

use super::nodes::running;
use super::runs::{took, why};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{age, bytes, clock, count, data_is_coloured};

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

/// What is on the screen.
#[derive(Default)]
struct View {
    seen: Seen,
    active_only: bool,
    trouble: Option<String>,
}

/// What the server said.
#[derive(Default)]
struct Seen {
    cluster: Option<Cluster>,
    nodes: Vec<Node>,
    runs: Vec<Run>,
}

impl Top {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        if !std::io::stdout().is_terminal() {
            return Err(
                Failure::usage("`top` needs a terminal").hint("`mainspring runs --watch` works in a pipe")
            );
        }
        // The first look happens before the screen is taken, so that a refusal is read in peace.
        let seen = look(context, true).await?;
        let mut view = View { seen, active_only: true, trouble: None };
        let (keys, pressed) = mpsc::unbounded_channel();
        let mut terminal = ratatui::try_init()?;
        std::thread::spawn(move || {
            while let Ok(event) = event::read() {
                if keys.send(event).is_err() {
                    break;
                }
            }
        });
        let coloured = data_is_coloured();
        let draw = |view: &View| {
            terminal.draw(|frame| {
                view.draw(frame, context.client.url());
                if !coloured {
                    bleach(frame);
                }
            })?;
            Ok(())
        };
        let done = live(context, &mut view, Keys(pressed), draw).await;
        ratatui::restore();
        done.map(|()| ExitCode::SUCCESS)
    }
}

/// What the person wants.
enum Wish {
    Quit,
    /// Active runs only, or all.
    Toggle,
    Redraw,
}

struct Keys(mpsc::UnboundedReceiver<Event>);

impl Keys {
    /// The next wish. A terminal that is gone wants an end.
    async fn next(&mut self) -> Wish {
        loop {
            match self.0.recv().await {
                Some(Event::Key(key)) => match key.code {
                    KeyCode::Char('q') | KeyCode::Esc => return Wish::Quit,
                    KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return Wish::Quit,
                    KeyCode::Char('a') => return Wish::Toggle,
                    _ => {}
                },
                Some(Event::Resize(..)) => return Wish::Redraw,
                Some(_) => {}
                None => return Wish::Quit,
            }
        }
    }
}

/// Until the person ends it. Keys are heard at every moment: a server that hangs must not keep the person.
async fn live(
    context: &Context,
    view: &mut View,
    mut keys: Keys,
    mut draw: impl FnMut(&View) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let namespace = context.namespace().map(str::to_owned);
    let mut news = context.client.watch(&WatchQuery { namespace, ..WatchQuery::default() });
    loop {
        draw(view)?;
        tokio::select! {
            wish = keys.next() => match wish {
                Wish::Quit => return Ok(()),
                Wish::Toggle => view.active_only = !view.active_only,
                Wish::Redraw => continue,
            },
            () = settled(&mut news) => {}
            () = tokio::time::sleep(REDRAW_EVERY) => {}
        }
        let looking = look(context, view.active_only);
        tokio::pin!(looking);
        loop {
            tokio::select! {
                wish = keys.next() => match wish {
                    Wish::Quit => return Ok(()),
                    Wish::Toggle => {
                        view.active_only = !view.active_only;
                        looking.set(look(context, view.active_only));
                    }
                    Wish::Redraw => draw(view)?,
                },
                seen = &mut looking => {
                    match seen {
                        Ok(seen) => (view.seen, view.trouble) = (seen, None),
                        Err(failure) => view.trouble = Some(failure.message),
                    }
                    break;
                }
                () = tokio::time::sleep(REDRAW_EVERY) => {
                    view.trouble = Some("the server does not answer; waiting".to_owned());
                    draw(view)?;
                }
            }
        }
    }
}

/// Returns when there are news, and no more at once; never while there can be none.
async fn settled(news: &mut Watch) {
    if news.next().await.is_err() {
        return std::future::pending().await;
    }
    let rest = async { while news.next().await.is_ok() {} };
    let _ = tokio::time::timeout(SETTLE, rest).await;
}

async fn look(context: &Context, active_only: bool) -> Result<Seen, Failure> {
    let query = RunsQuery {
        namespace: context.namespace().map(str::to_owned),
        q: active_only.then(|| "state:active".to_owned()),
        page_size: Some(RUNS_MAX),
    };
    let runs = context.client.runs(&query).take(RUNS_MAX).await?;
    // A person with a role in one namespace alone sees no nodes; that is no reason to see no runs.
    let nodes = present(context.client.nodes(None, None).all().await.unwrap_or_default());
    Ok(Seen { runs, nodes, cluster: context.client.cluster().await.ok() })
}

/// Takes the colours away; what is bold or dim stays so.
fn bleach(frame: &mut Frame<'_>) {
    for cell in &mut frame.buffer_mut().content {
        (cell.fg, cell.bg) = (Color::Reset, Color::Reset);
    }
}

impl View {
    fn draw(&self, frame: &mut Frame<'_>, url: &str) {
        let nodes_height = u16::try_from(self.seen.nodes.len()).unwrap_or(u16::MAX).clamp(1, 8) + 2;
        let [head, nodes, runs, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(nodes_height),
            Constraint::Min(3),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        frame.render_widget(Paragraph::new(self.headline(url)), head);
        frame.render_widget(self.nodes(nodes.width), nodes);
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
        let cells = self.seen.cluster.iter().flat_map(|cluster| &cluster.cells);
        let (waiting, running) = cells.fold((0, 0), |(waiting, running), cell| {
            (waiting + cell.waiting.unwrap_or(0), running + cell.running.unwrap_or(0))
        });
        let members = self.seen.cluster.as_ref().map_or(0, |cluster| cluster.members.len());
        Line::from(vec![
            Span::styled("Mainspring ", Style::new().add_modifier(Modifier::BOLD)),
            Span::raw(format!(
                "{url}   {running} running, {waiting} waiting, {}, {}",
                count(self.seen.nodes.len(), "node"),
                count(members, "scheduler")
            )),
        ])
    }

    fn nodes(&self, width: u16) -> Table<'_> {
        let now = clock();
        let rows = self.seen.nodes.iter().map(|node| {
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
        // Names give way first: a size without its unit is a lie.
        let rest = [10, 10, 10, 6, 10, 5];
        let name = width.saturating_sub(rest.iter().sum::<u16>() + 6).clamp(8, 24);
        let widths = std::iter::once(name).chain(rest).map(Constraint::Length);
        Table::new(rows, widths)
            .header(heading(["NODE", "POOL", "STATE", "RUNNING", "CPU", "MEMORY", "SEEN"]))
            .block(Block::new())
    }

    /// Where there is little room, ids are told by their ends, and then whatever else a person can do without is left out.
    fn runs(&self, width: u16) -> Table<'_> {
        let now = clock();
        let (short, few) = (width < WHOLE_IDS_WIDTH, width < ALL_COLUMNS_WIDTH);
        let rows = self.seen.runs.iter().map(|run| {
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
    nodes.retain(|node| node.state != NodeState::Left);
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
        let seen = Seen { runs: vec![serde_json::from_value(run).unwrap()], ..Seen::default() };
        let view = View { seen, ..View::default() };
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
        let seen = Seen { cluster: Some(cluster), nodes, ..Seen::default() };
        check(&View { seen, ..View::default() }, "1 node, 1 scheduler");
    }

    #[test]
    fn a_size_keeps_its_unit_and_colours_can_be_taken_away() {
        let time = "2026-01-01T00:00:00Z";
        let node = json!({
            "id": "node_01hf7yat00000000000000000a", "name": "a-machine-with-a-long-name", "pool": "default",
            "cell": 0, "state": "lost", "labels": {}, "capacity": {}, "slots": 128, "weight": 1, "revision": 1,
            "joined_at": time, "updated_at": time, "running": 128, "memory_used_bytes": 1_000_000_000,
        });
        let seen = Seen { nodes: vec![serde_json::from_value(node).unwrap()], ..Seen::default() };
        let view = View { seen, ..View::default() };
        let mut terminal = Terminal::new(TestBackend::new(80, 8)).unwrap();
        terminal.draw(|frame| view.draw(frame, "http://h")).unwrap();
        let screen = terminal.backend().to_string();
        assert!(screen.contains("128 of 128") && screen.contains("953.7 MiB"), "{screen}");
        let is_coloured = |terminal: &Terminal<TestBackend>| {
            terminal.backend().buffer().content.iter().any(|cell| cell.fg != Color::Reset)
        };
        assert!(is_coloured(&terminal));
        let draw = |frame: &mut Frame<'_>| {
            view.draw(frame, "http://h");
            bleach(frame);
        };
        terminal.draw(draw).unwrap();
        assert!(!is_coloured(&terminal));
    }

    #[tokio::test]
    async fn it_ends_while_the_server_hangs() {
        // Connections are made, and nobody ever answers.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let context = Context::of(&format!("http://{}", silent.local_addr().unwrap()));
        for last in [KeyCode::Char('q'), KeyCode::Char('c')] {
            let (keys, pressed) = mpsc::unbounded_channel();
            let mut view = View::default();
            // A wish for other runs makes it look; once it looks, the end is wished for.
            let looks = std::cell::Cell::new(0);
            let draw = |_: &View| {
                let key = if looks.replace(looks.get() + 1) == 0 { KeyCode::Char('a') } else { last };
                let modifiers = KeyModifiers::CONTROL;
                keys.send(Event::Key(event::KeyEvent::new(key, modifiers))).unwrap();
                Ok(())
            };
            let ended = live(&context, &mut view, Keys(pressed), draw);
            let ended = tokio::time::timeout(Duration::from_secs(600), ended).await;
            ended.expect("the key is heard").unwrap();
            assert!(view.trouble.is_some(), "it was looking");
        }
    }
}
