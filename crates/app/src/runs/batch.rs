//! Submitting many runs at once. Each is answered for itself; what is refused does not keep the others back.

use mainspring_engine::Answer;
use mainspring_model::{ErrorCode, Namespace};
use mainspring_wire::api::{BatchResult, BatchSubmit, Submit, SubmitOutcome};

use super::submit::{FORCED, Said, operation_of, place_of};
use crate::app::{App, note_answer};
use crate::audit::Entry;
use crate::error::{Error, Result};
use crate::limits::BATCH_RUNS_MAX;
use crate::operation::Operation;
use crate::ports::NewRun;
use crate::principal::Caller;

/// What a batch asks of a namespace.
struct Place {
    namespace: Namespace,
    runs: usize,
    forced: usize,
}

impl App {
    /// Submits runs. With `key`, runs without a key of their own get one from it, so that the whole batch can be repeated.
    pub async fn submit_batch(
        &self,
        caller: &Caller,
        namespace: Option<Namespace>,
        batch: BatchSubmit,
        key: Option<&str>,
    ) -> Result<BatchResult> {
        if !(1..=BATCH_RUNS_MAX).contains(&batch.runs.len()) {
            let (code, message) = match batch.runs.len() {
                0 => (ErrorCode::InvalidRequest, "is empty".to_owned()),
                count => {
                    (ErrorCode::TooLarge, format!("has {count} runs, at most {BATCH_RUNS_MAX} are allowed"))
                }
            };
            return Err(Error::field(code, "runs", message));
        }
        let mut items: Vec<Option<SubmitOutcome>> = Vec::with_capacity(batch.runs.len());
        let mut runs: Vec<(usize, Said, NewRun)> = Vec::with_capacity(batch.runs.len());
        let mut places: Vec<Place> = Vec::new();
        for (at, mut wish) in batch.runs.into_iter().enumerate() {
            let prefix = format!("runs[{at}].");
            let place = place_of(&wish, namespace.clone())?;
            self.allow_batch(caller, &mut places, &place, &wish).await?;
            if let (None, Some(key)) = (&wish.idempotency_key, key) {
                wish.idempotency_key = Some(format!("{key}#{at}"));
            }
            let said = Said::by(&wish);
            match self.new_run(caller, place, wish, &prefix).await {
                Ok(run) => {
                    runs.push((at, said, run));
                    items.push(None);
                }
                Err(error) => items.push(Some(refusal(error))),
            }
        }
        let entries = self.batch_entries(caller, &places);
        if runs.is_empty() {
            for entry in entries {
                self.journal.note(entry).await;
            }
        } else {
            self.send_batch(runs, entries, &mut items).await?;
        }
        let items: Vec<SubmitOutcome> = items.into_iter().flatten().collect();
        let submitted = items.iter().filter(|item| matches!(item, SubmitOutcome::Submitted { .. })).count();
        Ok(BatchResult { submitted, refused: items.len() - submitted, items })
    }

    async fn send_batch(
        &self,
        runs: Vec<(usize, Said, NewRun)>,
        entries: Vec<Entry>,
        items: &mut [Option<SubmitOutcome>],
    ) -> Result<()> {
        let asked: Vec<_> = runs
            .iter()
            .map(|(at, said, run)| {
                (*at, run.head.idempotency_key.is_some().then(|| (*said, run.head.clone())))
            })
            .collect();
        let answers = self.cells.submit(runs.into_iter().map(|(.., run)| run).collect(), entries).await;
        note_answer(&answers);
        for ((at, asked), answer) in asked.into_iter().zip(answers?) {
            items[at] = Some(match answer {
                Answer::Submitted { run, duplicate } => match asked.filter(|_| duplicate) {
                    Some((said, asked)) => match self.same_wish(&asked, said, run).await {
                        Ok(_) => SubmitOutcome::Submitted { id: run, duplicate },
                        Err(error) => refusal(error),
                    },
                    None => SubmitOutcome::Submitted { id: run, duplicate },
                },
                Answer::Refused { code, message } => refusal(Error::new(code, message)),
                Answer::Done => refusal(Error::new(ErrorCode::Internal, "the owner did not answer")),
            });
        }
        Ok(())
    }

    /// Whoever may not submit to one of the namespaces submits nothing. Each namespace is asked about once.
    async fn allow_batch(
        &self,
        caller: &Caller,
        places: &mut Vec<Place>,
        namespace: &Namespace,
        wish: &Submit,
    ) -> Result<()> {
        let operation = operation_of(wish);
        if operation == Operation::RunSubmitSpec {
            self.allow(caller, operation, Some(namespace)).await?;
        }
        let forced = usize::from(wish.force);
        match places.iter_mut().find(|place| place.namespace == *namespace) {
            Some(place) => (place.runs, place.forced) = (place.runs + 1, place.forced + forced),
            None => {
                self.allow(caller, Operation::RunBatch, Some(namespace)).await?;
                places.push(Place { namespace: namespace.clone(), runs: 1, forced });
            }
        }
        Ok(())
    }

    /// One entry for the call, or one for each namespace that it touches.
    fn batch_entries(&self, caller: &Caller, places: &[Place]) -> Vec<Entry> {
        let now = self.now();
        let detail = |place: &Place| match place.forced {
            0 => format!("{} runs", place.runs),
            forced => format!("{} runs, {forced} {FORCED}", place.runs),
        };
        let entry = |place: &Place| Entry {
            detail: Some(detail(place).into()),
            ..caller.entry(now, Operation::RunBatch, Some(&place.namespace))
        };
        places.iter().map(entry).collect()
    }
}

fn refusal(error: Error) -> SubmitOutcome {
    SubmitOutcome::Refused { code: error.code.name().into(), detail: error.message, errors: error.fields }
}
