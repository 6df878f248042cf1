//! Every operation × role × place: who may do what, asked over the wire. The table of samples has no other arm, so a new
//! operation without a sample does not compile.

use std::sync::atomic::{AtomicU32, Ordering};

use mainspring_app::{Operation, Place};
use mainspring_model::{NodeId, Timestamp};
use mainspring_wire::api::Role;
use serde_json::{Value, json};

use super::World;
use super::node::Node;
use super::world::text;

/// Somebody with a role somewhere, or with none.
struct Somebody {
    name: String,
    token: String,
    role: Option<Role>,
    everywhere: bool,
}

struct Sample {
    method: &'static str,
    path: String,
    body: Option<Value>,
}

fn sample(method: &'static str, path: impl Into<String>) -> Sample {
    Sample { method, path: path.into(), body: None }
}

fn with(method: &'static str, path: impl Into<String>, body: Value) -> Sample {
    Sample { method, path: path.into(), body: Some(body) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_does_more_than_their_role() {
    let world = World::start().await;
    for namespace in ["acme/data", "rival"] {
        world.job(namespace, "etl").await;
    }
    let people = people(&world).await;
    let mut cells = 0;
    for operation in Operation::ALL {
        for somebody in &people {
            for (target, own) in [("acme/data", true), ("rival", false)] {
                check(&world, *operation, somebody, target, own).await;
                cells += 1;
            }
        }
    }
    assert_eq!(cells, Operation::ALL.len() * 9 * 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_may_look_in_one_namespace_is_told_to_name_it() {
    let world = World::start().await;
    world.job("acme", "etl").await;
    let ann = world.somebody("ann", Some("acme"), Some("admin")).await;
    for list in ["/v1/members", "/v1/audit"] {
        let refused = world.call(&ann, "GET", list, None).await.problem(403, "forbidden");
        let detail = refused["detail"].as_str().expect("a detail");
        assert!(detail.ends_with("admin everywhere, or in the namespace that is named"), "{detail}");
        world.call(&ann, "GET", &format!("{list}?namespace=acme"), None).await.expect(200);
    }
}

async fn people(world: &World) -> Vec<Somebody> {
    let mut people = vec![Somebody {
        name: "nobody".into(),
        token: world.somebody("nobody", None, None).await,
        role: None,
        everywhere: false,
    }];
    for role in Role::ALL {
        for (everywhere, place) in [(false, Some("acme")), (true, None)] {
            let name = format!("{}-{}", role.name(), place.unwrap_or("all"));
            let token = world.somebody(&name, place, Some(role.name())).await;
            people.push(Somebody { name, token, role: Some(role), everywhere });
        }
    }
    people
}

async fn check(world: &World, operation: Operation, somebody: &Somebody, target: &str, own: bool) {
    let sample = prepare(world, operation, somebody, target).await;
    let reaches = match operation.place() {
        Place::Namespace => somebody.everywhere || own,
        Place::Cluster => somebody.everywhere,
        Place::SignedIn | Place::Anyone => true,
    };
    let by_role = somebody.role >= Some(operation.role());
    let free = matches!(operation.place(), Place::SignedIn | Place::Anyone);
    let allowed = free || reaches && by_role;
    let reply = world.call(&somebody.token, sample.method, &sample.path, sample.body.as_ref()).await;
    let what = format!(
        "{} by {} on {target}: {} {}",
        operation.name(),
        somebody.name,
        reply.status,
        String::from_utf8_lossy(&reply.body)
    );
    if allowed {
        assert!(!matches!(reply.status, 401 | 403) && reply.status < 500, "{what}");
        assert_ne!(reply.status, 404, "{what}");
        assert!(operation != Operation::RunBulk || reply.json()["matched"].as_u64() >= Some(1), "{what}");
    } else if is_hidden(operation, reaches && somebody.role.is_some()) {
        // What one may not even look at does not exist: a refusal would tell that it does.
        assert_eq!(reply.status, 404, "{what}");
    } else {
        assert_eq!(reply.status, 403, "{what}");
    }
}

/// Runs and tokens are found by an id alone, without the namespace that they are in.
fn is_hidden(operation: Operation, looks: bool) -> bool {
    match operation {
        Operation::RunGet
        | Operation::RunSpec
        | Operation::RunAttempts
        | Operation::RunTimeline
        | Operation::RunWhy
        | Operation::RunLogs
        | Operation::RunLogSearch
        | Operation::RunLogIndex
        | Operation::RunCancel
        | Operation::RunRetry
        | Operation::RunPrioritise
        | Operation::RunRerun => !looks,
        // Only admins look at the tokens of others.
        Operation::TokenGetOther | Operation::TokenDeleteOther => true,
        // Nor does an operation of somebody else.
        Operation::BulkGet | Operation::BulkStop => true,
        _ => false,
    }
}

async fn prepare(world: &World, operation: Operation, somebody: &Somebody, target: &str) -> Sample {
    let job = format!("/v1/jobs/etl?namespace={target}");
    let of_job = |tail: &str| format!("/v1/jobs/etl/{tail}namespace={target}");
    let encoded = target.replace('/', "%2F");
    // One place for both, on the heap: in each arm they would be too much for the stack of a test.
    let thing = Box::pin(thing(world, operation, target)).await;
    let node = |tail: &str| format!("{thing}{tail}");
    let file = |tail: &str| format!("{thing}{tail}?namespace={target}");
    match operation {
        Operation::JobList => sample("GET", format!("/v1/jobs?namespace={target}")),
        Operation::JobGet => sample("GET", job),
        Operation::JobPut => with("PUT", job, json!({"name": "etl", "script": "true"})),
        Operation::JobDelete => {
            world.job(target, "gone").await;
            sample("DELETE", format!("/v1/jobs/gone?namespace={target}"))
        }
        Operation::JobValidate => {
            let path = format!("/v1/jobs/validate?namespace={target}");
            with("POST", path, json!({"name": "etl", "script": "true"}))
        }
        Operation::JobConfirm => sample("POST", of_job("confirm?")),
        Operation::JobVersions => sample("GET", of_job("versions?")),
        Operation::JobVersion => sample("GET", of_job("versions/1?")),
        Operation::JobDiff => sample("GET", of_job("diff?from=1&to=1&")),
        Operation::JobDependents => sample("GET", of_job("dependents?")),
        Operation::JobPause => with("POST", of_job("pause?"), json!({"note": "x"})),
        Operation::JobResume => sample("POST", of_job("resume?")),
        Operation::TriggerList => sample("GET", format!("/v1/triggers?namespace={target}")),
        Operation::JobTriggers => sample("GET", of_trigger(world, target, None).await),
        Operation::TriggerGet => sample("GET", of_trigger(world, target, Some("")).await),
        Operation::TriggerHistory => sample("GET", of_trigger(world, target, Some("/history")).await),
        Operation::OccurrenceList => sample("GET", format!("/v1/occurrences?namespace={target}")),
        Operation::OccurrenceCount => sample("GET", format!("/v1/occurrences/counts?namespace={target}")),
        Operation::TriggerPreview => sample("GET", "/v1/triggers/preview?trigger=%7B%22every%22:%221h%22%7D"),
        Operation::TriggerLoad => sample("GET", format!("/v1/triggers/load?namespace={target}")),
        Operation::TriggerPause => sample("POST", of_trigger(world, target, Some("/pause")).await),
        Operation::TriggerResume => sample("POST", of_trigger(world, target, Some("/resume")).await),
        Operation::TriggerFire => sample("POST", of_trigger(world, target, Some("/fire")).await),
        Operation::TriggerCursor => {
            let path = of_trigger(world, target, Some("/cursor")).await;
            with("PUT", path, json!({"cursor": "2100-01-01T00:00:00Z"}))
        }
        Operation::CalendarList => sample("GET", format!("/v1/calendars?namespace={target}")),
        Operation::CalendarGet => sample("GET", calendar(world, target).await),
        Operation::CalendarPut => with("PUT", calendar(world, target).await, json!({"weekend": ["sun"]})),
        Operation::CalendarDelete => sample("DELETE", calendar(world, target).await),
        Operation::BackfillList => sample("GET", of_trigger(world, target, Some("/backfills")).await),
        Operation::BackfillListAll => sample("GET", format!("/v1/backfills?namespace={target}")),
        Operation::BackfillPlan => {
            let path = of_trigger(world, target, Some("/backfills/plan")).await;
            sample("GET", format!("{path}&from=2026-01-01T00:00:00Z&until=2026-01-01T02:00:00Z"))
        }
        Operation::BackfillStart => backfill(world, target, "/backfills").await,
        Operation::BackfillStop => {
            let id = mainspring_model::BackfillId::new(Timestamp::ZERO, 1);
            let path = of_trigger(world, target, Some("/backfills")).await;
            let body = json!({"from": "2026-01-01T00:00:00Z", "until": "2026-01-01T02:00:00Z", "id": id});
            world.post(&path, body).await;
            sample("POST", of_trigger(world, target, Some(&format!("/backfills/{id}/stop"))).await)
        }
        Operation::TriggerToken => sample("POST", of_hook(world, target).await),
        Operation::TriggerRevoke => {
            let path = of_hook(world, target).await;
            world.post(&path, json!({})).await.expect(201);
            sample("DELETE", path)
        }
        Operation::HookCall => {
            let made = world.post(&of_hook(world, target).await, json!({})).await.expect(201);
            with("POST", text(&made["path"]), json!({}))
        }
        Operation::RunSubmit => with("POST", "/v1/runs", json!({"namespace": target, "job": "etl"})),
        Operation::RunSubmitSpec => {
            let spec = json!({"name": "once", "script": "true"});
            with("POST", "/v1/runs", json!({"namespace": target, "spec": spec}))
        }
        Operation::RunBatch => {
            let runs = json!([{"namespace": target, "job": "etl"}]);
            with("POST", "/v1/runs/batch", json!({ "runs": runs }))
        }
        Operation::RunBulk => {
            let body = json!({"namespace": target, "spec": {"name": "many", "script": "true"}});
            Box::pin(world.post("/v1/runs", body)).await.expect(201);
            let body = json!({"action": "cancel", "q": "job:many", "preview": false});
            with("POST", format!("/v1/runs/bulk?namespace={target}"), body)
        }
        Operation::BulkList => sample("GET", format!("/v1/runs/bulk?namespace={target}")),
        Operation::BulkGet | Operation::BulkStop => {
            let body = json!({"action": "cancel", "q": "state:active job:none", "preview": false});
            let path = format!("/v1/runs/bulk?namespace={target}");
            let started = Box::pin(world.post(&path, body)).await.expect(202);
            let path = format!("/v1/runs/bulk/{}", text(&started["id"]));
            match operation {
                Operation::BulkStop => with("POST", format!("{path}/stop"), json!({})),
                _ => sample("GET", path),
            }
        }
        Operation::RunCounts => sample("GET", format!("/v1/runs/counts?namespace={target}")),
        Operation::Queue => sample("GET", format!("/v1/queue?namespace={target}")),
        Operation::RunList => sample("GET", format!("/v1/runs?namespace={target}&limit=1")),
        Operation::RunGet => sample("GET", run(world, target, "").await),
        Operation::RunSpec => sample("GET", run(world, target, "/spec").await),
        Operation::RunAttempts => sample("GET", run(world, target, "/attempts").await),
        Operation::RunTimeline => sample("GET", run(world, target, "/timeline").await),
        Operation::RunWhy => sample("GET", run(world, target, "/why").await),
        Operation::RunLogs => sample("GET", run(world, target, "/logs").await),
        Operation::RunLogSearch => sample("GET", run(world, target, "/logs/search?text=x").await),
        Operation::RunLogIndex => sample("GET", run(world, target, "/logs/index").await),
        Operation::RunCancel => sample("POST", run(world, target, "/cancel").await),
        Operation::RunPrioritise => {
            with("POST", run(world, target, "/priority").await, json!({"priority": "service"}))
        }
        Operation::RunRetry => sample("POST", run(world, target, "/retry").await),
        Operation::RunRerun => sample("POST", run(world, target, "/rerun").await),
        Operation::NodeList => sample("GET", "/v1/nodes"),
        Operation::NodeGlance => sample("GET", format!("/v1/nodes?namespace={target}")),
        Operation::NodeGet => sample("GET", node("")),
        Operation::NodeLose => sample("POST", node("/lose")),
        Operation::NodeDrain => sample("POST", node("/drain")),
        Operation::NodeResume => sample("POST", node("/resume")),
        Operation::NodeLabel => with("PUT", node("/labels"), json!({"labels": {}})),
        Operation::NodeRemove => sample("DELETE", node("")),
        Operation::NodeInvite => sample("POST", "/v1/join-tokens"),
        Operation::PoolList => sample("GET", "/v1/pools"),
        Operation::ArtifactList => sample("GET", format!("/v1/artifacts?namespace={target}")),
        Operation::ArtifactPut => with("POST", format!("/v1/artifacts?namespace={target}"), json!("x")),
        Operation::ArtifactGet => sample("GET", file("")),
        Operation::ArtifactContent => sample("GET", file("/content")),
        Operation::ArtifactDelete => sample("DELETE", file("")),
        Operation::NamespaceList => sample("GET", format!("/v1/namespaces?namespace={target}")),
        Operation::NamespaceGet => sample("GET", format!("/v1/namespaces/{encoded}")),
        Operation::NamespacePut => sample("PUT", format!("/v1/namespaces/{encoded}")),
        Operation::NamespaceDelete => {
            let path = format!("/v1/namespaces/{encoded}%2Fempty");
            world.call(&world.admin, "PUT", &path, None).await;
            sample("DELETE", path)
        }
        Operation::MemberList => sample("GET", format!("/v1/members?namespace={target}")),
        Operation::MemberGet => sample("GET", member(world, target).await),
        Operation::AccessGet => {
            sample("GET", format!("/v1/access?subject=ann&operation=run.cancel&namespace={target}"))
        }
        Operation::AuditVerify => sample("GET", "/v1/audit/verify"),
        Operation::SettingsGet => sample("GET", "/v1/settings"),
        Operation::MemberPut => with("PUT", member(world, target).await, json!({"role": "viewer"})),
        Operation::MemberDelete => sample("DELETE", member(world, target).await),
        Operation::TokenList => sample("GET", "/v1/tokens"),
        Operation::TokenListAll => sample("GET", "/v1/tokens?all=true"),
        Operation::TokenGet | Operation::TokenDelete => {
            let own = world.call(&somebody.token, "POST", "/v1/tokens", None).await.expect(201);
            let method = if operation == Operation::TokenGet { "GET" } else { "DELETE" };
            sample(method, format!("/v1/tokens/{}", text(&own["token"]["id"])))
        }
        Operation::TokenGetOther | Operation::TokenDeleteOther => {
            let other = world.post("/v1/tokens", json!({"subject": "other"})).await.expect(201);
            let method = if operation == Operation::TokenGetOther { "GET" } else { "DELETE" };
            sample(method, format!("/v1/tokens/{}", text(&other["token"]["id"])))
        }
        Operation::TokenCreate => sample("POST", "/v1/tokens"),
        Operation::TokenCreateOther => with("POST", "/v1/tokens", json!({"subject": "other"})),
        Operation::Me => sample("GET", "/v1/me"),
        Operation::SessionCreate => with("POST", "/v1/sessions", json!({"token": somebody.token})),
        Operation::SessionDelete => sample("DELETE", "/v1/sessions"),
        Operation::LoginCodeCreate => sample("POST", "/v1/login-codes"),
        Operation::AuditList => sample("GET", format!("/v1/audit?namespace={target}&limit=1")),
        Operation::Watch => sample("GET", format!("/v1/watch?namespace={target}")),
        Operation::Stats => sample("GET", format!("/v1/stats?namespace={target}")),
        Operation::StatsSeries => sample("GET", format!("/v1/stats/series?namespace={target}")),
        Operation::ClusterGet => sample("GET", "/v1/cluster"),
        Operation::CellPause => sample("POST", "/v1/cells/0/pause"),
        Operation::CellResume => sample("POST", "/v1/cells/0/resume"),
        Operation::Doctor => sample("GET", "/v1/doctor"),
        Operation::Health => sample("GET", "/healthz"),
        Operation::Ready => sample("GET", "/readyz"),
        Operation::Schema => sample("GET", "/openapi.json"),
        Operation::Manual => sample("GET", "/docs"),
        Operation::Front => sample("GET", "/"),
    }
}

/// Where a node is that was there a moment ago, or a file that is there, if the operation is about one.
async fn thing(world: &World, operation: Operation, target: &str) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(1);
    if operation.name().starts_with("node.") && operation != Operation::NodeGlance {
        let id = NodeId::new(Timestamp::from_micros(1), NUMBER.fetch_add(1, Ordering::Relaxed).into());
        drop(Node::start_as(world, id).await);
        let path = format!("/v1/nodes/{id}");
        while world.get(&path).await.status == 404 {}
        return path;
    }
    if !operation.name().starts_with("artifact.") {
        return String::new();
    }
    let bearer = format!("Bearer {}", world.admin);
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/octet-stream")];
    let reply = world.send("POST", &format!("/v1/artifacts?namespace={target}"), &headers, b"x").await;
    assert!(matches!(reply.status, 200 | 201), "{}", String::from_utf8_lossy(&reply.body));
    format!("/v1/artifacts/{}", text(&reply.json()["digest"]))
}

async fn run(world: &World, target: &str, tail: &str) -> String {
    format!("/v1/runs/{}{tail}", world.run(target, "etl").await)
}

async fn calendar(world: &World, target: &str) -> String {
    let path = format!("/v1/calendars/rest?namespace={target}");
    world.put(&path, json!({"weekend": ["sat", "sun"]})).await;
    path
}

async fn backfill(world: &World, target: &str, tail: &str) -> Sample {
    let body = json!({"from": "2026-01-01T00:00:00Z", "until": "2026-01-01T02:00:00Z"});
    with("POST", of_trigger(world, target, Some(tail)).await, body)
}

/// A trigger, or all of its job.
async fn of_trigger(world: &World, target: &str, tail: Option<&str>) -> String {
    world.timed(target, "timed", json!([{"every": "1h"}])).await;
    let tail = tail.map(|tail| format!("/every{tail}")).unwrap_or_default();
    format!("/v1/jobs/timed/triggers{tail}?namespace={target}")
}

/// The token of a webhook.
async fn of_hook(world: &World, target: &str) -> String {
    world.timed(target, "called", json!([{"webhook": {}}])).await;
    format!("/v1/jobs/called/triggers/webhook/token?namespace={target}")
}

async fn member(world: &World, target: &str) -> String {
    let path = format!("/v1/members/somebody?namespace={target}");
    world.put(&path, json!({"role": "viewer"})).await;
    path
}
