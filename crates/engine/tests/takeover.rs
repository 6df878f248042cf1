//! Taking a cell over: everything is read before anything is done, and what executes goes on.

use mainspring_engine::{Ending, Event, LoadedRun, News, Stage};
use mainspring_model::spec::Curve;
use mainspring_model::{Cause, Epoch, Reason, RunEventKind, RunState};

use crate::world::{FOR_EVER, World, at, ending, millis, secs, wait};

#[test]
fn every_shelf_is_read_and_goes_on() {
    let mut world = World::new();
    let a = world.node_with("a", |node| node.slots = 1);
    let job = world.job_with(|spec| spec.retry.backoff = wait(Curve::Fixed { base: secs(50) }));
    let failed = world.submit(&job);
    world.end(failed, Cause::Exit { code: 1 });
    let running = world.submit(&job);
    let waiting = world.submit(&job);
    let timed = world.submit_with(&job, |head| head.not_before = Some(at(80)));
    let arrived = world.insert_elsewhere(&job, |_| {});
    world.take_over();
    assert_eq!((world.epoch, world.cell.epoch()), (Epoch(2), Epoch(2)));
    for run in [failed, running, waiting, timed, arrived] {
        assert!(world.cell.run(run).is_some());
    }
    assert_eq!(world.why(failed), Reason::Backoff { until: at(50), next_attempt: 2, attempts_max: 4 });
    assert_eq!(world.why(timed), Reason::BeginTime { until: at(80) });
    world.states(&[waiting, arrived], RunState::Waiting);
    world.connect(a);
    world.expect(&["welcome a 2"]);
    for run in [running, waiting, arrived] {
        world.finish(run);
    }
    assert_eq!(world.starts(), ["r3#1 on a", "r5#1 on a"]);
    world.pass_until(at(50));
    assert_eq!(world.starts(), ["r1#2 on a"]);
    world.finish(failed);
    world.pass_until(at(80));
    assert_eq!(world.starts(), ["r4#1 on a"]);
    world.finish(timed);
    world.states(&[failed, running, waiting, timed, arrived], RunState::Success);
}

#[test]
fn an_attempt_under_way_is_reattached_under_its_old_token() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    let token = world.attempt(run).1;
    world.take_over();
    assert_eq!(world.attempt(run).1, token, "the token is the one that its first owner gave");
    world.connect(a);
    world.expect(&["welcome a 2"]);
    assert_eq!(world.events(run), [RunEventKind::Reattached { node: a, attempt: 1 }]);
    assert_eq!(world.cell.stats().reattached, 1);
    world.connect(a);
    assert_eq!(world.events(run).len(), 1, "only the change of owner is remarkable");
    world.finish(run);
    world.states(&[run], RunState::Success);
}

#[test]
fn an_attempt_that_ended_meanwhile_is_not_said_to_go_on() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    let token = world.attempt(run).1;
    world.pass(secs(3));
    world.take_over();
    let over = &mut world.agent(a).held;
    over.retain(|held| held.0 != token);
    over.push((token, Stage::Over));
    world.connect(a);
    assert_eq!(world.events(run), []);
    // It began when the node says, however late it says so.
    let began_at = world.now - secs(1);
    world.pass(secs(7));
    let ago = Some(world.now.since(began_at));
    let ending = Ending { begun_ago: ago, ..ending(Cause::Exit { code: 0 }) };
    world.report(a, token, News::Finished(ending));
    world.settle();
    world.states(&[run], RunState::Success);
    assert_eq!(world.row(run).status.started_at, Some(began_at));
}

#[test]
fn a_start_that_was_shown_does_not_move_by_what_a_message_took() {
    for (took, stays) in [(millis(100), true), (secs(4), false)] {
        let mut world = World::new().by_hand();
        let a = world.node("a");
        let job = world.job();
        let run = world.submit(&job);
        let token = world.attempt(run).1;
        world.pass(secs(5));
        world.start(run);
        let shown = world.now;
        world.pass(secs(10));
        let begun_ago = Some(world.now.since(shown) + took);
        world.report(a, token, News::Finished(Ending { begun_ago, ..ending(Cause::Exit { code: 0 }) }));
        world.settle();
        world.states(&[run], RunState::Success);
        let expected = if stays { shown } else { shown - took };
        assert_eq!(world.row(run).status.started_at, Some(expected));
    }
}

#[test]
fn an_order_that_was_never_heard_of_is_given_again() {
    let mut world = World::new().by_hand();
    let a = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.take_over();
    world.connect(a);
    world.expect(&["welcome a 2", "start r1#1 on a"]);
    world.start(run);
    world.finish(run);
    world.states(&[run], RunState::Success);
}

#[test]
fn a_node_that_never_comes_back_is_lost_though_nobody_heard_it() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.silence(a);
    world.take_over();
    world.pass(world.config.lost_after - secs(1));
    world.states(&[run], RunState::Running);
    world.pass(secs(1));
    assert_eq!((world.state(run), world.earlier(run)), (RunState::Waiting, vec![Cause::Lost { node: a }]));
}

