//! The load: clients that submit, change jobs and cancel, each in a thread of its own, until they are told to stop.
//!
//! A request without an answer is sent again, to the other server, until it is answered; a submission carries an idempotency
//! key, so that this is safe. What was acknowledged goes to the journal.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use crate::api::Api;
use crate::http::Request;
use crate::jobs::Job;
use crate::journal::{Journal, Put, Submission};
use crate::moment;
use crate::rng::Rng;

/// Clients that submit.
pub(crate) const SUBMITTERS: u64 = 4;
/// Time between two submissions of one client, and between two changes of one job.
const SUBMIT_GAP_MS: (u64, u64) = (200, 900);
const CHANGE_GAP_MS: (u64, u64) = (1_500, 5_000);
/// One submission out of so many is cancelled.
const CANCEL_ONE_OF: u64 = 12;
/// The streams of random numbers of clients begin here.
const STREAM: u64 = 100;

/// What all clients share.
#[derive(Clone)]
pub(crate) struct Load {
    pub(crate) api: Arc<Api>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) witness: PathBuf,
    pub(crate) seed: u64,
}

impl Load {
    /// Starts every client.
    pub(crate) fn start(&self) -> Vec<thread::JoinHandle<Result<()>>> {
        let submitters = (0..SUBMITTERS).map(|client| {
            let load = self.clone();
            thread::spawn(move || load.submit_on(client))
        });
        let changers = [Job::Changing, Job::Switched].into_iter().zip(SUBMITTERS..).map(|(job, client)| {
            let load = self.clone();
            thread::spawn(move || load.change_on(job, client))
        });
        submitters.chain(changers).collect()
    }

    fn submit_on(&self, client: u64) -> Result<()> {
        let mut rng = Rng::new(self.seed, STREAM + client);
        let mut server = usize::try_from(client).unwrap_or(0);
        for number in 0_u64.. {
            if !self.pause(&mut rng, SUBMIT_GAP_MS) {
                break;
            }
            let Some(job) = rng.choose(&Job::SUBMITTED).copied() else { break };
            let key = format!("chaos-{}-{client}-{number}", self.seed);
            server += 1;
            let Some(run) = self.submit(job, key, server)? else { continue };
            if rng.below(CANCEL_ONE_OF) == 0 {
                self.cancel(&run, server)?;
            }
        }
        Ok(())
    }

    fn submit(&self, job: Job, key: String, server: usize) -> Result<Option<String>> {
        let asked_at = moment::now();
        let request = submission(job, &key);
        let answer = self.api.until_answered(server, &request)?;
        let Some(run) = answer.json()["id"].as_str().filter(|_| answer.is_success()).map(str::to_owned)
        else {
            self.refused("submission", &key, &answer.body, answer.status);
            return Ok(None);
        };
        self.journal.lock().submissions.push(Submission { key, job, run: run.clone(), asked_at });
        Ok(Some(run))
    }

    fn cancel(&self, run: &str, server: usize) -> Result<()> {
        let request = Request::send_json("POST", format!("/v1/runs/{run}/cancel"), &json!({}));
        let answer = self.api.until_answered(server, &request)?;
        match answer.status {
            200..300 => self.journal.lock().cancels.push(run.to_owned()),
            // It is over already.
            409 => {}
            status => self.refused("cancellation", run, &answer.body, status),
        }
        Ok(())
    }

    fn change_on(&self, job: Job, client: u64) -> Result<()> {
        let mut rng = Rng::new(self.seed, STREAM + client);
        for revision in 1_u64.. {
            if !self.pause(&mut rng, CHANGE_GAP_MS) {
                break;
            }
            let with_triggers = job != Job::Switched || revision % 2 == 0;
            let server = usize::try_from(rng.below(2)).unwrap_or(0);
            self.put(job, revision, with_triggers, server)?;
        }
        Ok(())
    }

    /// Puts a job and notes when that was acknowledged.
    pub(crate) fn put(&self, job: Job, revision: u64, with_triggers: bool, server: usize) -> Result<()> {
        let spec = job.spec(&self.witness, revision, with_triggers);
        let request = Request::send_json("PUT", format!("/v1/jobs/{}", job.name()), &spec);
        let asked_at = moment::now();
        let answer = self.api.until_answered(server, &request)?;
        let acknowledged_at = moment::now();
        match answer.json()["version"].as_u64().filter(|_| answer.is_success()) {
            Some(version) => {
                let (server, is_pause) = (server % 2, false);
                let put = Put { job, version, with_triggers, is_pause, server, asked_at, acknowledged_at };
                self.journal.lock().puts.push(put);
            }
            None => self.refused("change", job.name(), &answer.body, answer.status),
        }
        Ok(())
    }

    /// Pauses every trigger of a job that fires by a clock: its ledger stays and can be read.
    pub(crate) fn pause_triggers(&self, job: Job, triggers: &[&str]) -> Result<()> {
        let asked_at = moment::now();
        for trigger in triggers {
            let path = format!("/v1/jobs/{}/triggers/{trigger}/pause", job.name());
            let answer = self.api.until_answered(0, &Request::send_json("POST", path, &json!({})))?;
            if !answer.is_success() {
                self.refused("pause", job.name(), &answer.body, answer.status);
            }
        }
        let (with_triggers, is_pause, acknowledged_at) = (false, true, moment::now());
        let put = Put { job, version: 0, with_triggers, is_pause, server: 0, asked_at, acknowledged_at };
        self.journal.lock().puts.push(put);
        Ok(())
    }

    fn refused(&self, what: &str, of: &str, body: &str, status: u16) {
        self.journal.lock().refusals.push(format!("the {what} of {of} was answered {status}: {body}"));
    }

    /// Waits for a while; false when it is time to stop.
    fn pause(&self, rng: &mut Rng, (low, high): (u64, u64)) -> bool {
        thread::sleep(Duration::from_millis(rng.between(low, high)));
        !self.stop.load(Ordering::Relaxed)
    }
}

/// The request of a submission; the same key makes the same request.
pub(crate) fn submission(job: Job, key: &str) -> Request<'static> {
    Request::send_json("POST", "/v1/runs", &json!({ "job": job.name() })).header("Idempotency-Key", key)
}
