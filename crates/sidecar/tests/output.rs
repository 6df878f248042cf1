//! Logs: order, times, caps, and a task that never waits for its log.

use mainspring_sidecar::log::{FrameKind, frames};
use mainspring_sidecar::protocol::{End, Event, LogCaps, Request};
use rustix::process::Signal;

use crate::disk::SmallDisk;
use crate::sidecar::{Sidecar, gated, shell, signal, wait_gone};

#[test]
fn both_streams_are_marked_timed_and_in_order() {
    let mut sidecar = Sidecar::start();
    let start = shell("for i in 1 2 3; do echo out$i; sleep 0.05; echo err$i >&2; sleep 0.05; done");
    let finished = sidecar.run(&start);
    let bytes = std::fs::read(sidecar.layout.log(&start.key)).unwrap();
    let read: Vec<_> = frames(&bytes).collect();
    let text: Vec<_> =
        read.iter().map(|frame| (frame.kind, String::from_utf8_lossy(frame.content).into_owned())).collect();
    let expected: Vec<_> = (1..=3)
        .flat_map(|i| [(FrameKind::Stdout, format!("out{i}\n")), (FrameKind::Stderr, format!("err{i}\n"))])
        .collect();
    assert_eq!(text, expected);
    assert!(read.is_sorted_by_key(|frame| frame.at_us));
    assert!(
        read.iter().all(|frame| (finished.started_at_us..=finished.finished_at_us).contains(&frame.at_us))
    );
    assert_eq!((finished.log_end, finished.log_dropped_bytes), (bytes.len() as u64, 0));
    // What was told live is what is on disk.
    let mut live = Vec::new();
    for event in &sidecar.seen {
        if let Event::Log { offset, frames, .. } = event {
            assert_eq!(*offset, live.len() as u64);
            live.extend_from_slice(frames);
        }
    }
    assert_eq!(live, bytes);
}

#[test]
fn what_was_written_first_is_stored_first_though_it_is_read_later() {
    for (first, script) in
        [(FrameKind::Stderr, "echo 1 >&2; echo 2"), (FrameKind::Stdout, "echo 1; echo 2 >&2")]
    {
        let mut sidecar = Sidecar::start();
        let (start, gate) = gated(&sidecar, ":", script);
        sidecar.order(&start);
        let pid = sidecar.started(start.key);
        signal(sidecar.pid, Signal::STOP);
        std::fs::write(gate, "go\n").unwrap();
        wait_gone(pid);
        signal(sidecar.pid, Signal::CONT);
        sidecar.finished(start.key);
        let bytes = std::fs::read(sidecar.layout.log(&start.key)).unwrap();
        assert_eq!(frames(&bytes).next().unwrap().kind, first);
    }
}

#[test]
fn a_log_is_capped_with_head_tail_and_a_mark() {
    let mut sidecar = Sidecar::start();
    let mut start = shell("for i in $(seq 1 20000); do echo line $i; done");
    start.log = LogCaps { head_bytes: 10_000, tail_bytes: 10_000 };
    let finished = sidecar.run(&start);
    assert_eq!(finished.end, End::Exited(0));
    let bytes = std::fs::read(sidecar.layout.log(&start.key)).unwrap();
    let content: u64 = frames(&bytes)
        .filter(|frame| frame.dropped_bytes().is_none())
        .map(|frame| frame.content.len() as u64)
        .sum();
    let dropped: u64 = frames(&bytes).filter_map(|frame| frame.dropped_bytes()).sum();
    let written: u64 = (1..=20_000).map(|i| format!("line {i}\n").len() as u64).sum();
    assert_eq!((content + dropped, dropped), (written, finished.log_dropped_bytes));
    assert!(dropped > 0 && bytes.len() < 21_000, "{} bytes on disk", bytes.len());
    let stored = sidecar.stored(start.key, FrameKind::Stdout);
    assert!(stored.starts_with("line 1\n") && stored.ends_with("line 20000\n"));
}

