//! A query with its names looked up: what a store answers by an index, and what is looked at row by row.
//!
//! Invariant: `passes` alone decides. The index part only leaves out runs that cannot pass.

use std::time::Duration;

use mainspring_model::{JobId, JobSpec, Namespace, Run, RunId, RunState, Timestamp};
use mainspring_store::RunQuery;

use super::parse::{Clock, Comparison, Moment, Query, Word};

/// A query that can be asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// What the store looks for.
    pub(crate) query: RunQuery,
    /// Whether labels or names are asked for, which are in specifications.
    pub(crate) needs_specs: bool,
    /// Whether reasons are asked for, which owners know better than rows.
    pub(crate) needs_reasons: bool,
    tests: Vec<(bool, Test)>,
    /// The namespaces that the caller may see; empty is all.
    visible: Vec<Namespace>,
}

/// The jobs that a word names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// Those that there are.
    pub(crate) jobs: Vec<JobId>,
    /// Names that no job has: of runs with a specification of their own, or of a job that was deleted.
    pub(crate) others: Vec<String>,
}

/// What is looked at in a row.
#[derive(Debug, Clone)]
enum Test {
    States(Vec<RunState>),
    Jobs(Named),
    Namespaces(Vec<Namespace>),
    Labels(Vec<(String, Option<String>)>),
    Causes(Vec<String>),
    By(Vec<String>),
    Nodes(Vec<mainspring_model::NodeId>),
    Ids(Vec<RunId>),
    Triggers(Vec<String>),
    Pools(Vec<String>),
    Reasons(Vec<String>),
    Texts(Vec<String>),
    From(Timestamp),
    Before(Timestamp),
    At(Clock, Comparison, Timestamp),
    /// At the moment of the query, which is when those that run have come so far.
    Took(Comparison, Duration, Timestamp),
    Attempt(Comparison, u32),
}

const MICRO: Duration = Duration::from_micros(1);
const MILLI: Duration = Duration::from_millis(1);

impl Filter {
    /// What `query` asks at `now`. `jobs` has what each word about jobs names, in their order; `visible` is what the
    /// caller may see, empty for all.
    pub(crate) fn new(query: &Query, now: Timestamp, jobs: Vec<Named>, visible: Vec<Namespace>) -> Self {
        let mut filter = Self::default();
        let mut jobs = jobs.into_iter();
        for term in &query.terms {
            let test = match &term.word {
                Word::State(states) => Test::States(states.clone()),
                Word::Job(_) => Test::Jobs(jobs.next().unwrap_or_default()),
                Word::Namespace(namespaces) => Test::Namespaces(namespaces.clone()),
                Word::Label(labels) => Test::Labels(labels.clone()),
                Word::Cause(causes) => Test::Causes(causes.clone()),
                Word::By(subjects) => Test::By(subjects.clone()),
                Word::Node(nodes) => Test::Nodes(nodes.clone()),
                Word::Id(runs) => Test::Ids(runs.clone()),
                Word::Trigger(triggers) => Test::Triggers(triggers.clone()),
                Word::Pool(pools) => Test::Pools(pools.clone()),
                Word::Reason(reasons) => Test::Reasons(reasons.clone()),
                Word::Text(texts) => Test::Texts(texts.clone()),
                Word::Time(Clock::Created, comparison, moment) => created(*comparison, at(*moment, now)),
                Word::Time(clock, comparison, moment) => Test::At(*clock, *comparison, at(*moment, now)),
                Word::Took(comparison, span) => Test::Took(*comparison, *span, now),
                Word::Attempt(comparison, number) => Test::Attempt(*comparison, *number),
            };
            if !term.negated {
                filter.narrow(&test);
            }
            filter.needs_specs |= match &test {
                Test::Labels(_) | Test::Pools(_) | Test::Texts(_) => true,
                Test::Jobs(named) => !named.others.is_empty(),
                _ => false,
            };
            filter.needs_reasons |= matches!(test, Test::Reasons(_));
            filter.tests.push((term.negated, test));
        }
        if let [only] = visible.as_slice() {
            filter.narrow(&Test::Namespaces(vec![only.clone()]));
        }
        filter.visible = visible;
        filter
    }

