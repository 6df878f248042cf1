//! Callers that wait for the engine's answer, by request.

use mainspring_app::ports::CellError;
use mainspring_engine::{Answer, RequestId};
use rustc_hash::FxHashMap;
use tokio::sync::oneshot;

/// Who waits. A submission of many runs is one caller with many requests.
#[derive(Debug, Default)]
pub(super) struct Pending {
    next: u64,
    by_request: FxHashMap<u64, Waiter>,
    batches: FxHashMap<u64, BatchWaiter>,
}

#[derive(Debug)]
enum Waiter {
    One(oneshot::Sender<Result<Answer, CellError>>),
    /// The answer to one run of a batch: which batch, which place in it.
    Part(u64, usize),
}

#[derive(Debug)]
struct BatchWaiter {
    answers: Vec<Option<Answer>>,
    missing: usize,
    reply: oneshot::Sender<Result<Vec<Answer>, CellError>>,
}

impl Pending {
    /// A caller with one request.
    pub(super) fn one(&mut self, reply: oneshot::Sender<Result<Answer, CellError>>) -> RequestId {
        let request = self.number();
        self.by_request.insert(request, Waiter::One(reply));
        RequestId(request)
    }

    /// A caller with `count` requests, numbered from the answer on.
    pub(super) fn many(
        &mut self,
        count: usize,
        reply: oneshot::Sender<Result<Vec<Answer>, CellError>>,
    ) -> impl Iterator<Item = RequestId> + use<> {
        let first = self.next + 1;
        self.next += count as u64;
        self.by_request.extend((0..count).map(|at| (first + at as u64, Waiter::Part(first, at))));
        self.batches.insert(first, BatchWaiter { answers: vec![None; count], missing: count, reply });
        (first..first + count as u64).map(RequestId)
    }

    /// The engine answered.
    pub(super) fn answer(&mut self, request: RequestId, answer: Answer) {
        match self.by_request.remove(&request.0) {
            Some(Waiter::One(reply)) => drop(reply.send(Ok(answer))),
            Some(Waiter::Part(batch, at)) => self.answer_part(batch, at, answer),
            None => {}
        }
    }

    fn answer_part(&mut self, batch: u64, at: usize, answer: Answer) {
        let Some(waiter) = self.batches.get_mut(&batch) else { return };
        waiter.answers[at] = Some(answer);
        waiter.missing -= 1;
        if waiter.missing == 0
            && let Some(BatchWaiter { answers, reply, .. }) = self.batches.remove(&batch)
        {
            drop(reply.send(Ok(answers.into_iter().flatten().collect())));
        }
    }

    /// The cell is given up: nobody here can answer. What was asked may have been done.
    pub(super) fn give_up(&mut self) {
        for (_, waiter) in self.by_request.drain() {
            if let Waiter::One(reply) = waiter {
                drop(reply.send(Err(CellError::Deposed)));
            }
        }
        for (_, waiter) in self.batches.drain() {
            drop(waiter.reply.send(Err(CellError::Deposed)));
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_answered_when_its_last_part_is() {
        let mut pending = Pending::default();
        let (reply, mut answers) = oneshot::channel();
        let requests: Vec<RequestId> = pending.many(2, reply).collect();
        pending.answer(requests[1], Answer::Done);
        assert!(answers.try_recv().is_err());
        let refused = Answer::Refused { code: mainspring_model::ErrorCode::TooLarge, message: "big".into() };
        pending.answer(requests[0], refused.clone());
        assert_eq!(answers.try_recv().unwrap().unwrap(), [refused, Answer::Done]);
        assert!(pending.by_request.is_empty() && pending.batches.is_empty());
    }

    #[test]
    fn giving_up_tells_everybody() {
        let mut pending = Pending::default();
        let (one, mut first) = oneshot::channel();
        let (many, mut second) = oneshot::channel();
        pending.one(one);
        let _ = pending.many(3, many);
        pending.give_up();
        assert!(matches!(first.try_recv(), Ok(Err(CellError::Deposed))));
        assert!(matches!(second.try_recv(), Ok(Err(CellError::Deposed))));
    }
}
