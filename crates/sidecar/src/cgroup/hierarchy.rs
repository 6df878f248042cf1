//! The cgroup file systems that are mounted, and our branch in each: a base with one directory per attempt, and a
//! home for the sidecar itself.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::protocol::ResourceCaps;

/// How the name of a branch begins.
pub(crate) const PREFIX: &str = "mainspring-";
/// The sidecar's own place in its branch.
const HOME: &str = "sidecar";
/// The least memory that an attempt is limited to: the sidecar stands in the cgroup itself while it spawns the task, and
/// must not be the one that is killed.
const MEMORY_BYTES_MIN: u64 = 16 << 20;

/// How often a sidecar tries to move into a branch that others sweep away.
const MOVE_IN_TRIES: usize = 100;

/// The most processes that the kernel takes as a limit.
const PIDS_MAX: u32 = 4 << 20;

/// A mounted cgroup file system and where in it this process is.
#[derive(Debug, Clone)]
pub(crate) struct Mount {
    unified: bool,
    controllers: Vec<String>,
    own: PathBuf,
}

/// Our branch of one mount.
#[derive(Debug, Clone)]
pub(crate) struct Hierarchy {
    unified: bool,
    base: PathBuf,
    home: PathBuf,
}

/// What can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    Memory,
    Pids,
    Cpu,
}

/// Every mounted hierarchy, the unified one first.
pub(crate) fn mounted() -> Vec<Mount> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let places = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut found: Vec<Mount> = mounts.lines().filter_map(|line| mount(line, &places)).collect();
    found.sort_by_key(|mount| !mount.unified);
    found
}

/// `/proc/self/mounts` has `device path type options …`, `/proc/self/cgroup` has `number:controllers:path`.
fn mount(line: &str, places: &str) -> Option<Mount> {
    let mut words = line.split(' ');
    let (path, kind, options) = (words.nth(1)?, words.next()?, words.next()?);
    let unified = match kind {
        "cgroup2" => true,
        "cgroup" => false,
        _ => return None,
    };
    let place = places.lines().find_map(|place| {
        let mut parts = place.splitn(3, ':').skip(1);
        let (controllers, own) = (parts.next()?, parts.next()?);
        let first = controllers.split(',').next()?;
        let matches = if unified {
            controllers.is_empty()
        } else {
            !first.is_empty() && options.split(',').any(|o| o == first)
        };
        matches.then_some((controllers, own))
    })?;
    Some(Mount {
        unified,
        controllers: place.0.split(',').map(str::to_owned).collect(),
        own: Path::new(path).join(place.1.trim_start_matches('/')),
    })
}

impl Mount {
    /// Our branch, if this mount can keep lists of processes and kill them.
    pub(crate) fn list_hierarchy(&self, name: &str) -> io::Result<Hierarchy> {
        if !self.unified && !self.has("freezer") {
            return Err(ErrorKind::Unsupported.into());
        }
        let hierarchy = self.branch(name)?;
        if self.unified && !hierarchy.home.join("cgroup.kill").exists() {
            hierarchy.tear_down();
            return Err(ErrorKind::Unsupported.into());
        }
        Ok(hierarchy)
    }

    /// Our branch, if this is the mount of a controller of the first version.
    pub(crate) fn limit_hierarchy(&self, controller: Controller, name: &str) -> io::Result<Hierarchy> {
        if self.unified || !self.has(controller.name()) {
            return Err(ErrorKind::Unsupported.into());
        }
        self.branch(name)
    }

    fn has(&self, controller: &str) -> bool {
        self.controllers.iter().any(|name| name == controller)
    }

    /// Makes the branch and moves into its home, which shows that moves work.
    fn branch(&self, name: &str) -> io::Result<Hierarchy> {
        let hierarchy = self.hierarchy(name);
        let mut tries = MOVE_IN_TRIES;
        while let Err(error) = hierarchy.move_in() {
            tries -= 1;
            // Another sidecar that starts now may sweep away what is empty for a moment.
            if !is_swept(&error) || tries == 0 {
                hierarchy.tear_down();
                return Err(error);
            }
        }
        Ok(hierarchy)
    }

    fn hierarchy(&self, name: &str) -> Hierarchy {
        let base = self.own.join(name);
        Hierarchy { unified: self.unified, home: base.join(HOME), base }
    }

