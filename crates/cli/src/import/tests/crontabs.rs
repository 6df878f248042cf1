//! Crontabs.

use mainspring_model::spec::{Body, Script, When};

use super::super::crontab::{Crontab, translate};
use super::super::{Import, Imported, Kind};
use super::{assert_noted, firings, notes, settings};

fn read(text: &str, zone: &str, is_system: bool) -> Import {
    translate(Crontab { file: "tab", text, is_system }, &settings(zone))
}

fn user(text: &str) -> Import {
    read(text, "UTC", false)
}

fn one(import: &Import) -> &Imported {
    assert_eq!(import.jobs.len(), 1, "{import:#?}");
    &import.jobs[0]
}

fn script(job: &Imported) -> &Script {
    match &job.spec.body {
        Body::Script(script) => script,
        other => panic!("{other:?}"),
    }
}

fn cron(job: &Imported) -> (&str, &str) {
    match &job.spec.triggers[0].when {
        When::Cron { cron, zone, .. } => (cron, zone),
        other => panic!("{other:?}"),
    }
}

/// The first firings of an entry after a moment, wall clock of the zone.
fn check_firings(fields: &str, zone: &str, after: &str, expected: &[&str]) {
    let import = read(&format!("{fields} true\n"), zone, false);
    assert_eq!(firings(one(&import), 0, after, expected.len()), expected, "{fields}");
}

#[test]
fn ten_firings_of_typical_lines() {
    let day = "2026-11-16T06:00:00Z"; // a Monday
    check_firings(
        "*/20 * * * *",
        "UTC",
        day,
        &[
            "2026-11-16T06:20:00+00",
            "2026-11-16T06:40:00+00",
            "2026-11-16T07:00:00+00",
            "2026-11-16T07:20:00+00",
            "2026-11-16T07:40:00+00",
            "2026-11-16T08:00:00+00",
            "2026-11-16T08:20:00+00",
            "2026-11-16T08:40:00+00",
            "2026-11-16T09:00:00+00",
            "2026-11-16T09:20:00+00",
        ],
    );
    check_firings(
        "30 8,18 * * mon-fri",
        "Europe/Berlin",
        day,
        &[
            "2026-11-16T08:30:00+01",
            "2026-11-16T18:30:00+01",
            "2026-11-17T08:30:00+01",
            "2026-11-17T18:30:00+01",
            "2026-11-18T08:30:00+01",
            "2026-11-18T18:30:00+01",
            "2026-11-19T08:30:00+01",
            "2026-11-19T18:30:00+01",
            "2026-11-20T08:30:00+01",
            "2026-11-20T18:30:00+01",
        ],
    );
    // A day of the month or one of the week, as cron has it.
    check_firings(
        "0 0 1,15 * 3",
        "UTC",
        day,
        &[
            "2026-11-18T00:00:00+00",
            "2026-11-25T00:00:00+00",
            "2026-12-01T00:00:00+00",
            "2026-12-02T00:00:00+00",
            "2026-12-09T00:00:00+00",
            "2026-12-15T00:00:00+00",
            "2026-12-16T00:00:00+00",
            "2026-12-23T00:00:00+00",
            "2026-12-30T00:00:00+00",
            "2027-01-01T00:00:00+00",
        ],
    );
    // Both, because one begins with a star: Mondays that are odd days.
    check_firings(
        "0 4 */2 * 1",
        "UTC",
        day,
        &[
            "2026-11-23T04:00:00+00",
            "2026-12-07T04:00:00+00",
            "2026-12-21T04:00:00+00",
            "2027-01-11T04:00:00+00",
            "2027-01-25T04:00:00+00",
            "2027-02-01T04:00:00+00",
            "2027-02-15T04:00:00+00",
            "2027-03-01T04:00:00+00",
            "2027-03-15T04:00:00+00",
            "2027-03-29T04:00:00+00",
        ],
    );
    check_firings(
        "@monthly",
        "UTC",
        day,
        &[
            "2026-12-01T00:00:00+00",
            "2027-01-01T00:00:00+00",
            "2027-02-01T00:00:00+00",
            "2027-03-01T00:00:00+00",
            "2027-04-01T00:00:00+00",
            "2027-05-01T00:00:00+00",
            "2027-06-01T00:00:00+00",
            "2027-07-01T00:00:00+00",
            "2027-08-01T00:00:00+00",
            "2027-09-01T00:00:00+00",
        ],
    );
}

