//! The sidecar comes and goes; its journal decides what executes.

use std::time::Duration;

use mainspring_agent::core::{Input, KnownStage, KnownTask, TaskEnd};
use mainspring_model::Cause;

use super::ground::{NODE, Node, exit, token};

fn executing(run: u128) -> KnownTask {
    let stage = KnownStage::Executing(Duration::from_secs(60));
    KnownTask { token: token(run), stage, keep: false, publishes: false }
}

fn over(run: u128, end: TaskEnd) -> KnownTask {
    KnownTask { token: token(run), stage: KnownStage::Over(end), keep: false, publishes: false }
}

#[test]
fn a_new_agent_finds_what_the_sidecar_has() {
    let mut node = Node::new();
    assert!(node.attached(vec![executing(1), over(2, exit(3))]).is_empty());
    assert_eq!(node.connect(), ["hello session 1 slots 8 1:executing 2:over"]);
    assert_eq!(node.welcome(), ["extend 13s", "welcomed", "finished 2 exit"]);
    assert_eq!(node.start(1), ["started 1"], "it is not executed again");
    assert_eq!(node.ended(1, exit(0)), ["finished 1 exit"]);
}

#[test]
fn what_was_on_its_way_to_a_sidecar_that_died_is_told_again() {
    let mut node = Node::welcomed();
    node.start(1);
    node.prepared(1);
    node.execute(2);
    node.does(Input::Detached, &[]);
    node.start(3);
    assert!(node.prepared(3).is_empty(), "nobody to tell");
    let mut done = node.attached(Vec::new());
    done.sort();
    let expected = ["extend 13s", "finished 2 vanished", "launch 1 for 13s", "launch 3 for 13s"];
    assert_eq!(done, expected);
}

#[test]
fn what_a_sidecar_did_before_it_died_is_not_done_again() {
    let mut node = Node::welcomed();
    node.start(1);
    node.prepared(1);
    node.start(2);
    node.prepared(2);
    node.does(Input::Detached, &[]);
    let mut done = node.attached(vec![executing(1), over(2, exit(0))]);
    done.sort();
    assert_eq!(done, ["extend 13s", "finished 2 exit", "started 1"]);
}

#[test]
fn a_stop_that_a_dead_sidecar_did_not_hear_is_said_again() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.start(2);
    node.prepared(2);
    node.does(Input::Detached, &[]);
    node.stop(1);
    node.stop(2);
    let mut done = node.attached(vec![executing(1)]);
    done.sort();
    assert_eq!(done, ["extend 13s", "finished 2 refused stopped", "stop 1 in 0s"]);
}

#[test]
fn a_sidecar_that_ended_a_task_with_its_lease_says_so() {
    let mut node = Node::new();
    let lost = TaskEnd { cause: Cause::Lost { node: NODE }, stopped: true, ..exit(0) };
    node.attached(vec![over(1, lost)]);
    node.connect();
    assert_eq!(node.welcome(), ["extend 13s", "welcomed", "finished 1 lost stopped"]);
}

#[test]
fn what_was_acknowledged_is_released_again_when_the_sidecar_lists_it() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.ended(1, exit(0));
    node.forget(1);
    node.does(Input::Detached, &[]);
    assert_eq!(node.attached(vec![over(1, exit(0))]), ["forgotten 1", "extend 13s"]);
    assert_eq!(node.core.held_count(), 0);
}

#[test]
fn a_refusal_of_the_sidecar_is_the_end() {
    let mut node = Node::welcomed();
    node.start(1);
    node.prepared(1);
    let refused =
        TaskEnd { cause: Cause::StartFailed { message: "no such file".into() }, begun_ago: None, ..exit(0) };
    assert_eq!(node.ended(1, refused), ["finished 1 start_failed"]);
}

#[test]
fn outputs_of_an_earlier_agents_task_are_copied_by_this_one() {
    let mut node = Node::new();
    let mut task = over(1, exit(0));
    task.publishes = true;
    assert_eq!(node.attached(vec![task]), ["publish 1"]);
    assert_eq!(node.connect(), ["hello session 1 slots 8 1:executing"]);
    node.welcome();
    node.does(Input::Published { token: token(1), outcome: Ok(()) }, &["finished 1 exit"]);
}

