//! What fires by itself, with the server killed in between: every planned second is one run, whatever happens.

use std::collections::BTreeMap;

use mainspring_model::{Timestamp, time};
use serde_json::Value;

use crate::world::{Store, World, on_every_store};

on_every_store! {
    every_second_fires_once_whoever_dies
    what_passed_while_nobody_was_there_is_accounted_for
    a_backfill_makes_up_for_each_moment_once_whoever_dies
    a_moment_waits_for_the_jobs_it_needs_whoever_dies
}

const KILLS: usize = 3;

fn apply(world: &World, job: &str) {
    let file = world.path("job.yaml");
    std::fs::write(&file, job).unwrap();
    let file = file.to_str().unwrap();
    world.text(&["apply", file, "--yes"]);
}

/// The ledger, the oldest first.
fn ledger(world: &World, trigger: &str) -> Vec<Value> {
    let history = world.json(&["trigger", "history", "ticks", trigger, "--limit", "1000"]);
    let mut lines = history["items"].as_array().unwrap().clone();
    lines.reverse();
    lines
}

fn second(at: &Value) -> i64 {
    time::text::parse(at.as_str().unwrap()).unwrap().as_micros() / 1_000_000
}

fn until_more(world: &World, than: usize) {
    world.until("more has fired", |world| (ledger(world, "all").len() > than).then_some(()));
}

fn every_second_fires_once_whoever_dies(store: Store) {
    let mut world = World::new(store);
    let done = world.path("done");
    apply(
        &world,
        &format!(
            "name: ticks\nscript: echo $MAINSPRING_PARAM_AT >> {}\nretry: 0\nparameters: {{at: string}}\n\
             triggers:\n- name: all\n  cron: '* * * * * *'\n  misfire: all\n  \
             parameters: {{at: '{{{{ logical_time | date(\"%s\") }}}}'}}\n",
            done.display()
        ),
    );
    until_more(&world, 2);
    for _ in 0..KILLS {
        let before = ledger(&world, "all").len();
        world.kill_server();
        world.start_server();
        until_more(&world, before + 2);
    }
    let paused = world.json(&["trigger", "pause", "ticks", "all"]);
    assert!(paused["pause"].is_object(), "{paused}");
    let lines = ledger(&world, "all");
    let planned: Vec<i64> = lines.iter().map(|line| second(&line["planned"])).collect();
    let expected: Vec<i64> = (planned[0]..planned[0] + planned.len() as i64).collect();
    assert_eq!(planned, expected, "no second is missing and none comes twice");
    assert!(lines.iter().all(|line| line["outcome"] == "fired"), "{lines:?}");
    let runs: Vec<Value> =
        world.json(&["runs", "--job", "ticks", "--limit", "1000"])["items"].as_array().unwrap().clone();
    assert_eq!(runs.len(), lines.len());
    let mut by_moment: BTreeMap<i64, usize> = BTreeMap::new();
    for run in &runs {
        *by_moment.entry(second(&run["logical_time"])).or_default() += 1;
        world.wait(run["id"].as_str().unwrap());
    }
    assert!(by_moment.values().all(|runs| *runs == 1), "{by_moment:?}");
    let mut executed: Vec<i64> =
        world.until_file("done").lines().map(|line| line.trim().parse().unwrap()).collect();
    executed.sort_unstable();
    assert_eq!(executed, planned, "each was executed once\n{}", world.logs());
}

#[test]
fn another_server_fires_on_where_the_first_was() {
    let mut world = World::empty(Store::Postgres);
    world.add_server("server", None);
    apply(&world, "name: ticks\nscript: 'true'\ntriggers: [{name: all, every: 1s, misfire: all}]\n");
    until_more(&world, 2);
    world.add_server("second", None);
    let url = world.url_of("second");
    let ask = |world: &World, words: &[&str]| world.json(&[&["--url", &url], words].concat());
    let history = ["trigger", "history", "ticks", "all", "--limit", "1000"];
    let before = ask(&world, &history)["items"].as_array().unwrap().len();
    world.kill_server_named("server");
    world.until("the second fires", |world| {
        (ask(world, &history)["items"].as_array().unwrap().len() > before + 3).then_some(())
    });
    world.text(&["--url", &url, "trigger", "pause", "ticks", "all"]);
    let history = ask(&world, &history);
    let lines = history["items"].as_array().unwrap();
    let planned: Vec<i64> = lines.iter().rev().map(|line| second(&line["planned"])).collect();
    let expected: Vec<i64> = (planned[0]..planned[0] + planned.len() as i64).collect();
    assert_eq!(planned, expected, "no second is missing and none comes twice");
    let runs = ask(&world, &["runs", "--job", "ticks", "--limit", "1000"]);
    let id = |value: &Value| value.as_str().map(str::to_owned);
    let mut runs: Vec<String> =
        runs["items"].as_array().unwrap().iter().filter_map(|run| id(&run["id"])).collect();
    let mut fired: Vec<String> = lines.iter().filter_map(|line| id(&line["run"])).collect();
    runs.sort_unstable();
    fired.sort_unstable();
    assert_eq!(runs, fired, "each line has its run, and each run its line");
}

