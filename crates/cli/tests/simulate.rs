//! `simulate`: numbers in pipes, shades where colours are wanted, the answer for programs.

use serde_json::{Value, json};

use crate::api::{Api, answer};
use crate::binary::{Ended, Home};

fn report() -> Value {
    let mut firings = vec![0; 24];
    (firings[3], firings[4]) = (12, 3);
    let trigger = |job: &str, when: &str, spread: Value| json!({"namespace": "acme", "job_name": job, "name": "nightly", "when": when, "spread": spread});
    json!({
        "from": "2027-01-04T00:00:00Z", "until": "2027-01-05T00:00:00Z", "truncated": true, "triggers": 12,
        "following": 2, "firings": 15,
        "pools": [{"pool": "big", "firings": firings, "busy_ms": [60_000, 30_000]}],
        "crowds": [{"at": "2027-01-04T03:00:00Z", "count": 12, "times": 7, "triggers": [
            trigger("etl", "0 3 * * *", json!({"field": "cron", "value": "H 3 * * *"})),
            trigger("import", "1h", json!({"field": "offset", "value": "17m"})),
            trigger("drawn", "H 3 * * *", Value::Null),
        ]}],
    })
}

fn run(home: &Home, api: &Api, words: &[&str]) -> Ended {
    let mut command = home.command();
    command.env("MAINSPRING_URL", api.url()).env("MAINSPRING_TOKEN", "ms_test").arg("simulate").args(words);
    Ended::of(command.output().unwrap())
}

#[test]
fn load_is_a_map_and_crowds_are_named() {
    let (api, home) = (Api::start(|_| answer(200, &report())), Home::new());
    let said = ["2 triggers follow the ends of runs", "this is until Tue 2027-01-05 00:00:00"];
    let map = run(&home, &api, &["-n", "acme"]).check(
        0,
        &[
            "big: 15 firings, at most 12 in an hour, about 1m30s of work\n",
            "                00 01 02 03 04 05",
            "Mon 2027-01-04   .  .  . 12  3  .",
            "Mon 2027-01-04 03:00:00  12 triggers; several come together 7 times at this time of day\n",
            "  acme/etl nightly     0 3 * * *  →  cron: \"H 3 * * *\"\n",
            "  acme/import nightly  1h         →  offset: 17m\n",
            "  acme/drawn nightly   H 3 * * *  →  its minute is drawn already\n  and 9 more\n",
        ],
        &said,
    );
    assert!(!map.stdout.contains('\x1b'), "{map:?}");
    run(&home, &api, &["-n", "acme", "-A", "--days", "3", "--zone", "Asia/Shanghai"]).check(
        0,
        &["Mon 2027-01-04                           .  .  . 12", "(Asia/Shanghai)", "11:00:00"],
        &[],
    );
    let lines: Vec<String> = api.asked().into_iter().map(|asked| asked.line).collect();
    assert_eq!(lines, ["GET /v1/triggers/load?namespace=acme&days=7", "GET /v1/triggers/load?days=3"]);
    let data = run(&home, &api, &["-o", "json"]);
    let data: Value = serde_json::from_str(&data.stdout).unwrap();
    assert_eq!(data["pools"][0]["firings"][3], 12);
}

#[test]
fn colours_are_shades_with_a_legend() {
    let (api, home) = (Api::start(|_| answer(200, &report())), Home::new());
    let map = run(&home, &api, &["--color", "always"]);
    map.check(0, &["\x1b[38;5;196m██", "none, 1 ", "00    03    06"], &[]);
}

#[test]
fn what_cannot_be_shown_is_said() {
    let (api, home) = (Api::start(|_| answer(200, &report())), Home::new());
    run(&home, &api, &["--zone", "Mars/Olympus"]).check(2, &[], &["`Mars/Olympus` is not a zone", "next: "]);
    let mut nothing = report();
    (nothing["pools"], nothing["crowds"], nothing["truncated"]) = (json!([]), json!([]), json!(false));
    let none = Api::start(move |_| answer(200, &nothing));
    run(&home, &none, &[]).check(0, &["nothing is planned"], &[]);
}
