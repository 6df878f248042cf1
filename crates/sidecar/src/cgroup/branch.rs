//! All cgroups of one sidecar: what works on this machine, and a new one for each attempt that needs it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::group::{ATTEMPT_PREFIX, Group};
use super::hierarchy::{self, Controller, Hierarchy};
use crate::protocol::{Capabilities, ResourceCaps};

/// How many processes more than its limit a group may have while the task is spawned: the threads of the sidecar stand
/// in it then, and count.
const SPAWNING_PIDS: u32 = 8;

/// How often a branch that is not empty is tried to be removed, and how long apart.
const TEAR_DOWN_LOOKS: usize = 50;
const TEAR_DOWN_AGAIN: Duration = Duration::from_millis(10);

/// The cgroups of one sidecar.
pub(crate) struct Cgroups {
    /// Where the list of an attempt's processes is kept.
    list: Hierarchy,
    /// Hierarchies of the first version that have controllers.
    limits: Vec<(Controller, Hierarchy)>,
    /// Controllers of the second version.
    own_limits: Vec<Controller>,
    /// Where an earlier sidecar of this name was, and this one is not.
    left: Vec<Hierarchy>,
    made: u64,
}

impl Cgroups {
    /// Finds out what works here. `name` tells sidecars of one machine apart. `kept` are groups of attempts that an
    /// earlier sidecar left and that still live; all others of that name are removed. Those that are not empty yet are
    /// answered, to be removed later.
    pub(crate) fn set_up(name: &str, kept: &[String]) -> Option<(Self, Vec<Group>)> {
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
        let mut cgroups = Self { list, limits, own_limits, left: Vec::new(), made: 0 };
        let of_earlier = mounted.iter().filter_map(|mount| mount.left(name));
        cgroups.left = of_earlier.filter(|left| !cgroups.uses(left)).collect();
        let mut left = Vec::new();
        for hierarchy in cgroups.hierarchies().chain(&cgroups.left) {
            left.extend(remove_leftovers(hierarchy.base(), kept));
        }
        cgroups.hierarchies().for_each(Hierarchy::sweep);
        // One that still has a task goes with this sidecar.
        cgroups.left.retain(|hierarchy| !hierarchy.tear_down());
        Some((cgroups, left))
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

    fn uses(&self, other: &Hierarchy) -> bool {
        self.hierarchies().any(|hierarchy| hierarchy.base() == other.base())
    }

    fn hierarchies(&self) -> impl Iterator<Item = &Hierarchy> {
        std::iter::once(&self.list).chain(self.limits.iter().map(|(_, hierarchy)| hierarchy))
    }
}

impl Drop for Cgroups {
    /// Leaves nothing behind when the sidecar ends with no task. The kernel may count a process for a moment after its end.
    fn drop(&mut self) {
        let mut left: Vec<&Hierarchy> = self.hierarchies().chain(&self.left).collect();
        for _ in 0..TEAR_DOWN_LOOKS {
            left.retain(|hierarchy| !hierarchy.tear_down());
            if left.is_empty() {
                return;
            }
            std::thread::sleep(TEAR_DOWN_AGAIN);
        }
    }
}

/// Removes the groups of attempts that are over; answers those that still have a process.
fn remove_leftovers(base: &Path, kept: &[String]) -> Vec<Group> {
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    let is_attempt = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(ATTEMPT_PREFIX));
    let paths = entries.filter(|entry| is_attempt(&entry.file_name())).map(|entry| entry.path());
    let leftovers = paths.filter(|path| !kept.iter().any(|kept| Path::new(kept) == path));
    let mut groups: Vec<Group> = leftovers.map(|path| Group::found(vec![path])).collect();
    groups.retain_mut(|group| {
        group.kill();
        !group.remove()
    });
    groups
}