    /// Leaves out what was made at or after a moment.
    pub(crate) fn before(&mut self, at: Timestamp) {
        let test = Test::Before(at);
        self.narrow(&test);
        self.tests.push((false, test));
    }

    /// Whether a run passes; `spec` is the one that it pins, where known.
    pub(crate) fn passes(&self, run: &Run, spec: Option<&JobSpec>) -> bool {
        let namespace = &run.head.namespace;
        let visible = self.visible.is_empty() || self.visible.iter().any(|place| namespace.is_within(place));
        visible && self.tests.iter().all(|(negated, test)| test.holds(run, spec) != *negated)
    }

    /// Lets the store leave out what cannot hold.
    fn narrow(&mut self, test: &Test) {
        let query = &mut self.query;
        match test {
            Test::States(states) if query.states.is_empty() => query.states.clone_from(states),
            Test::States(states) => {
                let both: Vec<RunState> =
                    query.states.iter().copied().filter(|state| states.contains(state)).collect();
                // Nothing in common finds nothing; an empty list would find all.
                query.states = if both.is_empty() { states.clone() } else { both };
            }
            Test::Jobs(Named { jobs, others }) => {
                if let ([only], [], None) = (jobs.as_slice(), others.as_slice(), query.job) {
                    query.job = Some(*only);
                }
            }
            Test::Namespaces(namespaces) => {
                if let [only] = namespaces.as_slice()
                    && query.namespace.as_ref().is_none_or(|known| only.is_within(known))
                {
                    query.namespace = Some(only.clone());
                }
            }
            // Ids know whole milliseconds: what was made within the first one has an id from before `from`.
            Test::From(from) => {
                let floor = Timestamp::from_micros(from.as_micros().div_euclid(1000) * 1000);
                query.from = Some(query.from.map_or(floor, |known| known.max(floor)));
            }
            Test::Before(before) => {
                let ceiling = *before + MILLI;
                query.until = Some(query.until.map_or(ceiling, |known| known.min(ceiling)));
            }
            Test::Ids(runs) => {
                let (first, last) = (runs.iter().min(), runs.iter().max());
                if let (Some(first), Some(last)) = (first, last) {
                    let (from, until) = (first.made_at(), last.made_at() + MILLI);
                    query.from = Some(query.from.map_or(from, |known| known.max(from)));
                    query.until = Some(query.until.map_or(until, |known| known.min(until)));
                }
            }
            // What ended after a moment may have been made long before it, but what started before it was made before it.
            Test::At(_, Comparison::Before | Comparison::Until, at) => {
                let ceiling = *at + MILLI;
                query.until = Some(query.until.map_or(ceiling, |known| known.min(ceiling)));
            }
            Test::Labels(_)
            | Test::Causes(_)
            | Test::By(_)
            | Test::Nodes(_)
            | Test::Triggers(_)
            | Test::Pools(_)
            | Test::Reasons(_)
            | Test::Texts(_)
            | Test::At(..)
            | Test::Took(..)
            | Test::Attempt(..) => {}
        }
    }
}

