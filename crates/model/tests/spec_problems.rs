//! What a job file is told when it is wrong: every problem at once, each with its path and a hint.
//!
//! The words are compared exactly and in order, because they are what users see. A change of a message is
//! a change here.

use mainspring_model::spec::{Format, parse};

/// Reads a YAML job and compares every problem, in order, one per line.
fn check(yaml: &str, expected: &[&str]) {
    let said = match parse(yaml, Format::Yaml) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.problems().iter().map(ToString::to_string).collect(),
    };
    assert_eq!(said, expected, "\n{yaml}");
}

/// As `check`, for a job that is right but for these lines.
fn check_with(lines: &str, expected: &[&str]) {
    check(&format!("name: x\nscript: 'true'\n{lines}"), expected);
}

#[test]
fn a_right_job_has_no_problem() {
    check("name: hello\nscript: echo hello\n", &[]);
    check("name: hello\nprocess: /bin/true\n", &[]);
    check("name: hello\nhandler: Orders.send-mail\n", &[]);
}

#[test]
fn identity() {
    check("", &["the file is empty; a job is `name: hello` and `script: echo hello`"]);
    check("[]", &["expected a map, found a list"]);
    check(
        "{}",
        &["`name` is missing", "says nothing to run; write one of `script`, `process` and `handler`"],
    );
    check(
        "name: Nightly Report\nscript: echo\nnamespace: acme//etl\nowner: ''\n",
        &[
            "name: `Nightly Report`: `N` is not allowed; use lower-case letters, digits, `-`, `_` and `.`",
            "namespace: `acme//etl`: `` is not a part of a namespace such as `acme/data/etl`: it is empty",
            "owner: expected text, found empty text",
        ],
    );
    check("name: 5\nscript: x", &["name: expected text, found the number 5"]);
    check("name:\nscript: x", &["name: has no value; write one, or leave the field out"]);
    check_with(
        "labels: {team: data, version: 1.10, a b: x, tier: 1, empty: ''}",
        &[
            "labels.a b: `a b` is not a label key: use 1 to 63 ASCII letters, digits, `-`, `_`, `.` and `/`, with a letter or digit at both ends",
            "labels.empty: expected text, found empty text",
            "labels.version: expected text, found the number 1.1, whose spelling may be lost; put it in quotes",
        ],
    );
}

#[test]
fn limits_of_processes() {
    check(
        "name: x\nprocess: {command: ls, umask: '0027', limits: {cpu_time: 10m, open_files: 64, core: 0, stack: 16Mi}}",
        &[],
    );
    check(
        "name: x\nprocess: {command: ls, umask: 27, limits: {cpu_time: 1500ms, open_files: 3, file_size: 1GB, cpu: 2, processes: 0}}",
        &[
            "process.limits.cpu_time: is not a whole number of seconds; the system counts no less, such as `90s`",
            "process.limits.open_files: 3 is not between 16 and 1073741824",
            "process.limits.processes: 0 is not between 1 and 4194304",
            "process.limits.file_size: `1GB` is not a size such as `256Mi`, `1.5Gi` or `1G`",
            "process.limits.cpu: unknown field `cpu`; known here: cpu_time, open_files, processes, file_size, core, stack, address_space, locked_memory",
            "process.umask: expected text, found the number 27",
        ],
    );
}

#[test]
fn several_unknown_fields_are_told_together_with_the_nearest_name() {
    check(
        "name: x\nprocess: {comand: ls, agrs: [a], xyz: 1}\nretires: 3\ntimeuot: 5m\n",
        &[
            "process: `command` is missing",
            "process.agrs: unknown field `agrs`; did you mean `args`?",
            "process.comand: unknown field `comand`; did you mean `command`?",
            "process.xyz: unknown field `xyz`; known here: command, args, env, cwd, stdin, user, limits, umask",
            "retires: unknown field `retires`; did you mean `retry`?",
            "timeuot: unknown field `timeuot`; did you mean `timeout`?",
        ],
    );
    check_with(
        "command: ls\ncron: '* * * * *'\ncpu: 2\nretries: 3",
        &[
            "command: unknown field `command`; it belongs under `process`",
            "cpu: unknown field `cpu`; it belongs under `resources`",
            "cron: unknown field `cron`; it belongs under `triggers`",
            "retries: unknown field `retries`; did you mean `retry`?",
        ],
    );
}

