//! Pages of a shelf: ordered by (rank, id), cut by a cursor, a highest rank and a limit.

use std::sync::Arc;

use mainspring_model::{Place, Run, RunId, Shelf};
use mainspring_store::{ShelfQuery, Store, Write};

use crate::case::cases;
use crate::fixture::{put, run_id, run_ids, run_with, shelf_query};

cases! { "shelf_pages":
    smaller_ranks_come_first,
    equal_ranks_are_ordered_by_id,
    negative_and_extreme_ranks_are_ordered,
    a_cursor_begins_after_its_row,
    a_cursor_within_equal_ranks,
    a_cursor_at_a_row_that_left,
    a_cursor_at_the_extremes,
    the_highest_rank_is_included,
    a_highest_rank_before_the_cursor_leaves_nothing,
    a_cursor_and_a_highest_rank_together,
    more_is_said_exactly,
    more_respects_the_highest_rank,
    a_limit_of_none_tells_whether_there_is_any,
    a_walk_sees_every_row_once,
}

async fn smaller_ranks_come_first(store: Arc<dyn Store>) {
    fill(&store, &[(1, 30), (2, 10), (3, 20)]).await;
    assert_eq!(page(&store, |_| {}).await, (vec![2, 3, 1], false));
}

async fn equal_ranks_are_ordered_by_id(store: Arc<dyn Store>) {
    fill(&store, &[(5, 7), (1, 7), (300, 7), (2, 6)]).await;
    assert_eq!(page(&store, |_| {}).await, (vec![2, 1, 5, 300], false));
}

async fn negative_and_extreme_ranks_are_ordered(store: Arc<dyn Store>) {
    fill(&store, &[(1, i64::MAX), (2, -1), (3, 0), (4, i64::MIN), (5, 1), (6, -256)]).await;
    assert_eq!(page(&store, |_| {}).await, (vec![4, 6, 2, 3, 5, 1], false));
}

async fn a_cursor_begins_after_its_row(store: Arc<dyn Store>) {
    fill(&store, &[(1, 10), (2, 20), (3, 30)]).await;
    assert_eq!(page(&store, |query| query.after = Some((10, run_id(1)))).await, (vec![2, 3], false));
    assert_eq!(page(&store, |query| query.after = Some((30, run_id(3)))).await, (vec![], false));
}

async fn a_cursor_within_equal_ranks(store: Arc<dyn Store>) {
    fill(&store, &[(1, 10), (2, 10), (3, 10), (4, 11)]).await;
    assert_eq!(page(&store, |query| query.after = Some((10, run_id(2)))).await, (vec![3, 4], false));
}

async fn a_cursor_at_a_row_that_left(store: Arc<dyn Store>) {
    fill(&store, &[(1, 10), (4, 10), (5, 20)]).await;
    assert_eq!(page(&store, |query| query.after = Some((10, run_id(2)))).await, (vec![4, 5], false));
    assert_eq!(page(&store, |query| query.after = Some((15, run_id(9)))).await, (vec![5], false));
}

async fn a_cursor_at_the_extremes(store: Arc<dyn Store>) {
    fill(&store, &[(1, i64::MIN), (2, 0), (3, i64::MAX)]).await;
    assert_eq!(
        page(&store, |query| query.after = Some((i64::MIN, RunId::MIN))).await,
        (vec![1, 2, 3], false)
    );
    assert_eq!(page(&store, |query| query.after = Some((i64::MIN, RunId::MAX))).await, (vec![2, 3], false));
    assert_eq!(page(&store, |query| query.after = Some((i64::MAX, RunId::MAX))).await, (vec![], false));
}

async fn the_highest_rank_is_included(store: Arc<dyn Store>) {
    fill(&store, &[(1, 10), (2, 20), (3, 20), (4, 21)]).await;
    for (rank_max, expected) in
        [(9, vec![]), (10, vec![1]), (19, vec![1]), (20, vec![1, 2, 3]), (i64::MAX, vec![1, 2, 3, 4])]
    {
        assert_eq!(page(&store, |query| query.rank_max = Some(rank_max)).await, (expected, false));
    }
    assert_eq!(page(&store, |query| query.rank_max = Some(i64::MIN)).await, (vec![], false));
}

