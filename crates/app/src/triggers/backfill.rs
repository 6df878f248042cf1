//! Backfills: planned, begun and stopped here, performed by the owner of the trigger's cell.

use std::num::NonZeroU32;
use std::time::Duration;

use mainspring_cron::Schedule;
use mainspring_engine::{Backfill, MomentsQuery, Tally, TriggerCommand, TriggerRow};
use mainspring_model::spec::Trigger;
use mainspring_model::{BackfillId, BackfillOrder, ErrorCode, Job, Makeup};
use mainspring_wire::api::{
    self, BackfillAction, BackfillPlan, BackfillPlanRequest, BackfillRequest, BackfillState, PlannedMoment,
};

use super::act::Named;
use super::moments::read_moments;
use crate::app::App;
use crate::calendars::CalendarShelf;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::ports::Command;
use crate::precondition::Precondition;
use crate::principal::Caller;
use crate::runs::priority_from;

/// Moments that one backfill may make up for.
const MOMENTS_MAX: usize = 100_000;
/// Moments that a plan lists.
const LISTED_MAX: usize = 1_000;

impl App {
    /// What a backfill would do, without doing it.
    pub async fn plan_backfill(
        &self,
        caller: &Caller,
        named: Named<'_>,
        request: BackfillPlanRequest,
    ) -> Result<BackfillPlan> {
        let BackfillPlanRequest { from, until, order, reprocess, .. } = request;
        let request = BackfillRequest {
            from,
            until,
            order: order.unwrap_or_default(),
            reprocess: reprocess.unwrap_or_default(),
            max_active: None,
            priority: None,
            id: None,
        };
        self.allow(caller, Operation::BackfillPlan, Some(named.namespace)).await?;
        let job = self.find_job(named.namespace, named.job).await?;
        let row = self.find_trigger(&job, named.trigger).await?;
        let Checked { backfill, trigger, schedule, total } =
            self.checked(caller, &job, &row, request).await?;
        let moments = backfill.upcoming(&schedule, LISTED_MAX);
        let query = MomentsQuery {
            key: row.key,
            backfill: Some(backfill.id),
            moments: moments.clone(),
            runs: Vec::new(),
        };
        let read = read_moments(&*self.store, query).await?;
        let zone = trigger.zone();
        let look = |planned: mainspring_model::Timestamp| {
            let last = read.last(planned);
            let action = match backfill.reprocess.decide(last) {
                Makeup::Run => BackfillAction::Run,
                Makeup::Again(_) => BackfillAction::Again,
                Makeup::Leave(_) => BackfillAction::Leave,
            };
            PlannedMoment {
                planned: planned.into(),
                local: zone.wall_clock(planned.as_micros().div_euclid(1_000_000)),
                action,
                run: last.map(|(run, ..)| run),
            }
        };
        let moments: Vec<PlannedMoment> = moments.into_iter().map(look).collect();
        Ok(BackfillPlan { total, truncated: total > moments.len(), moments })
    }

    /// Begins to make up for moments of the past.
    pub async fn start_backfill(
        &self,
        caller: &Caller,
        named: Named<'_>,
        request: BackfillRequest,
        condition: Precondition,
    ) -> Result<api::Backfill> {
        let until = request.until.map(|until| format!(" until {until}")).unwrap_or_default();
        let detail = format!(
            "from {}{until}, {} first, reprocess {}, {} at a time",
            request.from,
            request.order.name(),
            request.reprocess.name(),
            request.max_active.unwrap_or(1)
        );
        let (job, row, entry) =
            self.named(caller, Operation::BackfillStart, named, detail, condition).await?;
        let backfill = match self.checked(caller, &job, &row, request).await {
            Ok(checked) => checked.backfill,
            Err(error) => return self.refused(entry, error).await,
        };
        let id = backfill.id;
        let command = TriggerCommand::Backfill(Box::new(backfill));
        let command = condition.bind(row.revision, Command::Trigger { key: row.key, command });
        self.command(self.cells.cell_of(named.namespace), command, entry).await?;
        self.find_backfill(&job, named.trigger, id).await
    }

    /// The backfills of a trigger, the newest first.
    pub async fn list_backfills(
        &self,
        caller: &Caller,
        named: Named<'_>,
    ) -> Result<api::Page<api::Backfill>> {
        self.allow(caller, Operation::BackfillList, Some(named.namespace)).await?;
        let job = self.find_job(named.namespace, named.job).await?;
        let row = self.find_trigger(&job, named.trigger).await?;
        let newest_first = row.state.backfills().iter().rev();
        Ok(api::Page::whole(newest_first.map(|one| view(&row, one)).collect()))
    }

    /// A backfill makes no more runs; those that are active go on.
    pub async fn stop_backfill(
        &self,
        caller: &Caller,
        named: Named<'_>,
        id: BackfillId,
        condition: Precondition,
    ) -> Result<api::Backfill> {
        let (job, row, entry) =
            self.named(caller, Operation::BackfillStop, named, id.to_string(), condition).await?;
        let command = TriggerCommand::StopBackfill { id, by: caller.subject().into() };
        let cell = self.cells.cell_of(named.namespace);
        let command = condition.bind(row.revision, Command::Trigger { key: row.key, command });
        self.command(cell, command, entry).await?;
        self.find_backfill(&job, named.trigger, id).await
    }

