//! What an agent tells a task in its environment, so that the program also works inside a task.
//!
//! `MAINSPRING_TOKEN` is one name for two things: a person's API token, and the token of an attempt, which opens nothing
//! in the API. They do not look alike.

use std::collections::BTreeMap;

use mainspring_client::is_api_token;

/// The variables without the token of the attempt that we are part of.
pub(super) fn without_attempt_token(mut variables: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let is_task = variables.contains_key("MAINSPRING_RUN_ID");
    if is_task && variables.get("MAINSPRING_TOKEN").is_some_and(|token| !is_api_token(token)) {
        variables.remove("MAINSPRING_TOKEN");
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_of_an_attempt_is_left_out() {
        let check = |variables: &[(&str, &str)], kept: bool| {
            let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            let left = without_attempt_token(variables);
            assert_eq!(left.contains_key("MAINSPRING_TOKEN"), kept, "{left:?}");
        };
        let of_attempt = ("MAINSPRING_TOKEN", "run_01hf7yat00000000000000000a.1.7");
        check(&[of_attempt, ("MAINSPRING_RUN_ID", "run_01hf7yat00000000000000000a")], false);
        check(&[("MAINSPRING_TOKEN", "ms_x"), ("MAINSPRING_RUN_ID", "run_01hf7yat00000000000000000a")], true);
        check(&[of_attempt], true);
    }
}
