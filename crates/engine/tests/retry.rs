//! Retrying: how often, how soon, by which rule, and not waiting for it.

use std::time::Duration;

use mainspring_engine::{Ending, News};
use mainspring_model::spec::{
    Action, AttemptTimeout, Backoff, CauseMatch, Curve, Delivery, ExitCodes, Jitter, Rule, Signals,
};
use mainspring_model::{Cause, NodeId, Reason, RunEventKind, RunState, Usage};

use crate::world::{Job, World, at, secs, wait};

fn failing(world: &mut World, backoff: Backoff, max: u32) -> Job {
    world.job_with(|spec| {
        spec.retry.backoff = backoff;
        spec.retry.max = max;
    })
}

#[test]
fn every_back_off_waits_as_it_says() {
    let base = secs(10);
    for (curve, waits) in [
        (Curve::None, [0, 0, 0, 0]),
        (Curve::Fixed { base }, [10, 10, 10, 10]),
        (Curve::Linear { base, step: secs(5) }, [10, 15, 20, 25]),
        (Curve::Exponential { base }, [10, 20, 40, 80]),
        (Curve::Fibonacci { base }, [10, 10, 20, 30]),
    ] {
        let mut world = World::new();
        world.node("a");
        let job = failing(&mut world, wait(curve.clone()), 4);
        let run = world.submit(&job);
        for (n, seconds) in waits.into_iter().enumerate() {
            world.end(run, Cause::Exit { code: 1 });
            world.hush();
            if seconds > 0 {
                let until = world.now + secs(seconds);
                let next = n as u32 + 2;
                let why = Reason::Backoff { until, next_attempt: next, attempts_max: 5 };
                assert_eq!(world.why(run), why, "{curve:?}");
                world.pass_until(until - secs(1));
                world.states(&[run], RunState::Failed);
                world.pass(secs(1));
            }
            world.states(&[run], RunState::Running);
        }
        world.end(run, Cause::Exit { code: 1 });
        assert_eq!(world.state(run), RunState::FinalFailed, "{curve:?}: four retries are five attempts");
        assert_eq!(world.row(run).status.attempt, 5);
        assert_eq!(world.earlier(run).len(), 4);
    }
}

#[test]
fn jitter_and_cap_shorten_the_wait_and_never_lengthen_it() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 100);
    let curve = Curve::Exponential { base: secs(100) };
    let jitter = Jitter::from_milli(500).unwrap();
    let job = failing(&mut world, Backoff { curve, cap: secs(60), jitter }, 1);
    let runs = world.submit_many(&job, 50);
    for run in &runs {
        world.end(*run, Cause::Exit { code: 1 });
    }
    let due = |run: &mainspring_model::RunId| match world.why(*run) {
        Reason::Backoff { until, .. } => until.since(world.now),
        why => panic!("{why:?}"),
    };
    let waits: Vec<_> = runs.iter().map(due).collect();
    assert!(waits.iter().all(|wait| (secs(30)..=secs(60)).contains(wait)), "{waits:?}");
    let distinct: std::collections::BTreeSet<_> = waits.iter().collect();
    assert!(distinct.len() > 40, "runs that failed together spread out: {waits:?}");
}

#[test]
fn max_elapsed_ends_it_before_the_retries_do() {
    let mut world = World::new();
    world.node("a");
    let job = world.job_with(|spec| {
        spec.retry.max = 1000;
        spec.retry.backoff = wait(Curve::Fixed { base: secs(10) });
        spec.retry.max_elapsed = Some(secs(25));
    });
    let run = world.submit(&job);
    for _ in 0..2 {
        world.end(run, Cause::Exit { code: 1 });
        world.states(&[run], RunState::Failed);
        world.pass(secs(10));
    }
    world.end(run, Cause::Exit { code: 1 });
    world.states(&[run], RunState::FinalFailed);
}

#[test]
fn max_elapsed_counts_from_the_first_attempt_and_not_from_the_wait_for_a_node() {
    let mut world = World::new();
    let job = world.job_with(|spec| {
        spec.retry.max = 1000;
        spec.retry.backoff = wait(Curve::Fixed { base: secs(10) });
        spec.retry.max_elapsed = Some(secs(25));
    });
    let run = world.submit(&job);
    world.pass(secs(100));
    let a = world.node("a");
    for _ in 0..2 {
        world.end(run, Cause::Exit { code: 1 });
        world.states(&[run], RunState::Failed);
        world.take_over();
        world.connect(a);
        world.pass(secs(10));
    }
    world.end(run, Cause::Exit { code: 1 });
    world.states(&[run], RunState::FinalFailed);
}

