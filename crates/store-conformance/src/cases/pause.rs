//! The pause of a whole cell: written by its owner, read by anyone.

use std::sync::Arc;

use mainspring_model::{CellId, Pause};
use mainspring_store::{Error, Store, Write};

use crate::case::cases;
use crate::fixture::{Owner, pause, try_commit};

cases! { "pause":
    a_cell_is_not_paused_at_first,
    a_pause_comes_and_goes,
    a_pause_replaces_another,
    the_same_pause_again_is_applied,
    a_resume_of_what_is_not_paused_is_applied,
    cells_are_paused_apart,
    a_pause_outlives_its_owner,
    without_a_fence_it_is_invalid,
    words_are_kept,
}

async fn a_cell_is_not_paused_at_first(store: Arc<dyn Store>) {
    assert_eq!(store.cell_pause(CellId(0)).await.unwrap(), None);
    let _owner = Owner::of(&store, 0).await;
    assert_eq!(store.cell_pause(CellId(0)).await.unwrap(), None);
}

async fn a_pause_comes_and_goes(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    for wanted in [Some(pause("a")), None, Some(pause("b")), None] {
        owner.put(vec![write(wanted.clone())]).await;
        assert_eq!(store.cell_pause(CellId(0)).await.unwrap(), wanted);
    }
}

async fn a_pause_replaces_another(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    owner.put(vec![write(Some(pause("a")))]).await;
    owner.put(vec![write(Some(pause("b")))]).await;
    assert_eq!(store.cell_pause(CellId(0)).await.unwrap(), Some(pause("b")));
}

async fn the_same_pause_again_is_applied(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    for _ in 0..3 {
        owner.put(vec![write(Some(pause("a")))]).await;
    }
}

async fn a_resume_of_what_is_not_paused_is_applied(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    for _ in 0..3 {
        owner.put(vec![write(None)]).await;
    }
}

async fn cells_are_paused_apart(store: Arc<dyn Store>) {
    let (mut one, mut other) = (Owner::of(&store, 1).await, Owner::of(&store, 2).await);
    one.put(vec![write(Some(pause("one")))]).await;
    other.put(vec![write(Some(pause("other")))]).await;
    one.put(vec![write(None)]).await;
    assert_eq!(store.cell_pause(CellId(1)).await.unwrap(), None);
    assert_eq!(store.cell_pause(CellId(2)).await.unwrap(), Some(pause("other")));
}

async fn a_pause_outlives_its_owner(store: Arc<dyn Store>) {
    let mut first = Owner::of(&store, 0).await;
    first.put(vec![write(Some(pause("a")))]).await;
    let _second = Owner::after(&store, 0, 9).await;
    assert_eq!(store.cell_pause(CellId(0)).await.unwrap(), Some(pause("a")));
    let lost = first.try_commit(vec![write(None)]).await;
    assert!(matches!(lost, Err(Error::FenceLost { .. })), "{lost:?}");
    assert_eq!(store.cell_pause(CellId(0)).await.unwrap(), Some(pause("a")));
}

async fn without_a_fence_it_is_invalid(store: Arc<dyn Store>) {
    for wanted in [Some(pause("a")), None] {
        let answer = try_commit(&store, vec![write(wanted)]).await;
        assert!(matches!(answer, Err(Error::Invalid(_))), "{answer:?}");
    }
}

async fn words_are_kept(store: Arc<dyn Store>) {
    let hard = Pause { by: "".into(), note: "\0 é 数据 🚀 \\ ' \"".into(), ..pause("") };
    Owner::of(&store, 0).await.put(vec![write(Some(hard.clone()))]).await;
    assert_eq!(store.cell_pause(CellId(0)).await.unwrap(), Some(hard));
}

fn write(pause: Option<Pause>) -> Write {
    Write::PauseCell(pause.map(Box::new))
}
