//! Any text is read or refused as a query of runs, without a panic; a refusal names a position in the text. What is written
//! term by term is what is read.

use mainspring_app::query::{Query, Term, Word};
use mainspring_model::RunState;
use proptest::prelude::*;
use proptest::sample::select;

/// A term, and how it is written.
fn term() -> impl Strategy<Value = (Term, String)> {
    let name = || "[a-z][a-z0-9]{0,8}";
    let names = move || prop::collection::vec(name(), 1..4);
    let word = prop_oneof![
        prop::collection::vec(select(RunState::ALL.to_vec()), 1..3).prop_map(|states| {
            let text = states.iter().map(|state| state.name()).collect::<Vec<_>>().join(",");
            (Word::State(states), format!("state:{text}"))
        }),
        names().prop_map(|names| (Word::Job(names.clone()), format!("job:{}", names.join(",")))),
        names().prop_map(|names| (Word::By(names.clone()), format!("by:{}", names.join(",")))),
        (name(), prop::option::of(name())).prop_map(|(key, value)| {
            let text = value.as_ref().map_or(key.clone(), |value| format!("{key}={value}"));
            (Word::Label(vec![(key, value)]), format!("label:{text}"))
        }),
    ];
    (any::<bool>(), word).prop_map(|(negated, (word, text))| {
        (Term { negated, word }, if negated { format!("-{text}") } else { text })
    })
}

/// Words as people write them, damaged here and there.
fn query() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "\\PC{0,12}",
        "-?(state|job|namespace|label|cause|by|node)[:=](\"[^\"]{0,6}\"?|[a-z0-9_/,=.]{0,12})",
        "created ?(>|>=|<|<=|:) ?([0-9]{1,20}(d|h|m|s)|20[0-9]{2}-[01][0-9]-[0-3][0-9](T[0-9:]{0,8}Z?)?)",
    ];
    prop::collection::vec(word, 0..80).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn any_query(text in query()) {
        match text.parse::<Query>() {
            Ok(query) => prop_assert!(query.terms.len() <= text.split_whitespace().count(), "{:?}", query),
            Err(error) => {
                prop_assert!(!error.message.is_empty());
                let end = text.chars().count() + 1;
                prop_assert!((1..=end).contains(&error.position), "{} of {}: {}", error.position, end, error);
            }
        }
    }

    #[test]
    fn what_is_written_is_what_is_read(terms in prop::collection::vec((term(), " {1,3}"), 0..12)) {
        let text: String = terms.iter().map(|((_, text), space)| format!("{space}{text}")).collect();
        let terms = terms.into_iter().map(|((term, _), _)| term).collect();
        prop_assert_eq!(text.parse(), Ok(Query { terms }), "{}", text);
    }
}
