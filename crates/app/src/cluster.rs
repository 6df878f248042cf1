//! Schedulers and cells, and stopping a whole cell.

use mainspring_model::{CellId, ErrorCode, Pause};
use mainspring_wire::api::{self, Cell, Cluster, SchedulerMember};

use crate::app::App;
use crate::audit::Entry;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::ports::Command;
use crate::precondition::Precondition;
use crate::principal::Caller;

impl App {
    /// The cluster at a glance.
    pub async fn cluster(&self, caller: &Caller) -> Result<Cluster> {
        self.allow(caller, Operation::ClusterGet, None).await?;
        let members = self.store.members().await?;
        Ok(Cluster {
            software: env!("CARGO_PKG_VERSION").into(),
            now: self.now().into(),
            members: members.iter().map(describe_member).collect(),
            cells: self.look_at_cells().await?,
        })
    }

    /// Goes on if the caller may read the settings of servers.
    pub async fn may_read_settings(&self, caller: &Caller) -> Result<()> {
        self.allow(caller, Operation::SettingsGet, None).await
    }

    /// Lets a cell start nothing, or lets it go on.
    pub async fn pause_cell(
        &self,
        caller: &Caller,
        cell: u16,
        note: String,
        pause: bool,
        condition: Precondition,
    ) -> Result<Cell> {
        let operation = if pause { Operation::CellPause } else { Operation::CellResume };
        self.allow(caller, operation, None).await?;
        crate::jobs::check_note(&note)?;
        let now = self.now();
        let entry = Entry {
            target: Some(format!("cell {cell}").into()),
            detail: (!note.is_empty()).then(|| note.as_str().into()),
            ..caller.entry(now, operation, None)
        };
        if cell >= self.cells.count() {
            return self.refused(entry, Error::not_found(format!("cell {cell}"))).await;
        }
        let mut found = 0;
        if condition != Precondition::None {
            found = cell_revision(self.cell_pause(CellId(cell)).await?.as_ref());
            if let Err(error) = condition.check(Some(found)) {
                return self.refused(entry, error).await;
            }
        }
        let pause = pause.then(|| Pause { by: caller.subject().into(), note: note.into(), at: now });
        let command = condition.bind(found, Command::PauseCell { pause });
        self.command(CellId(cell), command, entry).await?;
        let cells = self.look_at_cells().await?;
        let found = cells.into_iter().find(|found| found.cell == cell);
        found.ok_or_else(|| Error::new(ErrorCode::NotFound, format!("there is no cell {cell}")))
    }

    async fn cell_pause(&self, cell: CellId) -> Result<Option<Pause>> {
        match self.cells.overview(cell).await.ok().flatten() {
            Some(overview) => Ok(overview.pause),
            None => Ok(self.store.cell_pause(cell).await?),
        }
    }

    /// Every cell, as its lease and its owner tell.
    pub(crate) async fn look_at_cells(&self) -> Result<Vec<Cell>> {
        let leases = self.store.leases().await?;
        let mut cells = Vec::new();
        for number in 0..self.cells.count() {
            let lease = leases.iter().find(|lease| lease.cell == CellId(number));
            let overview = self.cells.overview(CellId(number)).await.ok().flatten();
            let pause = match &overview {
                Some(overview) => overview.pause.clone(),
                None => self.store.cell_pause(CellId(number)).await?,
            };
            let revision = cell_revision(pause.as_ref());
            cells.push(Cell {
                cell: number,
                holder: lease.and_then(|lease| lease.holder),
                epoch: lease.map_or(0, |lease| lease.epoch.0),
                lease_until: lease.map(|lease| lease.expires_at.into()),
                loaded: overview.as_ref().map(|overview| overview.loaded),
                pause: pause.as_ref().map(Into::into),
                revision,
                waiting: overview.as_ref().map(|overview| overview.waiting),
                running: overview.as_ref().map(|overview| overview.running),
                nodes: overview.as_ref().map(|overview| overview.nodes.len()),
                setbacks: overview.as_ref().map(|overview| overview.setbacks),
            });
        }
        Ok(cells)
    }
}

/// A cell that is not paused is like any other; pauses differ by when they were asked for.
pub fn cell_revision(pause: Option<&Pause>) -> u64 {
    pause.map_or(0, |pause| pause.at.as_micros().unsigned_abs())
}

fn describe_member(member: &mainspring_model::Member) -> SchedulerMember {
    SchedulerMember {
        id: member.id,
        address: member.address.to_string(),
        seen_at: api::Time(member.seen_at),
        load: member.load,
        software: member.software.to_string(),
    }
}
