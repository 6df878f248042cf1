//! What tasks see and what is told about them.

use std::time::Duration;

use mainspring_model::{Cause, NodeId};
use mainspring_wire::agent::node_word::Word as Said;
use mainspring_wire::agent::report::News;

use super::ground::{Node, Scheduler, Waiting, token};

const NODE: NodeId = NodeId::from_bytes([0; 16]);

#[tokio::test]
async fn a_task_is_executed_and_its_end_told() {
    let mut scheduler = Scheduler::start().await;
    let node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    assert!(call.hello.slots > 0 && call.hello.held.is_empty());
    let spec = r#"{"name":"hello","process":{"command":"sh","args":["-c","echo hello {{ params.who }}; exit 3"]},"parameters":{"who":"string"}}"#;
    call.start(token(1), spec, r#"{"who":"world"}"#).await;
    call.started(token(1)).await;
    let finished = call.finished(token(1)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 3 }));
    assert!(finished.begun_us_ago.is_some() && !finished.stopped);
    assert_eq!(call.log_stored().await, "hello world\n");
    call.forget(token(1)).await;
    node.forgets(token(1)).await;
    call.stop(token(2), Duration::ZERO).await;
    let refused = call.finished(token(2)).await;
    assert!(refused.stopped && refused.begun_us_ago.is_none());
}

#[tokio::test]
async fn a_script_has_its_interpreter_its_variables_and_a_result() {
    let mut scheduler = Scheduler::start().await;
    let _node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    let spec = serde_json::json!({ "name": "totals", "script": {
        "interpreter": ["bash", "-eu"],
        "args": ["{{ params.day }}"],
        "env": { "GREETING": "good {{ params.day }}" },
        "stdin": "from the job",
        "text": "arr=(one two)\necho \"$1 ${arr[1]} $GREETING $MAINSPRING_PARAM_COUNT $(cat)\"\n\
                 echo \"$MAINSPRING_ATTEMPT of $MAINSPRING_ATTEMPTS_MAX $MAINSPRING_NAMESPACE\"\n\
                 test \"$MAINSPRING_PARAMS\" = \"$(cat \"$MAINSPRING_INPUT\")\"\n\
                 echo '{\"rows\": 7}' > \"$MAINSPRING_OUTPUT\"\n",
    }, "parameters": { "day": "string", "count": "integer" } });
    call.start(token(1), &spec.to_string(), r#"{"day":"monday","count":3}"#).await;
    let finished = call.finished(token(1)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 0 }));
    assert_eq!(finished.result.as_deref(), Some(&b"{\"rows\": 7}\n"[..]));
    let expected = "monday two good monday 3 from the job\n1 of 4 acme/data\n";
    assert_eq!(call.log_stored().await, expected);
}

#[tokio::test]
async fn a_task_has_the_limits_of_its_job() {
    let mut scheduler = Scheduler::start().await;
    let _node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    let spec = r#"{"name":"limited","script":{"interpreter":"bash","umask":"027",
        "limits":{"cpu_time":"90s","open_files":77,"file_size":"1Mi","core":0,"stack":"2Mi"},
        "text":"ulimit -S -t; ulimit -n; ulimit -f; ulimit -c; ulimit -s; umask; ulimit -H -t"}}"#;
    call.start(token(1), spec, "").await;
    let finished = call.finished(token(1)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 0 }));
    assert_eq!(call.log_stored().await, "90\n77\n1024\n0\n2048\n0027\n95\n");
    let spec = r#"{"name":"busy","process":{"command":"sh","args":["-c","while :; do :; done"],"limits":{"cpu_time":"1s"}}}"#;
    call.start(token(2), spec, "").await;
    let finished = call.finished(token(2)).await;
    const XCPU: i32 = 24;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Signal { signal: XCPU }));
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let mut scheduler = Scheduler::start().await;
    let _node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    for (run, spec, named) in [
        (1, r#"{"name":"a","process":"/no/such/program"}"#, "/no/such/program"),
        (
            2,
            r#"{"name":"b","process":{"command":"true","args":["{{ params.day }}"]},"parameters":{"day":"string"}}"#,
            "args[0]",
        ),
        (3, r#"{"name":"c","handler":"send-mail"}"#, "handler"),
        (
            4,
            r#"{"name":"d","process":{"command":"true","user":"nobody-of-that-name"}}"#,
            "nobody-of-that-name",
        ),
    ] {
        call.start(token(run), spec, "").await;
        match call.finished(token(run)).await.cause.unwrap().told_by(NODE).unwrap() {
            Cause::StartFailed { message } => {
                assert!(message.contains(named) || message.contains("No such file"), "{run}: {message}");
            }
            other => panic!("{run}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn progress_is_told_while_a_task_runs() {
    let mut scheduler = Scheduler::start().await;
    let node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    let gate = Waiting::new(node.path());
    let text = format!("echo '0.25 a quarter' >> $MAINSPRING_PROGRESS; {}", gate.wait_in_shell());
    let spec = serde_json::json!({ "name": "slow", "script": text });
    call.start(token(1), &spec.to_string(), "").await;
    let progress = call
        .wait(|word| match word {
            Said::Report(report) => match report.news.as_ref()? {
                News::Progressed(progressed) => progressed.progress.clone(),
                _ => None,
            },
            _ => None,
        })
        .await;
    assert_eq!((progress.permille, progress.message.as_str()), (250, "a quarter"));
    gate.open();
    assert_eq!(call.finished(token(1)).await.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 0 }));
}

#[tokio::test]
async fn a_tree_that_daemonizes_and_ignores_signals_is_gone_after_a_stop() {
    let mut scheduler = Scheduler::start().await;
    let node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    let pids = node.path().join("pids");
    let text = format!(
        "trap '' TERM\n(setsid sh -c 'trap \"\" TERM; echo $$ >> {pids}; while :; do sleep 1; done' &)\n\
         echo $$ >> {pids}\nwhile [ $(wc -l < {pids}) -lt 2 ]; do sleep 0.01; done\necho up\nwhile :; do sleep 1; done\n",
        pids = pids.display()
    );
    let spec = serde_json::json!({ "name": "hostile", "script": text });
    call.start(token(1), &spec.to_string(), "").await;
    call.wait(|word| matches!(word, Said::Log(chunk) if !chunk.data.is_empty()).then_some(())).await;
    call.stop(token(1), Duration::from_millis(100)).await;
    let finished = call.finished(token(1)).await;
    assert!(finished.stopped);
    let pids = std::fs::read_to_string(pids).unwrap();
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(status.is_empty() || status.contains(") Z "), "{pid} lives: {status}");
    }
}

#[tokio::test]
async fn a_crowd_of_short_tasks_is_executed_once_each_and_forgotten() {
    const TASKS: u128 = 1_000;
    let mut scheduler = Scheduler::start().await;
    let node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    for run in 1..=TASKS {
        call.start(token(run), r#"{"name":"short","process":"/bin/true"}"#, "").await;
    }
    let mut ended = std::collections::BTreeSet::new();
    while ended.len() < TASKS as usize {
        let run = call
            .wait(|word| match word {
                Said::Report(report) => match report.news.as_ref()? {
                    News::Finished(finished) => Some((report.token.clone()?.run, finished.cause.clone()?)),
                    _ => None,
                },
                _ => None,
            })
            .await;
        assert_eq!(run.1.told_by(NODE), Ok(Cause::Exit { code: 0 }));
        if ended.insert(run.0.clone()) {
            call.forget(token(u128::from_be_bytes(run.0[..].try_into().unwrap()) & 0xffff)).await;
        }
    }
    node.forgets(token(TASKS)).await;
}
