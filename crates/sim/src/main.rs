//! `mainspring-sim`: a whole cluster in one thread from one seed, and a checker that watches every step.
//!
//! `--seeds N` runs seeds 1..=N and exits non-zero with the seed and a readable story on a violation;
//! `--seed S` replays one, bit by bit the same; `--plant NAME` switches a deliberate bug on, and
//! `--plant all` shows that each is caught.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]
#![allow(missing_docs, reason = "a program, not a library; its modules say what they are for")]

mod agent;
mod backfills;
mod calendars;
mod callers;
mod changes;
mod checker;
mod client;
mod exchange;
mod faults;
mod hosts;
mod jobs;
mod ledgers;
mod makeups;
mod needs;
mod net;
mod operators;
mod overlap;
mod plan;
mod plant;
mod promises;
mod rest;
mod rng;
mod run;
mod scheduler;
mod spoil;
mod store;
mod tally;
mod timed;
mod trace;
mod world;
mod written;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::Parser;

use plan::Plan;
use plant::Plant;
use tally::Tally;

/// Seeds within which every planted bug must be caught.
const CAUGHT_WITHIN: u64 = 200;

/// So many seeds must have seen everything.
const PROVES: u64 = 1_000;

/// Simulates clusters under faults and checks the invariants at every step.
#[derive(Parser)]
struct Args {
    /// How many seeds to run, from 1.
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    /// Replay one seed and print its story.
    #[arg(long)]
    seed: Option<u64>,
    /// Switch a deliberate bug on; `all` tries each; `list` names them.
    #[arg(long)]
    plant: Option<String>,
    /// Print the whole story of `--seed`.
    #[arg(long, short)]
    verbose: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    // A panic of the engine is reported with its seed; the hook's own message would only be noise.
    std::panic::set_hook(Box::new(|_| {}));
    match (args.seed, args.plant.as_deref()) {
        (_, Some("list")) => {
            for plant in Plant::ALL {
                println!("{:<22} {}", plant.name(), plant.what());
            }
            ExitCode::SUCCESS
        }
        (_, Some("all")) => plant_all(),
        (seed, Some(name)) => match Plant::parse(name) {
            Some(plant) => match seed {
                Some(seed) => replay(seed, Some(plant), args.verbose),
                None => show_plant(plant),
            },
            None => {
                eprintln!("there is no plant `{name}`; `--plant list` names them");
                ExitCode::from(2)
            }
        },
        (Some(seed), None) => replay(seed, None, args.verbose),
        (None, None) => run_seeds(args.seeds),
    }
}

/// Runs seeds on every core; answers the first failing seed (the smallest) and the sums.
fn sweep(seeds: u64, plant: Option<Plant>) -> (Option<u64>, Tally) {
    let next = AtomicU64::new(1);
    let failed = AtomicU64::new(u64::MAX);
    let sums = Mutex::new(Tally::default());
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > seeds || seed > failed.load(Ordering::Relaxed) {
                        return;
                    }
                    let ended = run::run(&Plan::new(seed), plant, false);
                    let vacuous = plant.is_none() && ended.tally.vacuous().is_some();
                    if ended.violation.is_some() || vacuous {
                        failed.fetch_min(seed, Ordering::Relaxed);
                    }
                    sums.lock().unwrap_or_else(PoisonError::into_inner).add(&ended.tally);
                }
            });
        }
    });
    let failed = failed.into_inner();
    let sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
    ((failed != u64::MAX).then_some(failed), sums)
}

