//! Start, stop, forget: once, again, late, and for what is not known.

use mainspring_agent::core::{Input, TaskEnd};
use mainspring_model::JobId;
use mainspring_wire::agent::SpecKey;

use super::ground::{Node, exit, killed, token};

#[test]
fn an_order_is_executed_once() {
    let mut node = Node::welcomed();
    assert_eq!(node.start(1), ["prepare 1"]);
    assert!(node.start(1).is_empty(), "it is on its way");
    assert_eq!(node.prepared(1), ["launch 1 for 13s"]);
    assert!(node.prepared(1).is_empty());
    assert!(node.start(1).is_empty());
    assert_eq!(node.started(1), ["started 1"]);
    assert!(node.started(1).is_empty());
    assert_eq!(node.start(1), ["started 1"], "the owner has not heard it");
    let progressed = |permille, message: &str| {
        let message = message.into();
        Input::Progressed { token: token(1), permille, message }
    };
    node.does(progressed(Some(500), "half"), &["progressed 1 500"]);
    node.does(progressed(Some(600), "more"), &[]);
    node.does(progressed(None, "still there"), &[]);
    assert_eq!(node.pass(0.3), ["progressed 1 600"], "the latest, a few times in a second");
    node.does(progressed(Some(1000), "all"), &[]);
    assert_eq!(node.ended(1, exit(0)), ["progressed 1 1000", "finished 1 exit"]);
    assert!(node.ended(1, exit(1)).is_empty());
    assert_eq!(node.start(1), ["finished 1 exit"]);
    assert_eq!(node.forget(1), ["forgotten 1"]);
    assert!(node.forget(1).is_empty());
    assert!(node.start(1).is_empty(), "it came after its own acknowledgement");
    assert!(node.stop(1).is_empty());
    assert_eq!(node.core.held_count(), 0);
}

#[test]
fn endings_are_told_until_they_are_acknowledged() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.ended(1, exit(3));
    assert!(node.pass(4.9).is_empty());
    assert_eq!(node.pass(0.2), ["beat 2 1:over", "finished 1 exit"]);
    node.beat();
    node.does(Input::Disconnected, &[]);
    assert_eq!(node.connect(), ["hello session 2 slots 8 1:over"]);
    assert_eq!(node.welcome(), ["extend 13s", "welcomed", "finished 1 exit"]);
    assert_eq!(node.forget(1), ["forgotten 1"]);
    assert_eq!(node.pass(5.1), ["beat 2"]);
}

#[test]
fn an_ending_while_nobody_listens_is_told_later() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.does(Input::Disconnected, &[]);
    assert!(node.ended(1, exit(0)).is_empty());
    node.connect();
    assert_eq!(node.welcome(), ["extend 13s", "welcomed", "finished 1 exit"]);
}

#[test]
fn an_order_that_travelled_too_long_is_refused() {
    let mut node = Node::welcomed();
    node.pass(5.0);
    node.beat();
    node.pass(5.0);
    node.beat();
    node.pass(4.0);
    let session = node.session();
    let spec = r#"{"name":"hello","process":"/bin/true"}"#;
    assert_eq!(node.start_on(1, session, 1, spec), ["finished 1 refused"]);
    assert_eq!(
        node.start_on(2, session, 99, spec),
        ["finished 2 refused"],
        "a heartbeat that was never sent"
    );
    assert_eq!(node.start_on(3, session, 2, spec), ["prepare 3"]);
    assert_eq!(node.start_on(1, session, 3, spec), ["finished 1 refused"], "refused stays refused");
}

#[test]
fn what_cannot_be_prepared_has_failed_to_start() {
    let mut node = Node::welcomed();
    node.start(1);
    let outcome = Err("artifact x: wrong".to_owned());
    node.does(Input::Prepared { token: token(1), outcome }, &["finished 1 start_failed"]);
}

#[test]
fn a_specification_that_was_never_said_is_asked_for_by_a_new_connection() {
    let mut node = Node::welcomed();
    let key = SpecKey::new(JobId::from_bytes([9; 16]), 5, None);
    let session = node.session();
    assert_eq!(node.start_unspecified(1, session, 1, key), ["reconnect", "malformed start.spec"]);
    assert_eq!(node.core.held_count(), 0);
}

