//! Hello, heartbeats, silence, redirection, leaving.

use mainspring_agent::core::Input;
use mainspring_wire::agent::NodeUsage;

use super::ground::{Node, exit, killed};

#[test]
fn a_node_introduces_itself_and_lives() {
    let mut node = Node::new();
    assert_eq!(node.connect(), ["hello session 1 slots 8"]);
    assert!(node.pass(4.0).is_empty());
    assert_eq!(node.welcome(), ["extend 9s", "welcomed"]);
    assert!(node.welcome().is_empty(), "said twice");
    assert!(node.pass(4.9).is_empty());
    assert_eq!(node.pass(0.2), ["beat 2"]);
    assert_eq!(node.beat(), ["extend 12s"]);
    assert!(node.beat().is_empty(), "answered twice");
}

#[test]
fn what_a_node_uses_is_told_once_it_was_measured() {
    let mut node = Node::welcomed();
    assert_eq!(node.pass(5.0), ["beat 2"]);
    node.beat();
    node.does(Input::Used(NodeUsage { cpu_milli: 500, memory_bytes: 1 }), &[]);
    assert_eq!(node.pass(5.0), ["beat 3 cpu 500"]);
}

#[test]
fn a_hello_that_nobody_answers_is_said_elsewhere() {
    let mut node = Node::new();
    node.connect();
    assert_eq!(node.pass(6.0), ["reconnect"]);
    assert!(node.pass(60.0).is_empty());
    assert_eq!(node.connect(), ["hello session 2 slots 8"]);
}

#[test]
fn an_owner_that_falls_silent_is_left() {
    let mut node = Node::welcomed();
    assert_eq!(node.pass(8.9), ["beat 2"]);
    assert_eq!(node.pass(0.2), ["reconnect"]);
    let mut node = Node::welcomed();
    for _ in 0..10 {
        node.pass(5.0);
        assert_eq!(node.beat(), ["extend 13s"]);
    }
}

#[test]
fn the_owner_says_how_often() {
    let mut node = Node::new();
    node.connect();
    assert_eq!(node.welcome_with(60, 180), ["extend 178s", "welcomed"]);
    assert!(node.pass(59.0).is_empty());
    assert_eq!(node.pass(2.0), ["beat 2"]);
    let mut node = Node::new();
    node.connect();
    assert_eq!(node.welcome_with(60, 30), ["malformed welcome"]);
    assert_eq!(node.welcome_with(1, 0), ["malformed welcome"]);
}

#[test]
fn redirections_and_questions_open_another_stream() {
    let mut node = Node::welcomed();
    assert_eq!(node.redirect(), ["reconnect to http://b"]);
    assert!(node.redirect().is_empty(), "the stream is closed already");
    assert!(node.beat().is_empty());
    node.connect();
    assert_eq!(node.who_are_you(), ["reconnect"]);
    let mut node = Node::welcomed();
    assert_eq!(node.who_are_you(), ["reconnect"]);
}

#[test]
fn what_an_earlier_owner_says_changes_nothing() {
    let mut node = Node::welcomed();
    node.does(Input::Disconnected, &[]);
    node.connect();
    let old = node.session() - 1;
    assert!(node.stop_on(1, old).is_empty());
    node.welcome();
    assert!(node.start_on(1, old, 1, r#"{"name":"hello","process":"/bin/true"}"#).is_empty());
    assert!(node.stop_on(1, old).is_empty());
}

#[test]
fn a_hiccup_kills_nothing() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.start(2);
    node.does(Input::Disconnected, &[]);
    assert!(node.pass(5.0).is_empty());
    assert_eq!(node.connect(), ["hello session 2 slots 8 1:executing 2:accepted"]);
    assert_eq!(node.welcome(), ["extend 13s", "welcomed"]);
    assert_eq!(node.prepared(2), ["launch 2 for 13s"]);
}

#[test]
fn a_drained_node_takes_nothing_and_leaves_when_it_holds_nothing() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.does(Input::Drain, &["reconnect"]);
    node.does(Input::Drain, &[]);
    assert_eq!(node.connect(), ["hello session 2 slots 0 1:executing"]);
    node.welcome();
    assert_eq!(node.start(2), ["finished 2 refused"]);
    assert_eq!(node.forget(2), ["forgotten 2"]);
    assert_eq!(node.ended(1, exit(0)), ["finished 1 exit"]);
    assert_eq!(node.forget(1), ["forgotten 1", "goodbye", "farewell"]);
}

#[test]
fn a_drained_node_waits_for_an_owner_no_longer_than_its_lease() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.execute(2);
    node.does(Input::Drain, &["reconnect"]);
    node.ended(1, exit(0));
    assert!(node.pass(5.0).is_empty(), "somebody may hear of the end of the first");
    assert_eq!(node.pass(20.0), ["stop 2 in 0s"]);
    assert_eq!(node.ended(2, killed()), ["farewell"], "the journal has both");
    let mut node = Node::new();
    node.does(Input::Drain, &["farewell"]);
}

#[test]
fn an_agent_that_ends_leaves_its_tasks() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.does(Input::Leave, &["farewell"]);
    let mut node = Node::welcomed();
    node.does(Input::Leave, &["goodbye", "farewell"]);
    let mut node = Node::new();
    node.does(Input::Leave, &["farewell"]);
}
