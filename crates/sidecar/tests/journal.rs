//! The journal on disk: a damaged end is cut off, at most once is on disk before the exec.

use std::io::Write;

use mainspring_sidecar::protocol::End;

use crate::sidecar::{Sidecar, shell};

#[test]
fn a_damaged_end_is_cut_off() {
    for damage in [&b"\x07"[..], b"\xff\xff\xff\xff\0\0\0\0", b"\x03\0\0\0\x01\x02\x03\x04abc", &[0; 4096]] {
        let mut sidecar = Sidecar::start();
        let first = shell("exit 1");
        let finished = sidecar.run(&first);
        sidecar.crash();
        let mut journal = std::fs::OpenOptions::new().append(true).open(sidecar.layout.journal()).unwrap();
        journal.write_all(damage).unwrap();
        sidecar.restart();
        assert_eq!(sidecar.finished(first.key), finished);
        let second = sidecar.run(&shell("exit 2"));
        sidecar.crash_and_restart();
        assert_eq!(sidecar.finished(first.key), finished);
        assert_eq!(sidecar.finished(second.key), second);
    }
}

#[test]
fn a_journal_that_cannot_be_read_at_all_is_not_overwritten() {
    let mut sidecar = Sidecar::start();
    sidecar.crash();
    let good = std::fs::read(sidecar.layout.journal()).unwrap();
    std::fs::write(sidecar.layout.journal(), "something else entirely").unwrap();
    let said = sidecar.try_restart().unwrap_err().to_string();
    assert!(said.contains("damaged"), "{said}");
    assert_eq!(std::fs::read_to_string(sidecar.layout.journal()).unwrap(), "something else entirely");
    std::fs::write(sidecar.layout.journal(), good).unwrap();
    sidecar.restart();
}

#[test]
fn at_most_once_is_journalled_before_the_exec() {
    let mut sidecar = Sidecar::start();
    // The task reads the journal that must already name it.
    let mut start = shell("");
    start.argv[2] = format!("cp {} seen", sidecar.layout.journal().display());
    start.durable = true;
    assert_eq!(sidecar.run(&start).end, End::Exited(0));
    let seen = std::fs::read(sidecar.layout.work(&start.key).join("seen")).unwrap();
    assert!(seen.windows(16).any(|window| window == start.key.run));
}