#[test]
fn clocks_are_turned_as_cron_does() {
    // What falls into the hour that there is not fires after it; what comes twice fires once.
    let spring = ["2026-03-28T02:30:00+01", "2026-03-29T03:00:00+02", "2026-03-30T02:30:00+02"];
    check_firings("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", &spring);
    let autumn = ["2026-10-24T02:30:00+02", "2026-10-25T02:30:00+02", "2026-10-26T02:30:00+01"];
    check_firings("30 2 * * *", "Europe/Berlin", "2026-10-23T12:00:00Z", &autumn);
}

#[test]
fn days_begin_with_a_star() {
    for (fields, both) in [
        ("0 0 */2 * 1", true),
        ("0 0 1 * */2", true),
        ("0 0 *,5 * mon", true),
        ("0 0 * * */2", false),
        ("0 0 */2 * *", false),
        ("0 0 1-31/2 * 1", false),
    ] {
        let import = user(&format!("{fields} true"));
        assert_eq!(one(&import).text.contains("days: and"), both, "{fields}");
        assert_eq!(
            notes(&import, Kind::Differs).iter().any(|note| note.contains("`days: and`")),
            both,
            "{fields}"
        );
    }
}

#[test]
fn an_assignment_holds_for_what_is_below_it() {
    let text = "0 1 * * * a\n\
                SHELL=/bin/bash\nPATH = /opt/bin:/bin\nHOME=\"/srv/my shop\"\nCRON_TZ=Asia/Tokyo\nTOKEN='{{ x }}'\n\
                0 2 * * * b\n\
                CRON_TZ=\nSHELL=/bin/sh\nTZ=Europe/Paris\nRANDOM_DELAY=15\n\
                0 3 * * * c\n";
    let import = read(text, "Europe/Berlin", false);
    let [a, b, c] = import.jobs.as_slice() else { panic!("{import:#?}") };
    assert_eq!(
        (cron(a), cron(b), cron(c)),
        (("0 1 * * *", "Europe/Berlin"), ("0 2 * * *", "Asia/Tokyo"), ("0 3 * * *", "Europe/Berlin"),)
    );
    assert!(script(a).env.is_empty() && script(a).interpreter.is_empty() && script(a).cwd.is_none());
    assert_eq!(script(b).interpreter, ["/bin/bash".into()]);
    assert_eq!(script(b).cwd.as_ref().unwrap().as_str(), "/srv/my shop");
    assert_eq!(script(b).env["PATH"].as_str(), "/opt/bin:/bin");
    let token =
        script(b).env["TOKEN"].render(&serde_json::json!({}), &mut mainspring_model::spec::Budget::default());
    assert_eq!(token.unwrap(), "{{ x }}", "a value is no template");
    assert!(script(c).interpreter.is_empty());
    assert_eq!((script(c).env["TZ"].as_str(), c.spec.triggers[0].jitter.as_secs()), ("Europe/Paris", 900));
    assert_noted(
        &import,
        Kind::Differs,
        "tab:10: `TZ=Europe/Paris`: differs: as in cron, `TZ` is for the command alone",
    );
    assert_noted(&import, Kind::Differs, "tab:11: `RANDOM_DELAY=15`");
}

#[test]
fn what_has_no_equal_is_noted_with_its_line() {
    let text = "MAILTO=ops@example.com\nLOGNAME=x\n\n# a comment\n@reboot /opt/start.sh\n-5 * * * * quiet\n5 * * * * -n -q -s single\n";
    let import = user(text);
    let found = notes(&import, Kind::NoEqual);
    let lines: Vec<&str> = found.iter().map(|note| note.split(": ").next().unwrap()).collect();
    assert_eq!(lines, ["tab:1", "tab:2", "tab:5", "tab:6", "tab:7", "tab:7"], "{found:#?}");
    assert!(
        found[0].contains("`MAILTO=ops@example.com`: no equal: what a run writes is kept"),
        "{}",
        found[0]
    );
    let [start, _, single] = import.jobs.as_slice() else { panic!("{import:#?}") };
    assert!(start.spec.triggers.is_empty() && start.spec.name.as_str() == "start");
    assert!(single.spec.concurrency.is_some() && &*script(single).text == "single");
}

