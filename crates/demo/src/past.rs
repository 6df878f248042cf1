//! Living through the history: virtual time moves to whatever is due next, of the owner, the machines or the story.

use std::sync::Arc;
use std::time::Duration;

use mainspring_app::audit::Chain;
use mainspring_app::{App, Parts};
use mainspring_engine::Event;
use mainspring_model::{AttemptToken, MemberId, Timestamp};
use mainspring_store_mem::MemStore;
use tokio::sync::Mutex;

use crate::Options;
use crate::cells::{NoLogs, OneCell};
use crate::chance::Chance;
use crate::clock::Clock;
use crate::error::Error;
use crate::machine::Machines;
use crate::owner::Owner;
use crate::story::Story;

/// The audit is kept as long as a server keeps it by default.
const AUDIT_KEPT: Duration = Duration::from_secs(400 * 86_400);
/// Before the end the machines take nothing more; what is left is for the real node.
const LAST_ORDERS: Duration = Duration::from_secs(4);
const SLOTS: u32 = 16;
/// Looks at one moment after which it is over: no moment of the company has so many.
const LOOKS_MAX: u32 = 10_000;

/// What happened.
pub(crate) struct Past {
    pub(crate) store: MemStore,
    pub(crate) token: String,
    pub(crate) logs: Vec<(AttemptToken, Vec<u8>)>,
}

/// Lives through it.
pub(crate) async fn live(options: Options) -> Result<Past, Error> {
    let Options { until, seed, days } = options;
    let begin = until - Duration::from_secs(u64::from(days) * 86_400);
    let clock = Clock::at(begin);
    let shown = clock.clone();
    let store = MemStore::new(Arc::new(move || shown.now()));
    let chain = Arc::new(Chain::new(MemberId::new(begin, u128::from(seed)), AUDIT_KEPT));
    let owner = Owner::take(store.clone(), clock.clone(), Arc::clone(&chain)).await?;
    let owner = Arc::new(Mutex::new(owner));
    let parts = Parts {
        store: Arc::new(store.clone()),
        cells: Arc::new(OneCell::new(Arc::clone(&owner), clock.clone())),
        logs: Arc::new(NoLogs),
        artifacts: None,
        chain,
    };
    let settings = mainspring_app::Options {
        job_ttl: Duration::ZERO,
        ids: Some([seed, 0x6c69_6e64_656e]),
        ..mainspring_app::Options::default()
    };
    let story = Story::begin(App::new(parts, settings), options).await;
    // What broke says more than what whoever asked was told.
    let story = match owner.lock().await.take_broken() {
        Some(broken) => return Err(broken),
        None => story?,
    };
    let machines = Machines::new(seed, until);
    let haste = Chance::new(seed, "haste");
    let mut world = World { store, clock, owner, story, machines, until, haste };
    let hello = world.machines.hello(begin, SLOTS);
    world.say(hello).await?;
    world.go_on(until - LAST_ORDERS).await?;
    let leaving = world.machines.hello(world.clock.now(), 0);
    world.say(leaving).await?;
    let finished = world.machines.finish(world.clock.now());
    world.say(finished).await?;
    world.go_on(until).await?;
    let goodbye = world.machines.goodbye();
    world.say(goodbye).await?;
    Ok(Past { store: world.store, token: world.story.token(), logs: world.machines.logs })
}

struct World {
    store: MemStore,
    clock: Clock,
    owner: Arc<Mutex<Owner>>,
    story: Story,
    machines: Machines,
    until: Timestamp,
    /// How late the owner looks at what is due.
    haste: Chance,
}

impl World {
    /// Everything that is due before `until`.
    async fn go_on(&mut self, until: Timestamp) -> Result<(), Error> {
        let mut looks = 0;
        loop {
            let now = self.clock.now();
            let due = self.owner.lock().await.next_deadline();
            let owner = due.map(|due| due + self.late());
            let next = [owner, self.machines.next(), self.story.next()].into_iter().flatten().min();
            let Some(next) = next.map(|next| next.max(now)).filter(|next| *next < until) else { break };
            looks = if next == now { looks + 1 } else { 0 };
            if looks > LOOKS_MAX {
                return Err(Error::Broken(format!("time does not pass at {now}")));
            }
            self.clock.advance(next);
            if self.machines.next().is_some_and(|at| at <= next) {
                let events = self.machines.act(next);
                self.say(events).await?;
            } else if self.story.next().is_some_and(|at| at <= next) {
                let acted = self.story.act(&self.store).await;
                match self.owner.lock().await.take_broken() {
                    Some(broken) => return Err(broken),
                    None => acted?,
                }
                self.say(Vec::new()).await?;
            } else {
                self.say(vec![Event::Tick]).await?;
            }
        }
        self.clock.advance(until.min(self.until));
        self.say(vec![Event::Tick]).await
    }

    /// A scheduler is some milliseconds late, and now and then, when the machine is busy, some hundred.
    fn late(&mut self) -> Duration {
        match self.haste.permille(8) {
            true => Duration::from_millis(self.haste.within(200, 2_400)),
            false => Duration::from_micros(self.haste.within(900, 24_000)),
        }
    }

    /// To the owner; what it says is heard by the machines.
    async fn say(&mut self, events: Vec<Event>) -> Result<(), Error> {
        let mut owner = self.owner.lock().await;
        for event in events {
            owner.hear(event).await?;
        }
        for word in owner.take_words() {
            self.machines.hear(self.clock.now(), word);
        }
        Ok(())
    }
}
