//! No task executes when the owner may have given it to another node.

use mainspring_agent::core::{Input, Output};

use super::ground::{Node, exit, killed};

#[test]
fn when_the_lease_ends_so_do_tasks_unless_they_are_kept() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.start_kept(2);
    assert_eq!(node.prepared(2), ["launch 2 for ever"]);
    node.started(2);
    node.start(3);
    node.does(Input::Disconnected, &[]);
    assert!(node.pass(12.9).is_empty());
    let mut done = node.pass(0.2);
    done.sort();
    assert_eq!(done, ["abandon 3", "stop 1 in 0s"]);
    assert!(node.pass(100.0).is_empty(), "once");
    assert!(node.ended(1, killed()).is_empty());
    assert_eq!(node.connect(), ["hello session 2 slots 8 1:over 2:executing 3:over"]);
    let mut said = node.welcome();
    said.sort();
    assert_eq!(said, ["extend 13s", "finished 1 lost stopped", "finished 3 refused", "welcomed"]);
}

#[test]
fn a_heartbeat_that_is_answered_late_counts_from_when_it_was_sent() {
    let mut node = Node::welcomed();
    node.execute(1);
    assert_eq!(node.pass(5.0), ["beat 2 1:executing"]);
    node.pass(3.0);
    assert_eq!(node.beat(), ["extend 10s"]);
    node.does(Input::Disconnected, &[]);
    assert!(node.pass(9.9).is_empty());
    assert_eq!(node.pass(0.2), ["stop 1 in 0s"]);
}

#[test]
fn the_lease_is_looked_at_whatever_happens() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.does(Input::Disconnected, &[]);
    // The agent slept for a minute: the first thing that it learns of is not the time.
    node.core.handle(mainspring_model::Timestamp::from_micros(1_060_000_000), Input::Disconnected);
    assert!(matches!(node.core.take()[..], [Output::Stop { .. }, Output::Probe]));
}

#[test]
fn a_task_that_ends_well_as_its_lease_ends_ended_well() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.does(Input::Disconnected, &[]);
    assert_eq!(node.pass(14.0), ["stop 1 in 0s"]);
    node.ended(1, exit(0));
    node.connect();
    assert_eq!(node.welcome(), ["extend 13s", "welcomed", "finished 1 exit stopped"]);
}

#[test]
fn a_new_connection_lets_tasks_go_on() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.does(Input::Disconnected, &[]);
    node.pass(10.0);
    node.connect();
    node.pass(2.0);
    assert_eq!(node.welcome(), ["extend 11s", "welcomed"], "counted from before the hello was sent");
    assert_eq!(node.pass(9.0), ["beat 2 1:executing", "reconnect"]);
    assert_eq!(node.pass(2.1), ["stop 1 in 0s"]);
}

#[test]
fn nothing_begins_after_the_end_of_the_lease() {
    let mut node = Node::welcomed();
    node.start(1);
    node.does(Input::Disconnected, &[]);
    assert_eq!(node.pass(14.0), ["abandon 1"]);
    assert!(node.prepared(1).is_empty());
}

#[test]
fn after_a_suspend_no_task_goes_on_beside_the_next_attempt() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.start(2);
    assert_eq!(node.pass(5.0), ["beat 2 1:executing 2:accepted"]);
    // The owner's answer was on its way when the lid was closed, and is the first thing that is heard after it.
    node.suspend(std::time::Duration::from_secs(8 * 3600));
    let mut done = node.beat();
    done.retain(|word| !word.starts_with("extend"));
    done.sort();
    done.dedup();
    assert_eq!(done, ["abandon 2", "finished 2 refused", "probe", "stop 1 in 0s"]);
    assert!(node.prepared(2).is_empty(), "what was prepared before it does not begin");
    // An order that waited in a buffer is as old as the heartbeat that it names.
    assert_eq!(node.start(3), ["finished 3 refused"]);
}