#[test]
fn a_specification_that_this_node_cannot_read_is_refused_for_another_to_try() {
    let mut node = Node::welcomed();
    let session = node.session();
    assert_eq!(
        node.start_on(1, session, 1, r#"{"name":"new","body_of_the_future":{}}"#),
        ["finished 1 refused"]
    );
    assert_eq!(node.start(2), ["prepare 2"]);
}

#[test]
fn a_task_is_stopped_with_its_grace() {
    let mut node = Node::welcomed();
    node.execute(1);
    assert_eq!(node.stop(1), ["stop 1 in 3s"]);
    assert_eq!(node.stop(1), ["stop 1 in 3s"], "said again, done again");
    assert_eq!(node.ended(1, killed()), ["finished 1 signal stopped"]);
    assert_eq!(node.stop(1), ["finished 1 signal stopped"]);
}

#[test]
fn a_stop_before_the_start_prevents_it() {
    let mut node = Node::welcomed();
    assert_eq!(node.stop(1), ["abandon 1", "finished 1 refused stopped"]);
    assert_eq!(node.start(1), ["finished 1 refused stopped"]);
    node.forget(1);
    assert!(node.start(1).is_empty());
}

#[test]
fn a_stop_while_it_is_prepared_prevents_it_too() {
    let mut node = Node::welcomed();
    node.start(1);
    assert_eq!(node.stop(1), ["abandon 1", "finished 1 refused stopped"]);
    assert!(node.prepared(1).is_empty());
}

#[test]
fn a_stop_on_the_way_to_the_sidecar_follows_the_order() {
    let mut node = Node::welcomed();
    node.start(1);
    node.prepared(1);
    assert_eq!(node.stop(1), ["stop 1 in 3s"]);
    assert_eq!(node.started(1), ["started 1"]);
    assert_eq!(node.ended(1, killed()), ["finished 1 signal stopped"]);
}

#[test]
fn a_task_that_ends_well_although_it_was_stopped_ended_well() {
    let mut node = Node::welcomed();
    node.execute(1);
    node.stop(1);
    assert_eq!(node.ended(1, exit(0)), ["finished 1 exit stopped"]);
}

#[test]
fn forget_of_what_still_runs_changes_nothing() {
    let mut node = Node::welcomed();
    node.execute(1);
    assert!(node.forget(1).is_empty());
    assert_eq!(node.core.held_count(), 1);
    assert!(node.forget(9).is_empty());
}

#[test]
fn outputs_are_copied_before_the_end_is_told() {
    let publishing = |node: &mut Node| {
        node.start(1);
        node.act(Input::Prepared { token: token(1), outcome: Ok(true) });
        node.started(1);
    };
    let mut node = Node::welcomed();
    publishing(&mut node);
    assert_eq!(node.ended(1, exit(0)), ["publish 1"]);
    assert_eq!(node.pass(5.1), ["beat 2 1:executing"]);
    node.does(Input::Published { token: token(1), outcome: Ok(()) }, &["finished 1 exit"]);
    let mut node = Node::welcomed();
    publishing(&mut node);
    node.ended(1, exit(0));
    let outcome = Err("output totals: not found".to_owned());
    node.does(Input::Published { token: token(1), outcome }, &["finished 1 error"]);
    let mut node = Node::welcomed();
    publishing(&mut node);
    node.ended(1, exit(0));
    assert_eq!(node.stop(1), ["abandon 1", "finished 1 error stopped"], "a copy has no longer than its run");
    node.does(Input::Published { token: token(1), outcome: Ok(()) }, &[]);
    let mut node = Node::welcomed();
    publishing(&mut node);
    let failed = TaskEnd { ..exit(1) };
    assert_eq!(node.ended(1, failed), ["finished 1 exit"], "outputs of a failure are not copied");
}

#[test]
fn a_flood_of_progress_is_a_few_words() {
    let mut node = Node::welcomed();
    node.execute(1);
    let mut said = Vec::new();
    for tenth in 0..20u16 {
        for line in 0..1_000u16 {
            let permille = Some((tenth * 1_000 + line) % 1_000);
            said.extend(node.act(Input::Progressed { token: token(1), permille, message: "".into() }));
        }
        said.extend(node.pass(0.1));
    }
    assert!((9..=11).contains(&said.len()), "{said:?}");
    node.does(Input::Disconnected, &[]);
    node.does(Input::Progressed { token: token(1), permille: Some(7), message: "".into() }, &[]);
    node.connect();
    let welcomed = node.welcome();
    assert!(welcomed.contains(&"progressed 1 7".to_owned()), "{welcomed:?}");
}
