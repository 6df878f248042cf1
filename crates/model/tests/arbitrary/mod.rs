//! Any valid job, for tests by property.
//!
//! Text is chosen to be easily taken for something else: `no`, `0777`, `- a`, line ends, marks of YAML.
//! What the reader refuses between fields is kept out here, in the same places.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use mainspring_model::spec::*;
use mainspring_model::{Labels, Resources, Selector};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Any valid job.
pub(crate) fn job() -> impl Strategy<Value = JobSpec> {
    (identity(), data(), policies(), where_to_run()).prop_map(|(identity, data, policies, place)| {
        let mut spec = JobSpec::new(identity.0.parse().unwrap(), data.0);
        spec.namespace = identity.1.map(|text| text.parse().unwrap());
        spec.owner = identity.2;
        spec.description = identity.3;
        spec.labels = identity.4;
        if spec.body.handler().is_none() {
            (spec.artifacts, spec.inputs, spec.outputs) = (data.1, data.2, data.3);
        }
        spec.parameters = data.4;
        (spec.timeout, spec.concurrency, spec.rate_limit) = (policies.1, policies.2, policies.3);
        (spec.delivery, spec.on_disconnect, spec.retention) = (policies.4, policies.5, policies.6);
        spec.retry = policies.0;
        (spec.dispatch, spec.placement, spec.resources, spec.priority) = place;
        settle_retries(&mut spec);
        let required = |parameter: &Parameter| parameter.presence == Presence::Required;
        // Whoever requires values is not fired without them.
        if !spec.parameters.0.values().any(required) {
            spec.triggers = policies.7;
        }
        spec
    })
}

type Identity = (String, Option<String>, Option<Box<str>>, Option<Box<str>>, Labels);

fn identity() -> impl Strategy<Value = Identity> {
    let labels =
        btree_map("[a-zA-Z0-9]{1,8}", select(vec!["eu", "1", "no", "true", "数据", "a:b/c+d@e"]), 0..4);
    let labels = labels.prop_map(|map| {
        Labels::try_from(map.into_iter().map(|(k, v)| (k.into(), v.into())).collect::<BTreeMap<_, _>>())
            .unwrap()
    });
    (name(), option::of("[a-z]{1,5}(/[a-z0-9]{1,5}){0,3}"), option::of(text()), option::of(text()), labels)
}

fn name() -> impl Strategy<Value = String> {
    "[a-z0-9]([a-z0-9._-]{0,10}[a-z0-9])?"
}

/// Text that is easily taken for something else.
fn text() -> impl Strategy<Value = Box<str>> {
    const TRICKY: [&str; 42] = [
        "yes",
        "no",
        "null",
        "~",
        "true",
        "0777",
        "1e3",
        "0x1f",
        "1_000",
        "- a",
        "a: b",
        "# c",
        " lead",
        "trail ",
        "'",
        "\"",
        "{{ params.day }}",
        "line\nline\n",
        "\ttab",
        "tab\t\nend",
        "%",
        "@",
        "`",
        "*a",
        "&a",
        "!t",
        "|",
        ">",
        "\u{feff}",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "---",
        "...",
        "<<",
        "=",
        ".inf",
        "2020-01-01",
        "\r\n",
        "\\n",
        "é",
        "日本",
    ];
    prop_oneof![select(&TRICKY[..]).prop_map(String::from), "[ -~]{1,20}", "\\PC{1,10}"].prop_map(Into::into)
}

fn template() -> impl Strategy<Value = Template> {
    let plain = text().prop_map(|text| Template::from(&*text)).prop_filter("plain", Template::is_plain);
    prop_oneof![4 => plain, 1 => Just(Template::from("a {{ params }}"))]
}

fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![1..=1_000_000u64, 1..=300_000_000_000_000u64].prop_map(Duration::from_micros)
}

fn env() -> impl Strategy<Value = BTreeMap<Box<str>, Template>> {
    btree_map("[A-Z][A-Z_]{0,5}".prop_map(Into::into), template(), 0..3)
}