impl Test {
    fn holds(&self, run: &Run, spec: Option<&JobSpec>) -> bool {
        let (head, status) = (&run.head, &run.status);
        match self {
            Self::States(states) => states.contains(&status.state),
            Self::Jobs(Named { jobs, others }) => {
                jobs.contains(&head.job)
                    || spec.is_some_and(|spec| others.iter().any(|name| *name == spec.name.as_str()))
            }
            Self::Namespaces(places) => places.iter().any(|place| head.namespace.is_within(place)),
            Self::Labels(labels) => labels.iter().any(|(key, wanted)| {
                let found = spec.and_then(|spec| spec.labels.get(key));
                found.is_some_and(|found| wanted.as_deref().is_none_or(|wanted| wanted == found))
            }),
            Self::Causes(causes) => {
                status.cause.as_ref().is_some_and(|cause| causes.iter().any(|word| word == cause.name()))
            }
            Self::By(subjects) => subjects.iter().any(|subject| **subject == *head.submitted_by),
            Self::Nodes(nodes) => status.node.is_some_and(|node| nodes.contains(&node)),
            Self::Ids(runs) => runs.contains(&head.id),
            Self::Triggers(triggers) => {
                let fired = head.fired.as_ref();
                fired.is_some_and(|fired| triggers.iter().any(|trigger| **trigger == *fired.trigger))
            }
            Self::Pools(pools) => {
                spec.is_some_and(|spec| pools.iter().any(|pool| pool == spec.placement.pool()))
            }
            Self::Reasons(reasons) => {
                let waits = !status.state.is_terminal() && status.state != RunState::Running;
                let reason = status.reason.as_ref().filter(|_| waits);
                reason.is_some_and(|reason| reasons.iter().any(|word| word == reason.name()))
            }
            Self::Texts(texts) => texts.iter().any(|text| mentions(run, spec, text)),
            Self::From(from) => head.created_at >= *from,
            Self::Before(before) => head.created_at < *before,
            Self::At(clock, comparison, asked) => {
                let at = match clock {
                    Clock::Created => Some(head.created_at),
                    Clock::Started => status.started_at,
                    Clock::Finished => status.finished_at,
                };
                at.is_some_and(|at| comparison.holds(at, *asked))
            }
            Self::Took(comparison, asked, now) => {
                let end = if status.state == RunState::Running { Some(*now) } else { status.finished_at };
                let span = status.started_at.zip(end).map(|(start, end)| end.since(start));
                span.is_some_and(|span| comparison.holds(span, *asked))
            }
            Self::Attempt(comparison, asked) => comparison.holds(status.attempt, *asked),
        }
    }
}

/// Whether people would find the text when they look for it: in its id, its job, labels, parameters, key, who asked for it,
/// what fired it.
fn mentions(run: &Run, spec: Option<&JobSpec>, text: &str) -> bool {
    let head = &run.head;
    let within = |words: &str| words.to_lowercase().contains(text);
    within(&head.id.to_string())
        || within(&head.submitted_by)
        || head.idempotency_key.as_deref().is_some_and(within)
        || head.fired.as_ref().is_some_and(|fired| within(&fired.trigger))
        || within(&String::from_utf8_lossy(&head.params))
        || spec.is_some_and(|spec| {
            within(spec.name.as_str()) || spec.labels.iter().any(|(key, value)| within(key) || within(value))
        })
}

fn at(moment: Moment, now: Timestamp) -> Timestamp {
    match moment {
        Moment::At(at) => at,
        Moment::Ago(span) => now - span,
    }
}