/// Heartbeats are answered, so that only the sidecar is away.
fn pass_beaten(node: &mut Node, seconds: u32) -> Vec<String> {
    let mut done = Vec::new();
    for _ in 0..seconds {
        done.extend(node.pass(1.0));
        done.extend(node.beat());
    }
    done.retain(|done| !done.starts_with("beat") && !done.starts_with("extend"));
    done
}

#[test]
fn a_sidecar_that_does_nothing_is_replaced() {
    let mut node = Node::welcomed();
    node.execute(1);
    assert!(pass_beaten(&mut node, 60).is_empty(), "it answers");
    node.sidecar_answers = false;
    assert_eq!(pass_beaten(&mut node, 16), ["reconnect"], "nothing new for such a node");
    assert_eq!(node.connect(), ["hello session 2 slots 0 1:executing"]);
    node.welcome();
    let replaced = pass_beaten(&mut node, 50);
    assert_eq!(replaced, ["replace sidecar"]);
    node.does(Input::Detached, &[]);
    assert!(pass_beaten(&mut node, 30).is_empty(), "another is being started");
    node.sidecar_answers = true;
    let done = node.attached(vec![executing(1)]);
    assert!(done.contains(&"reconnect".to_owned()), "{done:?}");
    assert_eq!(node.connect(), ["hello session 3 slots 8 1:executing"]);
}

#[test]
fn a_sidecar_that_cannot_be_ended_is_tried_again() {
    let mut node = Node::new();
    node.sidecar_answers = false;
    let tries = node.pass(300.0).into_iter().filter(|done| done == "replace sidecar").count();
    assert_eq!(tries, 5);
}

#[test]
fn a_machine_that_stood_still_is_no_sidecar_that_did() {
    let mut node = Node::welcomed();
    node.pass(4.0);
    node.sidecar_answers = false;
    node.pass(1.5);
    let done = node.stand_still(3_600);
    assert!(!done.contains(&"replace sidecar".to_owned()), "{done:?}");
    node.sidecar_answers = true;
    node.does(Input::Answered, &[]);
    assert!(!node.pass(600.0).contains(&"replace sidecar".to_owned()));
}

#[test]
fn when_the_lease_ends_there_are_moments_to_answer() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.pass(6.0);
    node.sidecar_answers = false;
    let done = node.pass(7.5);
    assert!(done.contains(&"stop 1 in 0s".to_owned()), "{done:?}");
    assert!(!done.contains(&"replace sidecar".to_owned()), "{done:?}");
    assert!(!node.pass(2.3).contains(&"replace sidecar".to_owned()));
    assert!(node.pass(0.3).contains(&"replace sidecar".to_owned()));
    node.does(Input::Detached, &[]);
    node.sidecar_answers = true;
    let done = node.attached(vec![executing(1)]);
    assert!(done.contains(&"stop 1 in 0s".to_owned()), "the next one is told: {done:?}");

    let mut node = Node::welcomed();
    node.execute(1);
    node.sidecar_answers = false;
    let done = node.pass(13.1);
    assert!(done.contains(&"replace sidecar".to_owned()), "silent before already: {done:?}");
}

#[test]
fn a_sidecar_that_answers_at_the_end_of_the_lease_stays() {
    let mut node = Node::welcomed();
    node.execute(1);
    let done = node.pass(20.0);
    assert!(done.contains(&"stop 1 in 0s".to_owned()), "{done:?}");
    assert!(!done.contains(&"replace sidecar".to_owned()), "{done:?}");
}

#[test]
fn a_sidecar_that_tells_its_journal_is_not_silent() {
    let mut node = Node::welcomed();
    node.does(Input::Detached, &[]);
    let mut done = Vec::new();
    for _ in 0..100 {
        done.extend(pass_beaten(&mut node, 3));
        node.act(Input::Stirred);
    }
    assert!(!done.contains(&"replace sidecar".to_owned()), "{done:?}");
}
