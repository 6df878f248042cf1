//! What can be read off the machine: its size, its names, and how much of it is in use.

use std::collections::HashMap;
use std::fs;
use std::time::Instant;

use mainspring_model::NodeId;
use mainspring_wire::agent::NodeUsage;

use crate::core::Profile;
use crate::options::Options;

/// Attempts at once for each core, for nodes that do not say.
const SLOTS_PER_CORE: u64 = 32;
/// Ticks of `/proc/stat` in a second.
const TICKS_PER_SECOND: u64 = 100;

/// The node as it describes itself.
pub(crate) fn profile(node: NodeId, options: &Options) -> Profile {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let hostname = hostname();
    let mut labels: HashMap<String, String> = [
        ("os", std::env::consts::OS.to_owned()),
        ("arch", std::env::consts::ARCH.to_owned()),
        ("hostname", hostname.clone()),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into();
    labels.extend(options.labels.clone());
    let slots = u32::try_from(cores * SLOTS_PER_CORE).unwrap_or(u32::MAX);
    Profile {
        node,
        name: options.name.clone().unwrap_or(hostname),
        pool: options.pool.clone(),
        labels,
        cpu_milli: options.cpu_milli.unwrap_or(cores * 1000),
        memory_bytes: options.memory_bytes.unwrap_or_else(|| memory().0),
        named_milli: options.named_milli.clone().into_iter().collect(),
        slots: options.slots.unwrap_or(slots),
        weight: options.weight,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

fn hostname() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "localhost".to_owned(),
        name => name.to_lowercase(),
    }
}

/// Memory of the machine, and the part that is available.
fn memory() -> (u64, u64) {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let kib = line
            .and_then(|rest| rest.split_whitespace().next())
            .and_then(|number| number.parse::<u64>().ok());
        kib.unwrap_or(0) * 1024
    };
    (of("MemTotal:"), of("MemAvailable:"))
}

/// Measures what is in use, between one question and the next.
#[derive(Debug)]
pub(crate) struct Meter {
    busy_ticks: u64,
    at: Instant,
}

impl Meter {
    pub(crate) fn new() -> Self {
        Self { busy_ticks: busy_ticks(), at: Instant::now() }
    }

    pub(crate) fn read(&mut self) -> NodeUsage {
        let (busy_ticks, at) = (busy_ticks(), Instant::now());
        let span_ms = at.duration_since(self.at).as_millis().max(1) as u64;
        let busy_ms = busy_ticks.saturating_sub(self.busy_ticks) * 1000 / TICKS_PER_SECOND;
        (self.busy_ticks, self.at) = (busy_ticks, at);
        let (total, available) = memory();
        NodeUsage { cpu_milli: busy_ms * 1000 / span_ms, memory_bytes: total.saturating_sub(available) }
    }
}

/// Ticks that the cores did not idle, since the machine started.
fn busy_ticks() -> u64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    let ticks: Vec<u64> = line.split_whitespace().skip(1).filter_map(|number| number.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal guest…: guests are in user already.
    ticks.iter().take(8).enumerate().filter(|(at, _)| !matches!(at, 3 | 4)).map(|(_, ticks)| ticks).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_a_size_and_a_name() {
        let node = NodeId::from_bytes([1; 16]);
        let mut options = Options::new("/nowhere", Vec::new());
        options.labels.insert("zone".into(), "eu".into());
        let profile = profile(node, &options);
        assert!(profile.cpu_milli >= 1000 && profile.memory_bytes > 1 << 20 && profile.slots >= 32);
        assert_eq!(profile.labels["os"], "linux");
        assert_eq!(profile.labels["zone"], "eu");
        let used = Meter::new().read();
        assert!(used.memory_bytes > 0 && used.memory_bytes <= profile.memory_bytes);
    }
}
