//! A process that writes to SQLite is killed at any moment: whatever it acknowledged is there afterwards, whole.

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use mainspring_store::Transaction;

use crate::rows::{inserts, run_id};
use crate::servers::open;

/// Set in the process that is killed: the file to write to, and the number of its first run.
const FILE: &str = "MAINSPRING_TEST_CRASH_FILE";
const FIRST: &str = "MAINSPRING_TEST_CRASH_FIRST";
/// Runs of one commit.
const BATCH: u64 = 5;
/// How often a process is started and killed, and after how many acknowledgements.
const ROUNDS: u64 = 6;

/// Commits batch after batch and says so, until it is killed.
async fn write_until_killed(path: &str) -> ! {
    let first: u64 = std::env::var(FIRST).unwrap().parse().unwrap();
    let store = open(&format!("sqlite:{path}")).await;
    store.migrate().await.unwrap();
    let mut out = std::io::stdout();
    for batch in 0.. {
        let begin = first + batch * BATCH;
        store.commit(Transaction::unfenced(inserts(begin..begin + BATCH))).await.unwrap();
        writeln!(out, "\nacknowledged {begin}").unwrap();
        out.flush().unwrap();
    }
    unreachable!("killed long before")
}

fn start(path: &str, first: u64) -> Child {
    let name = concat!(module_path!(), "::acknowledged_is_durable");
    let name = name.split_once("::").unwrap().1;
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(FILE, path)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_is_durable() {
    if let Ok(path) = std::env::var(FILE) {
        write_until_killed(&path).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db").display().to_string();
    let mut acknowledged: Vec<u64> = Vec::new();
    for round in 0..ROUNDS {
        let mut child = start(&path, round * 1_000_000);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut told = 0;
        while told < 3 + round * 7 {
            let line = lines.next().expect("the process ended by itself").unwrap();
            if let Some(begin) = line.strip_prefix("acknowledged ") {
                acknowledged.push(begin.parse().unwrap());
                told += 1;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What it acknowledged before the signal reached it counts too.
        let rest = lines.map_while(Result::ok);
        acknowledged.extend(rest.filter_map(|line| line.strip_prefix("acknowledged ")?.parse::<u64>().ok()));

        let store = open(&format!("sqlite:{path}")).await;
        for begin in &acknowledged {
            let ids: Vec<_> = (*begin..begin + BATCH).map(run_id).collect();
            assert_eq!(
                store.runs_by_id(&ids).await.unwrap().len() as u64,
                BATCH,
                "batch {begin} in round {round}"
            );
        }
    }
    assert!(acknowledged.len() > 50, "{}", acknowledged.len());
}
