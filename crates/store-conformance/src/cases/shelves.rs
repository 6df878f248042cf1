//! Shelves: where a new owner finds the active runs of its cell, whoever put them there.

use std::sync::Arc;

use mainspring_model::{CellId, Place, Run, RunId, RunState, Shelf};
use mainspring_store::{Retention, Store, Write};

use crate::case::cases;
use crate::fixture::{
    Owner, at, commit, next, put, run, run_id, run_in, run_with, shelf, shelf_query, update,
};

cases! { "shelves":
    an_empty_shelf_is_empty,
    a_run_that_anyone_inserted_has_arrived,
    shelves_are_apart,
    cells_are_apart,
    runs_come_whole,
    a_run_moves_between_shelves,
    a_run_moves_within_its_shelf,
    a_run_that_stays_is_there_once,
    an_ended_run_leaves_its_shelf,
    a_run_is_handed_to_another_cell,
    a_run_is_handed_and_back,
    a_conflict_moves_nothing,
    retention_does_not_touch_shelves,
    a_thousand_runs_change_shelves_at_once,
    a_life_from_arrival_to_end,
}

async fn an_empty_shelf_is_empty(store: Arc<dyn Store>) {
    for place in Shelf::ALL {
        let page = store.shelf(shelf_query(0, place)).await.unwrap();
        assert!(page.rows.is_empty() && !page.more, "{place:?}");
    }
}

async fn a_run_that_anyone_inserted_has_arrived(store: Arc<dyn Store>) {
    // The owner's fence is not asked for: submissions are accepted while nobody owns the cell.
    put(&store, vec![Write::InsertRun(run_in(5, 2)), Write::InsertRun(run_in(5, 1))]).await;
    assert_eq!(shelf(&store, 5, Shelf::Arrived).await, [run_id(1), run_id(2)]);
}

async fn shelves_are_apart(store: Arc<dyn Store>) {
    for (n, place) in (1..).zip(Shelf::ALL) {
        put(&store, vec![Write::InsertRun(placed(n, place, 7))]).await;
    }
    for (n, place) in (1..).zip(Shelf::ALL) {
        assert_eq!(shelf(&store, 0, place).await, [run_id(n)], "{place:?}");
    }
}

async fn cells_are_apart(store: Arc<dyn Store>) {
    for cell in [0, 1, 255, 256, 1023] {
        put(&store, vec![Write::InsertRun(run_in(cell, u64::from(cell)))]).await;
    }
    for cell in [0, 1, 255, 256, 1023] {
        assert_eq!(shelf(&store, cell, Shelf::Arrived).await, [run_id(u64::from(cell))]);
    }
    assert_eq!(shelf(&store, 2, Shelf::Arrived).await, []);
}

async fn runs_come_whole(store: Arc<dyn Store>) {
    let full = Run { head: Arc::new(crate::fixture::full_head(1)), status: crate::fixture::full_status() };
    put(&store, vec![Write::InsertRun(full.clone())]).await;
    let page = store.shelf(shelf_query(full.status.cell.0, Shelf::Flight)).await.unwrap();
    assert_eq!(page.rows, [full]);
}

async fn a_run_moves_between_shelves(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1))]).await;
    let mut row = run(1);
    for place in [Shelf::Timed, Shelf::Waiting, Shelf::Flight, Shelf::Waiting, Shelf::Arrived] {
        row = move_to(&store, &row, place, 3).await;
        for other in Shelf::ALL {
            let expected: &[RunId] = if other == place { &[run_id(1)] } else { &[] };
            assert_eq!(shelf(&store, 0, other).await, expected, "{other:?} after {place:?}");
        }
    }
}

async fn a_run_moves_within_its_shelf(store: Arc<dyn Store>) {
    let rows = [(1, 10), (2, 20), (3, 30)].map(|(n, rank)| placed(n, Shelf::Waiting, rank));
    put(&store, rows.clone().map(Write::InsertRun).to_vec()).await;
    move_to(&store, &rows[0], Shelf::Waiting, 25).await;
    assert_eq!(shelf(&store, 0, Shelf::Waiting).await, [run_id(2), run_id(1), run_id(3)]);
}

async fn a_run_that_stays_is_there_once(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1))]).await;
    let again = next(&run(1), |status| status.losses = 1);
    put(&store, vec![update(&again)]).await;
    let page = store.shelf(shelf_query(0, Shelf::Arrived)).await.unwrap();
    assert_eq!(page.rows, [again]);
}

