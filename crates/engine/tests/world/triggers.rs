//! Triggers as a test speaks of them.

use mainspring_engine::{
    End, Event, Merged, MomentsQuery, MomentsRead, Occurrence, SpecRead, Success, TriggerCommand, TriggerKey,
    TriggerRow, calendar_news, calendar_news_key, merge, news_key,
};
use mainspring_model::spec::{self, Format, Trigger};
use mainspring_model::{Calendars, JobId, JobSpec, Name, Namespace, Run, RunId};
use mainspring_store::{Outcome, Transaction, Write};

use super::work::Job;
use super::{CELL, World, at};

impl World {
    /// A job with these triggers, as a file would have them: `every: 60s`.
    pub(crate) fn trigger_job(&mut self, triggers: &[&str]) -> Job {
        self.trigger_job_with(triggers, |_| {})
    }

    pub(crate) fn trigger_job_with(&mut self, triggers: &[&str], change: impl FnOnce(&mut JobSpec)) -> Job {
        let job = self.job_with(|spec| {
            spec.triggers = read(triggers);
            change(spec);
        });
        self.put_triggers(&job);
        job
    }

    /// The next version of a job has other triggers.
    pub(crate) fn change_triggers(&mut self, job: &Job, triggers: &[&str]) -> Job {
        let job = self.change_spec(job, triggers);
        self.put_triggers(&job);
        job
    }

    /// The same, but nobody has written their rows.
    pub(crate) fn change_spec(&mut self, job: &Job, triggers: &[&str]) -> Job {
        self.change_job(job, |spec| spec.triggers = read(triggers))
    }

    /// Somebody writes the triggers of a job, and tells the owner.
    pub(crate) fn put_triggers(&mut self, job: &Job) {
        self.write_triggers(job);
        let request = self.request();
        self.handle(Event::TriggersChanged { request, job: job.id });
    }

    /// Somebody who cannot tell the owner changes the triggers of a job.
    pub(crate) fn write_triggers(&mut self, job: &Job) {
        let old = self.triggers(job.id);
        let (kind, key) = news_key(CELL, job.id);
        let page = self.store.records(&TriggerRow::of_job(CELL, job.id)).expect("a page");
        let gone: Vec<_> = page.rows.iter().filter_map(TriggerRow::read_gone).collect();
        let merged = Merged {
            cell: CELL,
            namespace: &job.namespace,
            job: job.id,
            version: job.version,
            spec: Some(&job.spec),
            now: self.now,
            calendars: &self.calendars,
            news: self.store.record(kind, &key).map(|record| record.revision),
            gone: &gone,
        };
        let writes = merge(&old, merged);
        self.store.commit(&Transaction::all_or_nothing(writes)).expect("triggers");
    }

    /// Somebody changes the calendars that jobs of a namespace name, and tells the owner.
    pub(crate) fn change_calendars(&mut self, calendars: Calendars, namespace: &Namespace) {
        self.write_calendars(calendars, namespace);
        let request = self.request();
        self.handle(Event::CalendarsChanged { request });
    }

    /// Somebody who cannot tell the owner changes calendars.
    pub(crate) fn write_calendars(&mut self, calendars: Calendars, namespace: &Namespace) {
        self.calendars = calendars;
        let (kind, key) = calendar_news_key(namespace, "closed");
        let standing = self.store.record(kind, &key).map(|record| record.revision);
        let news = calendar_news(namespace, "closed", standing, self.now);
        self.store.commit(&Transaction::all_or_nothing(vec![news])).expect("news");
    }

    /// Where the triggers of a job stand in the store.
    pub(crate) fn triggers(&self, job: JobId) -> Vec<TriggerRow> {
        let page = self.store.records(&TriggerRow::of_job(CELL, job)).expect("a page");
        page.rows.iter().filter_map(TriggerRow::read).collect()
    }

    pub(crate) fn trigger(&self, job: &Job, name: &str) -> TriggerRow {
        let found = self.triggers(job.id).into_iter().find(|row| *row.key.name == *name);
        found.expect("the trigger's row")
    }

    /// The ledger in words, the oldest first, moments in seconds.
    pub(crate) fn ledger(&self, job: &Job, name: &str) -> Vec<String> {
        let words = |line: Occurrence| {
            let second = |moment: mainspring_model::Timestamp| moment.since(at(0)).as_secs_f64();
            let mut words = format!("{} {}", second(line.planned), line.outcome.name());
            if let Some(through) = line.through {
                let count = line.count.map_or("many".to_owned(), |count| count.to_string());
                words += &format!(" {count} through {}", second(through));
            }
            if !line.reason.is_empty() {
                words += &format!(": {}", line.reason);
            }
            words
        };
        self.lines(job, name).into_iter().map(words).collect()
    }

    /// The lines of a trigger, the oldest first.
    pub(crate) fn lines(&self, job: &Job, name: &str) -> Vec<Occurrence> {
        let key = TriggerKey { job: job.id, name: name.into() };
        let page = self.store.records(&key.occurrences(None, 1_000)).expect("a page");
        page.rows.iter().rev().filter_map(Occurrence::read).collect()
    }

