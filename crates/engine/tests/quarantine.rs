//! A job that keeps killing its nodes is kept off them; bystanders are not.

use mainspring_engine::News;
use mainspring_model::spec::Balancer;
use mainspring_model::{Cause, NodeId, Reason, RunEventKind, RunState, limits};

use crate::world::{Job, World, balancer, ending, secs};

/// The run's node falls silent and is lost; then it is back, empty.
fn kill_node(world: &mut World, run: mainspring_model::RunId) {
    let (node, _) = world.attempt(run);
    let mut silent = world.silence(node);
    world.pass(world.config.lost_after);
    silent.held.clear();
    world.revive(silent);
}

fn quarantine(world: &mut World, job: &Job) -> mainspring_model::RunId {
    let run = world.submit(job);
    for _ in 0..limits::LOSSES_PER_JOB_MAX {
        world.states(&[run], RunState::Running);
        kill_node(world, run);
        world.pass(secs(60));
    }
    run
}

fn nodes(world: &mut World, count: usize) -> Vec<NodeId> {
    (0..count).map(|n| world.node(&format!("n{n}"))).collect()
}

#[test]
fn after_some_losses_in_a_row_the_job_is_held_until_somebody_resumes_it() {
    let mut world = World::new();
    nodes(&mut world, 5);
    let (job, other) = (world.job(), world.job());
    let run = quarantine(&mut world, &job);
    assert_eq!(world.why(run), Reason::Quarantined { losses: limits::LOSSES_PER_JOB_MAX });
    let second = world.submit(&job);
    assert_eq!(world.why(second).name(), "quarantined");
    let bystander = world.submit(&other);
    world.states(&[bystander], RunState::Running);
    world.hush();
    world.pass(secs(1_000));
    assert_eq!(world.starts(), [""; 0]);
    world.pause_job(&job, None);
    world.states(&[run, second], RunState::Running);
    world.finish(run);
    world.finish(second);
}

#[test]
fn a_run_without_a_job_to_resume_is_let_go_by_a_retry() {
    let mut world = World::new();
    let nodes = nodes(&mut world, 5);
    let job = world.job();
    let run = quarantine(&mut world, &job);
    world.retry_now(run);
    world.states(&[run], RunState::Running);
    assert!(world.events(run).contains(&RunEventKind::RetriedNow { by: "ann".into() }));
    // So it is for the next owner.
    world.take_over();
    nodes.iter().for_each(|node| world.connect(*node));
    let next = world.submit(&job);
    world.states(&[next], RunState::Running);
}

#[test]
fn a_node_that_tells_of_the_loss_itself_is_no_evidence() {
    let mut world = World::new();
    nodes(&mut world, 1);
    let job = world.job();
    let run = world.submit(&job);
    // It heard of no owner for too long, again and again, and ended what it executed.
    for _ in 0..2 * limits::LOSSES_PER_JOB_MAX {
        let (node, token) = world.attempt(run);
        world.report(node, token, News::Started);
        world.take_over();
        world.connect(node);
        world.report(node, token, News::Finished(ending(Cause::Lost { node })));
        world.settle();
        world.pass(secs(60));
        world.states(&[run], RunState::Running);
    }
    world.finish(run);
}

#[test]
fn it_is_held_by_the_next_owner_too() {
    let mut world = World::new();
    let nodes = nodes(&mut world, 5);
    let job = world.job();
    let run = quarantine(&mut world, &job);
    for _ in 0..2 {
        world.take_over();
        nodes.iter().for_each(|node| world.connect(*node));
        assert_eq!(world.why(run), Reason::Quarantined { losses: limits::LOSSES_PER_JOB_MAX });
    }
    world.pause_job(&job, None);
    world.finish(run);
    world.take_over();
    nodes.iter().for_each(|node| world.connect(*node));
    let next = world.submit(&job);
    world.states(&[next], RunState::Running);
}

#[test]
fn a_success_in_between_clears_the_job() {
    let mut world = World::new();
    nodes(&mut world, 5);
    let job = world.job();
    let run = world.submit(&job);
    for _ in 0..limits::LOSSES_PER_JOB_MAX * 2 {
        kill_node(&mut world, run);
        world.pass(secs(60));
        let good = world.submit(&job);
        world.finish(good);
    }
    world.states(&[run], RunState::Running);
}

#[test]
fn an_attempt_that_ends_well_after_all_lets_the_job_go_on() {
    let mut world = World::new();
    nodes(&mut world, 5);
    let job = world.job_with(|spec| spec.dispatch = balancer(Balancer::Spread));
    let survivor = world.submit(&job);
    let run = quarantine(&mut world, &job);
    assert_eq!(world.why(run).name(), "quarantined");
    world.finish(survivor);
    world.states(&[run], RunState::Running);
}

#[test]
fn several_attempts_lost_with_one_node_are_one_incident() {
    let mut world = World::new();
    let all = nodes(&mut world, 2);
    let job = world.job_with(|spec| spec.dispatch = balancer(Balancer::First));
    let runs = world.submit_many(&job, 4);
    assert!(world.nodes_of(&runs).iter().all(|node| node == "n0"));
    world.silence(all[0]);
    world.pass(world.config.lost_after);
    world.states(&runs, RunState::Running);
}

#[test]
fn what_a_job_already_has_elsewhere_is_suspect_with_it_and_cleared_with_it() {
    let mut world = World::new();
    let a = world.node_with("a", |node| node.slots = 1);
    world.node("b");
    let c = world.node("c");
    world.node("d");
    let first = world.job_with(|spec| {
        spec.dispatch = balancer(Balancer::First);
        spec.delivery = mainspring_model::spec::Delivery::AtMostOnce;
    });
    let names = ["c", "b", "d"].map(|name| name.parse().unwrap()).to_vec();
    let second = world.job_with(|spec| spec.dispatch = balancer(Balancer::Failover(names)));
    let (lost, good, left) = (world.submit(&first), world.submit(&first), world.submit(&first));
    let other = world.submit(&second);
    assert_eq!(world.nodes_of(&[lost, good, left, other]), ["a", "b", "b", "c"]);
    world.silence(a);
    world.silence(c);
    world.pass(world.config.lost_after);
    world.states(&[lost], RunState::FinalFailed);
    assert_eq!(world.node_of(other), "d", "the first job is a suspect on b too");
    world.finish(good);
    let next = world.submit(&second);
    assert_eq!(world.node_of(next), "b", "what the first job still has there is innocent");
}