#[test]
fn reserved_words_say_so() {
    check_with(
        "alerts: [{failed: team}]",
        &[
            "alerts: `alerts` is not acted on yet, so it is refused: who is told when a run fails, is late or did not run",
        ],
    );
    check(
        "name: x\nhttp: {url: 'https://example.org'}",
        &["http: `http` is not acted on yet, so it is refused: a body that calls an HTTP endpoint"],
    );
    check_with(
        "dispatch: {mode: broadcast, success: all}\nresources: {disk: 1Gi}\nretention: {logs: 7d}",
        &[
            "dispatch.mode: `broadcast` is not acted on yet, so it is refused: a run on every matching node",
            "resources.disk: `disk` is not acted on yet, so it is refused: space on disk",
            "retention.logs: `logs` is not acted on yet, so it is refused: how long logs are kept",
        ],
    );
    check_with(
        "parameters: {key: secret}",
        &[
            "parameters.key: `secret` is not acted on yet, so it is refused: a value from the namespace's secrets",
        ],
    );
}

#[test]
fn body() {
    check(
        "name: x\nscript: a\nprocess: b\n",
        &["says several things to run: `process`, `script`; keep one of them"],
    );
    check("name: x\nprocess: [ls, -l]", &["process: expected a map, found a list"]);
    check("name: x\nscript: ''", &["script: expected text, found empty text"]);
    check("name: x\nscript: {interpreter: bash}", &["script: `text` is missing"]);
    check(
        "name: x\nhandler: 'send mail'",
        &["handler: `send mail`: the name of a handler has letters, digits, `-`, `_`, `.`, `:` and `/`"],
    );
    check(
        "name: x\nprocess: {command: ls, args: [1, true, '', 0.5, [a]], env: {A=B: x, MAINSPRING_RUN: 1, P: 80}}",
        &[
            "process.args[3]: expected text, found the number 0.5, whose spelling may be lost; put it in quotes",
            "process.args[4]: expected text, found a list",
            "process.env.A=B: is not the name of a variable",
            "process.env.MAINSPRING_RUN: names that begin with `MAINSPRING_` are set by the agent",
        ],
    );
    check("name: x\nscript: \"a\\0b\"", &["script: contains a NUL character"]);
}

#[test]
fn artifacts_and_paths() {
    let zeros = "0".repeat(64);
    check_with(
        &format!(
            "artifacts:\n\
             - {{url: 'https://h/a', digest: 'sha256:{zeros}', path: ../a}}\n\
             - {{url: 'ftp://h/a', digest: 'md5:0'}}\n\
             - {{url: 'https://h/', digest: 'sha256:{zeros}'}}\n\
             - {{url: 'https://h/a', digest: 'sha256:{zeros}', path: /etc/a, unpack: true}}\n"
        ),
        &[
            "artifacts[0].path: expected a path inside the working directory, without `..` and not from the root",
            "artifacts[1].url: expected an `https://`, `http://` or `file://` URL",
            "artifacts[1].digest: `md5:0`: a digest is `sha256:` and 64 hexadecimal digits",
            "artifacts[2]: the URL does not end in a file's name; say where to put it with `path`",
            "artifacts[3].path: expected a path inside the working directory, without `..` and not from the root",
            "artifacts[3].unpack: `unpack` is not acted on yet, so it is refused: unpacking of an archive",
        ],
    );
    check_with(
        &format!(
            "artifacts:\n- {{url: 'https://h/a', digest: 'sha256:{zeros}'}}\n- {{url: 'https://i/a', digest: 'sha256:{zeros}'}}"
        ),
        &["artifacts[1]: another artifact goes to `a` too; give it a `path` of its own"],
    );
    check(
        &format!(
            "name: x\nhandler: h\nartifacts: [{{url: 'https://h/a', digest: 'sha256:{zeros}'}}]\ninputs: {{a: b}}\noutputs: {{c: d}}"
        ),
        &[
            "artifacts: a handler runs in a process of yours, so no files are fetched or kept for it",
            "inputs: a handler runs in a process of yours, so no files are fetched or kept for it",
            "outputs: a handler runs in a process of yours, so no files are fetched or kept for it",
        ],
    );
    check_with(
        "inputs: {Orders: /data, list: [a]}",
        &[
            "inputs.Orders: not a name: `O` is not allowed; use lower-case letters, digits, `-`, `_` and `.`",
            "inputs.list: expected text, found a list",
        ],
    );
}

