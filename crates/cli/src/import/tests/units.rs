//! Directories of units.

use mainspring_model::spec::{Body, MisfirePolicy, When};

use super::super::systemd::{Files, translate};
use super::super::{Import, Imported, Kind};
use super::{assert_noted, firings, notes, settings};

const SERVICE: &str = "[Service]\nType=oneshot\nExecStart=/bin/true\nUser=u\nWorkingDirectory=/\n";

fn read(files: &[(&str, &str)]) -> Import {
    let files: Files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    translate(&files, &settings("UTC"))
}

fn timer(lines: &str) -> Import {
    read(&[("a.timer", &format!("[Timer]\n{lines}\n")), ("a.service", SERVICE)])
}

fn service(lines: &str) -> Import {
    read(&[("a.timer", "[Timer]\nOnCalendar=daily\n"), ("a.service", &format!("[Service]\n{lines}\n"))])
}

fn one(import: &Import) -> &Imported {
    assert_eq!(import.jobs.len(), 1, "{import:#?}");
    &import.jobs[0]
}

/// The words that start its process.
fn words(job: &Imported) -> Vec<&str> {
    match &job.spec.body {
        Body::Process(process) => {
            std::iter::once(&process.command).chain(&process.args).map(|word| word.as_str()).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn script_text(job: &Imported) -> &str {
    match &job.spec.body {
        Body::Script(script) => &script.text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn ten_firings_are_those_of_systemd() {
    // What `systemd-analyze calendar --iterations=10` says after 2026-03-01 00:00 UTC.
    let check = |event: &str, expected: [&str; 10]| {
        let import = timer(&format!("OnCalendar={event}"));
        assert_eq!(firings(one(&import), 0, "2026-03-01T00:00:00Z", 10), expected, "{event}");
    };
    check(
        "Mon,Wed..Thu *-*-* 03:00:00 Europe/Berlin",
        [
            "2026-03-02T03:00:00+01",
            "2026-03-04T03:00:00+01",
            "2026-03-05T03:00:00+01",
            "2026-03-09T03:00:00+01",
            "2026-03-11T03:00:00+01",
            "2026-03-12T03:00:00+01",
            "2026-03-16T03:00:00+01",
            "2026-03-18T03:00:00+01",
            "2026-03-19T03:00:00+01",
            "2026-03-23T03:00:00+01",
        ],
    );
    check(
        "Mon *-*-1..7 18:00",
        [
            "2026-03-02T18:00:00+00",
            "2026-04-06T18:00:00+00",
            "2026-05-04T18:00:00+00",
            "2026-06-01T18:00:00+00",
            "2026-07-06T18:00:00+00",
            "2026-08-03T18:00:00+00",
            "2026-09-07T18:00:00+00",
            "2026-10-05T18:00:00+00",
            "2026-11-02T18:00:00+00",
            "2026-12-07T18:00:00+00",
        ],
    );
    check(
        "*-*~07/2",
        [
            "2026-03-25T00:00:00+00",
            "2026-03-27T00:00:00+00",
            "2026-03-29T00:00:00+00",
            "2026-03-31T00:00:00+00",
            "2026-04-24T00:00:00+00",
            "2026-04-26T00:00:00+00",
            "2026-04-28T00:00:00+00",
            "2026-04-30T00:00:00+00",
            "2026-05-25T00:00:00+00",
            "2026-05-27T00:00:00+00",
        ],
    );
    check(
        "*:0/20:30",
        [
            "2026-03-01T00:00:30+00",
            "2026-03-01T00:20:30+00",
            "2026-03-01T00:40:30+00",
            "2026-03-01T01:00:30+00",
            "2026-03-01T01:20:30+00",
            "2026-03-01T01:40:30+00",
            "2026-03-01T02:00:30+00",
            "2026-03-01T02:20:30+00",
            "2026-03-01T02:40:30+00",
            "2026-03-01T03:00:30+00",
        ],
    );
}

#[test]
fn an_hour_that_there_is_not_is_left_out() {
    let import = timer("OnCalendar=*-*-* 02:30:00 Europe/Berlin");
    let found = firings(one(&import), 0, "2026-03-28T12:00:00Z", 1);
    assert_eq!(found, ["2026-03-30T02:30:00+02"], "as systemd does");
    assert_noted(&timer("OnCalendar=hourly Europe/Berlin"), Kind::Differs, "in both of the two equal hours");
    assert!(
        notes(&timer("OnCalendar=hourly"), Kind::Differs).iter().all(|note| !note.contains("equal hours"))
    );
}

#[test]
fn timers_are_triggers() {
    let import = timer(
        "OnCalendar=daily\nOnCalendar=*:0/15 Asia/Tokyo\nOnUnitActiveSec=1h 30min\nOnUnitInactiveSec=10min\nOnBootSec=5min\n\
         Persistent=yes\nRandomizedDelaySec=1min 30s\nAccuracySec=1h",
    );
    let triggers = &one(&import).spec.triggers;
    let names: Vec<&str> = triggers.iter().map(|trigger| trigger.name.as_str()).collect();
    assert_eq!(names, ["cron", "cron-2", "every", "delay"]);
    assert!(matches!(&triggers[1].when, When::Cron { zone, .. } if &**zone == "Asia/Tokyo"));
    assert!(matches!(triggers[2].when, When::Every { every, .. } if every.as_secs() == 5_400));
    assert!(matches!(triggers[3].when, When::Delay { delay } if delay.as_secs() == 600));
    let misfire = triggers[0].misfire;
    assert_eq!((misfire.policy, misfire.window.as_secs()), (MisfirePolicy::Once, 365 * 86_400));
    assert_eq!(triggers[2].misfire.policy, MisfirePolicy::Skip);
    let jitter: Vec<u64> = triggers.iter().map(|trigger| trigger.jitter.as_secs()).collect();
    assert_eq!(jitter, [90, 90, 90, 0]);
    assert_noted(
        &import,
        Kind::Differs,
        "a.timer:4: `OnUnitActiveSec=1h 30min`: differs: `every` is counted from 1970",
    );
    assert_noted(
        &import,
        Kind::NoEqual,
        "a.timer:5: `OnUnitInactiveSec=10min`: no equal: a trigger `delay` has no `jitter`",
    );
    assert_noted(&import, Kind::NoEqual, "a.timer:6: `OnBootSec=5min`: no equal: there is no trigger for it");
    assert_noted(&import, Kind::Differs, "`AccuracySec=1h`");
    let plain = timer("OnCalendar=daily\nAccuracySec=1min");
    assert_eq!(one(&plain).spec.triggers[0].misfire.policy, MisfirePolicy::Skip);
    assert_eq!(plain.all_notes().len(), 2, "{:#?}", plain.all_notes());
}

#[test]
fn what_cannot_be_said_is_no_trigger() {
    for (lines, kind, words) in [
        ("OnCalendar=10:00:00.5", Kind::NoEqual, "parts of a second"),
        ("OnCalendar=nonsense", Kind::NoEqual, "`nonsense` is not a day of the week"),
        ("OnCalendar=*-02-30", Kind::LeftOut, "no day fits"),
        ("OnUnitActiveSec=500ms", Kind::NoEqual, "whole seconds"),
        ("OnUnitActiveSec=soon", Kind::LeftOut, "is not a span of time"),
        ("OnActiveSec=1h", Kind::NoEqual, "the start of a machine or of a timer"),
        ("Persistent=true", Kind::NoEqual, "the timer says not when"),
        ("OnCalendar=daily\nOnUnitActiveSec=", Kind::NoEqual, "the timer says not when"),
    ] {
        let import = timer(lines);
        assert!(one(&import).spec.triggers.is_empty(), "{lines}");
        assert_noted(&import, kind, words);
    }
}

#[test]
fn drop_ins_hold_over_units() {
    let import = read(&[
        ("a.timer", "[Timer]\nOnCalendar=daily\nUnit=b.service\n"),
        ("a.timer.d/10.conf", "[Timer]\nOnCalendar=\nOnCalendar=weekly\n"),
        ("a.timer.d/readme", "not read"),
        ("b.service", SERVICE),
        (
            "b.service.d/x.conf",
            "[Service]\nExecStart=\nExecStart=/bin/false now\n[Unit]\nDescription=All of %n\n",
        ),
    ]);
    let job = one(&import);
    assert_eq!((job.spec.name.as_str(), words(job)), ("a", vec!["/bin/false", "now"]));
    assert!(matches!(&job.spec.triggers[0].when, When::Cron { cron, .. } if &**cron == "0 0 * * MON"));
    assert_eq!(job.spec.description.as_deref(), Some("All of b.service"));
    assert!(job.text.starts_with("# From a.timer.d/10.conf:3: OnCalendar=weekly\n"), "{}", job.text);
}

#[test]
fn commands_are_processes_where_they_can_be() {
    let import = service("ExecStart=/usr/bin/a --x \"b c\" 50%% $$HOME {{d}}");
    let job = one(&import);
    assert_eq!(words(job), ["/usr/bin/a", "--x", "b c", "50%", "$HOME", "{{ '{{' }}d}}"]);
    let concurrency = job.spec.concurrency.as_ref().unwrap();
    assert_eq!(
        concurrency.overlap,
        mainspring_model::spec::Overlap::Skip,
        "a unit that is active is not started again"
    );
    for (lines, text) in [
        ("ExecStart=-/bin/a", "/bin/a || true\n"),
        ("ExecStart=/bin/a ${B} $C", "set -f\n/bin/a \"${B}\" $C\n"),
        (
            "Type=oneshot\nExecStartPre=-/bin/a\nExecStart=/bin/b 'x y'\nExecStart=/bin/c \\\n  d\nExecStartPost=/bin/e",
            "set -e\n/bin/a || true\n/bin/b 'x y'\n/bin/c d\n/bin/e\n",
        ),
        ("Type=oneshot\nExecStart=/bin/a ; /bin/b", "set -e\n/bin/a\n/bin/b\n"),
    ] {
        assert_eq!(script_text(one(&service(lines))), text, "{lines}");
    }
    assert_noted(&service("ExecStart=+/bin/a"), Kind::NoEqual, "`+` changes privileges");
    assert_noted(&service("ExecStart=/bin/a %h"), Kind::NoEqual, "`%h` is known only to systemd");
}

#[test]
fn surroundings_and_limits() {
    let import = service(
        "Type=oneshot\nExecStart=/bin/a\nUser=shop\nWorkingDirectory=/srv/shop\nEnvironment=A=1 \"B=x y\"\nEnvironment=C={{z}}\n\
         EnvironmentFile=/etc/default/a\nTimeoutStartSec=2min\nTimeoutStopSec=infinity\nNice=5\nPrivateTmp=yes",
    );
    let job = one(&import);
    let Body::Process(process) = &job.spec.body else { panic!("{job:?}") };
    assert_eq!(
        (process.user.as_deref(), process.cwd.as_ref().unwrap().as_str()),
        (Some("shop"), "/srv/shop")
    );
    let render = |name: &str| {
        process.env[name]
            .render(&serde_json::json!({}), &mut mainspring_model::spec::Budget::default())
            .unwrap()
    };
    assert_eq!((render("A"), render("B"), render("C")), ("1".into(), "x y".into(), "{{z}}".into()));
    assert_eq!(job.spec.timeout.run.map(|run| run.as_secs()), Some(120));
    for words in ["a.service:8: `EnvironmentFile=/etc/default/a`", "`Nice=5`", "`PrivateTmp=yes`"] {
        assert_noted(&import, Kind::NoEqual, words);
        assert!(job.text.contains(words), "the file holds its notes: {}", job.text);
    }
    assert_noted(
        &import,
        Kind::Differs,
        "`TimeoutStopSec=infinity`: differs: a task that does not stop when asked is killed",
    );
    let simple = service("ExecStart=/bin/a\nTimeoutStartSec=1s\nRuntimeMaxSec=1h\nTimeoutStopSec=30");
    let timeout = &one(&simple).spec.timeout;
    assert_eq!((timeout.run.map(|run| run.as_secs()), timeout.stop_grace.as_secs()), (Some(3_600), 30));
    for (kind, words) in [("forking", "a run ends with its program"), ("notify", "nobody waits for its word")]
    {
        assert_noted(&service(&format!("Type={kind}\nExecStart=/bin/a")), Kind::Differs, words);
    }
}

#[test]
fn the_most_memory_is_reserved() {
    for (value, bytes) in
        [("512M", Some(512 << 20)), ("1073741824", Some(1 << 30)), ("2G", Some(2 << 30)), ("infinity", None)]
    {
        let import = service(&format!("ExecStart=/bin/a\nMemoryMax={value}"));
        let memory = one(&import).spec.resources.memory_bytes;
        assert_eq!(memory, bytes.unwrap_or_default(), "{value}");
        let notes = if bytes.is_some() { 1 } else { 0 };
        assert_eq!(one(&import).text.matches("MemoryMax").count(), notes, "{}", one(&import).text);
    }
    assert_noted(
        &service("ExecStart=/bin/a\nMemoryMax=1G"),
        Kind::Differs,
        "a node has to have so much free",
    );
    assert_noted(&service("ExecStart=/bin/a\nMemoryMax=80%"), Kind::LeftOut, "`80%` is no number of bytes");
}

#[test]
fn instances_are_made_from_templates() {
    let import = read(&[
        ("dump@.timer", "[Timer]\nOnCalendar=daily\n"),
        ("dump@shop.timer", "[Timer]\nOnCalendar=weekly\n"),
        ("dump@.service", "[Service]\nExecStart=/bin/dump %i\n"),
    ]);
    let job = one(&import);
    assert_eq!((job.spec.name.as_str(), words(job)), ("dump-shop", vec!["/bin/dump", "shop"]));
    assert_noted(&import, Kind::NoEqual, "dump@.timer: no equal: a template is no timer");
}

#[test]
fn a_timer_without_a_service_is_left_out() {
    let import = read(&[
        ("a.timer", "[Timer]\nOnCalendar=daily\n"),
        ("b.timer", "[Timer]\nUnit=b.target\n"),
        ("b.target", ""),
    ]);
    assert!(import.jobs.is_empty());
    assert_noted(
        &import,
        Kind::LeftOut,
        "a.timer: left out: what it starts, a.service, is no service in the directory",
    );
    assert_noted(&import, Kind::LeftOut, "b.target");
    assert_noted(&service("Type=oneshot"), Kind::LeftOut, "a.service has no `ExecStart` that can be run");
    assert_noted(&service("ExecStart=/bin/a 'b"), Kind::LeftOut, "a quotation mark is not closed");
}