#[test]
fn what_cron_refuses_is_left_out() {
    for (line, words) in [
        ("61 * * * * x", "minute `61`"),
        ("* * * * x", "day of week `x`"),
        ("* * * * *", "there is no command"),
        ("* * *", "five fields"),
        ("@fortnightly x", "cron does not know `@fortnightly`"),
        ("@daily", "there is no command"),
        ("@every 5m", "there is no command"),
        ("@every", "there is no interval"),
        ("@every 1.5h x", "write whole numbers"),
        ("0 0 L * * x", "day of month `L`"),
        ("0 0 * * * %input", "there is no command"),
        ("nonsense", "minute `nonsense`"),
    ] {
        let import = user(line);
        assert!(import.jobs.is_empty(), "{line}");
        assert_noted(&import, Kind::LeftOut, words);
    }
    // The command is kept where only the time cannot be.
    let import = user("0 0 30 2 * never");
    assert!(one(&import).spec.triggers.is_empty());
    assert_noted(&import, Kind::LeftOut, "the job has no trigger: triggers[0].cron: no day fits");
    let import = user("CRON_TZ=Mars/Olympus\n0 0 * * * x\n");
    assert_eq!(cron(one(&import)).1, "UTC");
    assert_noted(&import, Kind::LeftOut, "`Mars/Olympus` is not a zone");
}

#[test]
fn a_system_crontab_names_users() {
    let text = "17 *\t* * *\troot\tcd / && run-parts --report /etc/cron.hourly\n0 5 * * 1 www-data:web/daemon /opt/x.sh\n";
    let import = read(text, "UTC", true);
    let users: Vec<&str> = import.jobs.iter().map(|job| script(job).user.as_deref().unwrap()).collect();
    assert_eq!(users, ["root", "www-data"]);
    assert_eq!(&*script(&import.jobs[0]).text, "cd / && run-parts --report /etc/cron.hourly");
    assert_noted(&import, Kind::NoEqual, "its group and class are not");
    assert_noted(&import, Kind::Differs, "`agent.allowed_users` lists that user");
    assert_noted(&read("0 5 * * * root /opt/x.sh", "UTC", false), Kind::Differs, "`--system` reads crontabs");
    assert_noted(&read("0 5 * * * root", "UTC", true), Kind::LeftOut, "there is no command");
}

#[test]
fn input_follows_a_percent() {
    let import = user("0 9 * * * mail -s \"100\\% {{ done }}\" ops%Hello,%{{ all }}%");
    let job = one(&import);
    assert_eq!(&*script(job).text, "mail -s \"100% {{ done }}\" ops");
    let input = script(job)
        .stdin
        .as_ref()
        .unwrap()
        .render(&serde_json::json!({}), &mut mainspring_model::spec::Budget::default())
        .unwrap();
    assert_eq!(input, "Hello,\n{{ all }}\n");
}

#[test]
fn commands_survive_yaml() {
    for command in [
        "1.10",
        "true",
        "null",
        "~",
        "'quoted'",
        "\"a\\tb\"",
        "- a",
        "a: b",
        "# not a comment",
        "a #b",
        "|",
        "> /dev/null x",
        "*x",
        "&x",
        "!x",
        "[ -f /x ] && y",
        "{ a; }",
        "#!/bin/false",
        "a\tb",
        "@x",
        "0x10",
        "käse 🧀",
        "a\\",
        "echo \\\\n",
    ] {
        let import = user(&format!("0 0 * * * {command}"));
        let script = script(one(&import));
        assert_eq!(&*script.text, command);
        assert_eq!(script.interpreter_words()[0].rsplit('/').next().unwrap(), "sh", "{command}");
    }
}

#[test]
fn files_say_where_they_come_from_and_behave_as_cron() {
    let import = user("0 3 * * * /usr/local/bin/backup.sh\n5 4 * * * /opt/backup.py\n");
    let names: Vec<&str> = import.jobs.iter().map(|job| job.file.as_str()).collect();
    assert_eq!(names, ["backup.yaml", "backup-2.yaml"]);
    let expected = "# From tab:1: 0 3 * * * /usr/local/bin/backup.sh\nname: backup\nscript:\n  text: /usr/local/bin/backup.sh\n\
                    triggers:\n- cron: 0 3 * * *\n  zone: UTC\n  misfire: skip\nretry: 0\n";
    assert_eq!(import.jobs[0].text, expected);
    assert_eq!(import.jobs[0].spec.retry.max, 0, "cron does not try again");
    assert!(user("# nothing\n\n").all_notes().is_empty());
}

#[test]
fn an_interval_is_counted_from_1970() {
    let import = user("RANDOM_DELAY=2\n@every 1h30m backup --all\n");
    let job = one(&import);
    assert_eq!(job.spec.triggers[0].jitter.as_secs(), 120);
    assert_eq!(&*script(job).text, "backup --all");
    assert_eq!(
        firings(job, 0, "2027-01-01T00:00:00Z", 2),
        ["2027-01-01T01:30:00+00", "2027-01-01T03:00:00+00"]
    );
    assert_noted(&import, Kind::Differs, "counted from 1970 UTC");
}