#[test]
fn parameters() {
    check_with(
        "parameters:\n  Day: string\n  a: strnig\n  b: {type: integer, min: 5, max: 1}\n  c: {type: integer, default: many}\n  \
         d: {type: enum}\n  e: enum\n  f: {default: 1}\n  g: {type: string, min: 1}\n  h: {type: enum, values: [x, x]}\n  \
         i: {type: string, default: x, required: true}\n  j: {type: list, items: {type: integer, max: 3}, default: [1, 9]}\n",
        &[
            "parameters.Day: is not a parameter name: use lower-case letters, digits and `_`, with a letter first",
            "parameters.a: `strnig` is not one of string, integer, number, boolean, enum, list, object, json; did you mean `string`?",
            "parameters.b.max: 1 is less than `min`, 5",
            "parameters.c.default: expected a whole number, found the text `many`",
            "parameters.d: `values` is missing",
            "parameters.e: `enum` needs its values: write `{type: enum, values: [a, b]}`",
            "parameters.f: `type` is missing",
            "parameters.g.min: unknown field `min`; known here: type, min_length, max_length, default, required, description",
            "parameters.h.values: expected at least one value, and each once",
            "parameters.i.default: is never used, because the parameter is required",
            "parameters.j.default: item 1: 9 is more than 3",
        ],
    );
}

