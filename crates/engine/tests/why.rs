//! Why a run is not running: each reason with its numbers. Those of limits, pauses and quarantine are with
//! their own subjects.

use mainspring_model::spec::{Body, Handler, RetryNode};
use mainspring_model::{Cause, NodeFilter, Reason, RunId, RunState};

use crate::world::{World, at};

#[test]
fn begin_time() {
    let mut world = World::new();
    let job = world.job();
    let run = world.submit_with(&job, |head| head.not_before = Some(at(60)));
    assert_eq!(world.why(run), Reason::BeginTime { until: at(60) });
}

#[test]
fn no_node_names_the_filter_and_counts_the_nodes() {
    let mut world = World::new();
    let job = world.job();
    let pool = world.submit(&job);
    assert_eq!(world.why(pool), Reason::NoNode { filter: NodeFilter::Pool, nodes: 0 });
    for n in 0..3 {
        world.node_with(&format!("n{n}"), |node| node.handlers = vec!["scale".into()]);
    }
    let zone = world.job_with(|spec| spec.placement.selector = "zone=eu".parse().unwrap());
    let large = world.job_with(|spec| spec.resources.memory_bytes = 5 << 30);
    let resize = world.job_with(|spec| spec.body = Body::Handler(Handler { name: "resize".into() }));
    let both = world.change_job(&resize, |spec| spec.placement.selector = "zone=eu".parse().unwrap());
    for (job, filter) in [
        (&zone, NodeFilter::Selector),
        (&large, NodeFilter::Capacity),
        (&resize, NodeFilter::Handler),
        (&both, NodeFilter::Selector),
    ] {
        let run = world.submit(job);
        assert_eq!(world.why(run), Reason::NoNode { filter, nodes: 3 });
    }
}

#[test]
fn available_when_every_node_failed_the_run() {
    let mut world = World::new();
    world.node("a");
    world.node("b");
    let job = world.job_with(|spec| spec.retry.node = RetryNode::Other);
    let run = world.submit(&job);
    world.end(run, Cause::Exit { code: 1 });
    world.end(run, Cause::Exit { code: 1 });
    world.states(&[run], RunState::Waiting);
    assert_eq!(world.why(run), Reason::NoNode { filter: NodeFilter::Available, nodes: 2 });
    let other = world.submit(&job);
    world.states(&[other], RunState::Running);
}

#[test]
fn resources_for_the_first_and_priority_for_those_behind_it() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 1);
    world.node_with("b", |node| node.slots = 1);
    let job = world.job();
    let runs = world.submit_many(&job, 5);
    assert_eq!(world.why(runs[2]), Reason::Resources { matching: 2, dimension: "slots".into() });
    assert_eq!(world.why(runs[3]), Reason::Priority { position: 2 });
    assert_eq!(world.why(runs[4]), Reason::Priority { position: 3 });
}

#[test]
fn nothing_is_said_about_runs_that_run_ended_or_are_not_here() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let (running, ended) = (world.submit(&job), world.submit(&job));
    world.finish(ended);
    for run in [running, ended, RunId::new(at(0), 99)] {
        assert_eq!(world.cell.why(run), None);
    }
}

#[test]
fn the_reason_is_kept_when_the_run_moves_on() {
    let mut world = World::new();
    let job = world.job();
    let (placed, cancelled) = (world.submit(&job), world.submit(&job));
    let at_once = {
        world.cancel(cancelled);
        world.pass(crate::world::secs(1));
        world.node("a");
        world.submit(&job)
    };
    let kept = |run: RunId| world.row(run).status.reason.map(|reason| *reason);
    assert_eq!(kept(placed), Some(Reason::NoNode { filter: NodeFilter::Pool, nodes: 0 }));
    assert_eq!(kept(cancelled).unwrap().name(), "no_node");
    assert_eq!(kept(at_once), None, "it never waited");
}

#[test]
fn how_far_behind_is_told_up_to_a_point() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 1);
    let job = world.job();
    let runs = world.submit_many(&job, 1_200);
    assert_eq!(world.why(runs[900]), Reason::Priority { position: 900 });
    let last = world.why(runs[1_199]);
    assert_eq!(last, Reason::Priority { position: 1_000 });
    assert_eq!(last.to_string(), "place 1000 or later in the queue of its kind");
}
