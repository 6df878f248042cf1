//! Attempts carry tokens: what a stale one says changes nothing, is counted, and wedges nobody.

use mainspring_engine::News;
use mainspring_model::spec::Balancer;
use mainspring_model::{AttemptToken, Cause, Epoch, RunEventKind, RunState};

use crate::world::{World, balancer, ending};

fn every_news() -> [News; 4] {
    let progress = News::Progressed { progress: None, checkpoint: Some((*b"stale").into()) };
    [News::Accepted, News::Started, progress, News::Finished(ending(Cause::Exit { code: 0 }))]
}

#[test]
fn a_stale_token_changes_nothing() {
    let mut world = World::new();
    let node = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.end(run, Cause::Exit { code: 1 });
    let (_, current) = world.attempt(run);
    assert_eq!(current.number, 2);
    world.hush();
    let row = world.row(run);
    let stale = [
        AttemptToken { number: 1, ..current },
        AttemptToken { number: 3, ..current },
        AttemptToken { epoch: Epoch(0), ..current },
        AttemptToken { epoch: Epoch(2), ..current },
    ];
    for token in stale {
        for news in every_news() {
            world.report(node, token, news);
        }
    }
    world.settle();
    assert_eq!(world.cell.stats().stale_tokens, 16);
    assert_eq!(world.row(run), row);
    let forgets: Vec<String> = world.said();
    assert_eq!(
        forgets.len(),
        4,
        "each ending is acknowledged, so that the node does not repeat it: {forgets:?}"
    );
    assert!(forgets.iter().all(|words| words.ends_with("stale")));
    world.finish(run);
    world.states(&[run], RunState::Success);
}

#[test]
fn another_node_cannot_speak_for_the_attempt() {
    let mut world = World::new();
    let (_, other) = (world.node("a"), world.node("b"));
    let job = world.job_with(|spec| spec.dispatch = balancer(Balancer::First));
    let run = world.submit(&job);
    let (_, token) = world.attempt(run);
    world.hush();
    for news in every_news() {
        world.report(other, token, news);
    }
    world.settle();
    world.expect(&["forget r1#1 on b stale"]);
    assert_eq!(world.cell.stats().stale_tokens, 4);
    world.states(&[run], RunState::Running);
}

#[test]
fn a_run_that_ended_stays_ended() {
    let mut world = World::new();
    let node = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    let (_, token) = world.attempt(run);
    world.finish(run);
    world.hush();
    let row = world.row(run);
    world.report(node, token, News::Finished(ending(Cause::Exit { code: 9 })));
    world.settle();
    world.expect(&["forget r1#1 on a stale"]);
    assert_eq!(world.row(run), row);
}

#[test]
fn an_ending_that_comes_twice_before_it_is_durable_is_acknowledged_after() {
    let mut world = World::new();
    let node = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    let (_, token) = world.attempt(run);
    world.hush();
    world.commits = false;
    for _ in 0..2 {
        world.report(node, token, News::Finished(ending(Cause::Exit { code: 0 })));
    }
    world.settle();
    world.quiet();
    world.commits = true;
    world.settle();
    world.expect(&["forget r1#1 on a", "forget r1#1 on a"]);
    assert_eq!(world.cell.stats().ended, 1);
}

#[test]
fn a_word_from_an_old_connection_is_not_listened_to() {
    let mut world = World::new();
    let node = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    let (_, token) = world.attempt(run);
    world.connect(node);
    world.hush();
    world.agent(node).session -= 1;
    world.report(node, token, News::Finished(ending(Cause::Exit { code: 0 })));
    world.settle();
    world.quiet();
    world.states(&[run], RunState::Running);
    world.agent(node).session += 1;
    world.report(node, token, News::Finished(ending(Cause::Exit { code: 0 })));
    world.settle();
    world.expect(&["forget r1#1 on a"]);
}

#[test]
fn an_attempt_that_was_given_up_and_still_executes_is_stopped_and_flagged() {
    let mut world = World::new();
    let (a, _) = (world.node("a"), world.node("b"));
    let job = world.job_with(|spec| spec.dispatch = balancer(Balancer::First));
    let run = world.submit(&job);
    let silent = world.silence(a);
    world.pass(world.config.lost_after);
    assert_eq!(world.node_of(run), "b");
    world.hush();
    world.revive(silent);
    world.expect(&["welcome a 2", "stop r1#1 on a after 0s"]);
    assert!(world.row(run).status.extra.unwrap().maybe_doubled);
    assert!(world.events(run).contains(&RunEventKind::MaybeDoubled { attempt: 1 }));
    world.states(&[run], RunState::Running);
}
