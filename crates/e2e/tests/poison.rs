//! Templates that cannot be rendered, or would need all memory: whoever sends one is told, and no process ends of it.

use serde_json::{Value, json};

use crate::world::{Store, World, on_every_store};

on_every_store! {
    a_moment_that_cannot_be_rendered_is_a_line_of_the_ledger_across_a_restart
}

/// Renders in 1970, as a check might try, and at no moment since.
const POISON: &str =
    "{{ 'x' if (logical_time | date('%Y')) == '1970' else logical_time | plus_days(9999999) }}";

fn history(world: &World, trigger: &str) -> Vec<Value> {
    let history = world.json(&["trigger", "history", "poisoned", trigger, "--limit", "1000"]);
    history["items"].as_array().unwrap().clone()
}

fn a_moment_that_cannot_be_rendered_is_a_line_of_the_ledger_across_a_restart(store: Store) {
    let mut world = World::new(store);
    let job = json!({
        "name": "poisoned", "script": "true", "retry": 0,
        "parameters": {"day": {"type": "string", "default": ""}},
        "triggers": [
            {"name": "bad", "every": "1s", "misfire": "all", "parameters": {"day": POISON}},
            {"name": "good", "every": "1s", "misfire": "all"},
        ],
    });
    let file = world.path("job.json");
    std::fs::write(&file, job.to_string()).unwrap();
    world.text(&["apply", file.to_str().unwrap(), "--yes"]);
    let more = |world: &World, than: (usize, usize)| {
        world.until("both are told of", |world| {
            let told = (history(world, "bad").len(), history(world, "good").len());
            (told.0 > than.0 + 1 && told.1 > than.1 + 1).then_some(told)
        })
    };
    let before = more(&world, (0, 0));
    world.kill_server();
    world.start_server();
    more(&world, before);
    for line in history(&world, "bad") {
        assert_eq!(line["outcome"], "missed", "{line}");
        let reason = line["reason"].as_str().unwrap();
        assert!(reason.contains("day: ") && reason.contains("plus_days"), "{line}");
    }
    assert!(history(&world, "good").iter().any(|line| line["outcome"] == "fired"));
}

fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte.is_ascii_alphanumeric() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[test]
fn a_preview_of_a_bomb_is_refused_and_the_server_lives() {
    let mut world = World::empty(Store::Sqlite);
    world.add_server("server", None);
    let doubled = format!(
        "{{% set a = payload.x | default('a' * 100000000) %}}{}{{{{ a }}}}",
        "{% set a = a ~ a %}".repeat(12)
    );
    let nested = format!("{{{{ {}payload.id }}}}", "not ".repeat(1_500));
    for bomb in [&*doubled, "{{ payload.id ~ 'a' * 100000000 }}", &nested] {
        let trigger = json!({"webhook": {"dedupe": bomb}}).to_string();
        let (status, problem) = world.get(&format!("/v1/triggers/preview?trigger={}", encoded(&trigger)));
        assert_eq!(status, 422, "{problem}");
        assert!(problem.to_string().contains("trigger.webhook.dedupe"), "{problem}");
    }
    let good = json!({"webhook": {"dedupe": "{{ payload.id }}"}}).to_string();
    let (status, preview) = world.get(&format!("/v1/triggers/preview?trigger={}", encoded(&good)));
    assert_eq!(status, 200, "{preview}\n{}", world.logs());
}

#[test]
fn a_bomb_in_a_file_a_key_and_an_order_is_told_where_it_is() {
    let mut world = World::new(Store::Sqlite);
    let refused = |world: &World, args: &[&str], words: &[&str]| {
        let output = world.mainspring(args);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{told}");
        assert!(words.iter().all(|word| told.contains(word)), "{told}\n{}", world.logs());
    };
    let put = |world: &World, name: &str, job: Value| {
        let file = world.path(name);
        std::fs::write(&file, job.to_string()).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let statements = "{% if (logical_time | date('%Y')) != '1970' %}{{ 'a' * 100000000 }}{% endif %}";
    let bomb = put(
        &world,
        "bomb.json",
        json!({
            "name": "bomb", "script": "true", "parameters": {"day": {"type": "string", "default": ""}},
            "triggers": [{"every": "1s", "parameters": {"day": statements}}],
        }),
    );
    refused(&world, &["apply", &bomb, "--yes"], &["triggers[0].parameters.day", "statements"]);
    let keyed = put(
        &world,
        "keyed.json",
        json!({
            "name": "keyed", "script": "true", "parameters": {"k": "string"},
            "concurrency": {"limit": 1, "key": "{{ params.k * 100000000 }}"},
        }),
    );
    world.text(&["apply", &keyed, "--yes"]);
    refused(&world, &["run", "keyed", "--param", "k=x"], &["concurrency.key", "numbers"]);
    // Each half fits; what they are joined to does not.
    let text = "{{ params.big ~ params.big }}".repeat(60);
    let order = |stdin: &str| {
        json!({
            "name": "order", "process": {"command": "cat", "stdin": stdin}, "retry": 0,
            "parameters": {"big": {"type": "string", "default": "x".repeat(100_000)}},
        })
    };
    let run = world.submit_job(&order(&text));
    assert_ne!(world.wait(&run), Some(0));
    let told = world.run(&run).to_string();
    assert!(told.contains("stdin") && told.contains("bytes"), "{told}\n{}", world.logs());
    // The same agent goes on.
    let run = world.submit_job(&order("{{ params.big[:3] }}"));
    assert_eq!(world.wait(&run), Some(0), "{}", world.logs());
    assert!(world.agent_lives("one"), "{}", world.logs());
}