#[test]
fn retry() {
    check_with("retry: -1", &["retry: -1 is not between 0 and 1000"]);
    check_with("retry: lots", &["retry: expected a number or a map, found the text `lots`"]);
    check_with("concurrency: few", &["concurrency: expected a number or a map, found the text `few`"]);
    check_with(
        "retry: {max: many, backoff: exponentail, node: others}",
        &[
            "retry.max: expected a whole number, found the text `many`",
            "retry.backoff: `exponentail` is not one of none, fixed, linear, exponential, fibonacci; did you mean `exponential`?",
            "retry.node: `others` is not one of same, other, other_unless_only_one; did you mean `other`?",
        ],
    );
    check_with(
        "retry: {backoff: {base: 10s, cap: 1s, jitter: 1.5}}",
        &[
            "retry.backoff.jitter: expected a number from 0 to 1 with at most three decimals, found the number 1.5",
            "retry.backoff.cap: 1s is shorter than the first wait, 10s",
        ],
    );
    check_with(
        "retry: {backoff: {kind: none, base: 1s}}",
        &["retry.backoff.base: a back-off of kind `none` does not wait"],
    );
    check_with(
        "retry: {backoff: {kind: fixed, base: 10, step: 1s}}",
        &[
            "retry.backoff.base: `10` has no unit: write `10s`, `10m`, `10h` or `10d`",
            "retry.backoff.step: only a `linear` back-off has a step",
        ],
    );
    check_with(
        "retry:\n  rules:\n  - {cause: any, then: retry}\n  - {cause: {exit: [0, 2, 70-64, x]}, then: stop}\n",
        &[
            "retry.rules[1].cause.exit[0]: 0 is not between 1 and 255",
            "retry.rules[1].cause.exit[2]: expected an exit code from 1 to 255 or a range such as `64-78`, found the text `70-64`",
            "retry.rules[1].cause.exit[3]: expected an exit code from 1 to 255 or a range such as `64-78`, found the text `x`",
            "retry.rules[1].then: `stop` is not one of retry, fail, ignore",
        ],
    );
    check_with(
        "retry: {rules: [{cause: any, then: fail}, {cause: oom, then: retry}]}",
        &[
            "retry.rules[1]: is never reached: the rule before it matches every failure; put `cause: any` last",
        ],
    );
    check_with(
        "retry:\n  rules:\n  - {cause: {signal: [KILL, 99]}, then: fail}\n  - {cause: {timeout: queue}, then: fail}\n  \
         - {cause: {oom: true}, then: fail}\n  - {cause: {exit: [], signal: 9}, then: fail}\n  - {cause: {exit: []}, then: fail}\n",
        &[
            "retry.rules[0].cause.signal[0]: `KILL` is not a signal such as `SIGKILL` or 9; did you mean `SIGKILL`?",
            "retry.rules[0].cause.signal[1]: 99 is not between 1 and 64",
            "retry.rules[1].cause.timeout: `queue` is not one of start, run, heartbeat",
            "retry.rules[2].cause: `oom` takes no list; write `cause: oom`",
            "retry.rules[3].cause: expected one cause; write a rule for each cause",
            "retry.rules[4].cause: an empty list matches nothing; write `cause: exit` for every one",
        ],
    );
    check_with(
        "retry: 2\ndelivery: at_most_once",
        &["retry: `delivery: at_most_once` makes one attempt and never retries; leave it out"],
    );
    check_with(
        "retry: {backoff: fixed, max_elapsed: 1h, node: same, rules: [{cause: oom, then: fail}, {cause: any, then: retry}]}\n\
         delivery: at_most_once",
        &[
            "retry.backoff: `delivery: at_most_once` makes one attempt and never retries; leave it out",
            "retry.max_elapsed: `delivery: at_most_once` makes one attempt and never retries; leave it out",
            "retry.node: `delivery: at_most_once` makes one attempt and never retries; leave it out",
            "retry.rules[1].then: `delivery: at_most_once` makes one attempt and never retries; write `fail`",
        ],
    );
    check_with("retry: {rules: [{cause: {exit: [3]}, then: ignore}]}\ndelivery: at_most_once", &[]);
    check_with(
        "retry: {max: 0, backoff: fixed}",
        &["retry.backoff: `max: 0` never retries, so nothing waits; leave one of the two out"],
    );
    check_with("retry: {max: 0, node: same, max_elapsed: 1h}", &[]);
    check_with("retry: {max: 0}\ndelivery: at_most_once", &[]);
    check_with("delivery: at_most_once", &[]);
}

#[test]
fn a_retry_elsewhere_needs_a_second_node() {
    let hint = "write `other_unless_only_one`, or leave it out";
    let named = format!("retry.node: `dispatch.balancer` names one node, so there is no other; {hint}");
    check_with("retry: {node: other}\ndispatch: {balancer: {node: a}}", &[&named]);
    check_with("retry: {node: other}\ndispatch: {balancer: {failover: [a]}}", &[&named]);
    check_with("retry: {node: other}\ndispatch: {balancer: {failover: [a, b]}}", &[]);
    check_with("retry: {node: same}\ndispatch: {balancer: {node: a}}", &[]);
    let sticky =
        format!("retry.node: `placement.sticky: require` goes to one node, so there is no other; {hint}");
    check_with("retry: {node: other}\nplacement: {sticky: require}", &[&sticky]);
    check_with("retry: {node: other}\nplacement: {sticky: prefer}", &[]);
}

#[test]
fn timeouts() {
    check_with("timeout: 30", &["timeout: `30` has no unit: write `30s`, `30m`, `30h` or `30d`"]);
    check_with("timeout: [1s]", &["timeout: expected a duration such as `30s` or `1h30m`, found a list"]);
    check_with(
        "timeout: {run: 2h, total: 1h, queue: 90m, heartbeat: 3h, start: 0s, stop_grace: 0s}",
        &[
            "timeout.start: must be longer than nothing",
            "timeout.queue: 1h30m never passes, because `timeout.total` is 1h",
            "timeout.run: 2h never passes, because `timeout.total` is 1h",
            "timeout.heartbeat: 3h never passes, because `timeout.run` is 2h",
        ],
    );
}

