//! `mainspring import` on files: what goes where, what is never written over, what `--apply` asks.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::api::{Api, answer};
use crate::binary::{Ended, Home};

const CRONTAB: &str = "MAILTO=ops\n0 3 * * * /usr/local/bin/backup.sh\n*/5 * * * * /opt/poll.py --quick\n";

fn home() -> Home {
    let home = Home::new();
    fs::write(home.directory.path().join("tab"), CRONTAB).unwrap();
    home
}

#[test]
fn a_crontab_becomes_documents_and_notes() {
    let home = home();
    let ended = home.run(&["import", "crontab", "tab", "--zone", "Europe/Berlin", "-n", "acme/ops"]).check(
        0,
        &[
            "name: backup\nnamespace: acme/ops\n",
            "---\n# From tab:3: ",
            "name: poll\n",
            "zone: Europe/Berlin\n",
        ],
        &["note: tab:1: `MAILTO=ops`: no equal: "],
    );
    assert!(!ended.stderr.contains("the zone of this machine"), "{ended:?}");
    let json =
        home.run(&["import", "crontab", "tab", "--zone", "UTC", "-q", "-o", "json"]).check(0, &[], &[]);
    assert_eq!(json.stderr, "");
    let value: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (value["items"][1]["name"].as_str(), value["notes"].as_array().unwrap().len()),
        (Some("poll"), 3)
    );
    home.run(&["import", "crontab", "tab", "--zone", "UTC", "-o", "name"]).check(0, &["backup\npoll\n"], &[]);
    let machines = home.run(&["import", "crontab", "tab", "-o", "name"]);
    assert!(machines.stderr.contains("the zone of this machine") || machines.code == Some(2), "{machines:?}");
}

#[test]
fn standard_input_is_a_crontab_too() {
    let home = Home::new();
    let mut child = home
        .command()
        .args(["import", "crontab", "-", "--zone", "UTC"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"@hourly /opt/caf\xe9.sh\n61 * * * * x\n").unwrap();
    let ended = Ended::of(child.wait_with_output().unwrap());
    ended.check(1, &["cron: \"@hourly\""], &["note: crontab:2: `61 * * * * x`: left out: minute `61`"]);
}

#[test]
fn files_are_not_written_over() {
    let home = home();
    let jobs = home.directory.path().join("jobs");
    let import = ["import", "crontab", "tab", "--zone", "UTC", "--out", "jobs"];
    home.run(&import).check(0, &[], &["2 jobs written to jobs"]);
    let text = fs::read_to_string(jobs.join("poll.yaml")).unwrap();
    assert!(text.contains("text: /opt/poll.py --quick"), "{text}");
    fs::write(jobs.join("poll.yaml"), "mine").unwrap();
    fs::remove_file(jobs.join("backup.yaml")).unwrap();
    home.run(&import).check(5, &[], &["nothing was written: there is jobs/poll.yaml already", "--force"]);
    assert_eq!(fs::read_to_string(jobs.join("poll.yaml")).unwrap(), "mine");
    assert!(!jobs.join("backup.yaml").exists(), "all or nothing");
    home.run(&[&import[..], &["--force"]].concat()).check(0, &[], &["2 jobs written"]);
    assert_eq!(fs::read_to_string(jobs.join("poll.yaml")).unwrap(), text);
}

#[test]
fn a_directory_of_units_becomes_jobs() {
    let home = Home::new();
    let units = home.directory.path().join("units");
    fs::create_dir_all(units.join("sync.timer.d")).unwrap();
    let write = |name: &str, text: &str| fs::write(units.join(name), text).unwrap();
    write("sync.timer", "[Timer]\nOnCalendar=daily\nPersistent=true\n");
    write("sync.timer.d/10.conf", "[Timer]\nOnCalendar=Sat 12:00\n");
    write("sync.service", "[Service]\nType=oneshot\nExecStart=/usr/bin/sync -f /srv\nNice=19\n");
    write("other.socket", "not read");
    home.run(&["import", "systemd", "units", "--zone", "UTC"]).check(
        0,
        &[
            "name: sync\n",
            "command: /usr/bin/sync\n",
            "cron: 0 0 * * *\n",
            "cron: 0 12 * * SAT\n",
            "window: 365d\n",
        ],
        &["note: sync.service:4: `Nice=19`: no equal: "],
    );
    home.run(&["import", "systemd", "units", "--zone", "UTC", "--out", "jobs"]).check(
        0,
        &[],
        &["1 job written"],
    );
    let empty = home.directory.path().join("empty");
    fs::create_dir(empty).unwrap();
    home.run(&["import", "systemd", "empty"]).check(3, &[], &["there is no timer in empty"]);
    home.run(&["import", "systemd", "nowhere"]).check(2, &[], &["cannot list nowhere"]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let home = home();
    home.run(&["import", "crontab", "tab", "--zone", "Mars/Olympus"]).check(
        2,
        &[],
        &["`Mars/Olympus` is not a zone"],
    );
    home.run(&["import", "crontab", "tab", "-n", "A b"]).check(2, &[], &["is not a namespace"]);
    home.run(&["import", "crontab", "none"]).check(2, &[], &["cannot read none"]);
    home.run(&["import", "crontab", "tab", "--force"]).check(2, &[], &["--out"]);
    home.run(&["import", "crontab", "tab", "--zone", "UTC", "--apply"]).check(
        2,
        &[],
        &["no server is known"],
    );
}

#[test]
fn apply_shows_the_plan_and_asks() {
    let home = home();
    let api = Api::start(|_| {
        let time = "2026-01-01T00:00:00Z";
        let job = json!({
            "id": "job_01kafzw01hf1yb5n4xg0k9xn0p", "namespace": "default", "name": "x", "version": 1, "revision": 1,
            "created_at": time, "updated_at": time, "outcome": "created", "changes": [],
        });
        answer(200, &job)
    });
    let url = api.url();
    let import = ["import", "crontab", "tab", "--zone", "UTC", "--url", &url, "--apply"];
    let ended = home.run(&import).check(
        2,
        &[],
        &["tab:1: `MAILTO=ops`", "2 jobs to change", "Apply 2 changes?", "add --yes"],
    );
    assert!(!ended.stdout.contains("# From"), "the plan stands for the files: {ended:?}");
    assert!(api.asked().iter().all(|asked| asked.line.contains("dry_run=true")), "nothing was changed");
    home.run(&[&import[..], &["--yes"]].concat()).check(
        0,
        &[],
        &["backup is at version 1", "poll is at version 1"],
    );
    let asked = api.asked();
    let last = asked.last().unwrap();
    assert_eq!(
        (last.line.as_str(), last.header("if-none-match")),
        ("PUT /v1/jobs/poll?origin=cli", Some("*"))
    );
    assert_eq!(last.body["triggers"][0]["cron"], "*/5 * * * *");
}
