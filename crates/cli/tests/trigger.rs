//! `trigger`: when something fires is said in the person's language.

use serde_json::json;

use crate::api::{Api, answer};
use crate::binary::{Ended, Home};

#[test]
fn schedules_are_told_in_the_persons_language() {
    let description = json!({"en": "every 1m30s", "zh": "每 1m30s"});
    let preview = json!({"description": description, "zone": "UTC", "moments": []});
    let (api, home) = (Api::start(move |_| answer(200, &preview)), Home::new());
    let preview = |variable: &str, value: &str| {
        let mut command = home.command();
        command.env("MAINSPRING_URL", api.url()).env("MAINSPRING_TOKEN", "ms_test").env(variable, value);
        Ended::of(command.args(["trigger", "preview", "--cron", "@every 90s"]).output().unwrap())
    };
    preview("LANG", "en_GB.UTF-8").check(0, &[], &["nothing is planned", "every 1m30s"]);
    preview("LANG", "zh_CN.UTF-8").check(0, &[], &["nothing is planned", "每 1m30s"]);
}