    async fn find_backfill(&self, job: &Job, trigger: &str, id: BackfillId) -> Result<api::Backfill> {
        let row = self.find_trigger(job, trigger).await?;
        let found = row.state.backfills().iter().find(|one| one.id == id);
        found.map(|one| view(&row, one)).ok_or_else(|| Error::not_found(format!("backfill {id}")))
    }

    async fn checked(
        &self,
        caller: &Caller,
        job: &Job,
        row: &TriggerRow,
        request: BackfillRequest,
    ) -> Result<Checked> {
        let BackfillRequest { from, until, order, reprocess, max_active, priority, id } = request;
        let invalid = |field: &str, message: String| Error::field(ErrorCode::InvalidRequest, field, message);
        let spec = self.find_version(job.id, row.state.version).await?;
        let trigger = spec.triggers.iter().find(|trigger| *trigger.name.as_str() == *row.key.name);
        let seed = Trigger::seed(&row.state.namespace, spec.name.as_str());
        let calendars = CalendarShelf::default().of_job(&*self.store, &row.state.namespace, &spec).await?;
        let Some((trigger, schedule)) =
            trigger.and_then(|trigger| Some((trigger, trigger.schedule(seed, &calendars)?)))
        else {
            let message = "it follows no clock: it has no planned moments to make up for";
            return Err(invalid("trigger", message.to_owned()));
        };
        // What the trigger has not come to yet it fires by itself.
        let passed = row.state.cursor.min(self.now()) + Duration::from_micros(1);
        let asked_until = until.map(|until| until.0);
        let until = asked_until.map_or(passed, |until| until.min(passed));
        if until <= from.0 {
            let message = format!("is not before `until`; the trigger has passed {}", row.state.cursor);
            return Err(invalid("from", message));
        }
        let max_active = max_active.unwrap_or(1);
        let max_active = NonZeroU32::new(max_active).filter(|max| max.get() <= Backfill::MAX_ACTIVE_MAX);
        let Some(max_active) = max_active else {
            return Err(invalid("max_active", format!("1 to {} are allowed", Backfill::MAX_ACTIVE_MAX)));
        };
        let now = self.now();
        let id = id.unwrap_or_else(|| self.random.backfill_id(now));
        let priority = priority.map(|priority| priority_from(&priority, "")).transpose()?;
        let plain = Backfill::new(id, from.0, until, caller.subject(), now);
        let backfill = Backfill { asked_until, order, reprocess, max_active, priority, ..plain };
        let counted = tokio::task::spawn_blocking(move || {
            let total = count(&backfill, &schedule);
            (backfill, schedule, total)
        });
        let (backfill, schedule, total) = counted.await.map_err(|error| {
            tracing::error!(%error, "moments could not be counted");
            Error::new(ErrorCode::Internal, "the moments could not be counted")
        })?;
        match total {
            0 => Err(invalid("from", "the trigger has no planned moment in this range".to_owned())),
            1..=MOMENTS_MAX => Ok(Checked { backfill, trigger: trigger.clone(), schedule, total }),
            _ => {
                Err(invalid("from", format!("more than {MOMENTS_MAX} moments are in this range: take less")))
            }
        }
    }
}

/// A backfill that may begin.
struct Checked {
    backfill: Backfill,
    trigger: Trigger,
    schedule: Schedule,
    /// How many moments it has.
    total: usize,
}

/// How many moments there are; one more than allowed when there are too many.
fn count(backfill: &Backfill, schedule: &Schedule) -> usize {
    let forward = Backfill { order: BackfillOrder::Oldest, ..backfill.clone() };
    forward.upcoming(schedule, MOMENTS_MAX + 1).len()
}

pub(super) fn view(row: &TriggerRow, one: &Backfill) -> api::Backfill {
    let Tally { made, left, refused, succeeded, failed, other } = one.tally;
    let state = match (one.looked_at_all, one.ended_at, &one.stopped_by) {
        (false, ..) => BackfillState::Running,
        (true, None, _) => BackfillState::Finishing,
        (true, Some(_), None) => BackfillState::Done,
        (true, Some(_), Some(_)) => BackfillState::Stopped,
    };
    api::Backfill {
        id: one.id,
        trigger: row.key.name.to_string(),
        state,
        from: one.from.into(),
        until: one.until.into(),
        order: one.order,
        reprocess: one.reprocess,
        max_active: one.max_active.get(),
        by: one.by.to_string(),
        at: one.at.into(),
        cursor: one.cursor.map(Into::into),
        active: one.active.iter().map(|(run, _)| *run).collect(),
        made,
        left,
        refused,
        succeeded,
        failed,
        other,
        ended_at: one.ended_at.map(Into::into),
        stopped_by: one.stopped_by.as_ref().map(ToString::to_string),
    }
}
