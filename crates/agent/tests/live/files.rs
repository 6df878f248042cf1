//! Artifacts, inputs and outputs.

use std::os::unix::fs::PermissionsExt;

use mainspring_model::{Cause, NodeId};
use mainspring_wire::agent::FileChunk;
use tonic::Status;

use super::ground::{Node, Scheduler, token};

const NODE: NodeId = NodeId::from_bytes([0; 16]);
/// Of `#!/bin/sh` and `echo "I am $1"`.
const TOOL: &str = "#!/bin/sh\necho \"I am $1\"\n";

fn digest_of(text: &str) -> String {
    let mut digester = mainspring_blob::Digester::new(1_000);
    digester.add(text.as_bytes()).unwrap();
    digester.finish().digest.to_string()
}

#[tokio::test]
async fn an_artifact_is_fetched_once_checked_and_executed() {
    let mut scheduler = Scheduler::start().await;
    let node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    let source = node.path().join("tool");
    std::fs::write(&source, TOOL).unwrap();
    let spec = serde_json::json!({
        "name": "tool",
        "artifacts": [{ "url": format!("file://{}", source.display()), "digest": digest_of(TOOL),
                        "path": "bin/tool", "executable": true }],
        "process": { "command": "bin/tool", "args": ["here"] },
    });
    call.start(token(1), &spec.to_string(), "").await;
    let finished = call.finished(token(1)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 0 }));
    assert_eq!(call.log_stored().await, "I am here\n");
    // What is in the cache is not fetched again.
    std::fs::remove_file(source).unwrap();
    call.start(token(2), &spec.to_string(), "").await;
    let finished = call.finished(token(2)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 0 }));
}