fn paths() -> impl Strategy<Value = BTreeMap<Box<str>, Template>> {
    btree_map(name().prop_map(Into::into), template(), 0..3)
}

type Data = (Body, Vec<Artifact>, BTreeMap<Box<str>, Template>, BTreeMap<Box<str>, Template>, Parameters);

fn data() -> impl Strategy<Value = Data> {
    (body(), artifacts(), paths(), paths(), parameters())
}

fn body() -> impl Strategy<Value = Body> {
    let args = || vec(template(), 0..3);
    let rest =
        || (env(), option::of(template()), option::of(template()), option::of(text()), limits(), umask());
    prop_oneof![
        (template(), args(), rest()).prop_map(|(command, args, (env, cwd, stdin, user, limits, umask))| {
            Body::Process(Process { command, args, env, cwd, stdin, user, limits, umask })
        }),
        (text(), vec(text(), 0..3), args(), rest()).prop_map(|(text, interpreter, args, rest)| {
            let (env, cwd, stdin, user, limits, umask) = rest;
            Body::Script(Script { text, interpreter, args, env, cwd, stdin, user, limits, umask })
        }),
        "[A-Za-z][A-Za-z0-9._:/-]{0,9}".prop_map(|name| Body::Handler(Handler { name: name.into() })),
    ]
}

fn limits() -> impl Strategy<Value = ProcessLimits> {
    let size = || option::of(any::<u64>());
    let counts = (option::of(1u64..100_000), option::of(16u32..1 << 30), option::of(1u32..1 << 22));
    (counts, size(), size(), size(), size(), size()).prop_map(
        |((seconds, open_files, processes), file_size, core, stack, address_space, locked_memory)| {
            let cpu_time = seconds.map(Duration::from_secs);
            ProcessLimits {
                cpu_time,
                open_files,
                processes,
                file_size,
                core,
                stack,
                address_space,
                locked_memory,
            }
        },
    )
}

fn umask() -> impl Strategy<Value = Option<Umask>> {
    option::of("[0-7]{3}".prop_map(|text| text.parse().expect("three octal digits")))
}

fn artifacts() -> impl Strategy<Value = Vec<Artifact>> {
    let artifact = (any::<[u8; 32]>(), option::of("[a-z]{1,4}(/[a-z]{1,4})?"), any::<bool>());
    vec(artifact, 0..3).prop_map(|list| {
        let build =
            |(index, (digest, path, executable)): (usize, ([u8; 32], Option<String>, bool))| Artifact {
                url: Some(format!("https://files.example/f{index}").into()),
                digest: Digest::from_bytes(digest),
                path: path.map(|path| format!("{index}/{path}").into()),
                executable,
            };
        list.into_iter().enumerate().map(build).collect()
    })
}

fn parameters() -> impl Strategy<Value = Parameters> {
    let kinds: Vec<(ParameterType, Value)> = vec![
        (ParameterType::String { min_length: None, max_length: Some(9) }, json!("no")),
        (ParameterType::Integer { min: Some(i64::MIN), max: None }, json!(-5)),
        (ParameterType::Number { min: Some(-1.5), max: Some(1e9) }, json!(0.1)),
        (ParameterType::Boolean, json!(false)),
        (ParameterType::Enum { values: vec!["yes".into(), "no".into()] }, json!("yes")),
        (
            ParameterType::List {
                items: Some(Box::new(ParameterType::Enum { values: vec!["1".into()] })),
                min_length: Some(1),
                max_length: None,
            },
            json!(["1"]),
        ),
        (ParameterType::List { items: None, min_length: None, max_length: None }, json!([])),
        (ParameterType::Object, json!({"a": [1, {"b": "~"}]})),
        (ParameterType::Json, json!(1.5)),
    ];
    let parameter =
        (select(kinds), 0..3u8, option::of(text())).prop_map(|((kind, value), presence, description)| {
            let presence = match presence {
                0 => Presence::Required,
                1 => Presence::Optional,
                _ => Presence::Default(value),
            };
            Parameter { kind, presence, description }
        });
    btree_map("[a-z][a-z0-9_]{0,5}".prop_map(Into::into), parameter, 0..4).prop_map(Parameters)
}