    /// The branch that an earlier sidecar of this name left here.
    pub(crate) fn left(&self, name: &str) -> Option<Hierarchy> {
        Some(self.hierarchy(name)).filter(|hierarchy| hierarchy.base.exists())
    }
}

/// Whether a directory was removed: before it was opened, or between that and the write (then the kernel knows no such device).
fn is_swept(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(Errno::NODEV.raw_os_error())
}

impl Hierarchy {
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    pub(crate) fn is_unified(&self) -> bool {
        self.unified
    }

    /// Makes the branch and moves to its home.
    pub(crate) fn move_in(&self) -> io::Result<()> {
        for directory in [&self.base, &self.home] {
            match fs::create_dir(directory) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        self.go_home()
    }

    /// Moves this process to its home.
    pub(crate) fn go_home(&self) -> io::Result<()> {
        fs::write(self.home.join("cgroup.procs"), "0")
    }

    /// Turns on the controllers that the second version lets us have; it forbids them beside foreign processes.
    pub(crate) fn enable_controllers(&self) -> Vec<Controller> {
        let enable = |controller: &Controller| {
            let word = format!("+{}", controller.name());
            let outer =
                self.base.parent().map(|outer| fs::write(outer.join("cgroup.subtree_control"), &word));
            outer.is_some_and(|outcome| outcome.is_ok())
                && fs::write(self.base.join("cgroup.subtree_control"), &word).is_ok()
        };
        Controller::ALL.into_iter().filter(|_| self.unified).filter(enable).collect()
    }

    /// Removes what dead sidecars of other directories left beside us. One that lives is at home, and whatever holds
    /// a task cannot be removed.
    pub(crate) fn sweep(&self) {
        let beside = self.base.parent().map(fs::read_dir).and_then(Result::ok);
        for base in beside.into_iter().flatten().flatten().map(|entry| entry.path()) {
            let ours =
                base.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX));
            let home = fs::read_to_string(base.join(HOME).join("cgroup.procs")).unwrap_or_default();
            if !ours || base == self.base || !home.is_empty() {
                continue;
            }
            for group in fs::read_dir(&base).into_iter().flatten().flatten() {
                if group.file_type().is_ok_and(|kind| kind.is_dir()) {
                    let _ = fs::remove_dir(group.path());
                }
            }
            let _ = fs::remove_dir(&base);
        }
    }

    /// Leaves the branch and removes it, if nothing is in it. Answers whether it is gone.
    pub(crate) fn tear_down(&self) -> bool {
        if let Some(outer) = self.base.parent() {
            let _ = fs::write(outer.join("cgroup.procs"), "0");
        }
        [&self.home, &self.base].into_iter().all(|directory| match fs::remove_dir(directory) {
            Ok(()) => true,
            Err(error) => error.kind() == ErrorKind::NotFound,
        })
    }
}

impl Controller {
    pub(crate) const ALL: [Self; 3] = [Self::Memory, Self::Pids, Self::Cpu];

    fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu => "cpu",
        }
    }

    /// Whether `caps` limits it.
    pub(crate) fn is_wanted(self, caps: &ResourceCaps) -> bool {
        match self {
            Self::Memory => caps.memory_bytes.is_some(),
            Self::Pids => caps.pids.is_some(),
            Self::Cpu => caps.cpu_millis.is_some(),
        }
    }

    /// Writes the limit into the files of an attempt's directory.
    pub(crate) fn limit(self, directory: &Path, caps: &ResourceCaps, unified: bool) -> io::Result<()> {
        let write = |file: &str, text: String| fs::write(directory.join(file), text);
        match self {
            Self::Memory => caps.memory_bytes.map_or(Ok(()), |bytes| {
                let bytes = bytes.max(MEMORY_BYTES_MIN).to_string();
                if !unified {
                    return write("memory.limit_in_bytes", bytes);
                }
                // Swap is not there everywhere; memory alone is limited then.
                let _ = write("memory.swap.max", "0".to_owned());
                write("memory.max", bytes)
            }),
            Self::Pids => caps.pids.map_or(Ok(()), |pids| write("pids.max", pids.min(PIDS_MAX).to_string())),
            Self::Cpu => caps.cpu_millis.map_or(Ok(()), |millis| {
                let quota_us = u64::from(millis.max(10)) * 100;
                match unified {
                    true => write("cpu.max", format!("{quota_us} 100000")),
                    false => write("cpu.cfs_quota_us", quota_us.to_string()),
                }
            }),
        }
    }
}
