//! What is told to whom, in which order and with which marks: no mark before what it covers.

use std::sync::Arc;

use mainspring_model::Progress;
use mainspring_model::{CellId, Epoch, JobId, RunId, RunState, Timestamp};
use mainspring_wire::api::{Role, WatchKind};

use super::*;
use crate::ports::{Mark, RunPlace};
use crate::principal::Principal;
use crate::principal::tests::principal;
use crate::watch::WatchFilter;

fn at(text: &str) -> Positions {
    text.parse().expect("positions")
}

/// A tale of somebody who may see `acme`, from these positions on.
fn tale(heard: &str, listener: Listener) -> Tale {
    let principal: Principal = principal(&[("acme", Role::Viewer)], &[]);
    let view = View { filter: WatchFilter::default(), principal: Arc::new(principal) };
    Tale::new(view, listener, at(heard))
}

fn run(namespace: &str) -> Changed {
    Changed::Run {
        id: RunId::MIN,
        namespace: namespace.parse().expect("a namespace"),
        job: JobId::MIN,
        state: RunState::Waiting,
        version: 1,
        attempt: 0,
        at: Timestamp::ZERO,
    }
}

fn news(cell: u16, epoch: u64, number: u64, what: Changed) -> News {
    News { mark: Mark { cell: CellId(cell), epoch: Epoch(epoch), number }, what }
}

/// What another process says of a run.
fn told(mark: &str) -> Elsewhere {
    let what = WatchWhat::Run {
        id: RunId::MIN,
        namespace: "acme".parse().expect("a namespace"),
        job: JobId::MIN,
        state: RunState::Waiting,
        version: 1,
        attempt: 0,
        at: Timestamp::ZERO.into(),
    };
    Elsewhere::Told { at: at(mark), what }
}

fn told_reset(mark: &str) -> Elsewhere {
    Elsewhere::Told { at: at(mark), what: WatchWhat::Reset }
}

/// All that is ready, in words.
fn ready(tale: &mut Tale) -> Vec<String> {
    std::iter::from_fn(|| tale.next()).map(|event| format!("{} {}", event.what.name(), event.mark)).collect()
}

#[test]
fn what_may_be_seen_is_told_once_with_the_position_behind_it() {
    let own = || at("0.5.9");
    let mut tale = tale("0.5.1", Listener::Caller);
    assert_eq!(tale.begin(own).as_deref(), Some("0.5.1"));
    tale.hear(&news(0, 5, 1, run("acme")), own);
    tale.hear(&news(0, 5, 2, run("acme")), own);
    tale.hear(&news(0, 5, 3, run("other")), own);
    tale.hear(&news(0, 5, 4, run("acme/data")), own);
    tale.hear(&news(0, 5, 4, run("acme/data")), own);
    assert_eq!(ready(&mut tale), ["run 0.5.2", "run 0.5.4"]);
}

#[test]
fn no_mark_is_sent_before_the_reset_that_it_covers() {
    let own = || at("0.5.9");
    let mut tale = tale("0.4.1,1.3.3", Listener::Caller);
    tale.miss(own);
    assert_eq!(tale.begin(own), None, "a cut after it would lose everything in between");
    assert_eq!(ready(&mut tale), ["reset 0.5.9,1.3.3"]);
    assert_eq!(tale.begin(own).as_deref(), Some("0.5.9,1.3.3"));
}

#[test]
fn another_owner_in_this_process_or_elsewhere_is_a_reset_before_its_news() {
    let own = || at("0.6.0");
    let mut tale = tale("0.5.7,1.3.3", Listener::Caller);
    tale.hear(&news(0, 6, 0, Changed::Owner), own);
    tale.hear(&news(0, 6, 1, run("acme")), own);
    tale.hear(&news(0, 5, 8, run("acme")), own);
    tale.hear_elsewhere(told("1.4.2"), own);
    assert_eq!(
        ready(&mut tale),
        ["reset 0.6.0,1.3.3", "run 0.6.1,1.3.3", "reset 0.6.1,1.4.2", "run 0.6.1,1.4.2"]
    );
}

