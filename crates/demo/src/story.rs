//! What the people of the company do in its history, through the same use cases as the API's callers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mainspring_app::{App, HookRequest, NamedTrigger, Origin, Precondition, PutJob, Sourced};
use mainspring_model::spec::Format;
use mainspring_model::{ErrorCode, RunId, RunState, Timestamp};
use mainspring_store::{RunQuery, Store};
use mainspring_wire::api::{
    BackfillRequest, HookTokenRequest, PutNamespace, RerunRequest, Submit, VersionOrigin,
};
use serde_json::{Map, json};

use crate::Options;
use crate::chance::Chance;
use crate::company::{self, CHANGES, File, MADE_UP, NAMESPACES};
use crate::error::Error;
use crate::people::{People, VISITOR, place};

const HOUR: Duration = Duration::from_secs(3_600);
const SHELVES: [&str; 5] = ["fiction", "children", "cooking", "travel", "comics"];
/// Before the end, so that these are the first that run after the start.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What somebody does.
#[derive(Debug, Clone)]
enum Act {
    /// A job changes.
    Change(usize),
    /// The packing table calls.
    Call { order: u64, parcels: u64 },
    /// Mei has covers rendered anew.
    Render(&'static str),
    /// She thinks better of it.
    Cancel,
    /// Bo runs again what failed.
    Rerun,
    /// Bo pauses the counting.
    Pause,
    /// Tariq tries what he may not.
    Deny,
    /// Ann makes up for the days before the company began.
    Backfill,
}

/// The story, as far as it has not happened.
pub(crate) struct Story {
    app: Arc<App>,
    people: People,
    files: Vec<File>,
    acts: VecDeque<(Timestamp, Act)>,
    begin: Timestamp,
    hook: String,
    rendering: Option<RunId>,
}

impl Story {
    /// The company is founded: everything is there as it was at the beginning.
    pub(crate) async fn begin(app: Arc<App>, options: Options) -> Result<Self, Error> {
        let begin = app.now();
        let people = People::hire(&app).await?;
        let visitor = people.caller(VISITOR);
        for (path, about) in NAMESPACES {
            let request = PutNamespace { description: format!("{about} {MADE_UP}") };
            app.put_namespace(&visitor, &place(path)?, request, Precondition::None).await?;
        }
        let linden = place("linden")?;
        app.put_calendar(&visitor, &linden, "holidays", company::holidays(), Precondition::None).await?;
        let files = company::files(begin, options.until)?;
        let mut story = Self {
            acts: acts(begin, options).into_iter().collect(),
            app,
            people,
            files,
            begin,
            hook: String::new(),
            rendering: None,
        };
        for file in story.files.clone() {
            story.put(VISITOR, &file, 0).await?;
        }
        let (warehouse, trigger) = (place("linden/warehouse")?, "packed");
        let named = NamedTrigger { namespace: &warehouse, job: "print-labels", trigger };
        let request = HookTokenRequest::default();
        let (hook, _) = story.app.create_hook_token(&visitor, named, request, Precondition::None).await?;
        story.hook = hook.token;
        Ok(story)
    }

    /// The visitor's token.
    pub(crate) fn token(self) -> String {
        self.people.token
    }

    /// When the next thing happens.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.acts.front().map(|(at, _)| *at)
    }

    /// It happens.
    pub(crate) async fn act(&mut self, store: &dyn Store) -> Result<(), Error> {
        let Some((_, act)) = self.acts.pop_front() else { return Ok(()) };
        match act {
            Act::Change(index) => {
                let change = &CHANGES[index];
                let file = self.files.iter().find(|file| file.name == change.job).cloned();
                match file {
                    Some(file) => self.put(change.by, &file, index + 1).await,
                    None => Err(Error::Broken(format!("no job `{}`", change.job))),
                }
            }
            Act::Call { order, parcels } => self.call(order, parcels).await,
            Act::Render(shelf) => self.render(shelf).await,
            Act::Cancel => self.cancel().await,
            Act::Rerun => self.rerun(store).await,
            Act::Pause => self.pause().await,
            Act::Deny => self.deny().await,
            Act::Backfill => self.backfill().await,
        }
    }

    async fn put(&self, who: &str, file: &File, changes: usize) -> Result<(), Error> {
        let text = company::before(file, changes);
        let request = PutJob {
            namespace: file.namespace.clone(),
            job: &file.name,
            source: Sourced { text: &text, format: Format::Yaml, note: "", origin: VersionOrigin::Cli },
            condition: Precondition::None,
            dry_run: false,
        };
        self.app.put_job(&self.people.caller(who), request).await?;
        Ok(())
    }

    async fn call(&self, order: u64, parcels: u64) -> Result<(), Error> {
        let body = json!({ "order": order, "parcels": parcels }).to_string();
        let request = HookRequest {
            token: &self.hook,
            body: body.as_bytes(),
            media_type: Some("application/json"),
            headers: BTreeMap::new(),
        };
        self.app.call_hook(request, &Origin::default()).await?;
        Ok(())
    }

