//! What a word on the command line stands for: a run, a job or a node, by id or by name. A word that stands for nothing
//! leads to the nearest one that does.

use mainspring_client::api::{Job, Node, NodeState, Run};
use mainspring_client::{Error, RunsQuery};
use mainspring_model::{NodeId, RunId};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::nearest::nearest;

/// Where a name is looked for when nobody says.
const DEFAULT_NAMESPACE: &str = "default";
/// Names that are read to find one that is near: it is a help, not a search.
const NAMES_MAX: usize = 5_000;
/// Runs that are read at once to find the newest in one namespace, among those below it.
const RUNS_AT_ONCE: usize = 100;

/// Which runs of a job are meant by its name.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fit {
    /// Any.
    Any,
    /// Those that are not over.
    Active,
    /// Those that wait to be tried again.
    Failed,
    /// Those that are over.
    Ended,
}

impl Fit {
    const fn term(self) -> &'static str {
        match self {
            Self::Any => "",
            Self::Active => " state:active",
            Self::Failed => " state:failed",
            Self::Ended => " state:ended",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Any => "",
            Self::Active => " that is not over",
            Self::Failed => " that waits to be tried again",
            Self::Ended => " that is over",
        }
    }
}

impl Context {
    /// The node with this id or name.
    pub(crate) async fn find_node(&self, word: &str) -> Result<NodeId, Failure> {
        match word.parse() {
            Ok(id) => Ok(id),
            Err(_) => by_name(self.client.nodes(None, None).all().await?, word),
        }
    }

    /// The run with this id, or the newest run of the job with this name.
    pub(crate) async fn find_run(&self, word: &str) -> Result<RunId, Failure> {
        self.find_run_that(word, Fit::Any).await
    }

    /// The run with this id, or the newest run of the job with this name that fits.
    pub(crate) async fn find_run_that(&self, word: &str, fit: Fit) -> Result<RunId, Failure> {
        if let Ok(id) = word.parse() {
            return Ok(id);
        }
        if word.starts_with("run_") {
            return Err(Failure::usage(format!("`{word}` is not a run's id"))
                .hint("an id is `run_` and 26 characters; `mainspring runs` lists them"));
        }
        match self.newest_run(word, fit).await? {
            Some(run) => {
                self.output.say(format!("{} is the newest run of {word}{}", run.id, fit.words()));
                Ok(run.id)
            }
            None => {
                let near = words(self.near_job(word).await);
                let place = self.namespace().unwrap_or(DEFAULT_NAMESPACE);
                let message = format!("there is no run of a job `{word}` in `{place}`{}", fit.words());
                Err(Failure::new(Exit::NotFound, message).hint(format!(
                    "{near}`mainspring runs -A` lists runs of every namespace; a run is named by its id, or by its job \
                     with `-n NAMESPACE`"
                )))
            }
        }
    }

    /// The newest run of a job that fits. A name is looked for in one namespace, as everywhere else: a run of another
    /// department is never meant by accident. An id is the same everywhere.
    async fn newest_run(&self, word: &str, fit: Fit) -> Result<Option<Run>, Failure> {
        let place = (!word.starts_with("job_")).then(|| self.namespace().unwrap_or(DEFAULT_NAMESPACE));
        let query = RunsQuery {
            namespace: place.map(str::to_owned),
            q: Some(format!("job:{word}{}", fit.term())),
            page_size: Some(RUNS_AT_ONCE),
        };
        // The list has the namespaces below in it too, and they may be busier: it is read until one fits.
        let mut runs = self.client.runs(&query);
        while let Some(run) = runs.next().await? {
            if place.is_none_or(|place| run.namespace.as_str() == place) {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// The job with this name or id.
    pub(crate) async fn job(&self, job: &str) -> Result<Job, Failure> {
        match self.client.job(self.namespace(), job).await {
            Ok(found) => Ok(found),
            Err(error) => Err(self.about_job(error, job).await),
        }
    }

    /// Why something could not be done with a job: for one that is not there, with the nearest name that is.
    pub(crate) async fn about_job(&self, error: Error, job: &str) -> Failure {
        let is_missing = error.is_not_found();
        let failure = Failure::from(error);
        if !is_missing {
            return failure;
        }
        match self.near_job(job).await {
            Some(Near::Same) => failure.hint(format!("`mainspring describe {job}` shows the job as it is")),
            near => failure.hint(format!("{}`mainspring jobs` lists them", words(near))),
        }
    }

    /// The job that may be meant by a word, if there is one.
    async fn near_job(&self, word: &str) -> Option<Near> {
        let jobs = self.client.jobs(self.namespace(), false).take(NAMES_MAX).await.ok()?;
        let looked_in = self.namespace().unwrap_or(DEFAULT_NAMESPACE);
        let of_name = jobs.iter().filter(|job| job.name == word || job.id.to_string() == word);
        let places: Vec<String> = of_name.map(|job| job.namespace.to_string()).collect();
        match places.first() {
            Some(_) if places.iter().any(|place| place == looked_in) => Some(Near::Same),
            Some(place) => Some(Near::Elsewhere(place.clone())),
            None => nearest(word, jobs.into_iter().map(|job| job.name)).map(Near::Like),
        }
    }
}

/// A job that may be meant by a word.
enum Near {
    /// It is there, under this name: what is missing is something else.
    Same,
    /// It is in this namespace.
    Elsewhere(String),
    /// It is called nearly so.
    Like(String),
}

/// Words about a near job, to stand before the next step.
fn words(near: Option<Near>) -> String {
    match near {
        None | Some(Near::Same) => String::new(),
        Some(Near::Elsewhere(place)) => format!("it is in `{place}`: add `-n {place}`; "),
        Some(Near::Like(name)) => format!("did you mean `{name}`? "),
    }
}

/// A node that is gone for good only counts when no other has the name.
fn by_name(nodes: Vec<Node>, name: &str) -> Result<NodeId, Failure> {
    let near = nearest(name, nodes.iter().map(|node| node.name.clone()));
    let (gone, there): (Vec<Node>, Vec<Node>) =
        nodes.into_iter().filter(|node| node.name == name).partition(|node| node.state == NodeState::Left);
    let found = if there.is_empty() { gone } else { there };
    match found.as_slice() {
        [] => {
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            Err(Failure::new(Exit::NotFound, format!("there is no node `{name}`"))
                .hint(format!("{near}`mainspring nodes` lists them")))
        }
        [node] => Ok(node.id),
        several => {
            let ids: Vec<String> = several.iter().map(|node| node.id.to_string()).collect();
            Err(Failure::usage(format!("{} nodes are called `{name}`", several.len()))
                .hint(format!("name one by its id: {}", ids.join(", "))))
        }
    }
}
