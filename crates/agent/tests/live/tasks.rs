//! What tasks see and what is told about them.

use std::time::Duration;

use mainspring_model::{Cause, NodeId};

use super::ground::{Node, Scheduler, token};

const NODE: NodeId = NodeId::from_bytes([0; 16]);

#[tokio::test]
async fn a_task_is_executed_and_its_end_told() {
    let mut scheduler = Scheduler::start().await;
    let _node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    assert_eq!(*scheduler.joins.lock().unwrap(), 1);
    assert!(call.hello.slots > 0 && call.hello.held.is_empty());
    let spec =
        r#"{"name":"hello","process":{"command":"sh","args":["-c","echo hello {{ params.who }}; exit 3"]}}"#;
    call.start(token(1), spec, r#"{"who":"world"}"#).await;
    call.started(token(1)).await;
    let finished = call.finished(token(1)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 3 }));
    assert!(finished.elapsed_us.is_some() && !finished.stopped);
    assert_eq!(call.log_stored().await, "hello world\n");
    call.stop(token(2), Duration::ZERO).await;
    let refused = call.finished(token(2)).await;
    assert!(refused.stopped && refused.elapsed_us.is_none());
}