#[test]
fn what_others_tell_is_told_once_and_what_they_say_of_our_cells_is_not_heeded() {
    let own = || at("0.5.9");
    let mut tale = tale("0.5.9", Listener::Caller);
    tale.hear_elsewhere(Elsewhere::At(at("0.1.1,1.3.3")), own);
    assert_eq!(tale.begin(own).as_deref(), Some("0.5.9,1.3.3"));
    tale.hear_elsewhere(told("1.3.4"), own);
    tale.hear_elsewhere(told("1.3.4"), own);
    tale.hear_elsewhere(told("0.1.2,1.3.6"), own);
    tale.hear_elsewhere(told("0.1.3"), own);
    assert_eq!(ready(&mut tale), ["run 0.5.9,1.3.4", "run 0.5.9,1.3.6"]);
    tale.hear_elsewhere(told_reset("1.2.1"), own);
    tale.hear_elsewhere(told("1.2.2"), own);
    assert_eq!(ready(&mut tale), ["reset 0.5.9,1.2.1", "run 0.5.9,1.2.2"], "a store that was put back");
}

#[test]
fn gaps_that_nobody_has_read_are_one() {
    let own = || at("0.5.9");
    let mut tale = tale("0.5.1", Listener::Caller);
    tale.hear_elsewhere(Elsewhere::Gap, own);
    tale.miss(own);
    tale.hear_elsewhere(told_reset("1.2.1"), own);
    assert_eq!(ready(&mut tale), ["reset 0.5.9,1.2.1"]);
    tale.hear_elsewhere(Elsewhere::Gap, own);
    assert_eq!(ready(&mut tale), ["reset 0.5.9,1.2.1"], "the next is another");
}

#[test]
fn another_process_hears_marks_of_our_cells_only() {
    let own = || at("1.3.5");
    let mut tale = tale("0.5.1,1.3.4", Listener::Process);
    assert_eq!(tale.begin(own).as_deref(), Some("1.3.4"));
    tale.hear(&news(1, 3, 5, run("acme")), own);
    tale.miss(own);
    assert_eq!(ready(&mut tale), ["run 1.3.5", "reset 1.3.5"]);
}

fn progress(namespace: &str) -> Changed {
    let namespace = namespace.parse().expect("a namespace");
    let run = RunPlace { id: RunId::MIN, namespace, job: JobId::MIN };
    let progress = Progress { permille: 500, message: "half".into() };
    Changed::Progress { run, progress, at: Timestamp::ZERO }
}

#[test]
fn what_passes_is_told_without_a_place_to_those_who_asked_for_it() {
    let own = || at("0.5.9");
    let mut everybody = tale("0.5.1", Listener::Caller);
    everybody.hear(&news(0, 5, 1, progress("acme")), own);
    assert_eq!(ready(&mut everybody), [] as [&str; 0]);
    let mut asker = tale("0.5.1", Listener::Caller);
    asker.view.filter.kinds = vec![WatchKind::Progress];
    for namespace in ["acme", "other"] {
        asker.hear(&news(0, 5, 1, progress(namespace)), own);
    }
    asker.hear(&news(0, 5, 2, run("acme")), own);
    asker.hear(&news(0, 5, 2, progress("acme")), own);
    assert_eq!(ready(&mut asker), ["progress 0.5.1", "progress 0.5.2"]);
}

#[test]
fn jobs_are_told_to_who_asks_for_them_and_not_to_who_watches_a_run() {
    let own = || at("0.5.9");
    let namespace: mainspring_model::Namespace = "acme".parse().expect("a namespace");
    let job = |number| {
        let what = Changed::Job {
            id: JobId::MIN,
            namespace: namespace.clone(),
            name: "etl".into(),
            at: Timestamp::ZERO,
        };
        news(0, 5, number, what)
    };
    let mut asker = tale("0.5.1", Listener::Caller);
    asker.view.filter.kinds = vec![WatchKind::Job, WatchKind::Run];
    asker.hear(&job(2), own);
    asker.view.filter.run = Some(RunId::MIN);
    asker.hear(&job(3), own);
    asker.hear(&news(0, 5, 4, run("acme")), own);
    assert_eq!(ready(&mut asker), ["job 0.5.2", "run 0.5.4"]);
}
