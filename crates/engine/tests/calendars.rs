//! Calendars: what they leave out is not planned, and a change is heeded at once.

use std::sync::Arc;

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
    world.calendars = closed(&["22:00-22:16"]);
    world.put_triggers(&job);
    world.pass(secs(60));
    assert_eq!(world.ledger(&job, "every"), ["180 fired"]);
    // Closed again: the moment that was planned is not any more.
    world.calendars = closed(&["22:00-23:00"]);
    world.pass(secs(3_000));
    assert_eq!(world.ledger(&job, "every")[..2], ["180 fired", "2820 fired"]);
}

#[test]
fn a_calendar_that_leaves_nothing_leaves_a_trigger_that_can_go_on() {
    let mut world = World::new();
    world.node("a");
    world.calendars = never();
    let job = world.trigger_job(&["every: 1h, offset: 20s, calendar: closed"]);
    assert_eq!(world.trigger(&job, "every").state.next, None);
    world.calendars = Calendars::default();
    world.put_triggers(&job);
    world.pass(secs(3_600));
    assert_eq!(world.ledger(&job, "every"), ["2820 fired"]);
}
