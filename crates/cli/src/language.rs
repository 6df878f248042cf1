//! The person's language: which of the server's words are shown. Our own words are English, but for those in a line with the
//! server's.

use mainspring_client::api::{Description, Reason};

/// The variables that name a language, the first that says anything decides.
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_MESSAGES", "LANG"];

/// The words in the person's language; English where we do not speak it.
pub(crate) fn in_words(description: &Description) -> &str {
    of_both(&description.en, &description.zh)
}

/// Why a run waits, in the person's language.
pub(crate) fn message(reason: &Reason) -> &str {
    of_both(&reason.message, &reason.message_zh)
}

/// What would let a run go on, in the person's language.
pub(crate) fn remedy(reason: &Reason) -> &str {
    of_both(&reason.remedy, &reason.remedy_zh)
}

/// Whether the words about a reason are Chinese.
pub(crate) fn is_in_chinese(reason: &Reason) -> bool {
    speaks_chinese(&reason.message_zh)
}

/// One of the server's sentences, in the person's language.
pub(crate) fn of_both<'a>(english: &'a str, chinese: &'a str) -> &'a str {
    if speaks_chinese(chinese) { chinese } else { english }
}

/// A server that is older than we are may have said it in English only.
fn speaks_chinese(words: &str) -> bool {
    !words.is_empty() && is_chinese(|name| std::env::var(name).ok())
}

fn is_chinese(variable: impl Fn(&str) -> Option<String>) -> bool {
    let said = VARIABLES.into_iter().filter_map(variable).find(|value| !value.is_empty());
    let language = said.as_deref().and_then(|value| value.split(['_', '.', '@', '-']).next());
    language.is_some_and(|language| language.eq_ignore_ascii_case("zh"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], expected: bool) {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        let found = is_chinese(|name| find(name).map(|(_, value)| (*value).to_owned()));
        assert_eq!(found, expected, "{variables:?}");
    }

    #[test]
    fn the_first_variable_that_says_anything_decides() {
        check(&[], false);
        check(&[("LANG", "zh_CN.UTF-8")], true);
        check(&[("LANG", "zh")], true);
        check(&[("LANG", "zha_CN")], false);
        check(&[("LANG", "en_US.UTF-8"), ("LC_MESSAGES", "zh_TW")], true);
        check(&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C.UTF-8")], false);
        check(&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", ""), ("LC_MESSAGES", "")], true);
    }
}