fn what_passed_while_nobody_was_there_is_accounted_for(store: Store) {
    let mut world = World::new(store);
    apply(
        &world,
        "name: ticks\nscript: 'true'\ntriggers:\n- {name: all, every: 1s, misfire: all}\n- {name: once, every: 3600s}\n",
    );
    until_more(&world, 1);
    // As if it had last been looked at before the hour before this one.
    let hour = second(&ledger(&world, "all")[0]["planned"]) / 3_600 * 3_600;
    let cursor = Timestamp::from_micros((hour - 3_601) * 1_000_000).to_string();
    world.kill_server();
    world.start_server();
    world.text(&["trigger", "cursor", "ticks", "once", &cursor]);
    let lines = world.until("the hours are told", |world| {
        let lines = ledger(world, "once");
        (!lines.is_empty()).then_some(lines)
    });
    let outcomes: Vec<&str> = lines.iter().map(|line| line["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["merged", "fired"], "{lines:?}");
    assert_eq!(second(&lines[0]["planned"]), hour - 3_600);
    let covered: i64 = lines.iter().map(|line| line["count"].as_i64().unwrap()).sum();
    assert_eq!(covered, (second(&lines[1]["planned"]) - (hour - 3_600)) / 3_600 + 1, "{lines:?}");
}

fn a_moment_waits_for_the_jobs_it_needs_whoever_dies(store: Store) {
    let mut world = World::new(store);
    for job in ["early", "late"] {
        apply(&world, &format!("name: {job}\nscript: 'true'\n"));
    }
    // A success from before the trigger was there counts too.
    world.text(&["run", "early", "--wait"]);
    apply(&world, "name: ticks\nscript: 'true'\ntriggers: [{name: all, every: 1s, needs: [early, late]}]\n");
    world.until("it waits for the other", |world| {
        let trigger = &world.json(&["trigger", "list", "ticks"])["items"][0];
        (trigger["waits_for"] == "late").then_some(())
    });
    world.kill_server();
    world.start_server();
    assert!(ledger(&world, "all").is_empty());
    world.text(&["run", "late", "--wait"]);
    until_more(&world, 0);
    world.text(&["trigger", "pause", "ticks", "all"]);
    let lines = ledger(&world, "all");
    let fired = lines.iter().find(|line| line["outcome"] == "fired").unwrap();
    let succeeded = second(&world.json(&["runs", "--job", "late"])["items"][0]["finished_at"]);
    assert!(second(&fired["at"]) >= succeeded, "{lines:?}");
}

fn a_backfill_makes_up_for_each_moment_once_whoever_dies(store: Store) {
    const HOURS: usize = 40;
    let mut world = World::new(store);
    let done = world.path("done");
    apply(
        &world,
        &format!(
            "name: ticks\nscript: echo $MAINSPRING_PARAM_AT >> {}\nretry: 0\nparameters: {{at: string}}\n\
             concurrency: {{limit: 2, overlap: skip}}\ntriggers:\n- every: 1h\n  \
             parameters: {{at: '{{{{ logical_time | date(\"%s\") }}}}'}}\n",
            done.display()
        ),
    );
    let range = ["--from", "2026-01-01T00:00:00Z", "--until", "2026-01-02T16:00:00Z"];
    let start = |more: &[&'static str]| [&["backfill", "start", "ticks"], &range[..], more].concat();
    let plan = world.json(&start(&["--dry-run"]));
    assert_eq!(plan["items"].as_array().unwrap().len(), HOURS);
    world.text(&start(&["--max-active", "3"]));
    let standing = |world: &World| world.json(&["backfill", "list", "ticks"])["items"][0].clone();
    for part in 1..=KILLS {
        world.until("it goes on", |world| {
            (standing(world)["made"].as_u64().unwrap() as usize > part * HOURS / (KILLS + 2)).then_some(())
        });
        world.kill_server();
        world.start_server();
    }
    let over = world.until("it is over", |world| {
        let found = standing(world);
        (found["state"] == "done").then_some(found)
    });
    assert_eq!((&over["made"], &over["succeeded"]), (&HOURS.into(), &HOURS.into()), "{over}");
    let mut executed: Vec<i64> =
        world.until_file("done").lines().map(|line| line.trim().parse().unwrap()).collect();
    executed.sort_unstable();
    let first = 1_767_225_600;
    let expected: Vec<i64> = (0..HOURS as i64).map(|hour| first + hour * 3_600).collect();
    assert_eq!(executed, expected, "each was executed once\n{}", world.logs());
    let again = world.json(&start(&["--dry-run", "--reprocess", "failed"]));
    let left = again["items"].as_array().unwrap().iter().filter(|moment| moment["action"] == "leave").count();
    assert_eq!(left, HOURS);
}