fn run_seeds(seeds: u64) -> ExitCode {
    let begun = Instant::now();
    let (failed, sums) = sweep(seeds, None);
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "seeds            {:>10}  ({:.1}/s, {:.0} s simulated each)",
        sums.seeds,
        sums.seeds as f64 / seconds,
        sums.virtual_seconds as f64 / sums.seeds.max(1) as f64
    );
    println!("steps            {:>10}", sums.steps);
    println!("tasks executed   {:>10}  ({} continued from a checkpoint)", sums.tasks, sums.continued);
    println!(
        "moments fired    {:>10}  ({} passed, {} lines told anew)",
        sums.firings, sums.passed, sums.anew
    );
    println!("ends followed    {:>10}  ({} runs of delays)", sums.follows, sums.delays);
    println!(
        "triggers         {:>10}  paused, {} paused themselves, {} came to the end of their count",
        sums.trigger_pauses, sums.self_paused, sums.spent
    );
    println!(
        "cursors moved    {:>10}  ({} jobs put anew, {} fired by hand)",
        sums.moves, sums.puts, sums.by_hand
    );
    println!(
        "changes          {:>10}  confirmed by their owner ({} by a later one, {} ends followed)",
        sums.changes_confirmed, sums.changes_outlived, sums.changes_followed
    );
    println!(
        "backfills        {:>10}  ({} stopped, {} moments made up for, {} left alone)",
        sums.backfills, sums.stopped, sums.made_up, sums.left_alone
    );
    println!(
        "deliveries       {:>10}  ({} times answered again, {} times one too many, {} cancelled before they began)",
        sums.calls, sums.calls_repeated, sums.calls_spent, sums.calls_cancelled
    );
    println!(
        "needs            {:>10}  waited for, {} moments fired, {} waited for too long",
        sums.needs_waited, sums.needs_fired, sums.needs_missed
    );
    println!(
        "calendars        {:>10}  changed, {} moments left out, {} fired that another version leaves out",
        sums.calendar_changes, sums.left_out, sums.judged
    );
    println!("poison           {:>10}  moments whose templates could not be rendered", sums.poisoned);
    println!(
        "wall clocks      {:>10}  jumped by a day, {} machines were suspended, {} owners cut off from the store, {} days nobody was there",
        sums.wall_clock_jumps, sums.suspends, sums.stranded, sums.days_asleep
    );
    println!("crowds           {:>10}  of 10,000 triggers", sums.crowds);
    println!("faults injected  {:>10}", sums.faults);
    println!("goodbyes         {:>10}", sums.goodbyes);
    println!("messages lost    {:>10}", sums.dropped);
    println!("fenced writes    {:>10}", sums.fenced);
    println!("takeovers        {:>10}", sums.takeovers);
    println!("unknown commits  {:>10}", sums.unknown);
    println!("acknowledged     {:>9} % at least", sums.acknowledged_percent);
    match failed {
        None if seeds >= PROVES && !sums.unseen().is_empty() => {
            println!("{seeds} seeds prove nothing about: {}", sums.unseen().join(", "));
            ExitCode::FAILURE
        }
        None => {
            println!("violations                0");
            ExitCode::SUCCESS
        }
        Some(seed) => {
            report(seed, None, false);
            ExitCode::FAILURE
        }
    }
}

fn replay(seed: u64, plant: Option<Plant>, verbose: bool) -> ExitCode {
    let plan = Plan::new(seed);
    let (first, again) = (run::run(&plan, plant, verbose), run::run(&plan, plant, false));
    if verbose {
        first.story.iter().for_each(|line| println!("{line}"));
    }
    println!("seed {seed}: {} steps, story {:016x}, {:?}", first.tally.steps, first.hash, first.tally);
    if first.hash != again.hash {
        eprintln!("the same seed told another story: {:016x}", again.hash);
        return ExitCode::FAILURE;
    }
    let vacuous = first.tally.vacuous().filter(|_| plant.is_none());
    if first.violation.is_some() || vacuous.is_some() {
        report(seed, plant, verbose);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Prints a failing seed: its faults, made fewer, and the story of what it is about.
fn report(seed: u64, plant: Option<Plant>, verbose: bool) {
    let plan = Plan::new(seed);
    let ended = run::run(&plan, plant, verbose);
    let Some(violation) = ended.violation else {
        if let Some(lack) = ended.tally.vacuous() {
            println!("\nseed {seed} proves nothing: {lack}. {:?}", ended.tally);
        }
        return;
    };
    println!(
        "\nseed {seed} violates {} at {:.3} s: {}",
        violation.invariant,
        ended.at as f64 / 1e6,
        violation.what
    );
    let small = run::shrink(&plan, plant);
    println!(
        "\n{} schedulers, {} agents, {} cells, {} runs, {} wait in memory; {} of {} faults are enough:",
        plan.schedulers,
        plan.agents,
        plan.cells,
        plan.runs,
        plan.waiting_max,
        small.faults.len(),
        plan.faults.len()
    );
    small.faults.iter().for_each(|fault| println!("  {fault}"));
    let ended = run::run(&small, plant, verbose);
    if let Some(violation) = ended.violation {
        println!("\nthen {} at {:.3} s: {}", violation.invariant, ended.at as f64 / 1e6, violation.what);
    }
    println!("\nthe story:");
    ended.story.iter().for_each(|line| println!("  {line}"));
    println!(
        "\nreplay with --seed {seed}{}",
        plant.map(|plant| format!(" --plant {}", plant.name())).unwrap_or_default()
    );
}

fn show_plant(plant: Plant) -> ExitCode {
    match sweep(CAUGHT_WITHIN, Some(plant)).0 {
        Some(seed) => {
            report(seed, Some(plant), false);
            ExitCode::SUCCESS
        }
        None => {
            println!("{} was not caught within {CAUGHT_WITHIN} seeds", plant.name());
            ExitCode::FAILURE
        }
    }
}

fn plant_all() -> ExitCode {
    let mut missed = 0;
    for plant in Plant::ALL {
        match sweep(CAUGHT_WITHIN, Some(*plant)).0 {
            Some(seed) => {
                let violation = run::run(&Plan::new(seed), Some(*plant), false).violation;
                let what = violation
                    .map(|violation| format!("{}: {}", violation.invariant, violation.what))
                    .unwrap_or_default();
                println!("caught  {:<22} by seed {seed:<4} {what}", plant.name());
            }
            None => {
                missed += 1;
                println!("MISSED  {:<22} in {CAUGHT_WITHIN} seeds: {}", plant.name(), plant.what());
            }
        }
    }
    println!("{} planted, {} caught", Plant::ALL.len(), Plant::ALL.len() - missed);
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