async fn a_highest_rank_before_the_cursor_leaves_nothing(store: Arc<dyn Store>) {
    fill(&store, &[(1, 10), (2, 20)]).await;
    let query = |query: &mut ShelfQuery| (query.after, query.rank_max) = (Some((15, run_id(1))), Some(5));
    assert_eq!(page(&store, query).await, (vec![], false));
}

async fn a_cursor_and_a_highest_rank_together(store: Arc<dyn Store>) {
    fill(&store, &[(1, 10), (2, 20), (3, 30), (4, 40)]).await;
    let query = |query: &mut ShelfQuery| (query.after, query.rank_max) = (Some((10, run_id(1))), Some(30));
    assert_eq!(page(&store, query).await, (vec![2, 3], false));
}

async fn more_is_said_exactly(store: Arc<dyn Store>) {
    fill(&store, &[(1, 1), (2, 2), (3, 3)]).await;
    for (limit, expected) in [(1, (vec![1], true)), (2, (vec![1, 2], true)), (3, (vec![1, 2, 3], false))] {
        assert_eq!(page(&store, |query| query.limit = limit).await, expected, "{limit}");
    }
}

async fn more_respects_the_highest_rank(store: Arc<dyn Store>) {
    fill(&store, &[(1, 1), (2, 2), (3, 3)]).await;
    let query = |query: &mut ShelfQuery| (query.limit, query.rank_max) = (2, Some(2));
    assert_eq!(page(&store, query).await, (vec![1, 2], false));
}

async fn a_limit_of_none_tells_whether_there_is_any(store: Arc<dyn Store>) {
    assert_eq!(page(&store, |query| query.limit = 0).await, (vec![], false));
    fill(&store, &[(1, 1)]).await;
    assert_eq!(page(&store, |query| query.limit = 0).await, (vec![], true));
}

async fn a_walk_sees_every_row_once(store: Arc<dyn Store>) {
    // Many equal ranks, so that most page borders fall within one.
    let rows: Vec<(u64, i64)> = (0..500).map(|n| (n * 7919 % 500, n as i64 / 40)).collect();
    fill(&store, &rows).await;
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let query = ShelfQuery { after, limit: 17, ..shelf_query(0, Shelf::Waiting) };
        let page = store.shelf(query).await.unwrap();
        let place = |run: &Run| (run.status.place.unwrap().rank, run.head.id);
        after = page.rows.last().map(place).or(after);
        seen.extend(page.rows.iter().map(place));
        if !page.more {
            break;
        }
    }
    let mut expected: Vec<(i64, RunId)> = rows.iter().map(|(n, rank)| (*rank, run_id(*n))).collect();
    expected.sort();
    assert_eq!(seen, expected);
}

/// Puts runs (number, rank) on the waiting shelf of cell 0.
async fn fill(store: &Arc<dyn Store>, rows: &[(u64, i64)]) {
    let place = |rank| Some(Place { shelf: Shelf::Waiting, rank });
    let row = |(n, rank): &(u64, i64)| run_with(*n, |_, status| status.place = place(*rank));
    put(store, rows.iter().map(row).map(Write::InsertRun).collect()).await;
}

/// The numbers of the runs of a page.
async fn page(store: &Arc<dyn Store>, change: impl FnOnce(&mut ShelfQuery)) -> (Vec<u64>, bool) {
    let mut query = shelf_query(0, Shelf::Waiting);
    change(&mut query);
    let page = store.shelf(query).await.unwrap();
    let number = |id: &RunId| (0..1000).find(|n| run_id(*n) == *id).unwrap();
    (run_ids(&page).iter().map(number).collect(), page.more)
}
