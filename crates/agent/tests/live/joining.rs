//! How a node becomes known.

use std::os::unix::fs::PermissionsExt;

use super::ground::{CREDENTIAL, Node, Scheduler};

#[tokio::test]
async fn a_join_token_is_exchanged_once_for_a_credential_of_its_own() {
    let mut scheduler = Scheduler::start().await;
    let mut node = Node::start(&scheduler.url);
    let call = scheduler.welcomed().await;
    let path = node.data().join("agent/credential");
    assert!(std::fs::read_to_string(&path).unwrap().contains(CREDENTIAL));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    drop(call);
    node.kill_agent();
    node.start_agent();
    scheduler.welcomed().await;
    assert_eq!(*scheduler.joins.lock().unwrap(), 1);
}

#[tokio::test]
async fn a_credential_that_is_refused_is_exchanged_anew() {
    let mut scheduler = Scheduler::start().await;
    let mut node = Node::start(&scheduler.url);
    drop(scheduler.welcomed().await);
    node.kill_agent();
    let path = node.data().join("agent/credential");
    let revoked = std::fs::read_to_string(&path).unwrap().replace(CREDENTIAL, "revoked");
    std::fs::write(&path, revoked).unwrap();
    node.start_agent();
    scheduler.welcomed().await;
    assert_eq!(*scheduler.joins.lock().unwrap(), 2);
}

#[tokio::test]
async fn a_wrong_token_ends_the_agent() {
    let scheduler = Scheduler::start().await;
    let mut node = Node::with_token(&scheduler.url, "guessed");
    assert!(!node.agent_ended().await);
    assert_eq!(*scheduler.joins.lock().unwrap(), 0);
}

#[tokio::test]
async fn a_redirection_is_followed() {
    let mut elsewhere = Scheduler::start().await;
    let mut owner = Scheduler::start().await;
    let _node = Node::start(&elsewhere.url);
    let call = elsewhere.call().await;
    call.redirect(&owner.url).await;
    owner.welcomed().await;
}
