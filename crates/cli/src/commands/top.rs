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
use crate::output::{age, bytes, clock};

/// What `top` takes.
#[derive(Debug, Args)]
#[command(after_help = "Keys: q ends it, a shows active runs only or all")]
pub(crate) struct Top {}

/// News that come together are drawn together.
const SETTLE: Duration = Duration::from_millis(250);
/// Loads and ages change without news.
const REDRAW_EVERY: Duration = Duration::from_secs(2);
const RUNS_MAX: usize = 200;

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
        self.nodes = context.client.nodes(None, None).all().await.unwrap_or_default();
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
        frame.render_widget(self.runs(), runs);
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
                "{url}   {running} running, {waiting} waiting, {} nodes, {members} schedulers",
                self.nodes.len()
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

    fn runs(&self) -> Table<'_> {
        let now = clock();
        let rows = self.runs.iter().map(|run| {
            Row::new(vec![
                Cell::from(run.id.to_string()),
                Cell::from(run.job_name.clone().unwrap_or_default()),
                Cell::from(run.state.name()).style(Style::new().fg(state_color(run.state))),
                Cell::from(age(run.created_at.0, now)),
                Cell::from(took(run)),
                Cell::from(why(run)),
            ])
        });
        let widths = [
            Constraint::Length(31),
            Constraint::Length(24),
            Constraint::Length(13),
            Constraint::Length(6),
            Constraint::Length(8),
            Constraint::Min(10),
        ];
        Table::new(rows, widths).header(heading(["RUN", "JOB", "STATE", "AGE", "TOOK", "WHY"]))
    }
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
