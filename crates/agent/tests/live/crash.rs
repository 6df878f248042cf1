//! Agents die; tasks do not.

use mainspring_model::{Cause, NodeId};
use mainspring_wire::agent::held::Stage;

use super::ground::{Node, Scheduler, Waiting, token, within};

const NODE: NodeId = NodeId::from_bytes([0; 16]);

#[tokio::test]
async fn a_killed_agent_costs_no_task_and_loses_no_end() {
    let mut scheduler = Scheduler::start().await;
    let mut node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    let (short, long) = (Waiting::new(node.path()), Waiting::new(node.path()));
    let spec = |gate: &Waiting, code: u8| {
        let text = format!("echo begun; {}; echo done; exit {code}", gate.wait_in_shell());
        serde_json::json!({ "name": "survivor", "script": text }).to_string()
    };
    call.start(token(1), &spec(&short, 5), "").await;
    call.start(token(2), &spec(&long, 6), "").await;
    call.started(token(1)).await;
    call.started(token(2)).await;
    let (id, session) = (call.hello.node.clone(), call.hello.session);
    node.kill_agent();
    short.open();
    short.passed().await;
    node.start_agent();
    let mut call = scheduler.call().await;
    assert_eq!(call.hello.node, id, "it is the same node");
    assert!(call.hello.session > session);
    let held: Vec<_> = call.hello.held.iter().map(|held| held.token.clone().unwrap()).collect();
    assert_eq!(held, [token(1).into(), token(2).into()]);
    assert!(matches!(call.hello.held[1].stage, Some(Stage::ExecutingUs(_))));
    call.welcome().await;
    let finished = call.finished(token(1)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 5 }));
    // An order that comes again is not executed again.
    call.start(token(2), &spec(&long, 6), "").await;
    call.started(token(2)).await;
    long.open();
    let finished = call.finished(token(2)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 6 }));
    assert_eq!((short.passes(), long.passes()), (1, 1));
    assert_eq!(*scheduler.joins.lock().unwrap(), 1, "the credential is kept");
}

#[tokio::test]
async fn a_sidecar_that_is_there_and_does_nothing_is_replaced() {
    let mut scheduler = Scheduler::start().await;
    let mut node = Node::with_sidecar_patience(&scheduler.url, "1200ms");
    let mut call = scheduler.welcomed().await;
    let gate = Waiting::new(node.path());
    let spec = serde_json::json!({ "name": "survivor", "script": gate.wait_in_shell() }).to_string();
    call.start(token(1), &spec, "").await;
    call.started(token(1)).await;
    node.freeze_sidecar();
    call.start(token(2), r#"{"name":"late","process":"true"}"#, "").await;
    let mut call = scheduler.call().await;
    assert_eq!(call.hello.slots, 0, "it takes nothing meanwhile");
    assert_eq!(call.hello.labels["unwell"], "sidecar");
    call.welcome().await;
    let mut call = scheduler.welcomed().await;
    assert!(call.hello.slots > 0 && !call.hello.labels.contains_key("unwell"), "another has taken its place");
    let finished = call.finished(token(2)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 0 }), "the order is not lost");
    assert_eq!(gate.passes(), 0);
    gate.open();
    call.finished(token(1)).await;
    assert_eq!(gate.passes(), 1, "the task went on");

    // An agent that finds such a sidecar when it starts does not wait for ever either.
    node.freeze_sidecar();
    node.kill_agent();
    node.start_agent();
    scheduler.welcomed().await;
}

#[tokio::test]
async fn a_stream_that_breaks_kills_nothing_and_an_end_meanwhile_is_told() {
    let mut scheduler = Scheduler::start().await;
    let node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    let gate = Waiting::new(node.path());
    let spec = serde_json::json!({ "name": "survivor", "script": gate.wait_in_shell() }).to_string();
    call.start(token(1), &spec, "").await;
    call.started(token(1)).await;
    drop(call);
    gate.open();
    gate.passed().await;
    let mut call = scheduler.call().await;
    assert_eq!(call.hello.held.len(), 1);
    call.welcome().await;
    let finished = call.finished(token(1)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 0 }));
}

#[tokio::test]
async fn a_killed_sidecar_is_replaced() {
    let mut scheduler = Scheduler::start().await;
    let node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    node.kill_sidecar();
    let spec = r#"{"name":"hello","process":"/bin/true"}"#;
    call.start(token(1), spec, "").await;
    let finished = call.finished(token(1)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 0 }));
}

#[tokio::test]
async fn an_agent_that_is_asked_to_end_says_goodbye_when_it_holds_nothing() {
    use mainspring_wire::agent::node_word::Word as Said;
    let mut scheduler = Scheduler::start().await;
    let mut node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    call.wait(|word| matches!(word, Said::Heartbeat(_)).then_some(())).await;
    let id = call.hello.node.clone();
    node.terminate_agent();
    call.wait(|word| matches!(word, Said::Goodbye(_)).then_some(())).await;
    drop(call);
    assert!(node.agent_ended().await);
    assert!(!node.has_sidecar(), "it had nothing to stay for");
    // The next agent has another sidecar, and is the same node.
    node.start_agent();
    assert_eq!(scheduler.call().await.hello.node, id);
}

#[tokio::test]
async fn an_agent_that_is_asked_to_end_leaves_its_tasks_to_the_sidecar() {
    let mut scheduler = Scheduler::start().await;
    let mut node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    let (short, long) = (Waiting::new(node.path()), Waiting::new(node.path()));
    let spec = |gate: &Waiting| {
        serde_json::json!({ "name": "survivor", "script": gate.wait_in_shell() }).to_string()
    };
    call.start(token(1), &spec(&short), "").await;
    call.start(token(2), &spec(&long), "").await;
    call.started(token(1)).await;
    call.started(token(2)).await;
    node.terminate_agent();
    assert!(node.agent_ended().await);
    short.open();
    short.passed().await;
    assert!(node.has_sidecar());
    node.start_agent();
    let mut call = scheduler.call().await;
    assert_eq!(call.hello.held.len(), 2);
    call.welcome().await;
    call.finished(token(1)).await;
    long.open();
    call.finished(token(2)).await;
    assert!(node.has_sidecar(), "its agent is there");
    assert_eq!((short.passes(), long.passes()), (1, 1));
}

#[tokio::test]
async fn an_end_that_nobody_acknowledged_is_told_by_the_next_sidecar() {
    let mut scheduler = Scheduler::start().await;
    let mut node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    call.start(token(1), r#"{"name":"hello","script":"echo told; exit 3"}"#, "").await;
    call.finished(token(1)).await;
    node.terminate_agent();
    assert!(node.agent_ended().await);
    assert!(!node.has_sidecar());
    node.start_agent();
    let mut call = scheduler.call().await;
    assert_eq!(call.hello.held.len(), 1);
    call.takes_logs = true;
    call.welcome().await;
    let finished = call.finished(token(1)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 3 }));
    assert_eq!(call.log_stored().await, "told\n");
}

#[tokio::test]
async fn a_sidecar_that_ends_while_an_agent_comes_is_replaced() {
    let mut scheduler = Scheduler::start().await;
    let mut node = Node::start(&scheduler.url);
    drop(scheduler.welcomed().await);
    node.terminate_agent();
    assert!(node.agent_ended().await);
    // It still listens when the next agent comes, and hangs up.
    let ending = node.listen_as_sidecar();
    node.start_agent();
    let hangs_up = tokio::task::spawn_blocking(move || drop(ending.accept().unwrap()));
    within(hangs_up).await.unwrap();
    scheduler.welcomed().await;
}
