//! One damaged row stops nobody (I20): pages leave it out, a read of that very row names it, a batch goes by it.

use std::sync::Arc;

use mainspring_model::spec::{self, Format};
use mainspring_model::{CellId, JobId, JobVersion, Shelf, Timestamp};
use mainspring_store::{Conflict, Error, Outcome, ShelfQuery, Store, Transaction, Versions, Write};

use crate::rows::{own, owned, run, run_id};
use crate::servers::{Place, Server};

async fn check(server: Server) {
    let (place, store) = Place::migrated(server).await;
    let rows = (1..=3).map(|n| Write::InsertRun(run(n)));
    store.commit(Transaction::unfenced(rows.collect())).await.unwrap();
    let damaged = place.literal(run_id(2).as_bytes());
    place.execute(&format!("UPDATE runs SET state = 99 WHERE id = {damaged}")).await;

    let query = ShelfQuery { cell: CellId(0), shelf: Shelf::Waiting, after: None, rank_max: None, limit: 10 };
    let page = store.shelf(query).await.unwrap();
    let ids: Vec<_> = page.rows.iter().map(|row| row.head.id).collect();
    assert_eq!(ids, [run_id(1), run_id(3)], "{server:?}");

    match store.runs_by_id(&[run_id(2)]).await {
        Err(Error::Damaged { row, .. }) => assert!(row.contains(&run_id(2).to_string()), "{server:?}: {row}"),
        other => panic!("{server:?}: {other:?}"),
    }

    // A batch that meets it is written, explained and recognised all the same.
    let fence = own(&store).await;
    let writes = [2, 5].map(|n| Write::InsertRun(owned(run(n), fence.epoch)));
    let batch = Transaction::fenced(fence, writes.to_vec());
    for time in 1..=2 {
        let outcomes = store.commit(batch.clone()).await.unwrap();
        let expected = [Outcome::Conflict(Conflict::Exists), Outcome::Applied];
        assert_eq!(outcomes, expected, "{server:?}, time {time}");
    }
    check_versions(&place, &*store).await;
    place.remove().await;
}

/// A specification that cannot be read is told apart from those that can.
async fn check_versions(place: &Place, store: &dyn Store) {
    let spec = Arc::new(spec::parse("name: x\nscript: x\n", Format::Yaml).unwrap());
    let [one, two, three] = [1, 2, 3].map(|n| JobId::new(Timestamp::ZERO, n));
    let version = |job| {
        let (created_at, created_by) = (Timestamp::ZERO, "ann".into());
        Write::InsertJobVersion(Box::new(JobVersion {
            job,
            version: 1,
            spec: Arc::clone(&spec),
            created_at,
            created_by,
        }))
    };
    store.commit(Transaction::unfenced([one, two, three].map(version).to_vec())).await.unwrap();
    let damaged = place.literal(two.as_bytes());
    place.execute(&format!("UPDATE job_versions SET spec = substr(spec, 1, 3) WHERE job = {damaged}")).await;
    let keys = [(one, 1), (two, 1), (three, 1)];
    assert!(matches!(store.job_versions(&keys).await, Err(Error::Damaged { .. })));
    let Versions { readable, damaged } = Versions::read(store, &keys).await.unwrap();
    assert_eq!(readable.iter().map(|version| version.job).collect::<Vec<_>>(), [one, three]);
    assert_eq!(damaged.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [(two, 1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn is_isolated() {
    for server in Server::ALL {
        check(server).await;
    }
}