#[test]
fn a_log_is_read_by_offset_while_it_grows_and_after() {
    let mut sidecar = Sidecar::start();
    let mut start = shell("seq 1 2000; echo up; read x < gate; seq 2001 4000");
    start.log = LogCaps { head_bytes: 1 << 20, tail_bytes: 1 << 20 };
    std::fs::create_dir_all(sidecar.layout.work(&start.key)).unwrap();
    let gate = sidecar.layout.work(&start.key).join("gate");
    std::process::Command::new("mkfifo").arg(&gate).status().unwrap();
    sidecar.order(&start);
    sidecar.wait_output(start.key, "up");
    let (half, over) = read_whole(&mut sidecar, &start);
    assert!(half.ends_with("2000\nup\n") && !over);
    std::fs::write(gate, "go\n").unwrap();
    sidecar.finished(start.key);
    let (whole, over) = read_whole(&mut sidecar, &start);
    assert!(whole.ends_with("\n4000\n") && over);
    assert_eq!(whole.lines().count(), 4001);
}

fn read_whole(sidecar: &mut Sidecar, start: &mainspring_sidecar::protocol::Start) -> (String, bool) {
    let (mut offset, mut text) = (0, String::new());
    loop {
        sidecar.send(Request::Log { key: start.key, offset, limit: 1000 });
        let (at, bytes, end, over) = sidecar.wait(|event| match event {
            Event::LogRead { offset, frames, end, over, .. } => Some((*offset, frames.clone(), *end, *over)),
            _ => None,
        });
        assert_eq!(at, offset);
        text.extend(frames(&bytes).map(|frame| String::from_utf8_lossy(frame.content).into_owned()));
        offset += bytes.len() as u64;
        if offset == end {
            return (text, over);
        }
    }
}

#[test]
fn a_full_disk_does_not_block_the_task() {
    let disk = SmallDisk::mount();
    let mut sidecar = Sidecar::start_in(tempfile::tempdir_in(disk.path()).unwrap());
    // 4 MiB of output onto 1 MiB of disk; then the disk is freed, and the log goes on with a mark.
    let filler = disk.path().join("filler");
    let start = shell(&format!(
        "head -c 4194304 /dev/zero; echo full >&2; while [ -e {} ]; do sleep 0.01; done; echo on",
        filler.display()
    ));
    std::fs::write(&filler, vec![0; 600 * 1024]).unwrap();
    sidecar.order(&start);
    sidecar.started(start.key);
    // Output that could not be stored is not told; the task got past it when it waits for the filler to go.
    let begun = std::time::Instant::now();
    let pid = || {
        std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == b"sleep\x000.01\x00")
                && std::fs::read(entry.path().join("environ")).is_ok_and(|environ| {
                    let run = start.key.run_id().to_string();
                    environ.windows(run.len()).any(|window| window == run.as_bytes())
                })
        })
    };
    while !pid() {
        assert!(begun.elapsed().as_secs() < 600, "the task is blocked after a guard against a hang");
        std::thread::yield_now();
    }
    std::fs::remove_file(filler).unwrap();
    let finished = sidecar.finished(start.key);
    assert_eq!(finished.end, End::Exited(0));
    assert!(finished.log_dropped_bytes > 3 * 1024 * 1024, "{}", finished.log_dropped_bytes);
    let bytes = std::fs::read(sidecar.layout.log(&start.key)).unwrap();
    let marked: u64 = frames(&bytes).filter_map(|frame| frame.dropped_bytes()).sum();
    assert_eq!(marked, finished.log_dropped_bytes);
    assert!(sidecar.stored(start.key, FrameKind::Stdout).ends_with("on\n"));
}

#[test]
fn the_last_of_many_lines_of_progress_is_told_while_the_task_goes_on() {
    let mut sidecar = Sidecar::start();
    let start = shell("seq 1 100000 >&3; sleep 1000");
    sidecar.order(&start);
    sidecar.wait(|event| matches!(event, Event::Progress { line, .. } if line == "100000").then_some(()));
}