#[test]
fn an_ending_that_the_old_owner_did_not_write_is_told_to_the_new_one() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.commits = false;
    world.finish(run);
    world.commits = true;
    world.take_over();
    world.states(&[run], RunState::Running);
    world.connect(a);
    world.expect(&["welcome a 2"]);
    world.finish(run);
    world.expect(&["forget r1#1 on a"]);
    world.states(&[run], RunState::Success);
}

#[test]
fn nodes_are_not_listened_to_before_everything_is_read() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    let mut old = World::new();
    std::mem::swap(&mut old.cell, &mut world.cell);
    world.take_over();
    let agent = world.agent(a);
    let (session, held) = (agent.session, agent.held.clone());
    assert_eq!(held.len(), 1);
    // A cell that waits for its first page does not answer.
    let tenure = mainspring_engine::Tenure {
        epoch: Epoch(9),
        lease: FOR_EVER,
        succeeds_other: false,
        nodes: world.store.nodes(world.config.cell),
        pause: None,
        memories: Vec::new(),
    };
    let mut loading = mainspring_engine::Cell::new(world.config.clone(), tenure, world.both());
    loading.take_messages();
    loading.handle(world.both(), Event::Goodbye { node: a, session });
    let heartbeat = mainspring_engine::Heartbeat { node: a, session, beat: 50, held: Vec::new() };
    loading.handle(world.both(), Event::Heartbeat(heartbeat));
    assert!(loading.take_messages().is_empty() && loading.cut().is_none());
    let request = mainspring_engine::RequestId(1);
    loading.handle(world.both(), Event::PauseCell { request, pause: None });
    assert_eq!(loading.take_messages().len(), 1, "whoever asks is told that it cannot answer");
    world.states(&[run], RunState::Running);
}

#[test]
fn a_damaged_specification_ends_its_runs_and_stops_nobody() {
    let mut world = World::new();
    let a = world.node("a");
    let (bad, good) = (world.job(), world.job());
    let runs = [world.submit(&bad), world.submit(&good)];
    let waiting = world.submit_with(&bad, |head| head.not_before = Some(at(30)));
    world.damage(&bad);
    world.take_over();
    world.connect(a);
    world.states(&[waiting], RunState::FinalFailed);
    assert!(matches!(world.cause(waiting), Cause::Error { class, .. } if &*class == "invalid_spec"));
    world.finish(runs[1]);
    world.states(&runs[1..], RunState::Success);
    assert!(world.state(runs[0]).is_terminal());
}

#[test]
fn a_run_on_a_node_whose_row_is_gone_is_lost_in_time() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.silence(a);
    let mut row = world.store.node(a).unwrap();
    row.state = mainspring_model::NodeState::Left;
    row.revision += 1;
    let write = mainspring_store::Write::PutNode(Box::new(row));
    world.store.commit(&mainspring_store::Transaction::unfenced(vec![write])).unwrap();
    world.take_over();
    world.pass(world.config.lost_after);
    world.states(&[run], RunState::Waiting);
}

#[test]
fn a_takeover_keeps_the_order_of_the_queue() {
    let mut world = World::new();
    let (one, two) = (world.job_in("one", |_| {}), world.job_in("two", |_| {}));
    let mut runs = world.submit_many(&one, 4);
    runs.extend(world.submit_many(&two, 2));
    world.take_over();
    let late = world.submit(&two);
    world.hush();
    world.node_with("a", |node| node.slots = 1);
    let mut order = Vec::new();
    for _ in 0..7 {
        let all = runs.iter().chain([&late]);
        let running =
            all.copied().find(|run| world.cell.run(*run).is_some_and(|run| run.status.node.is_some()));
        order.push(world.run_name(running.unwrap()));
        world.finish(running.unwrap());
    }
    assert_eq!(order, ["r1", "r5", "r2", "r6", "r3", "r7", "r4"]);
}

#[test]
fn a_read_that_is_older_than_our_own_write_changes_nothing() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let run = world.insert_elsewhere(&job, |_| {});
    let stale = LoadedRun { ..world.loaded(world.row(run)) };
    world.handle(Event::Hint);
    world.states(&[run], RunState::Running);
    world.finish(run);
    world.hush();
    let query = mainspring_store::ShelfQuery {
        cell: world.config.cell,
        shelf: mainspring_model::Shelf::Arrived,
        after: None,
        rank_max: None,
        limit: 10,
    };
    let read = mainspring_engine::ShelfRead { query, rows: vec![stale], more: false };
    world.handle(Event::ShelfRead(Box::new(read)));
    assert_eq!(world.starts(), [""; 0], "the store refused what the old row led to");
    world.states(&[run], RunState::Success);
    assert_eq!((world.cell.running(), world.cell.waiting()), (0, 0));
}

#[test]
fn a_task_that_executes_for_long_is_not_taken_for_one_that_never_started() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job_with(|spec| spec.timeout.start = secs(2));
    let run = world.submit(&job);
    world.pass(secs(600));
    world.take_over();
    world.pass(secs(4));
    world.hush();
    world.connect(a);
    world.expect(&["welcome a 2"]);
    world.pass(secs(600));
    world.quiet();
    world.finish(run);
    world.states(&[run], RunState::Success);
}
