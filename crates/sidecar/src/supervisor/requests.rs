//! Acting on what a peer asks for. Each request may come again; the answer is then what is known by now.

use std::fs;

use super::Supervisor;
use super::connection::Connection;
use crate::clock::boottime_us;
use crate::journal::{Entry, Record};
use crate::key::AttemptKey;
use crate::protocol::{
    Capabilities, Event, LOG_READ_BYTES_MAX, Listed, Refusal, Request, Standing, Start, StopCause, VERSION,
};
use crate::task::Stage;

impl Supervisor {
    pub(super) fn read_requests(&mut self, number: usize) {
        let Some(connection) = self.connections.get_mut(number) else { return };
        match connection.read(&mut self.buffer) {
            Ok(()) => self.act_on(number),
            Err(_) => self.drop_connection(number),
        }
    }

    /// Acts on requests that waited for room for their answers.
    pub(super) fn act_on_put_off(&mut self) {
        let waiting = self.connections.iter().filter(|(_, connection)| connection.has_work());
        for number in waiting.map(|(number, _)| number).collect::<Vec<_>>() {
            self.act_on(number);
        }
    }

    fn act_on(&mut self, number: usize) {
        while let Some(request) = self.connections.get_mut(number).and_then(Connection::next_request) {
            self.act(number, request);
        }
    }

    fn act(&mut self, number: usize, request: Request) {
        let greeted = self.connections.get(number).is_some_and(|connection| connection.version > 0);
        match request {
            Request::Hello { version, subscribe } => self.greet(number, version, subscribe),
            // Whoever does not say what it speaks is not understood.
            _ if !greeted => self.drop_connection(number),
            Request::Start(start) => self.order(number, start),
            Request::Stop { key, grace_ms, signal } => self.with_task(number, key, |supervisor, slot| {
                supervisor.stop(slot, Some(StopCause::Requested), grace_ms, signal);
            }),
            Request::Kill { key } => self.with_task(number, key, |supervisor, slot| {
                supervisor.stop(slot, Some(StopCause::Requested), Some(0), None);
            }),
            Request::Extend { key, deadline_us } => self.extend(key, deadline_us),
            Request::Ack { key } => self.acknowledge(key),
            Request::Remove { key } => self.remove(number, key),
            Request::List => self.list(number),
            Request::Log { key, offset, limit } => self.read_log(number, key, offset, limit),
            Request::SetNode { node } => self.set_node(number, node),
            Request::GetNode => self.answer(number, Event::Node { node: self.journal.node() }),
            Request::Shutdown { force: true } => {
                self.answer(number, Event::ShuttingDown { accepted: true });
                self.end(StopCause::Shutdown);
            }
            Request::Shutdown { force: false } => self.dismiss(number),
        }
    }

    pub(super) fn answer(&mut self, number: usize, event: Event) {
        if let Some(connection) = self.connections.get_mut(number) {
            connection.push(event);
        }
    }

    /// The agent leaves: nothing keeps the sidecar but its tasks, until another comes.
    fn dismiss(&mut self, number: usize) {
        // An order of the same batch is executed first, so that it is there to stay for.
        self.start_all();
        let another = self.subscriber.is_some_and(|subscriber| subscriber != number);
        if !another {
            self.ends_at_us = Some(boottime_us());
        }
        let accepted = !another && self.tasks.is_empty() && self.journal.flush().is_ok();
        self.answer(number, Event::ShuttingDown { accepted });
    }

    /// Stops every task, and then the loop.
    pub(super) fn end(&mut self, cause: StopCause) {
        self.ending = true;
        let slots: Vec<usize> = self.tasks.iter().map(|(slot, _)| slot).collect();
        slots.into_iter().for_each(|slot| self.stop(slot, Some(cause), None, None));
    }

    fn greet(&mut self, number: usize, version: u32, subscribe: bool) {
        let capabilities =
            self.cgroups.as_ref().map_or(Capabilities::default(), |cgroups| cgroups.capabilities());
        let node = self.journal.node();
        self.answer(
            number,
            Event::Welcome { version: VERSION.min(version), pid: std::process::id(), node, capabilities },
        );
        let Some(connection) = self.connections.get_mut(number) else { return };
        connection.version = VERSION.min(version);
        if subscribe {
            let finished = self.journal.entries().filter(|(_, entry)| matches!(entry, Entry::Finished(_)));
            connection.owed = finished.map(|(key, _)| *key).collect();
            connection.owed.make_contiguous().sort_unstable();
            self.subscriber = Some(number);
            self.ends_at_us = None;
        }
    }