#[test]
fn concurrency_and_rate() {
    check_with("concurrency: 0", &["concurrency: 0 is not between 1 and 1000000000"]);
    check_with(
        "concurrency: {limit: 1, overlap: allow}",
        &["concurrency.overlap: `allow` means no limit, so `limit` and `key` say nothing"],
    );
    check_with(
        "concurrency: {limit: 1, overlap: skip, queue_max: 2}",
        &["concurrency.queue_max: bounds the runs that wait, and only `overlap: queue_all` lets them wait"],
    );
    check_with("concurrency: {key: a}", &["concurrency: says no limit; write `limit`, such as `limit: 1`"]);
    check_with(
        "concurrency: {limit: 2, overlap: queue-one}",
        &[
            "concurrency.overlap: `queue-one` is not one of allow, skip, queue_one, queue_all, cancel_old, kill_old; did you mean `queue_one`?",
        ],
    );
    check_with("rate_limit: {limit: 5}", &["rate_limit: `per` is missing"]);
    check_with("rate_limit: 5/1m", &["rate_limit: expected a map, found the text `5/1m`"]);
}

#[test]
fn dispatch_and_placement() {
    check_with(
        "dispatch: {balancer: consistent_hash}",
        &[
            "dispatch.balancer: `consistent_hash` needs a key: write `{consistent_hash: \"{{ params.customer }}\"}`",
        ],
    );
    check_with(
        "dispatch: {balancer: least_actve}",
        &[
            "dispatch.balancer: `least_actve` is not one of round_robin, random, weighted, least_active, least_cpu, least_memory, best_fit, spread, first, last, sticky, consistent_hash, failover, node; did you mean `least_active`?",
        ],
    );
    check_with(
        "dispatch: {balancer: {failover: []}}",
        &["dispatch.balancer.failover: expected at least one node"],
    );
    check_with(
        "dispatch: {balancer: {random: true}}",
        &["dispatch.balancer: `random` takes nothing; write `balancer: random`"],
    );
    check_with(
        "placement:\n  pool: Fast\n  selector: 'zone like eu'\n  affinity: [{selector: {disk: []}, weight: 0}, {weight: 101}]\n  \
         spread: 'a b'\n  sticky: always\n",
        &[
            "placement.pool: `Fast`: `F` is not allowed; use lower-case letters, digits, `-`, `_` and `.`",
            "placement.selector: `zone like eu` is not a requirement: write `key=value`, `key!=value`, `key in (a,b)`, `key not in (a,b)`, `key` or `!key`",
            "placement.affinity[0].selector.disk: a list of values needs at least one value",
            "placement.affinity[0].weight: a weight of 0 changes nothing",
            "placement.affinity[1]: `selector` is missing",
            "placement.affinity[1].weight: 101 is not between -100 and 100",
            "placement.spread: `a b` is not a label key: use 1 to 63 ASCII letters, digits, `-`, `_`, `.` and `/`, with a letter or digit at both ends",
            "placement.sticky: `always` is not one of prefer, require",
        ],
    );
    check_with(
        "placement: {selector: {gpu: {exists: yes}, zone: {not: us, exists: true}, a: {is: b}}}",
        &[
            "placement.selector.a.is: unknown field `is`; known here: not, exists",
            "placement.selector.gpu.exists: expected `true` or `false`, found the text `yes`",
            "placement.selector.zone: expected one of `not` and `exists`; write `{not: us}` or `{exists: true}`",
        ],
    );
}

