//! All cgroups of one sidecar: what works on this machine, and a new one for each attempt that needs it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::group::{ATTEMPT_PREFIX, Group};
use super::hierarchy::{self, Controller, Hierarchy};
use crate::protocol::{Capabilities, ResourceCaps};

/// How many processes more than its limit a group may have while the task is spawned: the threads of the sidecar stand
/// in it then, and count.
const SPAWNING_PIDS: u32 = 8;

/// The cgroups of one sidecar.
pub(crate) struct Cgroups {
    /// Where the list of an attempt's processes is kept.
    list: Hierarchy,
    /// Hierarchies of the first version that have controllers.
    limits: Vec<(Controller, Hierarchy)>,
    /// Controllers of the second version.
    own_limits: Vec<Controller>,
    made: u64,
}

impl Cgroups {
    /// Finds out what works here. `name` tells sidecars of one machine apart. `kept` are groups of attempts that an
    /// earlier sidecar left and that still live; all others of that name are removed.
    pub(crate) fn set_up(name: &str, kept: &[String]) -> Option<Self> {
        let name = &format!("{}{name}", hierarchy::PREFIX);
        let mounted = hierarchy::mounted();
        let list = mounted.iter().find_map(|mount| mount.list_hierarchy(name).ok())?;
        let own_limits = list.enable_controllers();
        let mut limits = Vec::new();
        for controller in Controller::ALL {
            let wanted = !own_limits.contains(&controller);
            let found = mounted
                .iter()
                .filter(|_| wanted)
                .find_map(|mount| mount.limit_hierarchy(controller, name).ok());
            limits.extend(found.map(|hierarchy| (controller, hierarchy)));
        }
        let cgroups = Self { list, limits, own_limits, made: 0 };
        for hierarchy in cgroups.hierarchies() {
            remove_leftovers(hierarchy.base(), kept);
            hierarchy.sweep();
        }
        Some(cgroups)
    }

    /// What can be limited.
    pub(crate) fn capabilities(&self) -> Capabilities {
        let has = |wanted| {
            self.own_limits.contains(&wanted)
                || self.limits.iter().any(|(controller, _)| *controller == wanted)
        };
        Capabilities {
            cgroups: true,
            memory: has(Controller::Memory),
            pids: has(Controller::Pids),
            cpu: has(Controller::Cpu),
        }
    }

    /// A new group with limits, in every hierarchy that is needed for them.
    pub(crate) fn create(&mut self, caps: &ResourceCaps) -> io::Result<Group> {
        self.made += 1;
        let name = format!("{ATTEMPT_PREFIX}{}-{}", std::process::id(), self.made);
        let mut group = Group::new(self.list.is_unified());
        let made = self.fill(&mut group, &name, caps);
        if made.is_err() {
            group.remove();
        }
        made.map(|()| group)
    }

    /// Runs `spawn` inside the group, which was made with these `caps`: what it starts is born there.
    pub(crate) fn inside<T>(
        &self,
        group: &Group,
        caps: &ResourceCaps,
        spawn: impl FnOnce() -> T,
    ) -> io::Result<T> {
        let entered = group.enter();
        let outcome = entered.map(|()| spawn());
        for hierarchy in self.hierarchies() {
            // A sidecar that starts beside us may have swept our home away while nobody was there.
            let _ = hierarchy.go_home().or_else(|_| hierarchy.move_in());
        }
        for directory in group.directories() {
            // All but one of them do not count processes and have no such file.
            let _ = Controller::Pids.limit(directory, caps, group.is_unified());
        }
        outcome
    }

    fn fill(&self, group: &mut Group, name: &str, caps: &ResourceCaps) -> io::Result<()> {
        let pids = caps.pids.map(|pids| pids.saturating_add(SPAWNING_PIDS));
        let caps = &ResourceCaps { pids, ..*caps };
        let list = group.add(self.list.base().join(name))?;
        for controller in &self.own_limits {
            controller.limit(&list, caps, true)?;
        }
        for (controller, hierarchy) in &self.limits {
            if controller.is_wanted(caps) {
                let directory = group.add(hierarchy.base().join(name))?;
                controller.limit(&directory, caps, false)?;
            }
        }
        Ok(())
    }

    fn hierarchies(&self) -> impl Iterator<Item = &Hierarchy> {
        std::iter::once(&self.list).chain(self.limits.iter().map(|(_, hierarchy)| hierarchy))
    }
}

impl Drop for Cgroups {
    /// Leaves nothing behind when the sidecar ends with no task.
    fn drop(&mut self) {
        for hierarchy in self.hierarchies() {
            hierarchy.tear_down();
        }
    }
}

fn remove_leftovers(base: &Path, kept: &[String]) {
    let Ok(entries) = fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        let path: PathBuf = entry.path();
        let is_attempt = entry.file_name().to_str().is_some_and(|name| name.starts_with(ATTEMPT_PREFIX));
        if is_attempt && !kept.iter().any(|kept| Path::new(kept) == path) {
            let mut group = Group::found(vec![path]);
            group.kill();
            group.remove();
        }
    }
}
