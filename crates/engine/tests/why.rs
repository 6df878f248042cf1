//! Why a run is not running: for each situation the words that are said about it, and the next step.

use std::num::NonZeroU32;

use mainspring_engine::Event;
use mainspring_model::spec::{
    Balancer, Body, Concurrency, Curve, Handler, Overlap, RateLimit, RetryNode, Sticky,
};
use mainspring_model::{Cause, JobSpec, NodeId, Reason, RunId, RunState};

use crate::world::{World, at, balancer, paused, secs, wait};

/// What is said when a run has come into a situation.
fn check(situation: fn(&mut World) -> RunId, message: &str, remedy: &str) {
    let mut world = World::new();
    let run = situation(&mut world);
    let why = world.why(run);
    assert_eq!((why.to_string().as_str(), why.remedy().as_str()), (message, remedy));
    check_facts(message, &why.message_zh());
    check_facts(remedy, &why.remedy_zh());
}

/// Whatever is said in English with a number, a name in quotes or a moment is said in Chinese too.
fn check_facts(english: &str, chinese: &str) {
    let quoted = english.split('`').skip(1).step_by(2);
    let numbers = english.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '-' | ':'));
    let numbers = numbers.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    for fact in quoted.chain(numbers) {
        assert!(
            chinese.contains(fact.trim_end_matches(['.', ':'])),
            "`{fact}` of `{english}` is not in `{chinese}`"
        );
    }
}

#[test]
fn each_node_says_what_it_lacks_for_a_run() {
    let mut world = World::new();
    nodes(&mut world, &["a", "b", "c"]);
    let drained = world.node("d");
    drain(&mut world, drained);
    let first = submit_with(&mut world, |spec| spec.resources.cpu_milli = 3_000);
    let others: Vec<RunId> =
        (0..2).map(|_| submit_with(&mut world, |spec| spec.resources.cpu_milli = 2_500)).collect();
    world.states(&[first, others[0], others[1]], RunState::Running);
    let waits = submit_with(&mut world, |spec| spec.resources.cpu_milli = 2_000);
    let lacks = |world: &World, run, count| -> Vec<String> {
        let fits = world.cell.nearest_nodes(run, count);
        fits.iter().map(|fit| format!("{} {:?}", fit.name, fit.lacks)).collect()
    };
    let room =
        |name: &str, has| format!("{name} Room(Amount {{ dimension: \"cpu\", wanted: 2000, has: {has} }})");
    let nearest = lacks(&world, waits, 9);
    assert_eq!(nearest.len(), 4, "{nearest:?}");
    assert!(nearest[0].ends_with(&room("", 1500)) && nearest[1].ends_with(&room("", 1500)), "{nearest:?}");
    assert!(nearest[2].ends_with(&room("", 1000)), "{nearest:?}");
    assert_eq!(nearest[3], "d Away(Draining)");
    assert_eq!(lacks(&world, waits, 1), nearest[..1]);
    assert_eq!(lacks(&world, first, 9), [] as [&str; 0], "it runs");
}

fn submit_with(world: &mut World, change: impl FnOnce(&mut JobSpec)) -> RunId {
    let job = world.job_with(change);
    world.submit(&job)
}

fn nodes(world: &mut World, names: &[&str]) -> Vec<NodeId> {
    names.iter().map(|name| world.node(name)).collect()
}

fn drain(world: &mut World, node: NodeId) {
    let request = world.request();
    world.handle(Event::Drain { request, node, deadline: Some(at(9_000)) });
}

fn goodbye(world: &mut World, node: NodeId) {
    let session = world.agent(node).session;
    world.handle(Event::Goodbye { node, session });
}

fn lose(world: &mut World, node: NodeId) {
    world.silence(node);
    world.pass(world.config.lost_after);
}

/// The agent is asked to end and empties itself first.
fn leave(world: &mut World, node: NodeId) {
    world.agent(node).node.slots = 0;
    world.connect(node);
}

/// A run that failed on each of these nodes and wants another.
fn failed_on(world: &mut World, names: &[&str]) -> RunId {
    nodes(world, names);
    let run = submit_with(world, |spec| spec.retry.node = RetryNode::Other);
    for _ in names {
        world.end(run, Cause::Exit { code: 1 });
    }
    run
}

