//! Any text is translated or told about, without a panic: crontabs and units of all of Unicode, of their own letters, and
//! with something changed in them. Every job that comes out is read back from its file as what it is.

use mainspring_model::spec::{Format, parse};
use proptest::prelude::*;
use proptest::sample::Index;

use super::super::systemd::Files;
use super::super::{Import, crontab, systemd};
use super::settings;

const ENTRIES: [&str; 12] = [
    "*/5 9-17 * * mon-fri /usr/bin/report --day \\%F",
    "0~59 3 1,15 jan-mar 5 cat%line one%line two",
    "@daily root backup",
    "@every 1h30m sync -n",
    "@600 rotate",
    "-0 22-2 */2 * */2 quiet",
    "CRON_TZ=Europe/Berlin",
    "RANDOM_DELAY = 15",
    "'A b' = \"c = d\"",
    "SHELL=/bin/bash",
    "* * * * * -n -q -s once",
    "# a comment",
];
const LINES: [&str; 16] = [
    "OnCalendar=Mon..Fri *-*-* 03:00:00 Europe/Berlin",
    "OnCalendar=2027..2030/2-02~3,1 0/2:30",
    "OnCalendar=quarterly UTC",
    "OnUnitActiveSec=1h 30min 5.25s",
    "OnUnitInactiveSec=90",
    "RandomizedDelaySec=1M 2w",
    "Persistent=yes",
    "Unit=a@%i.service",
    "ExecStart=-/bin/sh -c 'echo \"$HOME\" ${X} %n' \\",
    "ExecStart=@/bin/a b ; /bin/c \\x41\\u00e9 \\;",
    "Environment=A=b \"C=d e\" 'F=%i'",
    "ExecStart=/bin/echo %I %P%i%% %",
    "TimeoutStartSec=infinity",
    "Restart=on-failure",
    "[Service]",
    "[Timer]",
];

/// A line with something put in its middle, taken out, or doubled.
fn changed(lines: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece =
        prop_oneof!["\\PC{0,3}", "[-*/,~%.:@\\\\\"' $0-9]{0,3}", Just("99999999999999999999".to_owned())];
    (prop::sample::select(lines), any::<Index>(), any::<Index>(), piece).prop_map(
        |(line, from, to, piece)| {
            let letters: Vec<char> = line.chars().collect();
            let (from, to) = (from.index(letters.len() + 1), to.index(letters.len() + 1));
            // Where the cut goes back, what lies between comes twice.
            letters[..from]
                .iter()
                .copied()
                .chain(piece.chars())
                .chain(letters[to..].iter().copied())
                .collect()
        },
    )
}

/// A text of some lines: right, changed, or anything.
fn text(lines: &'static [&'static str]) -> impl Strategy<Value = String> {
    let right = prop::sample::select(lines).prop_map(str::to_owned);
    let line = prop_oneof![2 => right, 3 => changed(lines), 1 => "\\PC{0,40}"];
    prop::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
}

/// Every job is what its file says.
fn check(import: &Import) -> Result<(), TestCaseError> {
    for job in &import.jobs {
        match parse(&job.text, Format::Yaml) {
            Ok(read) => prop_assert_eq!(&read, &job.spec, "{}", &job.text),
            Err(wrong) => prop_assert!(false, "{wrong}\n{}", &job.text),
        }
    }
    import.all_notes().into_iter().for_each(|note| drop(note.to_string()));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn any_crontab(text in prop_oneof![5 => text(&ENTRIES), 1 => "(?s).{0,200}"], is_system: bool) {
        let import = crontab::translate(crontab::Crontab { file: "tab", text: &text, is_system }, &settings("UTC"));
        check(&import)?;
        // No line is passed over: what is no job is told.
        let entries = text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#'));
        if !entries.clone().any(|line| line.contains('=')) {
            let said = import.jobs.len() + import.notes.len();
            prop_assert!(said >= entries.count(), "{:?} of {}", &import, &text);
        }
    }

    #[test]
    fn any_directory_of_units(
        timer in prop_oneof![5 => text(&LINES), 1 => "(?s).{0,200}"],
        service in prop_oneof![5 => text(&LINES), 1 => "(?s).{0,200}"],
        drop_in in text(&LINES),
        stem in prop_oneof!["[a-z]{1,8}", "[a-z]{1,4}@([-a-z]|\\\\x[0-9a-f\u{e9}]{0,2}){0,4}", "\\PC{1,6}"],
    ) {
        let files: Files = [
            (format!("{stem}.timer"), format!("[Timer]\n{timer}")),
            (format!("{stem}.service"), format!("[Service]\nExecStart=/bin/true\n{service}")),
            (format!("{stem}.timer.d/10.conf"), drop_in),
        ]
        .into();
        check(&systemd::translate(&files, &settings("Europe/Berlin")))?;
    }

    /// What systemd calls a calendar event is an expression, or it is told why not.
    #[test]
    fn any_calendar_event(event in prop_oneof![
        "\\PC{0,30}",
        "([A-Z][a-z]{2}(\\.\\.[A-Z][a-z]{2})? )?[0-9*]{1,4}([-~][0-9*/,.]{1,4}){1,2}( [0-9*/,.]{1,4}:[0-9*/,.]{1,4})?( UTC)?",
        changed(&["Mon..Fri *-*-* 03:00:00", "*-02~07/1 12:30", "Sat,Sun 27..29-1/6-1 9..17/2:00/15"]),
    ]) {
        let files: Files = [
            ("a.timer".to_owned(), format!("[Timer]\nOnCalendar={event}\n")),
            ("a.service".to_owned(), "[Service]\nExecStart=/bin/true\n".to_owned()),
        ]
        .into();
        let import = systemd::translate(&files, &settings("UTC"));
        check(&import)?;
        let fires = import.jobs.iter().any(|job| !job.spec.triggers.is_empty());
        let is_told = import.all_notes().iter().any(|note| note.line == Some(2));
        // An assignment of nothing takes back those before it; a backslash at its end only goes on.
        let event = event.trim();
        let is_nothing = event.strip_suffix('\\').unwrap_or(event).trim().is_empty();
        prop_assert!(fires || is_told || is_nothing, "`{}` is passed over", event);
    }
}