#[test]
fn max_elapsed_ends_a_retry_that_finds_no_node_wherever_it_waits() {
    for takes_over in [false, true] {
        let mut world = World::new();
        let a = world.node_with("a", |node| node.slots = 1);
        let job = world.job_with(|spec| spec.retry.max_elapsed = Some(secs(60)));
        let urgent = world.job_with(|spec| spec.priority.level = 100);
        let run = world.submit(&job);
        let next = world.submit(&urgent);
        world.end(run, Cause::Exit { code: 1 });
        world.states(&[next], RunState::Running);
        if takes_over {
            world.take_over();
            world.connect(a);
        }
        world.pass_until(at(60) - secs(1));
        world.states(&[run], RunState::Waiting);
        world.pass(secs(1));
        assert_eq!((world.state(run), world.cause(run)), (RunState::FinalFailed, Cause::Exit { code: 1 }));
    }
}

#[test]
fn max_elapsed_holds_after_a_loss_and_does_not_begin_with_a_refusal() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job_with(|spec| spec.retry.max_elapsed = Some(secs(60)));
    let (refused, lost) = (world.submit(&job), world.submit(&job));
    world.pass(secs(61));
    world.end(refused, Cause::Refused { message: "busy".into() });
    world.states(&[refused], RunState::Running);
    world.end(lost, Cause::Vanished { node: a });
    assert_eq!((world.state(lost), world.cause(lost)), (RunState::FinalFailed, Cause::Vanished { node: a }));
}

#[test]
fn the_first_rule_that_matches_decides() {
    let node = NodeId::new(at(0), 1);
    let exits = |codes: &[(u8, u8)]| CauseMatch::Exit(ExitCodes(codes.to_vec()));
    let error = |class: &str| Cause::Error { class: class.into(), message: "".into() };
    let limit = mainspring_model::TimeoutKind::Run;
    let cases = [
        (exits(&[(2, 2), (64, 78)]), Cause::Exit { code: 2 }, true),
        (exits(&[(2, 2), (64, 78)]), Cause::Exit { code: 70 }, true),
        (exits(&[(2, 2), (64, 78)]), Cause::Exit { code: 3 }, false),
        (exits(&[]), Cause::Exit { code: 255 }, true),
        (exits(&[]), Cause::Signal { signal: 9 }, false),
        (CauseMatch::Signal(Signals(vec![11])), Cause::Signal { signal: 11 }, true),
        (CauseMatch::Signal(Signals(vec![11])), Cause::Signal { signal: 6 }, false),
        (CauseMatch::Oom, Cause::Oom, true),
        (CauseMatch::Timeout(vec![AttemptTimeout::Run]), Cause::Timeout { limit }, true),
        (CauseMatch::Timeout(vec![AttemptTimeout::Start]), Cause::Timeout { limit }, false),
        (CauseMatch::StartFailed, Cause::StartFailed { message: "".into() }, true),
        (CauseMatch::Error(vec!["Busy".into()]), error("Busy"), true),
        (CauseMatch::Error(vec!["Busy".into()]), error("Other"), false),
        (CauseMatch::Lost, Cause::Vanished { node }, true),
        (CauseMatch::Any, Cause::Oom, true),
    ];
    for (cause, happened, matches) in cases {
        for (then, state) in [
            (Action::Fail, RunState::FinalFailed),
            (Action::Ignore, RunState::Success),
            (Action::Retry, RunState::Running),
        ] {
            let mut world = World::new();
            world.node("a");
            let rule = Rule { cause: cause.clone(), then };
            let shadowed = Rule { cause: cause.clone(), then: Action::Fail };
            let job = world.job_with(|spec| spec.retry.rules = vec![rule, shadowed]);
            let run = world.submit(&job);
            world.end(run, happened.clone());
            let expected = if matches { state } else { RunState::Running };
            assert_eq!(world.state(run), expected, "{cause:?} {then:?} {happened:?}");
            if expected == RunState::Success {
                assert_eq!(world.cause(run), happened, "the row says what was ignored");
            }
        }
    }
}

#[test]
fn at_most_once_never_executes_twice() {
    let node = NodeId::new(at(0), 1);
    for cause in [
        Cause::Exit { code: 1 },
        Cause::Signal { signal: 9 },
        Cause::Oom,
        Cause::Vanished { node },
        Cause::Drained { node },
        Cause::StartFailed { message: "".into() },
    ] {
        let mut world = World::new();
        world.node("a");
        let job = world.job_with(|spec| {
            spec.delivery = Delivery::AtMostOnce;
            spec.retry.rules = vec![Rule { cause: CauseMatch::Any, then: Action::Retry }];
        });
        let run = world.submit(&job);
        world.end(run, cause.clone());
        assert_eq!(world.state(run), RunState::FinalFailed, "{cause:?}");
        assert_eq!(world.cause(run), cause);
    }
}

