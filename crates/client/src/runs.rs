//! Runs: submit, read, list, wait, cancel, retry, rerun, and actions on many.

use std::time::{Duration, Instant};

use mainspring_model::{BulkId, RunId};
use mainspring_wire::api::{
    Attempt, BatchResult, BatchSubmit, BulkOperation, BulkPreview, BulkRequest, CancelRequest, Page,
    PriorityRequest, RerunRequest, Run, Submit, Submitted, TimelineEntry, Why,
};
use serde_json::Value;

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;
use crate::events::AWAY_MAX;
use crate::pages::Pages;
use crate::watch::WatchQuery;

/// Which runs a list shows, newest first.
#[derive(Debug, Clone, Default)]
pub struct RunsQuery {
    /// Here and in all below; without one, all that the caller may see.
    pub namespace: Option<String>,
    /// The query language of the API: `state:failed job:etl created>-2h`.
    pub q: Option<String>,
    /// Items on one page.
    pub page_size: Option<usize>,
}

impl RunsQuery {
    /// Runs that the query finds, in every namespace that the caller may see.
    pub fn matching(q: impl Into<String>) -> Self {
        Self { q: Some(q.into()), ..Self::default() }
    }
}

impl Client {
    /// Submits a run; when this returns, the run is durable.
    ///
    /// Without an idempotency key one is made, so that a repetition after a broken connection is the same run.
    ///
    /// ```no_run
    /// # async fn example(client: mainspring_client::Client) -> Result<(), mainspring_client::Error> {
    /// use mainspring_client::api::Submit;
    ///
    /// let submit = Submit { job: Some("nightly-report".into()), ..Submit::default() };
    /// let run = client.submit(&submit).await?;
    /// let run = client.wait(run.id).await?;
    /// println!("{} ended: {}", run.id, run.state.name());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn submit(&self, submit: &Submit) -> Result<Submitted, Error> {
        let key = submit.idempotency_key.clone().unwrap_or_else(new_key);
        let mut call = Call::post_repeatable(&["v1", "runs"]).json(submit)?;
        // The body's own key is enough; a header beside it would have to say the same.
        if submit.idempotency_key.is_none() {
            call = call.header("idempotency-key", key);
        }
        self.ask(call).await
    }

    /// Submits up to 10,000 runs in one request; each is answered for itself.
    pub async fn submit_batch(&self, batch: &BatchSubmit) -> Result<BatchResult, Error> {
        let call = Call::post_repeatable(&["v1", "runs", "batch"]).header("idempotency-key", new_key());
        self.ask(call.json(batch)?).await
    }

    /// Runs, newest first.
    pub fn runs(&self, query: &RunsQuery) -> Pages<Run> {
        let call = Call::get(&["v1", "runs"])
            .maybe("namespace", query.namespace.as_ref())
            .maybe("q", query.q.as_ref())
            .maybe("limit", query.page_size);
        Pages::new(self, call)
    }

    /// A run.
    pub async fn run(&self, id: RunId) -> Result<Run, Error> {
        self.ask(Call::get(&["v1", "runs", &id.to_string()])).await
    }

    /// The specification that a run pins.
    pub async fn run_spec(&self, id: RunId) -> Result<Value, Error> {
        self.ask(Call::get(&["v1", "runs", &id.to_string(), "spec"])).await
    }

    /// A run's attempts, the first first.
    pub async fn attempts(&self, id: RunId) -> Result<Vec<Attempt>, Error> {
        let page: Page<Attempt> = self.ask(Call::get(&["v1", "runs", &id.to_string(), "attempts"])).await?;
        Ok(page.items)
    }

    /// What happened to a run, in order.
    pub async fn timeline(&self, id: RunId) -> Result<Vec<TimelineEntry>, Error> {
        let page: Page<TimelineEntry> =
            self.ask(Call::get(&["v1", "runs", &id.to_string(), "timeline"])).await?;
        Ok(page.items)
    }

    /// Why a run is where it is, and what would unblock it.
    pub async fn why(&self, id: RunId) -> Result<Why, Error> {
        self.ask(Call::get(&["v1", "runs", &id.to_string(), "why"])).await
    }

    /// Asks for a run's end; `kill` gives the task no time to stop by itself.
    pub async fn cancel(&self, id: RunId, kill: bool) -> Result<Run, Error> {
        let call = Call::post_repeatable(&["v1", "runs", &id.to_string(), "cancel"]);
        self.ask(call.json(&CancelRequest { kill })?).await
    }

    /// Does not wait for a failed run's back-off.
    pub async fn retry(&self, id: RunId) -> Result<Run, Error> {
        self.ask(Call::post_repeatable(&["v1", "runs", &id.to_string(), "retry"])).await
    }

    /// The same again, as a new run.
    pub async fn rerun(&self, id: RunId, request: &RerunRequest) -> Result<Submitted, Error> {
        let mut call = Call::post_repeatable(&["v1", "runs", &id.to_string(), "rerun"]).json(request)?;
        if request.idempotency_key.is_none() {
            call = call.header("idempotency-key", new_key());
        }
        self.ask(call).await
    }

    /// What one action on many runs would be done to.
    pub async fn preview_bulk(&self, request: &BulkRequest) -> Result<BulkPreview, Error> {
        let request = BulkRequest { preview: true, ..request.clone() };
        self.ask(Call::post_repeatable(&["v1", "runs", "bulk"]).json(&request)?).await
    }

    /// Starts one action on many runs. The servers carry it out, whether or not somebody looks.
    pub async fn start_bulk(&self, request: &BulkRequest) -> Result<BulkOperation, Error> {
        let request = BulkRequest { preview: false, ..request.clone() };
        self.ask(Call::post(&["v1", "runs", "bulk"]).json(&request)?).await
    }

    /// A bulk operation, and how far it is.
    pub async fn bulk_operation(&self, id: BulkId) -> Result<BulkOperation, Error> {
        self.ask(Call::get(&["v1", "runs", "bulk", &id.to_string()])).await
    }

    /// Has a bulk operation act on no more runs.
    pub async fn stop_bulk(&self, id: BulkId) -> Result<BulkOperation, Error> {
        self.ask(Call::post_repeatable(&["v1", "runs", "bulk", &id.to_string(), "stop"])).await
    }

    /// Makes a run more or less important.
    pub async fn prioritise(&self, id: RunId, request: &PriorityRequest) -> Result<Run, Error> {
        let call = Call::post_repeatable(&["v1", "runs", &id.to_string(), "priority"]);
        self.ask(call.json(request)?).await
    }

    /// Waits until a run has ended: by its news, and by a look now and then. A server that is away for a while is waited
    /// for too.
    pub async fn wait(&self, id: RunId) -> Result<Run, Error> {
        self.wait_seeing(id, |_| {}).await
    }

    /// The same; `see` is shown the run at each look, the last one too.
    pub async fn wait_seeing(&self, id: RunId, mut see: impl FnMut(&Run)) -> Result<Run, Error> {
        let run = self.run(id).await?;
        see(&run);
        if run.state.is_terminal() {
            return Ok(run);
        }
        let namespace = Some(run.namespace.to_string());
        let mut watch = self.watch(&WatchQuery { namespace, run: Some(id), ..WatchQuery::default() });
        // Between the first look and the first news it may have ended.
        match watch.connect().await {
            Err(error) if !error.is_transient() => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut seen_at = Instant::now();
        loop {
            match self.run(id).await {
                Ok(run) => {
                    see(&run);
                    if run.state.is_terminal() {
                        return Ok(run);
                    }
                    seen_at = Instant::now();
                }
                Err(error) if error.is_transient() && seen_at.elapsed() < AWAY_MAX => {}
                Err(error) => return Err(error),
            }
            let news = async {
                loop {
                    match watch.next().await {
                        Ok(news) if news.concerns(id) => return Ok(()),
                        Ok(_) => {}
                        // Without news there is still the next look, which tells what is wrong.
                        Err(error) if error.is_transient() => std::future::pending().await,
                        Err(error) => return Err(error),
                    }
                }
            };
            // The owner of the run may be another scheduler, whose news do not come here.
            if let Ok(told) = tokio::time::timeout(LOOK_EVERY, news).await {
                told?;
            }
        }
    }
}

/// How often a run that is waited for is looked at when no news come.
const LOOK_EVERY: Duration = Duration::from_secs(2);

fn new_key() -> String {
    uuid::Uuid::now_v7().to_string()
}