    /// Takes an order, unless the attempt is known: no attempt is executed twice.
    fn order(&mut self, number: usize, start: Box<Start>) {
        let key = start.key;
        let refuse = |refusal, message: &str| Event::Refused { key, refusal, message: message.to_owned() };
        if let Some(slot) = self.by_key.get(&key) {
            let task = &self.tasks[*slot];
            let event = Event::Started { key, pid: task.pid, started_at_us: task.started_at_us };
            self.answer(number, event);
        } else if let Some(entry) = self.journal.entry(&key) {
            if matches!(entry, Entry::Finished(_))
                && let Some(connection) = self.connections.get_mut(number)
            {
                connection.owed.push_back(key);
            }
        } else if self.journal.is_over(&key) {
            self.answer(
                number,
                refuse(Refusal::AlreadyOver, "the attempt was executed and acknowledged before"),
            );
        } else if self.ending {
            self.answer(number, refuse(Refusal::ShuttingDown, "the sidecar is ending"));
        } else if start.deadline_us.is_some_and(|deadline| deadline <= boottime_us()) {
            self.answer(number, refuse(Refusal::Late, "the lease had ended when the order arrived"));
        } else {
            self.starts.push((number, start));
        }
    }

    fn with_task(&mut self, number: usize, key: AttemptKey, act: impl FnOnce(&mut Self, usize)) {
        // An order of the same batch is executed first, so that it is there to be stopped.
        self.start_all();
        match self.by_key.get(&key) {
            Some(slot) => act(self, *slot),
            None if self.journal.entry(&key).is_some() => {}
            None => self.answer(number, Event::Unknown { key }),
        }
    }

    fn extend(&mut self, key: Option<AttemptKey>, deadline_us: Option<u64>) {
        self.start_all();
        let chosen: Vec<usize> = match key {
            Some(key) => self.by_key.get(&key).copied().into_iter().collect(),
            None => self
                .tasks
                .iter()
                .filter(|(_, task)| task.terms.deadline_us.is_some())
                .map(|(slot, _)| slot)
                .collect(),
        };
        if chosen.is_empty() {
            return;
        }
        self.journal.append(Record::Extended { key, deadline_us });
        for slot in chosen {
            let before = std::mem::replace(&mut self.tasks[slot].terms.deadline_us, deadline_us);
            // A wake-up that is there already comes no later than the new deadline.
            if before.is_none_or(|before| deadline_us.is_some_and(|deadline| deadline < before)) {
                self.arm(slot);
            }
        }
    }

    fn acknowledge(&mut self, key: AttemptKey) {
        if matches!(self.journal.entry(&key), Some(Entry::Finished(_))) {
            self.journal.append(Record::Over { key, refused: false });
        }
    }

    fn remove(&mut self, number: usize, key: AttemptKey) {
        let over = !self.by_key.contains_key(&key) && !self.starts.iter().any(|(_, start)| start.key == key);
        if over {
            self.remover.remove(key);
            self.answer(number, Event::Removed { key });
        }
    }

    fn list(&mut self, number: usize) {
        self.start_all();
        let mut attempts: Vec<Listed> = Vec::new();
        for (_, task) in &self.tasks {
            let standing = Standing::Running {
                pid: task.pid,
                started_at_us: task.started_at_us,
                deadline_us: task.terms.deadline_us,
                log_end: task.capture.end(),
                stopping: task.stage != Stage::Running,
            };
            attempts.push(Listed { key: task.key, standing });
        }
        let finished = self.journal.entries().filter(|(_, entry)| matches!(entry, Entry::Finished(_)));
        attempts.extend(finished.map(|(key, _)| Listed { key: *key, standing: Standing::Finished }));
        let directories = fs::read_dir(self.layout.attempts()).into_iter().flatten().flatten();
        for key in directories.filter_map(|entry| entry.file_name().to_str()?.parse::<AttemptKey>().ok()) {
            let known = self.journal.entry(&key).is_some() || self.by_key.contains_key(&key);
            if !known && !self.remover.is_removing(&key) {
                attempts.push(Listed { key, standing: Standing::Retained });
            }
        }
        self.answer(number, Event::Listing { attempts });
    }

    fn read_log(&mut self, number: usize, key: AttemptKey, offset: u64, limit: u32) {
        let limit = limit.min(LOG_READ_BYTES_MAX) as usize;
        let (read, end, over) = if let Some(slot) = self.by_key.get(&key) {
            let capture = &self.tasks[*slot].capture;
            (capture.read(offset, limit), capture.end(), false)
        } else if let Some(Entry::Finished(finished)) = self.journal.entry(&key) {
            let extent = finished.log_extent();
            (extent.read(&self.layout.log(&key), offset, limit), extent.end, true)
        } else {
            return self.answer(number, Event::Unknown { key });
        };
        let (offset, frames) = read.unwrap_or((end, Vec::new()));
        self.answer(number, Event::LogRead { key, offset, frames: frames.into(), end, over });
    }

    fn set_node(&mut self, number: usize, node: [u8; 16]) {
        self.journal.append(Record::Node(node));
        self.journal.sync_next();
        // Only a durable id is answered: under one that is lost, the node would be taken for another.
        if self.journal.flush().is_ok() {
            self.answer(number, Event::Node { node: Some(node) });
        }
    }
}