type Policies = (
    Retry,
    Timeouts,
    Option<Concurrency>,
    Option<RateLimit>,
    Delivery,
    OnDisconnect,
    Retention,
    Vec<Trigger>,
);

fn policies() -> impl Strategy<Value = Policies> {
    // Small ones too: some of them are defaults.
    let count = || prop_oneof![1..=3u32, 1..=1_000_000_000u32].prop_map(|n| NonZeroU32::new(n).unwrap());
    let concurrency = (count(), option::of(template()), select(&Overlap::ALL[..]), option::of(count()))
        .prop_map(|(limit, key, overlap, queue_max)| {
            let queue_max = queue_max.filter(|_| overlap == Overlap::QueueAll);
            Concurrency { limit, key, overlap, queue_max }
        });
    let rate = (count(), duration(), option::of(template())).prop_map(|(limit, per, key)| RateLimit {
        limit,
        per,
        key,
    });
    let retention = (option::of(duration()), option::of(count()))
        .prop_map(|(age, count)| Retention { runs: Keep { age, count } });
    (
        retry(),
        timeouts(),
        option::of(concurrency),
        option::of(rate),
        select(vec![Delivery::AtMostOnce, Delivery::AtLeastOnce]),
        select(vec![OnDisconnect::Stop, OnDisconnect::Keep]),
        retention,
        triggers(),
    )
}

fn triggers() -> impl Strategy<Value = Vec<Trigger>> {
    let count = || (1..=1_000_000_000u32).prop_map(|n| NonZeroU32::new(n).unwrap());
    let seconds = || (1_u64..100_000).prop_map(Duration::from_secs);
    let moment = || (0_i64..4_000_000_000_000_000).prop_map(mainspring_model::Timestamp::from_micros);
    let cron = (
        select(vec!["0 3 * * MON-FRI", "@daily", "*/5 * * * * *", "H H(0-7) L * ?", "0 0 12 15W 1 ? 2027"]),
        select(vec!["UTC", "Europe/Berlin", "Asia/Shanghai"]),
        select(vec![Days::Or, Days::And]),
        any::<(bool, bool)>(),
    );
    let cron = cron.prop_map(|(cron, zone, days, (skip, both))| When::Cron {
        cron: cron.into(),
        zone: zone.into(),
        days,
        dst: mainspring_cron::Dst {
            gap: if skip { mainspring_cron::Gap::Skip } else { mainspring_cron::Gap::Once },
            overlap: if both { mainspring_cron::Overlap::Both } else { mainspring_cron::Overlap::First },
        },
    });
    let every = (seconds(), 0_u64..1_000).prop_map(|(every, offset)| When::Every {
        every,
        offset: Duration::from_secs(offset % every.as_secs()),
    });
    let misfire = (0_usize..3, 60_u64..100_000, 1_u32..1_000).prop_map(|(policy, window, max)| {
        let policy = MisfirePolicy::ALL[policy].1;
        let max =
            if policy == MisfirePolicy::All { NonZeroU32::new(max).unwrap() } else { Misfire::MAX_DEFAULT };
        Misfire { policy, window: Duration::from_secs(window), max }
    });
    let needs = btree_map(name(), duration(), 0..3).prop_map(|needs| {
        let need = |(job, within)| Need { job: format!("other-{job}").parse().unwrap(), within };
        needs.into_iter().map(need).collect()
    });
    let rest = (option::of(moment()), option::of(count()), duration(), misfire, option::of(count()), needs);
    let timed = (prop_oneof![cron, every], rest).prop_map(
        |(when, (from, count, jitter, misfire, pause_after, needs))| Trigger {
            from,
            count,
            jitter,
            misfire,
            pause_after,
            needs,
            ..trigger(when)
        },
    );
    let ends = select(vec![On::Success, On::Failure, On::Any]);
    let other = prop_oneof![
        seconds().prop_map(|delay| trigger(When::Delay { delay })),
        moment().prop_map(|at| trigger(When::At { at })),
        (name(), ends).prop_map(|(job, on)| trigger(When::After {
            after: After { job: format!("other-{job}").parse().unwrap(), on }
        })),
        webhook(),
    ];
    vec((name(), prop_oneof![timed, other]), 0..3).prop_map(|all| {
        let by_name: BTreeMap<String, Trigger> = all.into_iter().collect();
        by_name
            .into_iter()
            .map(|(name, trigger)| Trigger { name: name.parse().unwrap(), ..trigger })
            .collect()
    })
}

