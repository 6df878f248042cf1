//! Defects: a rule of the engine itself was broken. The cell decides nothing more, says nothing more and writes nothing more;
//! its shell gives it up and loads it anew from rows, which never saw the broken step.

use crate::cell::Cell;

impl Cell {
    /// A rule was broken.
    pub(crate) fn break_down(&mut self, why: String) {
        self.diverged.get_or_insert(why);
        self.is_defect = true;
    }

    /// Why the cell must be given up, if a rule of the engine was broken.
    pub fn defect(&self) -> Option<&str> {
        self.diverged().filter(|_| self.is_defect)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mainspring_model::spec::{self, Format};
    use mainspring_model::{
        CellId, Command, Elapsed, Epoch, JobId, Payload, RunHead, RunId, RunState, RunStatus, Timestamp,
    };

    use crate::{Answer, Cell, Config, Event, Message, Now, OwnLease, RequestId, Tenure};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_micros(second * 1_000_000)
    }

    fn head() -> RunHead {
        RunHead {
            id: RunId::MIN,
            namespace: Default::default(),
            job: JobId::MIN,
            job_version: 1,
            inline_spec: None,
            idempotency_key: None,
            priority: 0,
            created_at: at(1),
            not_before: None,
            deadline: None,
            keys: None,
            params: Payload::from(b"{}".to_vec()),
            overlap: Default::default(),
            submitted_by: "test".into(),
            fired: None,
        }
    }

    #[test]
    fn an_illegal_step_makes_the_cell_diverge_and_nothing_follows_from_it() {
        let lease = OwnLease { until: Elapsed::MAX, extends_until: Elapsed::MAX };
        let tenure = Tenure {
            epoch: Epoch(1),
            lease,
            succeeds_other: false,
            nodes: Vec::new(),
            pause: None,
            memories: Vec::new(),
        };
        let now = Now { elapsed: Elapsed::ZERO, store: at(1) };
        let mut cell = Cell::new(Config::default(), tenure, now);
        cell.take_messages();
        let spec = Arc::new(spec::parse("name: a\nscript: 'true'", Format::Yaml).unwrap());
        let status = RunStatus::arrived(CellId(0), at(1));
        let ix = cell.enter(at(1), Arc::new(head()), status, &spec);
        cell.mark(ix);
        assert_eq!(cell.defect(), None);
        cell.step(ix, Command::Succeed);
        assert!(cell.defect().is_some_and(|why| why.contains(&RunId::MIN.to_string())));
        assert_eq!(cell.runs.entries[ix].status.state, RunState::Ready, "the run stays where it was");
        assert!(cell.cut().is_none(), "nothing is written");
        let request = RequestId(7);
        cell.handle(now, Event::PauseCell { request, pause: None });
        let said = cell.take_messages();
        let is_refusal = |message: &Message| {
            matches!(message, Message::Reply { request: RequestId(7), answer: Answer::Refused { .. } })
        };
        assert!(said.iter().all(is_refusal) && said.len() == 1, "{said:?}");
    }
}
