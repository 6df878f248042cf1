//! Captured output reaches the owner once and in order, whatever happens on the way.

use mainspring_wire::agent::node_word::Word as Said;

use super::ground::{Node, Scheduler, Waiting, token};

#[tokio::test]
async fn a_log_goes_on_where_the_owner_has_it() {
    let mut scheduler = Scheduler::start().await;
    let mut node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    let gate = Waiting::new(node.path());
    let text = format!("seq 1 20000; {}; seq 20001 40000", gate.wait_in_shell());
    let spec = serde_json::json!({ "name": "counter", "script": text }).to_string();
    call.start(token(1), &spec, "").await;
    while call.log.len() < 40_000 {
        call.wait(|word| matches!(word, Said::Log(_)).then_some(())).await;
    }
    let log = std::mem::take(&mut call.log);
    drop(call);
    node.kill_agent();
    gate.open();
    gate.passed().await;
    node.start_agent();
    let mut call = scheduler.call().await;
    call.log = log;
    call.welcome().await;
    let text = call.log_stored().await;
    let expected: String = (1..=40_000).map(|number| format!("{number}\n")).collect();
    assert!(text == expected, "{} bytes instead of {}", text.len(), expected.len());
}

#[tokio::test]
async fn an_owner_that_takes_nothing_gets_a_window_and_the_task_is_not_held_up() {
    let mut scheduler = Scheduler::start().await;
    let _node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    call.takes_logs = false;
    let spec = r#"{"name":"flood","script":"head -c 3000000 /dev/zero | tr '\\0' 'x'"}"#;
    call.start(token(1), spec, "").await;
    let mut sent = 0;
    let cause = call
        .wait(|word| match word {
            Said::Log(chunk) => {
                sent += chunk.data.len();
                None
            }
            Said::Report(report) => match report.news.as_ref()? {
                mainspring_wire::agent::report::News::Finished(finished) => finished.cause.clone(),
                _ => None,
            },
            _ => None,
        })
        .await;
    assert!(cause.kind.is_some());
    assert!(sent > 0 && sent < 512 * 1024, "{sent} bytes on their way");
    drop(call);
    let mut call = scheduler.welcomed().await;
    assert_eq!(call.log_stored().await.len(), 3_000_000);
}

#[tokio::test]
async fn an_empty_log_is_never_spoken_of() {
    let mut scheduler = Scheduler::start().await;
    let node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    call.start(token(1), r#"{"name":"quiet","process":"/bin/true"}"#, "").await;
    call.finished(token(1)).await;
    call.forget(token(1)).await;
    node.forgets(token(1)).await;
    assert!(call.log.is_empty() && !call.stored);
}
