//! Sidecars that nobody needs: they end by themselves, and what they knew is told by the next.

use mainspring_sidecar::protocol::{End, Event, Request};

use crate::disk::SmallDisk;
use crate::sidecar::{Sidecar, connect, gated, is_running, shell, spawn_lingering, wait_gone};

fn dismissed(sidecar: &mut Sidecar) -> bool {
    sidecar.send(Request::Shutdown { force: false });
    sidecar.wait(|event| match event {
        Event::ShuttingDown { accepted } => Some(*accepted),
        _ => None,
    })
}

#[test]
fn a_goodbye_ends_a_sidecar_without_tasks() {
    let mut sidecar = Sidecar::start();
    sidecar.send(Request::SetNode { node: [5; 16] });
    sidecar.wait(|event| (*event == Event::Node { node: Some([5; 16]) }).then_some(()));
    let start = shell("echo told; exit 4");
    let finished = sidecar.run(&start);
    assert!(dismissed(&mut sidecar));
    wait_gone(sidecar.pid);
    // Nobody has acknowledged it: the next one tells it, with its log.
    sidecar.restart();
    assert_eq!(sidecar.finished(start.key), finished);
    sidecar
        .connection
        .send(&[Request::GetNode, Request::Log { key: start.key, offset: 0, limit: 1024 }])
        .unwrap();
    sidecar.wait(|event| (*event == Event::Node { node: Some([5; 16]) }).then_some(()));
    let log = sidecar.wait(|event| match event {
        Event::LogRead { frames, .. } => Some(frames.clone()),
        _ => None,
    });
    let text = mainspring_sidecar::log::frames(&log).flat_map(|frame| frame.content.to_vec());
    assert_eq!(String::from_utf8_lossy(&text.collect::<Vec<_>>()), "told\n");
}

#[test]
fn a_goodbye_leaves_a_task_alone_and_the_sidecar_ends_after_it() {
    let mut sidecar = Sidecar::start();
    let (start, gate) = gated(&sidecar, "echo up", "exit 6");
    sidecar.order(&start);
    sidecar.wait_output(start.key, "up");
    assert!(!dismissed(&mut sidecar));
    sidecar.connection = connect(&sidecar.layout, false);
    assert!(is_running(sidecar.pid));
    std::fs::write(gate, "go\n").unwrap();
    wait_gone(sidecar.pid);
    sidecar.restart();
    assert_eq!(sidecar.finished(start.key).end, End::Exited(6));
}

#[test]
fn an_agent_that_comes_in_time_keeps_the_sidecar() {
    let mut sidecar = Sidecar::start();
    let (start, gate) = gated(&sidecar, "echo up", "exit 6");
    sidecar.order(&start);
    sidecar.wait_output(start.key, "up");
    assert!(!dismissed(&mut sidecar));
    sidecar.reconnect();
    sidecar.wait(|event| matches!(event, Event::Welcome { .. }).then_some(()));
    std::fs::write(gate, "go\n").unwrap();
    sidecar.finished(start.key);
    assert_eq!(sidecar.run(&shell("exit 2")).end, End::Exited(2));
}

#[test]
fn an_order_of_the_same_batch_is_executed() {
    let mut sidecar = Sidecar::start();
    let start = shell("exit 8");
    let goodbye = Request::Shutdown { force: false };
    sidecar.connection.send(&[Request::Start(Box::new(start.clone())), goodbye]).unwrap();
    sidecar.wait(|event| (*event == Event::ShuttingDown { accepted: false }).then_some(()));
    assert_eq!(sidecar.finished(start.key).end, End::Exited(8));
    wait_gone(sidecar.pid);
}

#[test]
fn the_goodbye_of_another_is_not_ours() {
    let mut sidecar = Sidecar::start();
    let mut other = connect(&sidecar.layout, false);
    other.send(&[Request::Shutdown { force: false }]).unwrap();
    while other.receive().unwrap().unwrap() != (Event::ShuttingDown { accepted: false }) {}
    assert_eq!(sidecar.run(&shell("exit 2")).end, End::Exited(2));
}

#[test]
fn a_sidecar_that_no_agent_comes_to_ends() {
    // The agent that started it was killed before it connected.
    let directory = tempfile::tempdir().unwrap();
    wait_gone(spawn_lingering(directory.path(), 1));
    // The agent was killed and does not come back; its task goes on.
    let mut left = Sidecar::start_lingering(2_000);
    let (start, gate) = gated(&left, "echo up", "exit 6");
    left.order(&start);
    left.wait_output(start.key, "up");
    left.connection = connect(&left.layout, false);
    std::fs::write(gate, "go\n").unwrap();
    wait_gone(left.pid);
    left.restart();
    assert_eq!(left.finished(start.key).end, End::Exited(6));
}

#[test]
fn what_cannot_be_written_keeps_the_sidecar() {
    let disk = SmallDisk::mount();
    let mut sidecar = Sidecar::start_in(tempfile::tempdir_in(disk.path()).unwrap());
    // So many that their ends are longer than what is left of the journal's last page.
    let starts: Vec<_> = (0..80).map(|_| shell("exec sleep 1000")).collect();
    starts.iter().for_each(|start| sidecar.order(start));
    let pids: Vec<u32> = starts.iter().map(|start| sidecar.started(start.key)).collect();
    assert_eq!(pids.len(), starts.len());
    let filler = disk.path().join("filler");
    let _full = std::fs::write(&filler, vec![0; 1 << 20]).unwrap_err();
    starts.iter().for_each(|start| sidecar.send(Request::Kill { key: start.key }));
    starts.iter().for_each(|start| drop(sidecar.finished(start.key)));
    assert!(!dismissed(&mut sidecar), "their ends are in memory alone");
    std::fs::remove_file(filler).unwrap();
    wait_gone(sidecar.pid);
    sidecar.restart();
    starts.iter().for_each(|start| assert_eq!(sidecar.finished(start.key).end, End::Signalled(9)));
}
