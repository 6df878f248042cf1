//! A query with its names looked up: what a store answers by an index, and what is looked at row by row.
//!
//! Invariant: `passes` alone decides. The index part only leaves out runs that cannot pass.

use std::time::Duration;

use mainspring_model::{JobId, JobSpec, Namespace, Run, RunState, Timestamp};
use mainspring_store::RunQuery;

use super::parse::{Comparison, Moment, Query, Word};

/// A query that can be asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// What the store looks for.
    pub(crate) query: RunQuery,
    /// Whether labels or names are asked for, which are in specifications.
    pub(crate) needs_specs: bool,
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
    From(Timestamp),
    Before(Timestamp),
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
                Word::Created(comparison, moment) => created(*comparison, *moment, now),
            };
            if !term.negated {
                filter.narrow(&test);
            }
            filter.needs_specs |= match &test {
                Test::Labels(_) => true,
                Test::Jobs(named) => !named.others.is_empty(),
                _ => false,
            };
            filter.tests.push((term.negated, test));
        }
        if let [only] = visible.as_slice() {
            filter.narrow(&Test::Namespaces(vec![only.clone()]));
        }
        filter.visible = visible;
        filter
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
            Test::Labels(_) | Test::Causes(_) | Test::By(_) | Test::Nodes(_) => {}
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
            Self::From(from) => head.created_at >= *from,
            Self::Before(before) => head.created_at < *before,
        }
    }
}

fn created(comparison: Comparison, moment: Moment, now: Timestamp) -> Test {
    let at = match moment {
        Moment::At(at) => at,
        Moment::Ago(span) => now - span,
    };
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

    use mainspring_model::{Cause, CellId, Payload, RunHead, RunId, RunStatus};

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
        let run = run(|_, status| status.cause = Some(Cause::Exit { code: 1 }));
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