fn webhook() -> impl Strategy<Value = Trigger> {
    let encoding = select(vec![Encoding::Hex, Encoding::Base64]);
    let prefix = select(vec!["", "sha256="]);
    let signature = (select(vec!["X-Sig", "x-hub-signature-256"]), prefix, encoding).prop_map(
        |(header, prefix, encoding)| Signature { header: header.into(), prefix: prefix.into(), encoding },
    );
    let dedupe =
        select(vec!["{{ payload.id }}", "{{ headers['x-id'] }}/{{ payload[0] }}"]).prop_map(Template::from);
    let count = option::of((1..=1_000u32).prop_map(|n| NonZeroU32::new(n).unwrap()));
    (option::of(signature), option::of(dedupe), count).prop_map(|(signature, dedupe, count)| Trigger {
        count,
        pause_after: count,
        ..trigger(When::Webhook { webhook: Webhook { signature, dedupe } })
    })
}

fn trigger(when: When) -> Trigger {
    Trigger {
        name: when.kind().parse().unwrap(),
        when,
        from: None,
        until: None,
        count: None,
        calendar: Vec::new(),
        needs: Vec::new(),
        jitter: Duration::ZERO,
        misfire: Misfire::default(),
        parameters: BTreeMap::new(),
        pause_after: None,
    }
}

fn timeouts() -> impl Strategy<Value = Timeouts> {
    let parts =
        (option::of(duration()), option::of(duration()), option::of(duration()), duration(), duration());
    (parts, any::<bool>()).prop_map(|((queue, run, heartbeat, start, stop_grace), is_bounded)| {
        let heartbeat = heartbeat.map(|heartbeat| run.map_or(heartbeat, |run| heartbeat.min(run)));
        let longest = [queue, run, Some(start)].into_iter().flatten().max();
        Timeouts { queue, start, run, heartbeat, total: longest.filter(|_| is_bounded), stop_grace }
    })
}

/// What is said about retries contradicts nothing else.
fn settle_retries(spec: &mut JobSpec) {
    if spec.delivery == Delivery::AtMostOnce {
        let rules = spec.retry.rules.drain(..).filter(|rule| rule.then != Action::Retry).collect();
        spec.retry = Retry { max: 0, rules, ..Retry::default() };
    }
    if spec.retry.max == 0 {
        spec.retry.backoff = Backoff::default();
    }
    let Dispatch::Unicast { balancer } = &spec.dispatch;
    let one_node = match balancer {
        Some(Balancer::Node(_)) => true,
        Some(Balancer::Failover(nodes)) => nodes.len() == 1,
        _ => false,
    };
    if one_node || spec.placement.sticky == Some(Sticky::Require) {
        spec.retry.node = RetryNode::default();
    }
}

fn retry() -> impl Strategy<Value = Retry> {
    let node = select(vec![RetryNode::Same, RetryNode::Other, RetryNode::OtherUnlessOnlyOne]);
    (0..=1000u32, backoff(), option::of(duration()), node, vec(rule(), 0..4)).prop_map(
        |(max, backoff, max_elapsed, node, mut rules)| {
            if let Some(any) = rules.iter().position(|rule| rule.cause == CauseMatch::Any) {
                rules.truncate(any + 1);
            }
            Retry { max, backoff, max_elapsed, node, rules }
        },
    )
}

