//! CPU time and memory of every process that works on a job, each by its role.
//!
//! The time of ended tasks is in their parent's sum, the sidecar's or our own. The kernel tells a process's sum to the
//! hundredth of a second, and that of each living thread to the nanosecond: the larger of the two is nearer.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::store::processes::{Processes, Stat};
use crate::table::{Bar, Table};

/// Who works on a job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crew {
    pub(super) server: u32,
    pub(super) agent: u32,
    pub(super) sidecar: u32,
    pub(super) database: Processes,
}

/// CPU time by role.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cpu {
    /// This process: the client, and its own children.
    pub(super) client: Duration,
    pub(super) server: Duration,
    pub(super) agent: Duration,
    pub(super) sidecar: Duration,
    pub(super) tasks: Duration,
    pub(super) database: Duration,
}

impl Cpu {
    pub(super) fn of(crew: &Crew) -> Result<Self> {
        let with_database = crew.database.cpu()?;
        let client = Processes::Own.cpu()?;
        Ok(Self {
            client,
            server: of_process(crew.server)?,
            agent: of_process(crew.agent)?,
            sidecar: of_process(crew.sidecar)?,
            tasks: Stat::of(crew.sidecar)?.ended_children,
            database: with_database.saturating_sub(client),
        })
    }

    /// Of this process, its children and the database.
    pub(super) fn of_ourselves(database: Processes) -> Result<Self> {
        let with_database = database.cpu()?;
        let client = Processes::Own.cpu()?;
        Ok(Self {
            client,
            tasks: Stat::of(std::process::id())?.ended_children,
            database: with_database.saturating_sub(client),
            ..Self::default()
        })
    }

    pub(super) fn since(self, before: Self) -> Self {
        let spent = Duration::saturating_sub;
        Self {
            client: spent(self.client, before.client),
            server: spent(self.server, before.server),
            agent: spent(self.agent, before.agent),
            sidecar: spent(self.sidecar, before.sidecar),
            tasks: spent(self.tasks, before.tasks),
            database: spent(self.database, before.database),
        }
    }

    pub(super) fn total(self) -> Duration {
        self.client + self.server + self.agent + self.sidecar + self.tasks + self.database
    }

    /// What each job took of the processes that are ours alone: the client and the database have other things to do as well,
    /// such as looking for the output and the limit that stands beside.
    pub(super) fn tell_ours(self, table: &mut Table, name: &str, jobs: f64) {
        let ours = [
            ("server", self.server),
            ("agent", self.agent),
            ("sidecar", self.sidecar),
            ("tasks", self.tasks),
        ];
        for (role, spent) in ours {
            let each = spent.as_secs_f64() * 1e6 / jobs;
            table.add(format!("{name}, CPU of each: {role}"), each, "µs", Bar::None);
        }
    }

    pub(super) fn by_role(self) -> [(&'static str, Duration); 6] {
        [
            ("client", self.client),
            ("server", self.server),
            ("agent", self.agent),
            ("sidecar", self.sidecar),
            ("tasks", self.tasks),
            ("database", self.database),
        ]
    }
}

/// CPU time of a process without its children.
pub(crate) fn of_process(pid: u32) -> Result<Duration> {
    let told = Stat::of(pid)?.own;
    let mut exact = Duration::ZERO;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = fs::read_to_string(thread?.path().join("schedstat")).unwrap_or_default();
        let ran = text.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
        exact += Duration::from_nanos(ran.unwrap_or(0));
    }
    Ok(told.max(exact))
}

/// CPU time of all processes that were told of this folder, and of their ended children.
pub(super) fn of_folder(folder: &Path) -> Result<Duration> {
    let mut sum = Duration::ZERO;
    for (pid, _) in told_of(folder)? {
        // A task may have ended since: its parent counts it.
        let (Ok(own), Ok(stat)) = (of_process(pid), Stat::of(pid)) else { continue };
        sum += own + stat.ended_children;
    }
    Ok(sum)
}

/// Memory of a process at the moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// What is mapped and there, in bytes: pages of the program that other processes of it use are counted in full.
    pub(crate) resident: u64,
    /// What it costs the machine, in bytes: pages that several processes use are counted in equal parts.
    pub(super) share: u64,
}

impl Memory {
    pub(crate) fn of(pid: u32) -> Result<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
        let bytes = |name: &str| -> Result<u64> {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            let kibibytes = line.and_then(|rest| rest.split_whitespace().next()).context("no such figure")?;
            Ok(kibibytes.parse::<u64>()? * 1024)
        };
        Ok(Self { resident: bytes("Rss:")?, share: bytes("Pss:")? })
    }
}

/// Living processes that were told of this folder on their command line or in their environment, and their commands.
pub(super) fn told_of(folder: &Path) -> Result<Vec<(u32, String)>> {
    let mark = folder.to_string_lossy().into_owned();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let path = entry?.path();
        let Some(pid) = path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok()) else {
            continue;
        };
        let read = |file: &str| {
            String::from_utf8_lossy(&fs::read(path.join(file)).unwrap_or_default()).replace('\0', " ")
        };
        let command = read("cmdline");
        let told = command.contains(&mark) || read("environ").contains(&mark);
        if pid != std::process::id() && !command.is_empty() && told {
            found.push((pid, command));
        }
    }
    Ok(found)
}
