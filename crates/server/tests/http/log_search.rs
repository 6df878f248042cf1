//! Finding lines in the output of a run, and places in it.

use mainspring_model::log::mark;
use mainspring_wire::agent::LogChunk;
use mainspring_wire::agent::node_word::Word as Said;
use serde_json::{Value, json};

use super::World;
use super::node::Node;
use super::world::text;

/// A run whose output is these pieces, and the path of its log.
async fn with_output(world: &World, pieces: &[&[u8]]) -> (Node, String, u64) {
    world.job("acme", "etl").await;
    let run = world.run("acme", "etl").await;
    let mut node = Node::start(world).await;
    let token = node.execute(&run).await;
    let mut offset = 0;
    for piece in pieces {
        offset = node.log_bytes(token, offset, piece).await;
    }
    let data = mark(9, 100, 0).to_vec();
    let end = offset + data.len() as u64;
    node.say(Said::Log(LogChunk {
        token: Some(token.into()),
        offset,
        data: data.into(),
        ..LogChunk::default()
    }))
    .await;
    let path = format!("/v1/runs/{run}/logs");
    while world.get(&path).await.expect(200)["length"] != end {
        tokio::task::yield_now().await;
    }
    (node, path, end)
}

/// Offset, index and line of each match.
fn places(found: &Value) -> Vec<(u64, u64, u64)> {
    let number = |one: &Value, name: &str| one[name].as_u64().expect("a number");
    let place = |one: &Value| (number(one, "offset"), number(one, "index"), number(one, "line"));
    found["matches"].as_array().expect("matches").iter().map(place).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_are_found_with_their_place_and_what_is_missing_is_told() {
    let world = World::start().await;
    let pieces: [&[u8]; 2] = [b"one\nt\x1b[1mw\x1b[0m", b"o\nError (3)\nthree\n"];
    let (_node, path, end) = with_output(&world, &pieces).await;
    let search = async |query: &str| world.get(&format!("{path}/search?{query}")).await.expect(200);

    let found = search("text=TWO").await;
    assert_eq!(places(&found), [(0, 1, 2)], "{found}");
    let one = &found["matches"][0];
    assert_eq!((&one["text"], &one["stream"]), (&json!("two"), &json!("stdout")));
    assert_eq!(
        (&found["count"], &found["searched_bytes"], &found["gaps_bytes"]),
        (&json!(1), &json!(end), &json!(100))
    );
    assert_eq!((&found["next_offset"], &found["ended"]), (&Value::Null, &json!(false)));
    assert_eq!(search("text=TWO&case=true").await["count"], 0);
    assert_eq!(search("text=(3)").await["count"], 1);
    assert_eq!(search("text=two&stream=stderr").await["count"], 0);
    let found = search("text=%5E%5Cw%2B%24&regex=true&limit=1").await;
    assert_eq!((places(&found), &found["count"]), (vec![(0, 0, 1)], &json!(3)));
    let found = search("text=%5E%5Cw%2B%24&regex=true&index=1").await;
    let (third, second_piece) = (4, 13 + pieces[0].len() as u64);
    assert_eq!(places(&found), [(0, 1, 2), (second_piece, 2, third)]);
    // What is told as a line of the log is found at that line of it.
    let page = world.get(&path).await.expect(200);
    let lines: Vec<&Value> = page["lines"]
        .as_array()
        .expect("lines")
        .iter()
        .filter(|line| line["offset"] == second_piece)
        .collect();
    assert_eq!(lines[2]["text"], "three\n");
    let gap = page["lines"].as_array().and_then(|lines| lines.last()).expect("a line");
    assert_eq!((&gap["gap_bytes"], &gap["stream"]), (&json!(100), &json!("system")));

    for (query, field) in [("text=(&regex=true", "text"), ("text=", "text"), ("text=a&limit=0", "limit")] {
        let refused = world.get(&format!("{path}/search?{query}")).await.problem(422, "invalid_request");
        assert_eq!(refused["errors"][0]["path"], field, "{refused}");
    }
    let refused = world.get(&format!("{path}/search?text=a&offset={}", u64::MAX)).await;
    assert!(refused.status == 422 || refused.status == 400, "{}", refused.status);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_log_is_searched_part_by_part_and_read_from_its_marks() {
    let world = World::start().await;
    let mut number = 0;
    let mut block = || -> Vec<u8> {
        let mut block = Vec::new();
        while block.len() < 60_000 {
            number += 1;
            block.extend_from_slice(format!("line {number}\n").as_bytes());
        }
        // Lines go on in the next piece, as they do in pipes.
        block
    };
    let whole: Vec<u8> = (0..20).flat_map(|_| block()).collect();
    let pieces: Vec<&[u8]> = whole.chunks(64_000).collect();
    let (_node, path, end) = with_output(&world, &pieces).await;
    let lines = whole.iter().filter(|byte| **byte == b'\n').count() as u64;

    let index = world.get(&format!("{path}/index")).await.expect(200);
    let gap = json!([{"offset": end - 29, "bytes": 100}]);
    assert_eq!((&index["length"], &index["lines"], &index["gaps"]), (&json!(end), &json!(lines + 1), &gap));
    assert_eq!((&index["partial"], &index["ended"]), (&json!(false), &json!(false)));
    let marks = index["marks"].as_array().expect("marks");
    assert_eq!((marks.len(), &marks[0]["offset"], &marks[0]["line"]), (4, &json!(0), &json!(1)));
    for place in marks {
        let page = world.get(&format!("{path}?offset={}&limit=1", place["offset"])).await.expect(200);
        let skipped = usize::from(place["open"].is_array());
        let line = format!("line {}\n", place["line"]);
        assert_eq!(page["lines"][skipped]["text"], line, "{place}");
    }
    // From anywhere, a line has the number that it has from the beginning.
    let found = world.get(&format!("{path}/search?text=line%2070000")).await.expect(200);
    assert_eq!(
        (found["matches"][0]["line"].as_u64(), text(&found["matches"][0]["text"])),
        (Some(70_000), "line 70000".into())
    );
    let offset = found["matches"][0]["offset"].as_u64().expect("an offset");
    let from = world.get(&format!("{path}/search?text=line%2070000&offset={offset}")).await.expect(200);
    assert_eq!(found["matches"], from["matches"]);
    let from = world.get(&format!("{path}/search?text=line%2070000&offset={}", offset + 1)).await.expect(200);
    assert_eq!(from["count"], 0);
}
