//! Which users of the machine tasks run as, and how many processes they may have. A job may name a user, and whoever may edit a
//! job is not whoever runs the machine: only users that the node's operator chose are taken.

use crate::options::Options;

/// The users of a node's tasks.
#[derive(Debug, Clone)]
pub(crate) struct Users {
    /// For jobs that name none; the agent's own if absent.
    task_user: Option<String>,
    /// Those that jobs may name.
    allowed: Vec<String>,
    /// The most processes of a task.
    processes_max: u32,
}

impl Users {
    pub(crate) fn new(options: &Options) -> Self {
        let task_user = options.task_user.clone();
        let mut allowed = options.allowed_users.clone();
        allowed.extend(task_user.clone().or_else(mainspring_sidecar::own_user));
        Self { task_user, allowed, processes_max: options.task_processes }
    }

    /// How many processes a task may have whose job says this.
    pub(super) fn processes(&self, wanted: Option<u32>) -> u32 {
        wanted.unwrap_or(self.processes_max).min(self.processes_max)
    }

    /// The user of a task whose job names this one.
    pub(super) fn choose(&self, named: Option<String>) -> Result<Option<String>, String> {
        match named {
            None => Ok(self.task_user.clone()),
            Some(user) if self.allowed.contains(&user) => Ok(Some(user)),
            Some(user) => Err(format!(
                "user: tasks may not run as `{user}` here; if they are to, set `allowed_users = [\"{user}\"]` under `[agent]` in \
                 the node's mainspring.toml (or MAINSPRING_AGENT__ALLOWED_USERS)"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_has_fewer_processes_than_the_node_allows_but_not_more() {
        let mut options = Options::new("data", Vec::new());
        options.task_processes = 2000;
        let users = Users::new(&options);
        assert_eq!([None, Some(10), Some(100_000)].map(|wanted| users.processes(wanted)), [2000, 10, 2000]);
    }
}