    /// The ends that a trigger has not followed yet.
    pub(crate) fn ends(&self, job: &Job, name: &str) -> Vec<End> {
        let page = self.store.records(&End::of_cell(CELL)).expect("a page");
        let mut lists = page.rows.iter().filter_map(End::read);
        let found = lists.find(|(key, _)| key.job == job.id && *key.name == *name);
        found.map(|(_, list)| list).unwrap_or_default()
    }

    /// Somebody who owned the cell before wrote an end of a run, and the store did not take the run's row.
    pub(crate) fn doubt_end(&mut self, job: &Job, name: &str, run: RunId) {
        let end = serde_json::json!([{"run": run, "planned": self.now, "unsure": self.epoch}]);
        let record = mainspring_store::Record {
            kind: End::of_cell(CELL).kind,
            revision: 1,
            value: end.to_string().into_bytes().into(),
            ..self.trigger(job, name).record(CELL)
        };
        let write = Write::PutRecord(Box::new(record));
        let outcomes = self.store.commit(&Transaction::unfenced(vec![write])).expect("an end");
        assert_eq!(outcomes, [Outcome::Applied]);
    }

    /// The row of a trigger says something that nobody can read.
    pub(crate) fn spoil_row(&mut self, job: &Job, name: &str) {
        let row = self.trigger(job, name);
        let record = mainspring_store::Record {
            revision: row.revision + 1,
            value: (*b"{").into(),
            ..row.record(CELL)
        };
        let write = Write::PutRecord(Box::new(record));
        let outcomes = self.store.commit(&Transaction::unfenced(vec![write])).expect("a row");
        assert_eq!(outcomes, [Outcome::Applied]);
    }

    /// Retention removes the ledger of a trigger.
    pub(crate) fn forget_ledger(&mut self, job: &Job, name: &str) {
        let key = TriggerKey { job: job.id, name: name.into() };
        let page = self.store.records(&key.occurrences(None, 1_000)).expect("a page");
        let gone = |record: mainspring_store::Record| Write::RemoveRecord {
            kind: record.kind,
            key: record.key,
            expected: record.revision,
        };
        let writes = page.rows.into_iter().map(gone).collect();
        self.store.commit(&Transaction::all_or_nothing(writes)).expect("a ledger");
    }

    /// Writes a row as somebody else would.
    pub(crate) fn put_row(&mut self, row: &TriggerRow) {
        let write = Write::PutRecord(Box::new(row.record(CELL)));
        let outcomes = self.store.commit(&Transaction::unfenced(vec![write])).expect("a row");
        assert_eq!(outcomes, [Outcome::Applied]);
    }

    pub(crate) fn command_trigger(&mut self, job: &Job, name: &str, command: TriggerCommand) {
        let key = TriggerKey { job: job.id, name: name.into() };
        let request = self.request();
        self.handle(Event::Trigger { request, key, command });
    }

    /// The runs of a job that the store has, the oldest first.
    pub(crate) fn runs_of(&self, job: &Job) -> Vec<Run> {
        let mut runs: Vec<Run> =
            self.store.all_runs().filter(|run| run.head.job == job.id).cloned().collect();
        runs.sort_by_key(|run| run.head.id);
        runs
    }

    /// What the store says of moments.
    pub(super) fn moments_read(&self, query: &MomentsQuery) -> MomentsRead {
        let records = |query| self.store.records(&query);
        MomentsRead::read(query.clone(), records, |runs| self.store.runs_by_id(runs)).expect("moments")
    }

    pub(super) fn spec_read(&self, (job, version): (JobId, u32)) -> SpecRead {
        let pause = self.store.job(job).and_then(|job| job.job_pause());
        let spec = self.specs.get(&(job, version)).cloned();
        let needs = spec.iter().flat_map(|spec| &spec.triggers).flat_map(|trigger| &trigger.needs);
        let successes = needs.filter_map(|need| self.last_success(&need.job)).collect();
        SpecRead { job, version, spec, pause, calendars: self.calendars.clone(), successes }
    }

    fn last_success(&self, job: &Name) -> Option<Success> {
        let is_of = |run: &&Run| {
            let spec = self.specs.get(&(run.head.job, run.head.job_version));
            spec.is_some_and(|spec| spec.name == *job)
        };
        let moment = |run: &Run| Success::moment(&run.head, &run.status);
        let at = self.store.all_runs().filter(is_of).filter_map(moment).max()?;
        Some(Success { job: job.clone(), at })
    }
}

fn read(triggers: &[&str]) -> Vec<Trigger> {
    let list: Vec<String> = triggers.iter().map(|trigger| format!("{{{trigger}}}")).collect();
    let yaml = format!("name: x\nscript: 'true'\ntriggers: [{}]", list.join(", "));
    spec::parse(&yaml, Format::Yaml).expect("triggers").triggers
}