#[test]
fn resources_priority_retention() {
    check_with(
        "resources: {cpu: 0.0001, memory: 1GB, gpu: 1, named: {GPU: 1, licence: lots}}",
        &[
            "resources.named.GPU: not a name: `G` is not allowed; use lower-case letters, digits, `-`, `_` and `.`",
            "resources.named.licence: `lots` is not a number such as `2`, `0.5` or `500m`",
            "resources.cpu: `0.0001` is finer than a thousandth, `1m`",
            "resources.memory: `1GB` is not a size such as `256Mi`, `1.5Gi` or `1G`",
            "resources.gpu: unknown field `gpu`; write `named: {gpu: 1}`",
        ],
    );
    check_with(
        "priority: urgent",
        &["priority: `urgent` is not one of spare, deferrable, standard, service"],
    );
    check_with("priority: {level: 101}", &["priority.level: 101 is not between 0 and 100"]);
    check_with(
        "retention: {runs: {age: 0s, count: 0}}",
        &[
            "retention.runs.age: must be longer than nothing",
            "retention.runs.count: 0 is not between 1 and 1000000000",
        ],
    );
    check_with(
        "on_disconnect: kill\ndelivery: exactly_once",
        &[
            "delivery: `exactly_once` is not one of at_least_once, at_most_once",
            "on_disconnect: `kill` is not one of stop, keep",
        ],
    );
}

#[test]
fn templates() {
    check(
        "name: x\nprocess:\n  command: echo\n  args: ['{{ oops', '{{ params.dya }}', '{{ day }}', '{{ params.day | twist }}']\n\
         parameters: {day: string}\nconcurrency: {limit: 1, key: '{{ params.who }}'}\n",
        &[
            "process.args[0]: it cannot be rendered: syntax error: unexpected end of input, expected end of variable block; write `{{ params.NAME }}`",
            "process.args[3]: it cannot be rendered: unknown filter: filter twist is unknown; write `{{ params.NAME }}`",
            "process.args[1]: the job has no parameter `dya`; did you mean `params.day`?",
            "process.args[2]: `day` is not known here; templates know `params`, as in `{{ params.NAME }}`",
            "concurrency.key: the job has no parameter `who`; declare `who` under `parameters`",
        ],
    );
    check(
        "name: x\nhandler: h\nparameters: {day: string}\nconcurrency: {limit: 1, key: '{{ params.day }}'}\n",
        &[],
    );
}

