//! `mainspring demo`: history that agrees with itself, and a company that goes on.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::world::World;

/// What doctor may say of a demonstration: the run that asks for a GPU.
const INTENDED: [&str; 1] = ["waiting"];
const FIVE_MINUTES: i64 = 300;

#[test]
fn a_demonstration_has_a_history_that_agrees_and_goes_on() {
    let mut world = World::demo(2);
    world.until("it says hello", |world| world.logs().contains("Ctrl-C stops it").then_some(()));
    let said = world.logs();
    for part in ["All of it is made up.", "The demonstration, with made-up data, is up at http://"] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(world.get("/v1/me").1["subject"], "demo", "the name says what it is");
    assert_rows_agree_with_roll_ups(&world);
    let lines = assert_ledger_is_the_schedule(&world);
    assert_doctor_finds_what_is_intended(&world);
    world.until("a run of the demonstration really runs", |world| {
        let running = world.get("/v1/runs?q=state:running%20job:rebuild-thumbnails&limit=1").1;
        let progress = &running["items"].get(0)?["progress"]["fraction"];
        progress.as_f64().filter(|fraction| *fraction > 0.0)
    });
    // The same folder goes on.
    assert!(world.stop_server().success(), "{}", world.logs());
    world.start_server();
    assert!(world.logs().contains("goes on."), "{}", world.logs());
    assert!(assert_ledger_is_the_schedule(&world) >= lines);
    assert_eq!(world.get("/v1/me").1["subject"], "demo");
}

#[test]
fn a_folder_that_is_something_else_is_refused() {
    let world = World::laptop();
    let data = world.path("server");
    let refused = world.at("server").args(["demo", "--data"]).arg(data).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("is not a demonstration") && said.contains("--data"), "{said}");
}

/// Runs go on meanwhile: they agree at some moment.
fn assert_rows_agree_with_roll_ups(world: &World) {
    let count = world.until("rows and roll-ups agree", |world| {
        let path = "/v1/stats?namespace=linden/ops&job=probe-shop&from=2000-01-01T00:00:00Z";
        let total = &world.get(path).1["total"];
        let counted = total["success"].as_u64()? + total["final_failed"].as_u64()?;
        let q = "q=job:probe-shop%20state:success,final_failed";
        let rows = world.get(&format!("/v1/runs?{q}&namespace=linden/ops&limit=1000")).1;
        let rows = rows["items"].as_array()?.len() as u64;
        (rows == counted).then_some(rows)
    });
    assert!(count > 250, "{count}");
}

/// Each moment that was planned has one line. Tells how many.
fn assert_ledger_is_the_schedule(world: &World) -> usize {
    let path = "/v1/jobs/check-stock/triggers/every/history?namespace=linden/shop&limit=1000";
    let history = world.get(path).1;
    let second = |line: &Value| -> i64 {
        let planned = mainspring_model::time::text::parse(line["planned"].as_str().unwrap()).unwrap();
        planned.as_micros() / 1_000_000
    };
    let lines: Vec<i64> = history["items"].as_array().unwrap().iter().map(second).collect();
    let (first, last) = (*lines.iter().min().unwrap(), *lines.iter().max().unwrap());
    let planned: BTreeSet<i64> = (first..=last).step_by(FIVE_MINUTES as usize).collect();
    assert_eq!(first % FIVE_MINUTES, 0);
    assert_eq!(lines.len(), planned.len(), "one line for each moment");
    assert_eq!(lines.into_iter().collect::<BTreeSet<_>>(), planned);
    assert!(planned.len() > 2 * 280, "{}", planned.len());
    planned.len()
}

fn assert_doctor_finds_what_is_intended(world: &World) {
    let doctor = world.get("/v1/doctor").1;
    let findings = doctor["findings"].as_array().unwrap();
    assert!(findings.iter().any(|one| one["message"].as_str().unwrap().contains("gpu")), "{doctor}");
    for finding in findings {
        assert!(INTENDED.contains(&finding["check"].as_str().unwrap()), "{finding}");
    }
}
