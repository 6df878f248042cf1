//! Moments are whole microseconds, exact in every column: no rounding, no calendar, no bounds but i64's.

use std::sync::Arc;

use mainspring_model::{
    Attempt, CancelRequest, CounterKey, Counts, Job, JobVersion, Member, Node, NodeState, Pause, Reason,
    RunEvent, Timestamp,
};
use mainspring_store::{CounterQuery, Store, Write};

use crate::case::cases;
use crate::fixture::{
    Owner, attempt, counter_key, event, job, job_version, member_id, node, put, read_run, run_id, run_with,
};

cases! { "times":
    the_epoch => exact(0),
    one_microsecond => exact(1),
    one_before_the_epoch => exact(-1),
    odd_microseconds => exact(1_700_000_000_123_457),
    the_last_of_a_second => exact(1_699_999_999_999_999),
    half_a_microsecond_below_a_second => exact(1_700_000_000_999_999),
    the_end_of_32_bits => exact(2_147_483_648_000_001),
    long_before_1970 => exact(-62_135_596_800_000_001),
    after_the_year_9999 => exact(253_402_300_800_000_001),
    a_number_that_a_double_cannot_hold => exact((1 << 53) + 1),
    the_far_future => exact(1 << 62),
    the_latest => exact(i64::MAX),
    the_earliest => exact(i64::MIN),
    a_summer_time_gap => exact(1_711_846_800_000_001),
}

/// Every column that holds a moment gives back this one.
async fn exact(store: Arc<dyn Store>, micros: i64) {
    let at = Timestamp::from_micros(micros);
    in_a_run(&store, at).await;
    in_history(&store, at).await;
    in_jobs_and_nodes(&store, at).await;
    in_a_member(&store, at).await;
    in_counters(&store, at).await;
}

async fn in_a_run(store: &Arc<dyn Store>, at: Timestamp) {
    let row = run_with(1, |head, status| {
        head.created_at = at;
        (head.not_before, head.deadline) = (Some(at), Some(at));
        status.place = status.place.map(|place| mainspring_model::Place { rank: at.as_micros(), ..place });
        (status.eligible_at, status.placed_at) = (Some(at), Some(at));
        (status.started_at, status.finished_at) = (Some(at), Some(at));
        status.reason = Some(Box::new(Reason::BeginTime { until: at }));
        status.extra_mut().cancel = Some(CancelRequest { by: "x".into(), at, kill: false });
    });
    put(store, vec![Write::InsertRun(row.clone())]).await;
    assert_eq!(read_run(store, run_id(1)).await, Some(row));
}

async fn in_history(store: &Arc<dyn Store>, at: Timestamp) {
    let attempt = Attempt { placed_at: at, started_at: Some(at), finished_at: at, ..attempt(run_id(1), 1) };
    let event = RunEvent { at, ..event(run_id(1), 1, 0) };
    let writes =
        vec![Write::InsertAttempt(Box::new(attempt.clone())), Write::InsertEvent(Box::new(event.clone()))];
    put(store, writes).await;
    assert_eq!(store.attempts(run_id(1)).await.unwrap(), [attempt]);
    assert_eq!(store.events(run_id(1)).await.unwrap(), [event]);
}

async fn in_jobs_and_nodes(store: &Arc<dyn Store>, at: Timestamp) {
    let pause = Some(Pause { by: "x".into(), note: "y".into(), at });
    let job = Job { pause, created_at: at, updated_at: at, ..job(1) };
    let version = JobVersion { created_at: at, ..job_version(1, 1) };
    let state = NodeState::Draining { deadline: at };
    let node = Node { state, joined_at: at, updated_at: at, ..node(1) };
    let writes = vec![
        Write::PutJob(Box::new(job.clone())),
        Write::InsertJobVersion(Box::new(version.clone())),
        Write::PutNode(Box::new(node.clone())),
    ];
    put(store, writes).await;
    assert_eq!(store.job(job.id).await.unwrap().as_ref(), Some(&job));
    assert_eq!(store.job_versions(&[(job.id, 1)]).await.unwrap(), [version]);
    assert_eq!(store.node(node.id).await.unwrap(), Some(node));
}

async fn in_a_member(store: &Arc<dyn Store>, at: Timestamp) {
    let member = Member { id: member_id(1), address: "x".into(), seen_at: at, load: 1, software: "1".into() };
    store.put_member(member.clone()).await.unwrap();
    assert_eq!(store.members().await.unwrap(), [member]);
    assert_eq!(store.remove_members(at).await.unwrap(), 0);
}

async fn in_counters(store: &Arc<dyn Store>, at: Timestamp) {
    let key = CounterKey { hour: at, ..counter_key(1, 0) };
    let counts = Counts { success: 1, ..Counts::default() };
    Owner::of(store, 0).await.put(vec![Write::AddCounts(Box::new((key.clone(), counts)))]).await;
    // The latest moment of all is before no end.
    let until = Timestamp::from_micros(at.as_micros().saturating_add(1));
    let query = CounterQuery { namespace: None, job: None, from: at, until, after: None, limit: 10 };
    let expected = if at < until { vec![(key, counts)] } else { vec![] };
    assert_eq!(store.counters(query).await.unwrap().rows, expected);
}