#[test]
fn triggers() {
    let right = "triggers: [{cron: '0 3 * * *', zone: europe/berlin}, {every: 6h, offset: 1h}, {delay: 5m}, {after: other}]";
    check_with(right, &[]);
    check_with(
        "triggers: [{cron: '0 25 * * *'}, {cron: '0 3 * * *', name: b, zone: Mars/Olympus}, {zone: UTC}, {every: 5m, at: 2027-01-01}]",
        &[
            "triggers[0].cron: hour `25`: `25` is not 0 to 23",
            "triggers[1].zone: `Mars/Olympus`: `Mars/Olympus` is not a zone; write one such as Europe/Berlin, Asia/Shanghai or UTC",
            "triggers[2]: says not when it fires; write one of `cron`, `every`, `delay`, `at`, `after`, `webhook`",
            "triggers[3].at: write a moment with its offset, such as `2027-01-01T08:00:00+01:00` or `2027-01-01T07:00:00Z`",
            "triggers[3]: follows several things: every, at; write one of `cron`, `every`, `delay`, `at`, `after`, `webhook`",
        ],
    );
    check_with(
        "triggers: [{every: 5m, zone: UTC, dst: {gap: twice}}, {delay: 5m, misfire: all}, {at: 2027-01-01T00:00:00Z, count: 3}]",
        &[
            "triggers[0].dst.gap: `twice` is not one of once, skip",
            "triggers[0].zone: belongs to `cron`",
            "triggers[0].dst: belongs to `cron`",
            "triggers[1].misfire: belongs to `cron`, `every` and `at`, which follow the clock",
            "triggers[2].count: belongs to `cron`, `every` and `webhook`, which fire again and again",
        ],
    );
    check_with(
        "triggers: [{cron: '@every 90', name: a}, {cron: '@every 1ms', name: b}, {cron: '@every 5m', zone: UTC, days: and}, {cron: '@every', name: c}]",
        &[
            "triggers[0].cron: `90` has no unit: write `90s`, `90m`, `90h` or `90d`",
            "triggers[1].cron: an interval is at least 1s and at most ten years",
            "triggers[2].zone: belongs to the wall clock, and `@every` is an interval",
            "triggers[2].days: belongs to the wall clock, and `@every` is an interval",
            "triggers[3].cron: an interval is no time of a wall clock; write `every: 90s`",
        ],
    );
    check_with(
        "triggers: [{every: 1500ms}, {every: 5m, name: b, misfire: {window: 5s, max: 3}}, {cron: '* * * * *', from: 2027-01-02T00:00:00Z, until: 2027-01-01T00:00:00Z}]",
        &[
            "triggers[0].every: an interval and its offset are whole seconds",
            "triggers[1].misfire.window: is at least 1m: what is less late is in time",
            "triggers[1].misfire.max: belongs to `policy: all`",
            "triggers[2].until: nothing is between `from` and `until`",
        ],
    );
    check_with(
        "triggers: [{after: x}]",
        &[
            "triggers[0].after: the job would follow itself for ever; for a run after each run write `delay`, such as `delay: 5m`",
        ],
    );
    check_with(
        "triggers: [{every: 5m, needs: [a, {job: b, within: 0s}]}, {at: 2027-01-01T00:00:00Z, needs: a}]",
        &[],
    );
    check_with(
        "triggers: [{every: 5m, needs: [x, {jobb: a, within: soon}]}, {name: b, delay: 5m, needs: a}, \
         {name: c, every: 5m, needs: []}, {name: d, every: 5m, needs: [a, a]}, {name: e, every: 5m, needs: [y, x]}]",
        &[
            "triggers[0].needs[1]: `job` is missing",
            "triggers[0].needs[1].within: `soon` is not a duration such as `30s` or `1h30m`",
            "triggers[0].needs[1].jobb: unknown field `jobb`; did you mean `job`?",
            "triggers[1].needs: belongs to `cron`, `every` and `at`, which follow the clock",
            "triggers[2].needs: names 0 jobs; write 1 to 10",
            "triggers[3].needs: `a` is named twice",
            "triggers[4].needs: the job would wait for itself, and never begin; to stop it after failures write `pause_after`, such as `pause_after: 1`",
        ],
    );
    check_with("triggers: [{delay: 10ms}]", &["triggers[0].delay: a delay is at least 1s"]);
    check_with(
        "triggers: [{every: 5m}, {every: 6m}]",
        &["triggers[1]: another trigger is called `every` too; give it a `name` of its own"],
    );
    check_with(
        "parameters: {day: string, size: {type: integer, default: 3}}\ntriggers: [{every: 5m, parameters: {size: big, when: 1}}]",
        &[
            "triggers[0].parameters.size: expected a whole number, found the text `big`",
            "triggers[0].parameters.when: the job has no such parameter",
            "triggers[0]: the job requires `day`, and nobody is there to give it when this fires; write `parameters: {day: …}`",
        ],
    );
    check_with(
        "parameters: {day: string}\ntriggers: [{delay: 1m, parameters: {day: '{{ logical_time | date }}{{ params.x }}'}}]",
        &[
            "triggers[0].parameters.day: `params.x` is not known here; triggers know `logical_time`, the planned moment",
        ],
    );
}