fn backoff() -> impl Strategy<Value = Backoff> {
    let curve = (0..4u8, duration(), duration()).prop_map(|(kind, base, step)| match kind {
        0 => (Curve::Fixed { base }, base),
        1 => (Curve::Linear { base, step }, base),
        2 => (Curve::Exponential { base }, base),
        _ => (Curve::Fibonacci { base }, base),
    });
    prop_oneof![
        Just(Backoff::new(Curve::None)),
        Just(Backoff::default()),
        (curve, duration(), 0..=1000u16).prop_map(|((curve, base), cap, jitter)| {
            Backoff { curve, cap: cap.max(base), jitter: Jitter::from_milli(jitter).unwrap() }
        }),
    ]
}

fn rule() -> impl Strategy<Value = Rule> {
    let codes = (1..=255u8, 0..=9u8).prop_map(|(from, more)| (from, from.saturating_add(more)));
    let cause = prop_oneof![
        select(vec![CauseMatch::Any, CauseMatch::Oom, CauseMatch::Lost, CauseMatch::StartFailed]),
        vec(codes, 0..3).prop_map(|list| CauseMatch::Exit(ExitCodes(list))),
        vec(1..=64u8, 0..3).prop_map(|list| CauseMatch::Signal(Signals(list))),
        vec(select(&AttemptTimeout::ALL[..]), 0..3).prop_map(CauseMatch::Timeout),
        vec(text(), 0..3).prop_map(CauseMatch::Error),
    ];
    (cause, select(vec![Action::Retry, Action::Fail, Action::Ignore]))
        .prop_map(|(cause, then)| Rule { cause, then })
}

fn where_to_run() -> impl Strategy<Value = (Dispatch, Placement, Resources, Priority)> {
    let priority =
        (select(&PriorityClass::ALL[..]), 0..=100u8).prop_map(|(class, level)| Priority { class, level });
    let dispatch = option::of(balancer()).prop_map(|balancer| Dispatch::Unicast { balancer });
    (dispatch, placement(), resources(), priority)
}

fn balancer() -> impl Strategy<Value = Balancer> {
    let node = || name().prop_map(|name| name.parse().unwrap());
    prop_oneof![
        select(vec![
            Balancer::RoundRobin,
            Balancer::Random,
            Balancer::Weighted,
            Balancer::LeastActive,
            Balancer::LeastCpu,
            Balancer::LeastMemory,
            Balancer::BestFit,
            Balancer::Spread,
            Balancer::First,
            Balancer::Last,
            Balancer::Sticky,
        ]),
        template().prop_map(Balancer::ConsistentHash),
        vec(node(), 1..3).prop_map(Balancer::Failover),
        node().prop_map(Balancer::Node),
    ]
}

fn placement() -> impl Strategy<Value = Placement> {
    const SELECTORS: [&str; 5] = ["", "zone=eu", "a!=b, c", "disk in (ssd,nvme), !spot", "x not in (1,no)"];
    let selector = || select(&SELECTORS[..]).prop_map(|text| text.parse::<Selector>().unwrap());
    let weight =
        (1..=100i8, any::<bool>()).prop_map(|(weight, is_liked)| if is_liked { weight } else { -weight });
    let affinity = (selector(), weight).prop_map(|(selector, weight)| Affinity { selector, weight });
    (
        option::of(name().prop_map(|name| name.parse().unwrap())),
        selector(),
        vec(affinity, 0..3),
        option::of(select(vec!["zone", "acme.com/rack"]).prop_map(Into::into)),
        option::of(select(vec![Sticky::Prefer, Sticky::Require])),
    )
        .prop_map(|(pool, selector, affinity, spread, sticky)| Placement {
            pool,
            selector,
            affinity,
            spread,
            sticky,
        })
}

fn resources() -> impl Strategy<Value = Resources> {
    (any::<u32>(), any::<u64>(), btree_map(name().prop_map(Into::into), 1..=u64::MAX, 0..3))
        .prop_map(|(cpu, memory_bytes, named)| Resources { cpu_milli: u64::from(cpu), memory_bytes, named })
}