fn created(comparison: Comparison, at: Timestamp) -> Test {
    match comparison {
        Comparison::After => Test::From(at + MICRO),
        Comparison::From => Test::From(at),
        Comparison::Before => Test::Before(at),
        Comparison::Until => Test::Before(at + MICRO),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mainspring_model::{Cause, CellId, Fired, Payload, Reason, RunHead, RunStatus};

    use super::*;

    fn run(change: impl FnOnce(&mut RunHead, &mut RunStatus)) -> Run {
        let created_at = Timestamp::from_micros(5_000_500);
        let mut head = RunHead {
            id: RunId::new(created_at, 1),
            namespace: "acme/data".parse().unwrap(),
            job: JobId::MAX,
            job_version: 1,
            inline_spec: None,
            idempotency_key: None,
            priority: 0,
            created_at,
            not_before: None,
            deadline: None,
            params: Payload::from([]),
            keys: None,
            submitted_by: "ann".into(),
            fired: None,
            overlap: Default::default(),
        };
        let mut status = RunStatus::arrived(CellId(0), created_at);
        change(&mut head, &mut status);
        Run { head: Arc::new(head), status }
    }

    fn filter(text: &str) -> Filter {
        let query: Query = text.parse().unwrap();
        let named = || Named { jobs: vec![JobId::MAX], others: vec![] };
        let jobs = query.terms.iter().filter(|term| matches!(term.word, Word::Job(_))).map(|_| named());
        Filter::new(&query, Timestamp::from_micros(9_000_000), jobs.collect(), vec![])
    }

    /// Whether an ordinary run passes. What passes must not be left out by the index part either.
    fn check(text: &str, passes: bool) {
        let run = run(|head, status| {
            head.idempotency_key = Some("some-key".into());
            head.params = Payload::from(*br#"{"who": "Moon"}"#);
            let (trigger, planned) = ("nightly".into(), Timestamp::ZERO);
            head.fired = Some(Box::new(Fired { trigger, planned, backfill: None, depth: 0 }));
            status.cause = Some(Cause::Exit { code: 1 });
            status.reason = Some(Box::new(Reason::Overflow));
            status.attempt = 2;
            status.started_at = Some(Timestamp::from_micros(7_000_000));
            status.finished_at = Some(Timestamp::from_micros(8_000_000));
        });
        let filter = filter(text);
        assert_eq!(filter.passes(&run, None), passes, "{text}");
        let (first, end) = filter.query.ids();
        let found = run.head.id >= first
            && run.head.id < end
            && filter.query.job.is_none_or(|job| job == run.head.job)
            && filter.query.namespace.as_ref().is_none_or(|place| run.head.namespace.is_within(place))
            && (filter.query.states.is_empty() || filter.query.states.contains(&run.status.state));
        assert!(found || !passes, "{text}: the index part leaves it out");
    }

    #[test]
    fn the_whole_query_decides() {
        check("", true);
        check("state:ready", true);
        check("state:failed", false);
        check("-state:failed state:active", true);
        check("state:ready state:failed", false);
        check("job:any", true);
        check("-job:any", false);
        check("namespace:acme", true);
        check("namespace:acme namespace:acme/data", true);
        check("namespace:acme/data namespace:acme", true);
        check("namespace:other,acme", true);
        check("namespace:acme/data/etl", false);
        check("cause:exit", true);
        check("cause:oom", false);
        check("by:ann,bob -by:bob", true);
        check("label:team", false);
        check("-label:team", true);
        check("created>1970-01-01T00:00:05.000499Z", true);
        check("created>1970-01-01T00:00:05.000500Z", false);
        check("created>=1970-01-01T00:00:05.000500Z", true);
        check("created<1970-01-01T00:00:05.000500Z", false);
        check("created<=1970-01-01T00:00:05.000500Z", true);
        check("created>-4s created<-3s", true);
        check("trigger:nightly", true);
        check("trigger:hourly", false);
        check("reason:overflow", true);
        check("reason:no_node", false);
        check("text:KEY", true);
        check("text:ann", true);
        check("text:moon", true);
        check("text:sun", false);
        check("attempt>1", true);
        check("attempt>2", false);
        check("started>-3s started<-1s", true);
        check("started<-3s", false);
        check("finished>-2s", true);
        check("took>=1s took<2s", true);
        check("took>1s", false);
        check("-took>1s", true);
        let id = run(|_, _| {}).head.id;
        check(&format!("id:{id}"), true);
        check(&format!("-id:{id}"), false);
        check(&format!("id:{}", RunId::MIN), false);
    }

    #[test]
    fn nobody_sees_what_is_not_theirs() {
        let places =
            |paths: &[&str]| paths.iter().map(|path| path.parse().unwrap()).collect::<Vec<Namespace>>();
        for (visible, sees) in [(vec![], true), (places(&["acme"]), true), (places(&["x", "y"]), false)] {
            let filter = Filter::new(&Query::default(), Timestamp::ZERO, vec![], visible.clone());
            assert_eq!(filter.passes(&run(|_, _| {}), None), sees, "{visible:?}");
        }
        let narrowed = Filter::new(&Query::default(), Timestamp::ZERO, vec![], places(&["acme"]));
        assert_eq!(narrowed.query.namespace, Some("acme".parse().unwrap()));
    }
}