#[test]
fn webhooks() {
    check_with("triggers: [{webhook: {}}]", &[]);
    check_with(
        "parameters: {repo: string, at: string}\ntriggers: [{webhook: {signature: {header: X-Hub-Signature-256, prefix: sha256=}, \
         dedupe: '{{ headers[\"x-id\"] }}{{ payload.id }}'}, count: 3, from: 2027-01-01T00:00:00Z, until: 2028-01-01T00:00:00Z, \
         pause_after: 5, parameters: {repo: '{{ payload.repository.name }}', at: '{{ logical_time | date }}'}}]",
        &[],
    );
    check_with(
        "triggers: [{webhook: X-Sig}]",
        &["triggers[0].webhook: expected a map, found the text `X-Sig`"],
    );
    check_with(
        "triggers: [{webhook: {signatrue: {}, secret: x, dedupe: 5}, jitter: 5s, misfire: all, zone: UTC, offset: 5s}]",
        &[
            "triggers[0].webhook.dedupe: expected text, found the number 5",
            "triggers[0].webhook.secret: unknown field `secret`; it is made with the token: `mainspring trigger token JOB TRIGGER`",
            "triggers[0].webhook.signatrue: unknown field `signatrue`; did you mean `signature`?",
            "triggers[0].zone: belongs to `cron`",
            "triggers[0].offset: belongs to `every`",
            "triggers[0].jitter: belongs to `cron`, `every` and `at`, which follow the clock",
            "triggers[0].misfire: belongs to `cron`, `every` and `at`, which follow the clock",
        ],
    );
    check_with(
        "triggers: [{webhook: {signature: {header: 'X Sig', prefix: '', encoding: hexa}}}, {webhook: {signature: {}}, name: b}, {every: 5m, webhook: {}}]",
        &[
            "triggers[0].webhook.signature.header: is not the name of a header; write one such as `X-Hub-Signature-256`",
            "triggers[0].webhook.signature.prefix: expected text, found empty text",
            "triggers[0].webhook.signature.encoding: `hexa` is not one of hex, base64; did you mean `hex`?",
            "triggers[1].webhook.signature: `header` is missing",
            "triggers[2]: follows several things: every, webhook; write one of `cron`, `every`, `delay`, `at`, `after`, `webhook`",
        ],
    );
    let hint = "write `{{ payload.id }}` or `{{ headers[\"x-github-delivery\"] }}`";
    let nothing = "names nothing of the call, so all calls would be one delivery";
    check_with(
        "triggers: [{webhook: {dedupe: same}}, {name: b, webhook: {dedupe: '{{ logical_time }}'}}, \
         {name: c, webhook: {dedupe: '{{ payload.id }}{{ params.x }}'}}, {name: d, webhook: {dedupe: '{{ payload'}}, \
         {name: e, dedupe: x, webhook: {}}]",
        &[
            &format!("triggers[0].webhook.dedupe: {nothing}; {hint}"),
            &format!("triggers[1].webhook.dedupe: {nothing}; {hint}"),
            "triggers[2].webhook.dedupe: `params.x` is not known here; what is the same for a delivery is in its `payload` or its `headers`",
            &format!(
                "triggers[3].webhook.dedupe: it cannot be rendered: syntax error: unexpected end of input, expected end of variable block; {hint}"
            ),
            "triggers[4].dedupe: unknown field `dedupe`; it belongs under `webhook`",
        ],
    );
    check_with(
        "parameters: {day: string, n: integer}\ntriggers: [{webhook: {}, parameters: {n: five, x: '{{ payload.x }}'}}, \
         {name: b, every: 5m, parameters: {day: '{{ payload.day }}', n: 1}}]",
        &[
            "triggers[1].parameters.day: `payload.day` is not known here; triggers know `logical_time`, the planned moment",
        ],
    );
    check_with(
        "parameters: {day: string, n: integer}\ntriggers: [{webhook: {}, parameters: {n: five, x: '{{ payload.x }}'}}]",
        &[
            "triggers[0].parameters.n: expected a whole number, found the text `five`",
            "triggers[0].parameters.x: the job has no such parameter",
            "triggers[0]: the job requires `day`, and nobody is there to give it when this fires; write `parameters: {day: …}`",
        ],
    );
    check_with(
        "parameters: {day: string}\ntriggers: [{webhook: {}, parameters: {day: '{{ params.day }}'}}]",
        &[
            "triggers[0].parameters.day: `params.day` is not known here; webhooks know `payload`, `headers` and `logical_time`, the moment of the call",
        ],
    );
}