#[tokio::test]
async fn an_artifact_that_is_something_else_does_not_start_and_is_named() {
    let mut scheduler = Scheduler::start().await;
    let node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    let source = node.path().join("tool");
    std::fs::write(&source, "something else").unwrap();
    for (run, url, digest, why) in [
        (1, Some(format!("file://{}", source.display())), digest_of(TOOL), "digest"),
        (2, Some("http://127.0.0.1:1/tool".to_owned()), digest_of(TOOL), "may be reached"),
        (3, None, digest_of(TOOL), "not in the repository"),
    ] {
        let mut artifact = serde_json::json!({ "digest": digest, "path": "tool" });
        if let Some(url) = url {
            artifact["url"] = url.into();
        }
        let spec = serde_json::json!({ "name": "tool", "artifacts": [artifact], "process": "true" });
        call.start(token(run), &spec.to_string(), "").await;
        match call.finished(token(run)).await.cause.unwrap().told_by(NODE).unwrap() {
            Cause::StartFailed { message } => {
                assert!(message.contains("artifact tool") && message.contains(why), "{message}");
            }
            other => panic!("{run}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_scheduler_that_goes_away_while_it_is_asked_is_asked_again() {
    let mut scheduler = Scheduler::start().await;
    let _node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    let piece = |text: &str| Ok(FileChunk { data: text.to_owned().into() });
    let broken = vec![piece("#!/bin/sh\n"), Err(Status::unavailable("going away"))];
    scheduler.files.lock().unwrap().extend([
        Ok(broken),
        Err(Status::unavailable("the store does not answer")),
        Err(Status::permission_denied("who took over has not heard of it yet")),
        Ok(vec![piece(TOOL)]),
    ]);
    let artifact = serde_json::json!({ "digest": digest_of(TOOL), "path": "tool", "executable": true });
    let process = serde_json::json!({ "command": "./tool", "args": ["whole"] });
    let spec = serde_json::json!({ "name": "tool", "artifacts": [artifact], "process": process });
    call.start(token(1), &spec.to_string(), "").await;
    let finished = call.finished(token(1)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 0 }));
    assert_eq!(call.log_stored().await, "I am whole\n");
    assert!(scheduler.files.lock().unwrap().is_empty());
}

#[tokio::test]
async fn inputs_are_copied_before_and_outputs_after() {
    let mut scheduler = Scheduler::start().await;
    let node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    std::fs::write(node.path().join("monday.csv"), "a,b\n").unwrap();
    let place = node.path().display();
    let spec = serde_json::json!({
        "name": "totals",
        "parameters": { "day": "string" },
        "inputs": { "orders": format!("file://{place}/{{{{ params.day }}}}.csv"), "plain": "/data/x" },
        "outputs": { "totals": format!("file://{place}/out/{{{{ params.day }}}}.txt") },
        "script": "echo \"$MAINSPRING_INPUT_PLAIN\"; wc -c < \"$MAINSPRING_INPUT_ORDERS\" > \"$MAINSPRING_OUTPUT_TOTALS\"",
    });
    call.start(token(1), &spec.to_string(), r#"{"day":"monday"}"#).await;
    let finished = call.finished(token(1)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 0 }));
    assert_eq!(call.log_stored().await, "/data/x\n");
    assert_eq!(std::fs::read_to_string(node.path().join("out/monday.txt")).unwrap().trim(), "4");
    // An output that was not made is an error of the attempt; an input that is not there prevents it.
    let lazy = spec.to_string().replace("wc -c", "exit 0; wc -c");
    call.start(token(2), &lazy, r#"{"day":"monday"}"#).await;
    match call.finished(token(2)).await.cause.unwrap().told_by(NODE).unwrap() {
        Cause::Error { class, message } => {
            assert_eq!(&*class, "output");
            assert!(message.contains("totals"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    call.start(token(3), &spec.to_string(), r#"{"day":"tuesday"}"#).await;
    match call.finished(token(3)).await.cause.unwrap().told_by(NODE).unwrap() {
        Cause::StartFailed { message } => assert!(message.contains("orders"), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_file_location_leads_nowhere_but_where_the_node_allows() {
    let mut scheduler = Scheduler::start().await;
    let node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let secret = elsewhere.path().join("secret");
    std::fs::write(&secret, "s3cret").unwrap();
    std::os::unix::fs::symlink(&secret, node.path().join("innocent")).unwrap();
    std::fs::write(node.data().join("own"), "mine").unwrap();
    let spec = r#"{"name":"reader","parameters":{"src":"string"},"inputs":{"src":"{{ params.src }}"},
        "script":"cat \"$MAINSPRING_INPUT_SRC\""}"#;
    for (run, path) in [(1, secret), (2, node.path().join("innocent")), (3, node.data().join("own"))] {
        let params = serde_json::json!({ "src": format!("file://{}", path.display()) });
        call.start(token(run), spec, &params.to_string()).await;
        match call.finished(token(run)).await.cause.unwrap().told_by(NODE).unwrap() {
            Cause::StartFailed { message } => {
                assert!(message.contains("input src") && message.contains("allowed_paths"), "{message}");
            }
            other => panic!("{run}: {other:?}"),
        }
    }
    let spec = serde_json::json!({
        "name": "writer", "outputs": { "out": format!("file://{}/new", elsewhere.path().display()) },
        "script": "echo x > \"$MAINSPRING_OUTPUT_OUT\"",
    });
    call.start(token(4), &spec.to_string(), "").await;
    match call.finished(token(4)).await.cause.unwrap().told_by(NODE).unwrap() {
        Cause::Error { message, .. } => assert!(message.contains("allowed_paths"), "{message}"),
        other => panic!("{other:?}"),
    }
    assert!(!elsewhere.path().join("new").exists());
}

#[tokio::test]
async fn a_bucket_is_reached_only_if_the_node_lists_it() {
    let mut scheduler = Scheduler::start().await;
    let _node = Node::start(&scheduler.url);
    let mut call = scheduler.welcomed().await;
    let spec = r#"{"name":"reader","inputs":{"src":"s3://payroll/salaries"},"script":"true"}"#;
    call.start(token(1), spec, "").await;
    match call.finished(token(1)).await.cause.unwrap().told_by(NODE).unwrap() {
        Cause::StartFailed { message } => {
            assert!(message.contains("input src") && message.contains("allowed_buckets"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn tasks_run_as_the_nodes_user_unless_their_job_names_one_that_the_node_allows() {
    let mut scheduler = Scheduler::start().await;
    let node = Node::with_task_user(&scheduler.url, "nobody-of-that-name", "nobody-else");
    let mut call = scheduler.welcomed().await;
    let input = format!("file://{}/input", node.path().display());
    std::fs::write(node.path().join("input"), "x").unwrap();
    let plain = serde_json::json!({ "name": "plain", "process": "true" });
    let fetching = serde_json::json!({ "name": "fetching", "process": "true", "inputs": { "x": input } });
    for (run, spec) in [(1, plain), (2, fetching)] {
        call.start(token(run), &spec.to_string(), "").await;
        let cause = call.finished(token(run)).await.cause.unwrap().told_by(NODE).unwrap();
        assert!(format!("{cause:?}").contains("no user `nobody-of-that-name`"), "{run}: {cause:?}");
    }
    // One that nobody has again, so that the sidecar says which it was told.
    for (run, user, said) in [
        (3, "root", "allowed_users"),
        (4, "nobody-else", "no user `nobody-else`"),
        (5, "toor", "allowed_users"),
    ] {
        let named = serde_json::json!({ "name": "named", "process": { "command": "true", "user": user } });
        call.start(token(run), &named.to_string(), "").await;
        let cause = call.finished(token(run)).await.cause.unwrap().told_by(NODE).unwrap();
        assert!(format!("{cause:?}").contains(said), "{user}: {cause:?}");
    }
}

#[tokio::test]
async fn a_task_of_another_user_cannot_have_the_agent_copy_what_it_likes() {
    assert!(rustix::process::getuid().is_root(), "this test needs root");
    let mut scheduler = Scheduler::start().await;
    let node = Node::with_task_user(&scheduler.url, "nobody", "nobody");
    // Tasks pass through it to their own directories.
    std::fs::set_permissions(node.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    std::fs::write(node.path().join("secret"), "of root").unwrap();
    std::fs::write(node.path().join("orders.csv"), "a,b\n").unwrap();
    let mut call = scheduler.welcomed().await;
    let place = node.path().display();
    let memo = format!(
        r#"[{{"name":"totals","path":"{place}/secret","url":"file://{place}/out/stolen","namespace":"default"}}]"#
    );
    let text = format!(
        "attempt=$(dirname \"$MAINSPRING_OUTPUT\")\n\
         echo '{memo}' > \"$attempt/publish.json\" && echo written\n\
         rm -f \"$attempt/publish.json\" && echo removed\n\
         stat -c '%a %U' \"$(dirname \"$MAINSPRING_INPUT_ORDERS\")\"\n\
         cat \"$MAINSPRING_INPUT_ORDERS\" > \"$MAINSPRING_OUTPUT_TOTALS\"\n"
    );
    let spec = serde_json::json!({
        "name": "totals",
        "inputs": { "orders": format!("file://{place}/orders.csv") },
        "outputs": { "totals": format!("file://{place}/out/totals.csv") },
        "script": text,
    });
    call.start(token(1), &spec.to_string(), "").await;
    let finished = call.finished(token(1)).await;
    assert_eq!(finished.cause.unwrap().told_by(NODE), Ok(Cause::Exit { code: 0 }));
    assert_eq!(std::fs::read_to_string(node.path().join("out/totals.csv")).unwrap(), "a,b\n");
    assert!(!node.path().join("out/stolen").exists());
    let said = call.log_stored().await;
    assert!(!said.contains("written") && !said.contains("removed"), "{said}");
    assert!(said.contains("700 nobody"), "{said}");
}
