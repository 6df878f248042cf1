//! The order to the sidecar: program, arguments, surroundings, limits in time.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use mainspring_model::spec::{Body, Delivery, Process, ProcessLimits, Script, Template, Umask};
use mainspring_sidecar::protocol::{File, Rlimit, RlimitKind, Start, Stdin};
use mainspring_sidecar::{AttemptKey, Layout};

use super::environment;
use super::template::Values;
use super::users::Users;
use crate::core::Order;

/// The owner watches the time a task may run; the sidecar ends it so much later, should nobody have told it to.
const RUN_TIMEOUT_SLACK: Duration = Duration::from_secs(60);
/// The script's name in the attempt's directory.
const SCRIPT: &str = "script";
/// A process that used up its processor time is told, and has so many seconds more before it is killed.
const CPU_TIME_GRACE: u64 = 5;

/// What surrounds a program, whichever body it is of.
struct Surroundings<'a> {
    env: &'a BTreeMap<Box<str>, Template>,
    cwd: Option<&'a Template>,
    stdin: Option<&'a Template>,
    user: Option<&'a str>,
    limits: &'a ProcessLimits,
    umask: Option<Umask>,
}

/// What to tell the sidecar. The deadline is set when it is told.
pub(super) fn start(
    order: &Order,
    values: &Values<'_>,
    layout: &Layout,
    users: &Users,
) -> Result<Start, String> {
    let key = AttemptKey::from(order.token);
    let mut start = Start::new(key, std::iter::empty::<String>());
    match &order.spec.body {
        Body::Process(process) => process_body(order, values, process, &mut start)?,
        Body::Script(script) => script_body(order, values, script, layout, &mut start)?,
        Body::Handler(handler) => {
            return Err(format!(
                "handler: this node runs programs, not functions such as `{}`",
                handler.name
            ));
        }
    }
    start.user = users.choose(start.user)?;
    start.caps.pids = Some(users.processes(start.caps.pids));
    let timeout = &order.spec.timeout;
    start.grace_ms = u32::try_from(timeout.stop_grace.as_millis()).unwrap_or(u32::MAX);
    start.run_timeout_ms = timeout.run.map(|run| (run + RUN_TIMEOUT_SLACK).as_millis() as u64);
    start.durable = order.spec.delivery == Delivery::AtMostOnce;
    // Memory cannot be taken back from others as processor time can: who reserves some has that and no more.
    start.caps.memory_bytes = Some(order.spec.resources.memory_bytes).filter(|bytes| *bytes > 0);
    Ok(start)
}

fn process_body(order: &Order, values: &Values<'_>, body: &Process, start: &mut Start) -> Result<(), String> {
    start.argv.reserve(1 + body.args.len());
    start.argv.push(values.render(|| "process.command".into(), &body.command)?);
    arguments(values, &body.args, start)?;
    let Process { env, cwd, stdin, user, limits, umask, .. } = body;
    let (cwd, stdin, user, umask) = (cwd.as_ref(), stdin.as_ref(), user.as_deref(), *umask);
    let surroundings = Surroundings { env, cwd, stdin, user, limits, umask };
    surround(order, values, &surroundings, start)
}

fn script_body(
    order: &Order,
    values: &Values<'_>,
    body: &Script,
    layout: &Layout,
    start: &mut Start,
) -> Result<(), String> {
    start.argv.extend(body.interpreter_words().into_iter().map(str::to_owned));
    // The sidecar places the file before it starts the interpreter.
    start.argv.push(layout.attempt(&start.key).join(SCRIPT).to_string_lossy().into_owned());
    arguments(values, &body.args, start)?;
    let Script { env, cwd, stdin, user, limits, umask, text, .. } = body;
    let (cwd, stdin, user, umask) = (cwd.as_ref(), stdin.as_ref(), user.as_deref(), *umask);
    let surroundings = Surroundings { env, cwd, stdin, user, limits, umask };
    surround(order, values, &surroundings, start)?;
    let content = Bytes::copy_from_slice(text.as_bytes());
    start.files.push(File { name: SCRIPT.to_owned(), content, mode: 0o700, variable: None });
    Ok(())
}

fn arguments(values: &Values<'_>, args: &[Template], start: &mut Start) -> Result<(), String> {
    for (index, template) in args.iter().enumerate() {
        start.argv.push(values.render(|| format!("args[{index}]"), template)?);
    }
    Ok(())
}

fn surround(
    order: &Order,
    values: &Values<'_>,
    surroundings: &Surroundings<'_>,
    start: &mut Start,
) -> Result<(), String> {
    start.env = environment::variables(order, values, surroundings.env)?;
    start.files = environment::files(order);
    start.cwd = surroundings.cwd.map(|cwd| values.render(|| "cwd".into(), cwd)).transpose()?;
    if let Some(stdin) = surroundings.stdin {
        start.stdin = Stdin::Bytes(values.render(|| "stdin".into(), stdin)?.into());
    }
    start.user = surroundings.user.map(str::to_owned);
    start.umask = surroundings.umask.map(Umask::bits);
    start.rlimits = rlimits(surroundings.limits);
    start.caps.pids = surroundings.limits.processes;
    Ok(())
}

fn rlimits(limits: &ProcessLimits) -> Vec<Rlimit> {
    let cpu_seconds = limits.cpu_time.map(|time| time.as_secs());
    let all = [
        (RlimitKind::Cpu, cpu_seconds),
        (RlimitKind::OpenFiles, limits.open_files.map(u64::from)),
        (RlimitKind::FileSize, limits.file_size),
        (RlimitKind::Core, limits.core),
        (RlimitKind::Stack, limits.stack),
        (RlimitKind::AddressSpace, limits.address_space),
        (RlimitKind::LockedMemory, limits.locked_memory),
    ];
    let given = all.into_iter().filter_map(|(kind, limit)| Some((kind, limit?)));
    given
        .map(|(kind, limit)| {
            let more = if kind == RlimitKind::Cpu { CPU_TIME_GRACE } else { 0 };
            Rlimit { kind, soft: Some(limit), hard: Some(limit.saturating_add(more)) }
        })
        .collect()
}