#[test]
fn at_most_once_is_placed_again_only_if_it_certainly_never_began() {
    let mut world = World::new();
    let (a, _) = (world.node("a"), world.node("b"));
    let job = world.job_with(|spec| spec.delivery = Delivery::AtMostOnce);
    let run = world.submit(&job);
    world.end(run, Cause::Refused { message: "the order is old".into() });
    world.states(&[run], RunState::Running);
    assert_eq!(world.row(run).status.attempt, 2);
    let lost = world.submit_many(&job, 3);
    world.silence(a);
    world.pass(world.config.lost_after);
    for run in lost.iter().chain([&run]).filter(|run| world.node_of(**run) == "a") {
        assert_eq!(world.state(*run), RunState::FinalFailed);
    }
}

#[test]
fn losses_are_counted_apart_and_capped() {
    let mut world = World::new();
    world.node("a");
    let job = failing(&mut world, wait(Curve::None), 0);
    let run = world.submit(&job);
    for losses in 0..mainspring_model::limits::LOSSES_PER_RUN_MAX {
        world.end(run, Cause::Refused { message: "busy".into() });
        if losses > 0 {
            // A node that refuses may do so for a while: each wait is twice the one before.
            let wait = Duration::from_millis(200) * 2_u32.pow(losses - 1);
            world.pass(wait - Duration::from_millis(1));
            world.states(&[run], RunState::Failed);
            world.pass(Duration::from_millis(1));
        }
        world.states(&[run], RunState::Running);
    }
    assert_eq!(world.row(run).status.losses, mainspring_model::limits::LOSSES_PER_RUN_MAX);
    world.end(run, Cause::Refused { message: "busy".into() });
    world.states(&[run], RunState::FinalFailed);

    let run = world.submit(&job);
    world.end(run, Cause::Refused { message: "busy".into() });
    world.end(run, Cause::Exit { code: 1 });
    assert_eq!(world.state(run), RunState::FinalFailed, "no retry was left, losses or not");
}

#[test]
fn retry_now_skips_the_back_off() {
    let mut world = World::new();
    world.node("a");
    let job = failing(&mut world, wait(Curve::Fixed { base: secs(600) }), 3);
    let run = world.submit(&job);
    world.end(run, Cause::Exit { code: 1 });
    world.hush();
    world.retry_now(run);
    world.expect(&["2: done", "start r1#2 on a"]);
    assert_eq!(world.events(run), [RunEventKind::RetriedNow { by: "ann".into() }]);
    world.retry_now(run);
    world.expect(&["3: refused IllegalState"]);
    world.finish(run);
    world.hush();
    world.retry_now(run);
    world.expect(&["4: refused IllegalState"]);
    world.pass(secs(700));
    world.quiet();
}

#[test]
fn a_checkpoint_goes_to_the_next_attempt() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.progress(run, 500, Some(b"half"));
    assert_eq!(world.row(run).status.extra.unwrap().checkpoint.as_deref(), Some(&b"half"[..]));
    world.messages();
    world.end(run, Cause::Exit { code: 1 });
    let order = world.messages().into_iter().find_map(|message| match message {
        mainspring_engine::Message::Start(order) => Some(order),
        _ => None,
    });
    let order = order.unwrap();
    assert_eq!((order.checkpoint.as_deref(), order.attempts_max), (Some(&b"half"[..]), 4));
}

#[test]
fn an_attempt_has_none_of_what_an_earlier_one_said() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.progress(run, 900, None);
    let (node, token) = world.attempt(run);
    let usage = Usage { cpu_us: 7, ..Usage::default() };
    let ending = Ending { result: Some(b"half"[..].into()), usage, ..Ending::of(Cause::Exit { code: 1 }) };
    world.report(node, token, News::Finished(ending));
    world.settle();
    let said = |world: &World| {
        let extra = world.row(run).status.extra.unwrap_or_default();
        (extra.progress, extra.result, extra.usage)
    };
    assert_eq!((world.state(run), said(&world)), (RunState::Running, (None, None, Usage::default())));
    world.progress(run, 100, None);
    world.finish(run);
    assert_eq!((said(&world).1, said(&world).2), (None, Usage::default()));
    assert_eq!(world.store.attempts(run)[0].usage, usage);
}
