//! A run that no node of its cell can take goes to another cell.

use mainspring_engine::Event;
use mainspring_model::{CellId, RunEventKind, RunState, Shelf};

use crate::world::{World, secs};

#[test]
fn after_a_while_it_is_given_to_the_next_cell() {
    let mut world = World::with(|config| config.cells = 3);
    world.node("a");
    let job = world.job_with(|spec| spec.placement.selector = "gpu".parse().unwrap());
    let run = world.submit(&job);
    world.hush();
    world.pass(world.config.hand_over_after - secs(1));
    world.quiet();
    world.pass(secs(1));
    world.expect(&["hint cell 1"]);
    let status = world.row(run).status;
    assert_eq!((status.cell, status.state), (CellId(1), RunState::Waiting));
    assert_eq!(status.place.unwrap().shelf, Shelf::Arrived);
    assert_eq!(status.extra.unwrap().hops, 1);
    assert_eq!(status.reason.unwrap().to_string(), "no node of pool `default` (1 node) matches `gpu`");
    assert_eq!(world.events(run), [RunEventKind::HandedOver { to: CellId(1) }]);
    assert!(world.cell.run(run).is_none());
    assert_eq!(world.cell.stats().handed_over, 1);
}

#[test]
fn the_other_cell_places_it() {
    let mut world = World::with(|config| config.cells = 2);
    let job = world.job();
    let run = world.submit(&job);
    world.pass(world.config.hand_over_after);
    assert_eq!(world.row(run).status.cell, CellId(1));
    world.config.cell = CellId(1);
    world.take_over();
    world.states(&[run], RunState::Waiting);
    world.hush();
    world.node("b");
    world.expect(&["welcome b 1", "start r1#1 on b"]);
    world.finish(run);
    world.states(&[run], RunState::Success);
}

#[test]
fn it_travels_less_and_less_often() {
    let mut world = World::with(|config| config.cells = 2);
    let job = world.job();
    let run = world.submit(&job);
    let mut waits = Vec::new();
    for hop in 1..=4u16 {
        let since = world.now;
        while world.row(run).status.extra.as_ref().map_or(0, |extra| extra.hops) < hop {
            world.pass(secs(1));
        }
        waits.push(world.now.since(since).as_secs());
        world.config.cell = world.row(run).status.cell;
        world.take_over();
    }
    assert_eq!(waits, [10, 20, 40, 80]);
}

#[test]
fn what_only_waits_for_room_or_for_a_node_to_return_stays() {
    let mut world = World::with(|config| config.cells = 2);
    let a = world.node_with("a", |node| node.slots = 1);
    let job = world.job();
    let (first, second) = (world.submit(&job), world.submit(&job));
    world.pass(secs(100));
    assert_eq!(world.row(second).status.cell, CellId(0));
    world.finish(first);
    let request = world.request();
    world.finish(second);
    world.handle(Event::Drain { request, node: a, deadline: Some(world.now + secs(500)) });
    let third = world.submit(&job);
    world.pass(secs(100));
    assert_eq!(world.row(third).status.cell, CellId(0));
}

#[test]
fn many_go_some_at_a_time_and_one_cell_keeps_all() {
    let mut world = World::with(|config| config.cells = 2);
    let job = world.job();
    let runs = world.submit_many(&job, 250);
    world.pass(world.config.hand_over_after);
    let gone = |world: &World| runs.iter().filter(|run| world.row(**run).status.cell == CellId(1)).count();
    assert_eq!(gone(&world), 100);
    world.pass(world.config.hand_over_after * 2);
    assert_eq!(gone(&world), 250);
    let mut alone = World::new();
    let job = alone.job();
    let run = alone.submit(&job);
    alone.pass(secs(100));
    assert_eq!((alone.row(run).status.cell, alone.state(run)), (CellId(0), RunState::Waiting));
}