/// Runs of different jobs that were lost with their node; the node is back, and one of them is on it again.
fn suspects(world: &mut World, count: usize) -> Vec<RunId> {
    let node = world.node("a");
    let runs: Vec<RunId> = (0..count).map(|_| submit_with(world, |_| {})).collect();
    let mut silent = world.silence(node);
    world.pass(world.config.lost_after);
    silent.held.clear();
    world.revive(silent);
    runs
}

fn limited(world: &mut World, limit: u32, key: Option<&str>) -> RunId {
    world.node("a");
    let key = key.map(Into::into);
    let limit = NonZeroU32::new(limit).unwrap();
    let job = world.job_with(|spec| {
        spec.concurrency = Some(Concurrency { limit, key, overlap: Overlap::QueueAll, queue_max: None });
    });
    (0..=limit.get()).map(|_| world.submit_params(&job, r#"{"t":"eu"}"#)).last().unwrap()
}

fn rated(world: &mut World, key: Option<&str>) -> RunId {
    world.node("a");
    let job = world.job_with(|spec| {
        let limit = NonZeroU32::new(1).unwrap();
        spec.rate_limit = Some(RateLimit { limit, per: secs(60), key: key.map(Into::into) });
    });
    (0..2).map(|_| world.submit_params(&job, r#"{"t":"eu"}"#)).last().unwrap()
}

#[test]
fn time() {
    check(
        |world| {
            let job = world.job();
            world.submit_with(&job, |head| head.not_before = Some(at(60)))
        },
        &format!("not before {}", at(60)),
        &format!("nothing to do: it is queued at {}", at(60)),
    );
    check(
        |world| {
            world.node("a");
            let run = submit_with(world, |spec| {
                spec.retry.backoff = wait(Curve::Fixed { base: secs(30) });
                spec.retry.max = 3;
            });
            world.end(run, Cause::Exit { code: 1 });
            run
        },
        &format!("attempt 2 of 4 is due at {}", at(30)),
        &format!("it is retried at {}; `mainspring retry RUN` skips the wait", at(30)),
    );
    check(
        |world| rated(world, None),
        &format!("the rate limit of 1 is used up; the next may start at {}", at(60)),
        &format!("nothing to do: the next starts at {}; raise `rate_limit` for more", at(60)),
    );
    check(
        |world| rated(world, Some("{{ params.t }}")),
        &format!("the rate limit of 1 for key `eu` is used up; the next may start at {}", at(60)),
        &format!("nothing to do: the next starts at {}; raise `rate_limit` for more", at(60)),
    );
}

#[test]
fn losses_are_not_among_the_attempts_of_a_back_off() {
    let mut world = World::new();
    let all = nodes(&mut world, &["a", "b"]);
    let run = submit_with(&mut world, |spec| {
        spec.dispatch = balancer(Balancer::First);
        spec.retry.backoff = wait(Curve::Fixed { base: secs(30) });
        spec.retry.max = 1;
    });
    lose(&mut world, all[0]);
    world.end(run, Cause::Exit { code: 1 });
    assert_eq!(world.row(run).status.losses, 1);
    let due = world.now + secs(30);
    assert_eq!(world.why(run).to_string(), format!("attempt 3 of 3 is due at {due}"));
}

#[test]
fn limits_and_pauses() {
    let remedy = "wait for one of them to end, or raise `concurrency.limit`";
    check(|world| limited(world, 1, None), "1 of 1 running", remedy);
    check(|world| limited(world, 2, Some("{{ params.t }}")), "2 of 2 running for key `eu`", remedy);
    check(
        |world| {
            let job = world.job();
            world.pause_job(&job, Some(paused(world.now)));
            world.submit(&job)
        },
        "job paused by ann: look at it first",
        "resume the job with `mainspring resume JOB`",
    );
    check(
        |world| {
            world.pause_cell(Some(paused(world.now)));
            submit_with(world, |_| {})
        },
        "cell paused by ann: look at it first",
        "resume the cell with `mainspring resume --cell CELL`",
    );
    check(
        |world| {
            let run = submit_with(world, |_| {});
            for name in ["a", "b", "c"] {
                let node = world.node(name);
                lose(world, node);
                world.pass(secs(60));
            }
            run
        },
        "job quarantined: it was lost with its node 3 times in a row",
        "find out why it takes its node down, then let it go on with `mainspring retry RUN`",
    );
}

#[test]
fn no_node_passes_a_filter() {
    let add = "add a node to pool `gpu`, or name another in `placement.pool`";
    check(
        |world| submit_with(world, |spec| spec.placement.pool = Some("gpu".parse().unwrap())),
        "no node is in pool `gpu`; no pool has one",
        add,
    );
    check(
        |world| {
            nodes(world, &["a", "b", "c"]);
            world.node_with("d", |node| node.pool = "small".into());
            let gone = world.node_with("e", |node| node.pool = "gone".into());
            lose(world, gone);
            submit_with(world, |spec| spec.placement.pool = Some("gpu".parse().unwrap()))
        },
        "no node is in pool `gpu`; pools with nodes: default (3), small (1)",
        add,
    );
    check(
        |world| {
            nodes(world, &["a", "b", "c"]);
            world.node_with("d", |node| node.pool = "small".into());
            submit_with(world, |spec| spec.placement.selector = "disk=fast".parse().unwrap())
        },
        "no node of pool `default` (3 nodes) matches `disk=fast`",
        "label a node of pool `default` to match with `mainspring node label`, or loosen `placement.selector`",
    );
    check(
        |world| {
            world.node("a");
            submit_with(world, |spec| spec.dispatch = balancer(Balancer::Node("b".parse().unwrap())))
        },
        "no node of pool `default` (1 node) is called b",
        "add a node of that name to pool `default`, or name another in `dispatch.balancer`",
    );
    check(
        |world| {
            nodes(world, &["a", "b"]);
            submit_with(world, |spec| spec.body = Body::Handler(Handler { name: "resize".into() }))
        },
        "none of 2 nodes that match offers the handler `resize`",
        "start a worker in pool `default` that registers `resize`",
    );
}

#[test]
fn every_node_is_too_small() {
    let larger =
        |what: &str| format!("add a larger node to pool `default`, or ask for less {what} in `resources`");
    check(
        |world| {
            nodes(world, &["a", "b", "c"]);
            world.node_with("d", |node| (node.pool, node.capacity.cpu_milli) = ("big".into(), 64_000));
            submit_with(world, |spec| spec.resources.cpu_milli = 8_000)
        },
        "it needs 8 CPU; the largest of 3 nodes that match has 4",
        &larger("CPU"),
    );
    check(
        |world| {
            world.node("a");
            submit_with(world, |spec| spec.resources.memory_bytes = 5 << 30)
        },
        "it needs 5 GiB of memory; the only node that matches has 4 GiB",
        &larger("memory"),
    );
    check(
        |world| {
            nodes(world, &["a", "b"]);
            submit_with(world, |spec| spec.resources.named.extend([("license".into(), 1_000)]))
        },
        "it needs 1 license; none of 2 nodes that match has any",
        &larger("license"),
    );
    check(
        |world| {
            nodes(world, &["a", "b"]);
            world.node_with("c", |node| (node.capacity.cpu_milli, node.capacity.memory_bytes) = (8_000, 1));
            submit_with(world, |spec| {
                (spec.resources.cpu_milli, spec.resources.memory_bytes) = (8_000, 1 << 30);
            })
        },
        "it needs 8 CPU; 2 of 3 nodes that match have at most 4, the rest too little of something else",
        &larger("CPU"),
    );
}

#[test]
fn nodes_that_match_take_nothing() {
    let add = "add one to pool `default`";
    check(
        |world| {
            let node = world.node("a");
            lose(world, node);
            submit_with(world, |_| {})
        },
        "a, the only node that matches, is lost",
        &format!("bring a back, or {add}"),
    );
    check(
        |world| {
            let node = world.node("a");
            goodbye(world, node);
            submit_with(world, |_| {})
        },
        "a, the only node that matches, has left",
        &format!("start the agent of a again, or {add}"),
    );
    check(
        |world| {
            let node = world.node("a");
            submit_with(world, |_| {});
            leave(world, node);
            submit_with(world, |_| {})
        },
        "a, the only node that matches, is draining because its agent ends",
        &format!("start the agent of a again, or {add}"),
    );
    check(
        |world| {
            let node = world.node("a");
            world.agent(node).node.labels.insert("unwell", "sidecar").unwrap();
            leave(world, node);
            submit_with(world, |_| {})
        },
        "a, the only node that matches, takes no work because its sidecar does not answer",
        &format!("wait until the sidecar of a is replaced, or look at its agent's log, or {add}"),
    );
    check(
        |world| {
            let node = world.node("a");
            drain(world, node);
            submit_with(world, |_| {})
        },
        "a, the only node that matches, is draining",
        &format!("resume it with `mainspring node resume a`, or {add}"),
    );
    check(
        |world| {
            world.node("a");
            world.take_over();
            submit_with(world, |_| {})
        },
        "a, the only node that matches, is silent",
        &format!("wait until a is heard again, or {add}"),
    );
    check(
        |world| failed_on(world, &["a"]),
        "a, the only node that matches, failed it before",
        &format!("set `retry.node: other_unless_only_one`, or {add}"),
    );
    check(
        |world| failed_on(world, &["a", "b"]),
        "all 2 nodes that match failed it before",
        &format!("set `retry.node: other_unless_only_one`, or {add}"),
    );
    check(
        |world| {
            let node = world.node("a");
            let job = world.job_with(|spec| spec.resources.cpu_milli = 1_000);
            world.submit_many(&job, 3);
            world.agent(node).node.capacity.cpu_milli = 2_000;
            world.connect(node);
            submit_with(world, |spec| spec.resources.cpu_milli = 1_000)
        },
        "a, the only node that matches, holds more than it has room for",
        &format!("wait until enough runs on a end, or {add}"),
    );
}

#[test]
fn nodes_that_take_nothing_are_counted_by_what_keeps_them() {
    check(
        |world| {
            let all = nodes(world, &["a", "b", "c"]);
            lose(world, all[0]);
            lose(world, all[1]);
            drain(world, all[2]);
            world.node_with("d", |node| node.pool = "other".into());
            submit_with(world, |_| {})
        },
        "none of 3 nodes that match takes it: 2 are lost, 1 is draining",
        "bring one that is lost back, or resume one that is draining with `mainspring node resume NODE`, or add one to pool \
         `default`",
    );
    check(
        |world| {
            let big = world.node_with("big", |node| node.capacity.cpu_milli = 8_000);
            world.node("small");
            lose(world, big);
            submit_with(world, |spec| spec.resources.cpu_milli = 8_000)
        },
        "big, the only node that matches, is lost",
        "bring big back, or add one to pool `default`",
    );
    check(
        |world| {
            let all = nodes(world, &["a", "b"]);
            let job = world.job_with(|spec| spec.placement.sticky = Some(Sticky::Require));
            let first = world.submit(&job);
            let home = all.into_iter().find(|node| world.node_name(*node) == world.node_of(first)).unwrap();
            world.finish(first);
            drain(world, home);
            world.submit(&job)
        },
        "a, where it has to run, is draining",
        "resume it with `mainspring node resume a`",
    );
}

#[test]
fn no_room_on_nodes_that_match() {
    let wait = "wait for a run on them to end, or add a node";
    check(
        |world| {
            world.node_with("a", |node| node.slots = 1);
            let job = world.job();
            world.submit_many(&job, 2)[1]
        },
        "no slot is free on 1 node that matches",
        wait,
    );
    check(
        |world| {
            nodes(world, &["a", "b"]);
            let job = world.job_with(|spec| spec.resources.cpu_milli = 2_500);
            world.submit_many(&job, 3)[2]
        },
        "it needs 2.5 CPU; at most 1.5 is free on 2 nodes that match",
        "wait for a run on them to end, add a node, or ask for less CPU",
    );
    check(
        |world| {
            nodes(world, &["a", "b"]);
            let job = world.job_with(|spec| spec.resources.memory_bytes = 4 << 30);
            world.submit_many(&job, 3)[2]
        },
        "it needs 4 GiB of memory; none is free on 2 nodes that match",
        "wait for a run on them to end, add a node, or ask for less memory",
    );
    check(
        |world| {
            world.node_with("a", |node| node.slots = 1);
            let job = world.job();
            world.submit_many(&job, 3)[2]
        },
        "place 2 in the queue of its kind",
        "wait for its turn, add a node, or submit it anew with a higher `priority`",
    );
}

#[test]
fn the_words_follow_the_nodes() {
    let mut world = World::new();
    let all = nodes(&mut world, &["a", "b"]);
    let job = world.job_with(|spec| spec.resources.cpu_milli = 4_000);
    let runs = world.submit_many(&job, 3);
    let said = |world: &World| world.why(runs[2]).to_string();
    assert_eq!(said(&world), "it needs 4 CPU; none is free on 2 nodes that match");
    drain(&mut world, all[1]);
    assert_eq!(said(&world), "it needs 4 CPU; none is free on 1 node that matches");
    drain(&mut world, all[0]);
    assert_eq!(said(&world), "all 2 nodes that match are draining");
    world.finish(runs[0]);
    goodbye(&mut world, all[0]);
    assert_eq!(said(&world), "all 2 nodes that match are draining", "it stays so when it leaves");
}

#[test]
fn a_suspect_waits_for_a_node_without_another_though_there_is_room() {
    let mut world = World::new();
    let runs = suspects(&mut world, 3);
    world.states(&runs[..1], RunState::Running);
    for run in &runs[1..] {
        let why = world.why(*run);
        assert_eq!(
            why.to_string(),
            "its job was lost with its node the last time; it waits until a runs no other job that was, so that the \
             next loss says whose fault it is"
        );
        assert_eq!(
            why.remedy(),
            "nothing to do: it starts when that job ends on its own; another node lets it start now"
        );
    }
    let fresh = submit_with(&mut world, |_| {});
    world.states(&[fresh], RunState::Running);
    world.finish(runs[0]);
    world.states(&runs[1..2], RunState::Running);
    assert_eq!(world.why(runs[2]).name(), "suspect");
    world.node("b");
    world.states(&runs[2..], RunState::Running);
}

#[test]
fn a_suspect_that_no_node_has_room_for_says_so() {
    let mut world = World::new();
    let runs = suspects(&mut world, 2);
    let job = world.job();
    world.submit_many(&job, 3);
    assert_eq!(world.why(runs[1]).to_string(), "no slot is free on 1 node that matches");
}

#[test]
fn nothing_is_said_about_runs_that_run_ended_or_are_not_here() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let (running, ended) = (world.submit(&job), world.submit(&job));
    world.finish(ended);
    for run in [running, ended, RunId::new(at(0), 99)] {
        assert_eq!(world.cell.why(run), None);
    }
}

#[test]
fn the_reason_is_kept_when_the_run_moves_on() {
    let mut world = World::new();
    let job = world.job();
    let (placed, cancelled) = (world.submit(&job), world.submit(&job));
    let at_once = {
        world.cancel(cancelled);
        world.pass(crate::world::secs(1));
        world.node("a");
        world.submit(&job)
    };
    let kept = |run: RunId| world.row(run).status.reason.map(|reason| reason.to_string());
    assert_eq!(kept(placed), Some("no node is in pool `default`; no pool has one".to_owned()));
    assert_eq!(kept(cancelled), kept(placed));
    assert_eq!(kept(at_once), None, "it never waited");
}

#[test]
fn how_far_behind_is_told_up_to_a_point() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 1);
    let job = world.job();
    let runs = world.submit_many(&job, 1_200);
    assert_eq!(world.why(runs[900]), Reason::Priority { position: 900 });
    let last = world.why(runs[1_199]);
    assert_eq!(last, Reason::Priority { position: 1_000 });
    assert_eq!(last.to_string(), "place 1000 or later in the queue of its kind");
}