    async fn render(&mut self, shelf: &str) -> Result<(), Error> {
        let params = Map::from_iter([("shelf".to_owned(), shelf.into())]);
        let wish =
            Submit { job: Some("rebuild-thumbnails".to_owned()), params: Some(params), ..Submit::default() };
        let mei = self.people.caller("mei");
        self.rendering = Some(self.app.submit(&mei, Some(place("linden/shop")?), wish).await?.id);
        Ok(())
    }

    async fn cancel(&mut self) -> Result<(), Error> {
        let Some(run) = self.rendering.take() else { return Ok(()) };
        match self.app.cancel(&self.people.caller("mei"), run, false, Precondition::None).await {
            // It may be over by now.
            Err(error) if error.code != ErrorCode::IllegalState => Err(error.into()),
            _ => Ok(()),
        }
    }

    async fn rerun(&self, store: &dyn Store) -> Result<(), Error> {
        let namespace = Some(place("linden/warehouse")?);
        let states = vec![RunState::FinalFailed];
        let failed = store.runs(RunQuery { namespace, states, limit: 1, ..RunQuery::default() }).await?;
        if let Some(run) = failed.rows.first() {
            self.app.rerun(&self.people.caller("bo"), run.head.id, RerunRequest::default()).await?;
        }
        Ok(())
    }

    async fn pause(&self) -> Result<(), Error> {
        let note = "the warehouse moves until the end of the month".to_owned();
        let (bo, warehouse) = (self.people.caller("bo"), place("linden/warehouse")?);
        self.app.pause_job(&bo, &warehouse, "count-inventory", note, Precondition::None).await?;
        Ok(())
    }

    async fn deny(&self) -> Result<(), Error> {
        let (tariq, ops) = (self.people.caller("tariq"), place("linden/ops")?);
        let note = "it is slow today".to_owned();
        match self.app.pause_job(&tariq, &ops, "back-up-database", note, Precondition::None).await {
            Err(error) if error.code == ErrorCode::Forbidden => Ok(()),
            Err(error) => Err(error.into()),
            Ok(_) => Err(Error::Broken("a viewer paused a job".into())),
        }
    }

    async fn backfill(&self) -> Result<(), Error> {
        let data = place("linden/data")?;
        let named = NamedTrigger { namespace: &data, job: "load-warehouse", trigger: "nightly" };
        let request = BackfillRequest {
            from: (self.begin - HOUR * 72).into(),
            until: Some(self.begin.into()),
            order: Default::default(),
            reprocess: Default::default(),
            max_active: Some(1),
            priority: None,
            id: None,
        };
        self.app.start_backfill(&self.people.caller("ann"), named, request, Precondition::None).await?;
        Ok(())
    }
}

/// Everything that happens, in its order.
fn acts(begin: Timestamp, Options { until, seed, .. }: Options) -> Vec<(Timestamp, Act)> {
    let part = |permille: u32| begin + until.since(begin) * permille / 1_000;
    let mut acts: Vec<(Timestamp, Act)> = CHANGES
        .iter()
        .enumerate()
        .map(|(index, change)| (part(change.at_permille), Act::Change(index)))
        .collect();
    acts.extend([
        (part(120), Act::Backfill),
        (part(420), Act::Deny),
        (part(550), Act::Rerun),
        (part(780), Act::Pause),
        (part(900), Act::Rerun),
        (part(400), Act::Render("comics")),
        (part(400) + HOUR / 6, Act::Cancel),
        (until - LAST_WORDS * 2, Act::Render("fiction")),
        (until - LAST_WORDS, Act::Render("travel")),
    ]);
    acts.extend(calls(begin, until, &mut Chance::new(seed, "calls")));
    acts.extend(renderings(begin, until, &mut Chance::new(seed, "renderings")));
    acts.sort_by_key(|(at, _)| *at);
    acts
}

/// Orders are packed during the day.
fn calls(begin: Timestamp, until: Timestamp, chance: &mut Chance) -> Vec<(Timestamp, Act)> {
    let (mut at, mut order, mut calls) = (begin, 40_000, Vec::new());
    while at < until {
        let (weekday, hour) = (at.as_micros() / 86_400_000_000 % 7, at.as_micros() / 3_600_000_000 % 24);
        // 1970 began on a Thursday: 3 is a Sunday.
        let busy = weekday != 3 && (6..16).contains(&hour);
        at = at + Duration::from_secs(chance.within(300, 1_500));
        if busy && at < until {
            order += chance.within(1, 9);
            calls.push((at, Act::Call { order, parcels: chance.within(1, 3) }));
        }
    }
    calls
}

/// About one shelf a day.
fn renderings(begin: Timestamp, until: Timestamp, chance: &mut Chance) -> Vec<(Timestamp, Act)> {
    let mut at = begin + HOUR * 5;
    let mut acts = Vec::new();
    while at + HOUR < until {
        let shelf = SHELVES[chance.within(0, SHELVES.len() as u64 - 1) as usize];
        acts.push((at, Act::Render(shelf)));
        at = at + Duration::from_secs(chance.within(9 * 3_600, 40 * 3_600));
    }
    acts
}
