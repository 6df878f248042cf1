//! Calendars: what they leave out is not planned, and a change is heeded at once.

use std::sync::Arc;

use mainspring_engine::Event;
use mainspring_model::{CalendarSpec, Calendars};

use crate::world::{World, at, secs};

/// A calendar of times at which nothing fires. The world begins at 22:13:20 UTC.
fn closed(blackouts: &[&str]) -> Calendars {
    let blackouts = blackouts.iter().map(|window| Box::from(*window)).collect();
    let calendar = CalendarSpec { blackouts, ..CalendarSpec::default() }.read().unwrap();
    [("closed".into(), Arc::new(calendar))].into_iter().collect()
}

/// A calendar that leaves nothing.
fn never() -> Calendars {
    use mainspring_model::Weekday::{Fri, Mon, Sat, Sun, Thu, Tue, Wed};
    let weekend = vec![Sun, Mon, Tue, Wed, Thu, Fri, Sat];
    let calendar = CalendarSpec { weekend, ..CalendarSpec::default() }.read().unwrap();
    [("closed".into(), Arc::new(calendar))].into_iter().collect()
}

#[test]
fn what_a_calendar_leaves_out_is_not_planned() {
    let mut world = World::new();
    world.node("a");
    world.calendars = closed(&["22:14-22:16"]);
    let job = world.trigger_job(&["every: 60s, offset: 20s, calendar: closed"]);
    assert_eq!(world.trigger(&job, "every").state.next, Some(at(180)));
    world.pass(secs(250));
    assert_eq!(world.ledger(&job, "every"), ["180 fired", "240 fired"]);
}

#[test]
fn a_change_is_heeded_at_once_in_both_directions() {
    let mut world = World::new();
    world.node("a");
    world.calendars = closed(&["22:00-23:00"]);
    let job = world.trigger_job(&["every: 60s, offset: 20s, calendar: closed"]);
    world.pass(secs(130));
    assert_eq!(world.ledger(&job, "every"), Vec::<String>::new());
    // Open: what was not planned stays so, and the next moment is another.
    world.change_calendars(closed(&["03:00-04:00"]), &job.namespace);
    world.pass(secs(60));
    assert_eq!(world.ledger(&job, "every"), ["180 fired"]);
    // Closed again: the moment that was planned is not any more.
    world.change_calendars(closed(&["22:00-23:00"]), &job.namespace);
    world.pass(secs(3_000));
    assert_eq!(world.ledger(&job, "every")[..2], ["180 fired", "2820 fired"]);
}

#[test]
fn what_fires_all_the_time_heeds_a_change_too() {
    let mut world = World::new();
    world.node("a");
    world.calendars = closed(&["03:00-04:00"]);
    let job = world.trigger_job(&["every: 1s, calendar: closed"]);
    world.pass(secs(5));
    assert_eq!(world.ledger(&job, "every").len(), 5);
    // It begins later: the next moment stays what it was.
    world.change_calendars(closed(&["22:14-23:00"]), &job.namespace);
    world.pass(secs(600));
    assert_eq!(world.ledger(&job, "every").len(), 39, "22:14:00 is left out");
}

#[test]
fn an_owner_that_nobody_tells_finds_out() {
    let mut world = World::new();
    world.node("a");
    world.calendars = closed(&["22:00-23:59"]);
    let job = world.trigger_job(&["every: 60s, offset: 20s, calendar: closed"]);
    world.pass(secs(10));
    world.write_calendars(closed(&["03:00-04:00"]), &job.namespace);
    world.pass(secs(60));
    assert_eq!(world.ledger(&job, "every"), ["60 fired"]);
    world.write_calendars(closed(&["22:00-23:59"]), &job.namespace);
    world.take_over();
    world.connect_all();
    world.pass(secs(300));
    assert_eq!(world.ledger(&job, "every"), ["60 fired"], "and so does the next owner");
}

#[test]
fn a_calendar_elsewhere_concerns_nobody_here() {
    let mut world = World::new();
    world.node("a");
    world.calendars = closed(&["03:00-04:00"]);
    let job = world.trigger_job(&["every: 1h, offset: 20s, calendar: closed"]);
    world.pass(secs(1));
    let before = world.trigger(&job, "every");
    world.change_calendars(closed(&["03:00-04:00"]), &"elsewhere".parse().unwrap());
    world.pass(secs(60));
    assert_eq!(world.trigger(&job, "every"), before);
}

#[test]
fn a_calendar_that_leaves_nothing_leaves_a_trigger_that_can_go_on() {
    let mut world = World::new();
    world.node("a");
    world.calendars = never();
    let job = world.trigger_job(&["every: 1h, offset: 20s, calendar: closed"]);
    assert_eq!(world.trigger(&job, "every").state.next, None);
    world.change_calendars(closed(&["03:00-04:00"]), &job.namespace);
    world.pass(secs(3_600));
    assert_eq!(world.ledger(&job, "every"), ["2820 fired"]);
}

#[test]
fn without_its_calendar_nothing_fires() {
    let mut world = World::new();
    world.node("a");
    world.calendars = closed(&["03:00-04:00"]);
    let job = world.trigger_job(&["every: 60s, offset: 20s, misfire: all, calendar: closed"]);
    world.pass(secs(65));
    assert_eq!(world.ledger(&job, "every"), ["60 fired"]);
    world.change_calendars(Calendars::default(), &job.namespace);
    world.pass(secs(300));
    assert_eq!(world.ledger(&job, "every"), ["60 fired"], "better late than on a day off");
    world.change_calendars(closed(&["03:00-04:00"]), &job.namespace);
    world.pass(secs(1));
    assert_eq!(world.ledger(&job, "every").len(), 6, "late, and each");
}

#[test]
fn what_was_read_before_a_change_is_read_again() {
    let mut world = World::new();
    world.node("a");
    world.calendars = closed(&["03:00-04:00"]);
    let job = world.trigger_job(&["every: 60s, offset: 20s, calendar: closed"]);
    world.pass_until(at(50));
    world.late = Some(Vec::new());
    world.pass_until(at(59));
    let under_way = world.late.take();
    assert!(matches!(under_way.as_deref(), Some([Event::SpecsRead(_)])), "{under_way:?}");
    world.change_calendars(closed(&["22:00-22:16"]), &job.namespace);
    world.late = under_way;
    world.answer_late();
    world.pass_until(at(150));
    assert_eq!(world.ledger(&job, "every"), Vec::<String>::new());
}
