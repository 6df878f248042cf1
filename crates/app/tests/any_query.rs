//! Any text is read or refused as a query of runs, without a panic; a refusal names a position in the text.

use mainspring_app::query::Query;
use proptest::prelude::*;

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
            Ok(query) => {
                let again: Result<Query, _> = text.parse();
                prop_assert_eq!(again, Ok(query));
            }
            Err(error) => {
                prop_assert!(!error.message.is_empty());
                let end = text.chars().count() + 1;
                prop_assert!((1..=end).contains(&error.position), "{} of {}: {}", error.position, end, error);
            }
        }
    }
}