async fn an_ended_run_leaves_its_shelf(store: Arc<dyn Store>) {
    let states = [RunState::Success, RunState::FinalFailed, RunState::Cancelled, RunState::Skipped];
    for ((n, place), state) in (1..).zip(Shelf::ALL).zip(states) {
        let row = placed(n, place, 1);
        put(&store, vec![Write::InsertRun(row.clone())]).await;
        put(&store, vec![update(&next(&row, |status| (status.state, status.place) = (state, None)))]).await;
        assert_eq!(shelf(&store, 0, place).await, [], "{state:?} from {place:?}");
    }
}

async fn a_run_is_handed_to_another_cell(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let row = placed(1, Shelf::Waiting, 5);
    owner.put(vec![Write::InsertRun(row.clone())]).await;
    let handed = next(&row, |status| {
        (status.cell, status.epoch) = (CellId(9), owner.fence.epoch);
        status.place = Some(Place { shelf: Shelf::Arrived, rank: at(5).as_micros() });
    });
    owner.put(vec![update(&handed)]).await;
    for place in Shelf::ALL {
        assert_eq!(shelf(&store, 0, place).await, [], "{place:?}");
    }
    assert_eq!(store.shelf(shelf_query(9, Shelf::Arrived)).await.unwrap().rows, [handed]);
}

async fn a_run_is_handed_and_back(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1))]).await;
    let away = next(&run(1), |status| status.cell = CellId(1));
    let back = next(&away, |status| status.cell = CellId(0));
    put(&store, vec![update(&away)]).await;
    put(&store, vec![update(&back)]).await;
    assert_eq!(shelf(&store, 0, Shelf::Arrived).await, [run_id(1)]);
    assert_eq!(shelf(&store, 1, Shelf::Arrived).await, []);
}

async fn a_conflict_moves_nothing(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1))]).await;
    move_to(&store, &run(1), Shelf::Waiting, 5).await;
    let late = next(&run(1), |status| status.place = Some(Place { shelf: Shelf::Timed, rank: 1 }));
    let outcomes = commit(&store, vec![update(&late)]).await;
    assert_eq!(outcomes, [crate::fixture::stale(2)]);
    assert_eq!(shelf(&store, 0, Shelf::Waiting).await, [run_id(1)]);
    assert_eq!(shelf(&store, 0, Shelf::Timed).await, []);
}

async fn retention_does_not_touch_shelves(store: Arc<dyn Store>) {
    put(&store, (0..10).map(|n| Write::InsertRun(run(n))).collect()).await;
    let rule = Retention { job: None, made_before: Some(at(1 << 40)), keep_newest: None };
    assert_eq!(store.retain(rule, 100).await.unwrap(), 0);
    assert_eq!(shelf(&store, 0, Shelf::Arrived).await.len(), 10);
}

async fn a_thousand_runs_change_shelves_at_once(store: Arc<dyn Store>) {
    put(&store, (0..1000).map(|n| Write::InsertRun(run(n))).collect()).await;
    let moved = |n: u64| {
        next(&run(n), |status| {
            status.place = Some(Place { shelf: Shelf::Waiting, rank: -(n as i64) });
        })
    };
    put(&store, (0..1000).map(|n| update(&moved(n))).collect()).await;
    assert_eq!(shelf(&store, 0, Shelf::Arrived).await, []);
    assert_eq!(shelf(&store, 0, Shelf::Waiting).await, (0..1000).rev().map(run_id).collect::<Vec<_>>());
}

async fn a_life_from_arrival_to_end(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![Write::InsertRun(run(1))]).await;
    let path = [
        (RunState::Ready, Some(Shelf::Timed)),
        (RunState::Waiting, Some(Shelf::Waiting)),
        (RunState::Running, Some(Shelf::Flight)),
        (RunState::Failed, Some(Shelf::Timed)),
        (RunState::Waiting, Some(Shelf::Waiting)),
        (RunState::Running, Some(Shelf::Flight)),
        (RunState::Success, None),
    ];
    let mut row = run(1);
    for (state, place) in path {
        row = next(&row, |status| {
            (status.state, status.epoch) = (state, owner.fence.epoch);
            status.place = place.map(|shelf| Place { shelf, rank: 1 });
        });
        owner.put(vec![update(&row)]).await;
        for other in Shelf::ALL {
            let found = shelf(&store, 0, other).await.len();
            assert_eq!(found, usize::from(Some(other) == place), "{other:?} in {state:?}");
        }
    }
}

async fn move_to(store: &Arc<dyn Store>, row: &Run, shelf: Shelf, rank: i64) -> Run {
    let moved = next(row, |status| status.place = Some(Place { shelf, rank }));
    put(store, vec![update(&moved)]).await;
    moved
}

fn placed(n: u64, shelf: Shelf, rank: i64) -> Run {
    run_with(n, |_, status| status.place = Some(Place { shelf, rank }))
}
