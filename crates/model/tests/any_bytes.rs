//! Any bytes are read as the frames of a log, any text as a selector or a template, without a panic; what
//! was written is read back, also when somebody has damaged what is around it. Other texts are in `any_text.rs`.

#![allow(clippy::unwrap_used)]

use mainspring_model::log::{self, FrameKind, HEADER_BYTES};
use mainspring_model::spec::{Budget, Template};
use mainspring_model::{Selector, limits};
use proptest::prelude::*;
use serde_json::json;

/// Frames as a node writes them.
fn written() -> impl Strategy<Value = Vec<(bool, i64, Vec<u8>)>> {
    prop::collection::vec((any::<bool>(), any::<i64>(), prop::collection::vec(any::<u8>(), 0..64)), 0..12)
}

fn bytes_of(frames: &[(bool, i64, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (error, at, content) in frames {
        let kind = if *error { FrameKind::Stderr } else { FrameKind::Stdout };
        bytes.extend_from_slice(&log::header(kind, *at, content.len()));
        bytes.extend_from_slice(content);
    }
    bytes
}

/// Reads everything that can be read of it.
fn read(bytes: &[u8], limit: usize) {
    let mut length = 0;
    for frame in log::frames(bytes) {
        length += HEADER_BYTES + frame.content.len();
        let _ = (frame.dropped_bytes(), frame.gap());
    }
    assert!(length <= bytes.len());
    let whole = log::whole_frames(bytes, limit);
    assert!(whole <= length && (whole <= limit || log::frames(&bytes[..whole]).count() == 1));
    assert_eq!(
        log::frames(&bytes[..whole]).map(|frame| HEADER_BYTES + frame.content.len()).sum::<usize>(),
        whole
    );
}

/// Pieces of the language, in any order.
fn template() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,12}",
        Just("{{ ".to_owned()),
        Just(" }}".to_owned()),
        Just("{% ".to_owned()),
        Just(" %}".to_owned()),
        Just("{{ params.day }}".to_owned()),
        Just("{{ params.day | default('x') }}".to_owned()),
        Just("{% for x in range(1000000) %}x{% endfor %}".to_owned()),
        Just("{{ 'x' * 1000000000 }}".to_owned()),
        Just("{% set a = params %}{% if a.day == 1 %}".to_owned()),
        Just("{% endif %}".to_owned()),
        "params(\\.[a-z]{1,3}|\\[[0-9]\\]){0,4}( [+*/%~-] [0-9]{1,9}){0,2}",
        "\\| ?(upper|lower|replace|join|length|list|sort|first|indent)(\\([0-9]{1,10}\\))?",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn any_bytes_are_frames_up_to_somewhere(bytes in prop::collection::vec(any::<u8>(), 0..512), limit in 0..600usize) {
        read(&bytes, limit);
    }

    #[test]
    fn frames_are_read_back(frames in written(), after in prop::collection::vec(any::<u8>(), 0..HEADER_BYTES)) {
        let mut bytes = bytes_of(&frames);
        // A cut header at the end hides nothing.
        bytes.extend_from_slice(&after);
        let back: Vec<(bool, i64, Vec<u8>)> = log::frames(&bytes)
            .map(|frame| (frame.kind == FrameKind::Stderr, frame.at_us, frame.content.to_vec()))
            .collect();
        prop_assert_eq!(back, frames);
    }

    #[test]
    fn damaged_frames_are_read_up_to_the_damage(
        frames in written(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        limit in 0..600usize,
    ) {
        let mut bytes = bytes_of(&frames);
        let whole = bytes.clone();
        prop_assume!(!bytes.is_empty());
        for (at, byte) in &damage {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        read(&bytes, limit);
        let first = bytes.iter().zip(&whole).position(|(now, before)| now != before).unwrap_or(whole.len());
        let mut end = 0;
        let before_damage = log::frames(&whole).take_while(|frame| {
            end += HEADER_BYTES + frame.content.len();
            end <= first
        });
        let before_damage: Vec<_> = before_damage.collect();
        let read_back: Vec<_> = log::frames(&bytes).take(before_damage.len()).collect();
        prop_assert_eq!(read_back, before_damage);
    }

    #[test]
    fn any_selector(text in prop_oneof![
        "\\PC{0,40}",
        "[a-z!]{0,3}[a-z./-]{1,6} ?(=|!=|==|in|notin|exists|>|<)? ?\\(?[a-z0-9,() ]{0,12}\\)?(, ?[!a-z]{1,5}){0,3}",
    ]) {
        if let Ok(read) = text.parse::<Selector>() {
            let printed = read.to_string();
            prop_assert_eq!(printed.parse::<Selector>(), Ok(read), "{} printed as {}", text, printed);
        }
    }

    #[test]
    fn any_template(text in template(), day in prop_oneof![Just(json!(null)), Just(json!(7)), Just(json!("x")), Just(json!({"a": [1]}))]) {
        prop_assume!(text.len() <= limits::MESSAGE_BYTES_MAX);
        let template: Template = serde_json::from_value(json!(text)).unwrap();
        let rendered = template.render(&json!({ "day": day }), &mut Budget::default());
        // What a check finds is not the parameters' fault, so no parameters make up for it.
        prop_assert!(template.names().is_ok() || rendered.is_err(), "{}: {:?}", text, rendered);
        let bytes = rendered.as_ref().map_or(0, String::len);
        prop_assert!(bytes <= limits::TEMPLATE_BYTES_MAX, "{} made {} bytes", text, bytes);
        if template.is_plain() {
            prop_assert_eq!(rendered, Ok(text));
        }
    }
}

#[test]
fn the_deepest_expression_within_the_limits_needs_a_small_stack() {
    let deep = || {
        let shapes = [
            ("not ", "1", "", 124),
            ("-", "1", "", 124),
            ("1 if 0 else ", "1", "", 31),
            ("1 + ", "1", "", 62),
            ("(", "1", ")", 32),
            ("[", "1", "]", 32),
            ("", "params", ".a", 62),
            ("", "params.a", " | default(1)", 24),
        ];
        for (before, inner, after, times) in shapes {
            let text = format!("{{{{ {}{inner}{} }}}}", before.repeat(times), after.repeat(times));
            assert!(Template::from(&*text).names().is_ok(), "{text}");
            let rendered = render(&text);
            assert!(rendered.is_ok() || after == ".a", "{text}: {rendered:?}");
            let more = format!("{{{{ {}{inner}{} }}}}", before.repeat(times + 2), after.repeat(times + 2));
            assert!(render(&more).is_err(), "{more}");
        }
    };
    // A quarter of what the threads of a server have.
    std::thread::Builder::new().stack_size(512 * 1024).spawn(deep).unwrap().join().unwrap();
}

fn render(text: &str) -> Result<String, String> {
    Template::from(text).render(&serde_json::json!({}), &mut Budget::default())
}
