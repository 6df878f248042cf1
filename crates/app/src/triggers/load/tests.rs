//! From rows and job files to the answer.

use mainspring_engine::{TriggerKey, TriggerRow, TriggerState};
use mainspring_model::{Calendars, JobId, Timestamp, spec};
use mainspring_wire::api::LoadReport;
use serde_json::{Value, json};

use super::plan::Plan;
use super::tally::{Span, load};

/// 2027-01-04T00:00:00Z, a Monday.
const MONDAY: i64 = 1_799_020_800;
const DAY: i64 = 86_400;

fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(second * 1_000_000)
}

fn row(cursor: Timestamp, fired: u64) -> TriggerRow {
    let state = TriggerState {
        namespace: "acme".parse().unwrap(),
        version: 1,
        definition: 0,
        cursor,
        next: None,
        fires_at: None,
        fired,
        failures: 0,
        pause: None,
        last: None,
        awaits_end: false,
        delay_us: 0,
        follows: None,
        heeds: false,
        is_called: false,
        moved: None,
        backfills: None,
    };
    TriggerRow { key: TriggerKey { job: JobId::from_bytes([1; 16]), name: "t".into() }, revision: 1, state }
}

fn plan(job: &str, pool: &str, trigger: Value) -> Plan {
    moved(job, pool, trigger, row(at(MONDAY - DAY), 0))
}

fn moved(job: &str, pool: &str, trigger: Value, row: TriggerRow) -> Plan {
    let file = json!({"name": job, "script": "true", "placement": {"pool": pool}, "triggers": [trigger]});
    let spec = spec::from_value(&file).unwrap();
    let plan = Plan::of(&row, (&spec, &spec.triggers[0]), Calendars::NONE, at(MONDAY)).unwrap();
    Plan { usual_us: 90_000_000, ..plan }
}

fn days(plans: &[Plan], days: usize) -> LoadReport {
    load(plans, Span { from: MONDAY, hours: days * 24, moments_max: 200_000 })
}

#[test]
fn firings_are_counted_by_hour_and_pool() {
    let plans = [
        plan("nightly", "big", json!({"cron": "30 3 * * MON-FRI", "zone": "Europe/Berlin"})),
        plan("often", "big", json!({"every": "10m"})),
        plan("once", "small", json!({"at": "2027-01-05T05:00:00Z"})),
    ];
    let report = days(&plans, 7);
    assert_eq!((report.triggers, report.firings, report.truncated), (3, 5 + 7 * 144 + 1, false));
    assert_eq!((report.from.0, report.until.0), (at(MONDAY), at(MONDAY + 7 * DAY)));
    let [big, small] = report.pools.as_slice() else { panic!("{report:?}") };
    assert_eq!((big.pool.as_str(), small.pool.as_str()), ("big", "small"));
    assert_eq!((big.firings.len(), big.firings[2], big.firings[3]), (168, 7, 6));
    // It does not fire on Saturdays.
    assert_eq!(big.firings[5 * 24 + 2], 6);
    assert_eq!(big.busy_ms[2], 7 * 90_000);
    assert_eq!((small.firings[29], small.firings.iter().sum::<u64>()), (1, 1));
}

#[test]
fn intervals_are_counted_as_if_each_were_looked_at() {
    for trigger in [
        json!({"every": "7s"}),
        json!({"every": "90m", "offset": "13m"}),
        json!({"every": "11m", "from": "2027-01-04T03:30:00Z", "until": "2027-01-05T04:10:00Z"}),
        json!({"every": "2d"}),
    ] {
        let counted = days(&[plan("etl", "default", trigger.clone())], 2);
        let mut trigger = trigger;
        trigger["count"] = json!(4_000_000);
        let walked = days(&[plan("etl", "default", trigger.clone())], 2);
        assert_eq!(counted, walked, "{trigger}");
        assert!(counted.firings > 0, "{trigger}");
    }
}

#[test]
fn what_does_not_fire_is_not_counted() {
    let minutely = json!({"every": "1m", "count": 10});
    let left = days(&[moved("etl", "default", minutely, row(at(MONDAY), 7))], 1);
    assert_eq!((left.firings, left.pools[0].firings[0]), (3, 3));
    let hourly = json!({"every": "1h"});
    let ahead = days(&[moved("etl", "default", hourly, row(at(MONDAY + 10 * 3_600), 0))], 1);
    assert_eq!(ahead.firings, 13, "those up to its cursor are accounted for");
}

#[test]
fn jitter_moves_firings_and_leaves_crowds() {
    let cron = json!({"cron": "59 * * * *", "jitter": "1h"});
    let report = days(&[plan("a", "default", cron.clone()), plan("b", "default", cron)], 1);
    assert_eq!(report.crowds, []);
    // What is planned at the end of an hour fires in the next but for a sixtieth of the time.
    assert!((46..=50).contains(&report.firings), "{}", report.firings);
    assert!(report.pools[0].firings[0] > 0, "planned before the first hour, fires in it");
}

#[test]
fn many_in_one_second_are_a_crowd_once() {
    let mut plans: Vec<Plan> =
        (0..3).map(|job| plan(&format!("j{job}"), "default", json!({"cron": "0 3 * * *"}))).collect();
    plans.push(plan("hourly", "default", json!({"every": "1h"})));
    plans.push(plan("other", "default", json!({"cron": "0 5 * * *"})));
    plans.push(plan("steady", "default", json!({"every": "1s"})));
    plans.push(plan("too", "default", json!({"cron": "*/5 * * * * *"})));
    let report = days(&plans, 7);
    let [three, five] = report.crowds.as_slice() else { panic!("{:?}", report.crowds) };
    assert_eq!((three.at.0, three.count, three.times), (at(MONDAY + 3 * 3_600), 4, 7));
    let names: Vec<&str> = three.triggers.iter().map(|trigger| trigger.job_name.as_str()).collect();
    assert_eq!(names, ["j0", "j1", "j2", "hourly"]);
    assert_eq!(three.triggers[0].when, "0 3 * * *");
    assert_eq!(three.triggers[0].spread.as_ref().map(|spread| spread.value.as_str()), Some("H 3 * * *"));
    assert_eq!((five.at.0, five.count), (at(MONDAY + 5 * 3_600), 2));
    // Part of a crowd that is told is not told again.
    plans.truncate(2);
    plans.push(plan("both", "default", json!({"cron": "0 3,4 * * *"})));
    plans.push(plan("too", "default", json!({"cron": "0 3,4 * * *"})));
    assert_eq!(days(&plans, 7).crowds.len(), 1);
}

#[test]
fn an_answer_that_is_cut_has_whole_hours() {
    let plans = [
        plan("a", "default", json!({"cron": "* * * * * *"})),
        plan("b", "default", json!({"cron": "@hourly"})),
    ];
    let report = load(&plans, Span { from: MONDAY, hours: 24, moments_max: 8_000 });
    assert!(report.truncated);
    assert_eq!(report.until.0, at(MONDAY + 2 * 3_600));
    assert_eq!(report.pools[0].firings, [3_601, 3_601]);
    let nothing = load(&plans, Span { from: MONDAY, hours: 24, moments_max: 10 });
    assert_eq!((nothing.until, nothing.firings), (nothing.from, 0));
}
