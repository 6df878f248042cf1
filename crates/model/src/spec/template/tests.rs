//! Templates: what they render to, and that no template is larger, longer or deeper than its bounds.

use serde_json::json;

use super::*;
use crate::limits::{TEMPLATE_BYTES_MAX, TEXT_BYTES_MAX};

fn render(text: &str, params: &Value) -> Result<String, String> {
    Template::from(text).render(params, &mut Budget::default())
}

#[test]
fn parameters_are_put_in_and_unknown_ones_refused() {
    let text = "{{ params.day }}/{{ params.shop.name }}";
    let params = json!({"day": "mon", "shop": {"name": "x"}});
    assert_eq!(render(text, &params).unwrap(), "mon/x");
    let error = render(text, &json!({"day": "mon"})).unwrap_err();
    assert!(error.contains("undefined"), "{error}");
    assert_eq!(render("plain {x}", &params).unwrap(), "plain {x}");
}

#[test]
fn expressions_have_the_values_of_the_language() {
    let params = json!({
        "n": 7, "f": 1.5, "s": "abc", "no": null, "yes": true, "list": [1, "b", [2]], "map": {"k": {"x": 1}}, "empty": "",
    });
    for (text, expected) in [
        ("{{ params.n * 2 + 1 }}", "15"),
        ("{{ 2 ** 10 // 3 % 100 }}", "41"),
        ("{{ -params.n / 2 }}", "-3.5"),
        ("{{ params.s + 'd' }}{{ params.s ~ params.n ~ params.f }}", "abcdabc71.5"),
        ("{{ params.s[1:] }}{{ params.s[:1] }}{{ params.list[0:2] }}", "bca[1, 'b']"),
        ("{{ params.list[1] }}{{ params.list[-1][0] }}{{ params.map['k'].x }}", "b21"),
        ("{{ 'a' if params.n > 5 else 'b' }}{{ 'c' if params.no }}", "a"),
        ("{{ params.no | default('x') }}{{ params.gone | default(params.n) }}", "x7"),
        ("{{ params.empty or params.s }}{{ params.empty and params.gone }}", "abc"),
        (
            "{{ params.gone is defined }}{{ params.no is none }}{{ params.s is not undefined }}",
            "FalseTrueTrue",
        ),
        ("{{ 1 < params.n <= 7 }}{{ 'b' in params.list }}{{ 'k' not in params.map }}", "TrueTrueFalse"),
        ("{{ params.list }}{{ [params.n, {'a': params.yes}] }}", "[1, 'b', [2]][7, {'a': True}]"),
        ("{{ not params.empty }}{# no #}{% raw %}{{ x }}{% endraw %}", "True{{ x }}"),
    ] {
        assert_eq!(render(text, &params).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn what_a_value_does_not_allow_is_told() {
    let params = json!({"n": 7, "s": "abc", "list": [1, 2], "map": {}});
    for (text, wrong) in [
        ("{{ params.s * 3 }}", "`*` takes numbers"),
        ("{{ 3 * params.list }}", "`*` takes numbers"),
        ("{{ params.list + params.list }}", "`+` takes numbers, or texts"),
        ("{{ params.s - 1 }}", "`-` takes numbers"),
        ("{{ params.n // 0 }}", "unable to calculate"),
        ("{{ params.map[1:] }}", "cannot be sliced"),
        ("{{ params.gone ~ 'x' }}", "undefined value: `params.gone`"),
        ("{{ params.gone.more | default('x') }}", "undefined value: `params.gone`"),
        ("{{ params.s | date }}", "expected a moment"),
        ("{{ params.n in 5 }}", "containment"),
    ] {
        let error = render(text, &params).unwrap_err();
        assert!(error.contains(wrong), "{text}: {error}");
    }
}

#[test]
fn names_are_found_and_mistakes_told() {
    let names = |text: &str| Template::from(text).names();
    let found = names("{{ params.day }}{{ day if params.shop.name[params.x] else headers['y'] }}").unwrap();
    let expected = ["day", "headers", "params.day", "params.shop.name", "params.x"];
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    for (text, wrong) in [
        ("{{ oops", "syntax error"),
        ("{% for %}", "statements"),
        ("{% if params.a %}x{% endif %}", "{{ a if b else c }}"),
        ("{{ params.a | twist }}", "twist"),
        ("{{ 'x' if true else (params.a | twist) }}", "twist"),
        ("{{ params.a is odd }}", "odd"),
        ("{{ range(5) }}", "function"),
        ("{{ params.a.items() }}", "function"),
        ("{{ params.a | default }}", "1 argument"),
        ("{{ params.a | date(format='x') }}", "no names"),
        ("{{ params.a | date('%!') }}", "date"),
        ("{{ params.a[::2] }}", "step"),
        ("{{ 'x' * params.n }}", "numbers"),
    ] {
        let error = names(text).unwrap_err();
        assert!(error.contains(wrong), "{text}: {error}");
        assert!(render(text, &json!({"a": "1", "n": 3})).is_err(), "{text}");
    }
}

/// Templates that try to become large, long or deep.
fn bombs() -> Vec<(&'static str, String)> {
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        format!("{{{{ {}{inner}{} }}}}", open.repeat(times), close.repeat(times))
    };
    vec![
        ("repeated text", "{{ 'a' * 100000000 }}".into()),
        ("repeated text of a parameter", "{{ params.big * 100000000 }}{{ 100000000 * params.big }}".into()),
        ("repeated list", "{{ [0] * 100000000 }}".into()),
        ("repeated list of a parameter", "{{ params.list * 100000000 }}".into()),
        ("added lists", "{{ params.list + params.list }}".into()),
        ("doubled by set", format!("{{% set a = 'aaaa' %}}{}{{{{ a }}}}", "{% set a = a ~ a %}".repeat(40))),
        ("loop", "{% for a in params.list %}{% for b in params.list %}x{% endfor %}{% endfor %}".into()),
        ("recursive macro", "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}".into()),
        ("captured block", "{% set a %}x{% endset %}{% filter upper %}x{% endfilter %}".into()),
        ("range", "{{ range(1000000000) }}".into()),
        ("list of a range", "{{ range(1000000000) | list | join('x') }}".into()),
        ("replaced", "{{ params.big | replace('x', params.big) }}".into()),
        ("formatted", "{{ '%1000000000d' | format(1) }}".into()),
        ("wide date", format!("{{{{ logical_time | date('{}') }}}}", "%255Y".repeat(10_000))),
        ("joined by ~", format!("{{{{ params.big{} }}}}", " ~ params.big".repeat(200))),
        ("joined by +", format!("{{{{ params.big{} }}}}", " + params.big".repeat(200))),
        ("joined by ~ in pieces", "{{ params.big ~ params.big }}".repeat(100)),
        ("listed", format!("{{{{ [params.list{}] }}}}", ", params.list".repeat(200))),
        ("printed", "{{ params }}".repeat(10_000)),
        ("plain text beside", format!("{}{{{{ params.big }}}}", "x".repeat(TEXT_BYTES_MAX))),
        ("nested brackets", nested("(", "1", ")", 10_000)),
        ("nested lists", nested("[", "1", "]", 10_000)),
        ("nested filters", nested("", "1", " | default(1)", 10_000)),
        ("nested not", nested("not ", "1", "", 60_000)),
        ("nested minus", nested("-", "1", "", 60_000)),
        ("nested choices", nested("1 if 0 else ", "1", "", 10_000)),
        ("chain of and", nested("1 and ", "1", "", 10_000)),
        ("chain of sums", nested("1+", "1", "", 60_000)),
        ("chain of names", nested("", "params", ".a", 60_000)),
        ("great power", "{{ 9 ** 9 ** 9 ** 9 }}".into()),
        ("nested statements", "{% if 1 %}".repeat(10_000)),
    ]
}

#[test]
fn no_bomb_is_larger_than_the_budget() {
    let params = json!({"big": "x".repeat(200_000), "list": vec![0; 60_000]});
    for (name, bomb) in bombs() {
        let mut budget = Budget::default();
        let template = Template::from(bomb);
        let rendered = template.render(&params, &mut budget);
        let error = rendered.expect_err(name);
        assert!(error.len() < 1_000, "{name}: the message has {} bytes", error.len());
        // A check renders nothing, so that it ends is all.
        let _ = template.names();
        // Also as a value of its own.
        let call = Call { payload: params.clone(), headers: [].into(), at: crate::Timestamp::ZERO };
        let template = Template::from(template.as_str().replace("params", "payload"));
        template.evaluate_call(&call, &mut Budget::default()).expect_err(name);
    }
}

#[test]
fn one_budget_is_for_all_templates_together() {
    let params = json!({"big": "x".repeat(200_000)});
    let (mut budget, mut bytes) = (Budget::default(), 0);
    let template = Template::from("{{ params.big }}");
    let error = loop {
        match template.render(&params, &mut budget) {
            Ok(text) => bytes += text.len(),
            Err(error) => break error,
        }
    };
    assert!(bytes > TEMPLATE_BYTES_MAX - 400_000 && bytes <= TEMPLATE_BYTES_MAX, "{bytes}");
    assert!(error.contains("bytes in all"), "{error}");
}

#[test]
fn the_largest_expression_within_the_limits_is_evaluated_once() {
    // Each side would double the work if it was evaluated twice.
    let text = format!("{{{{ {}1 }}}}", "1 and ".repeat(62));
    assert_eq!(render(&text, &json!({})).as_deref(), Ok("1"));
    let text = format!("{{{{ {}1{} }}}}", "(0 or ".repeat(30), ")".repeat(30));
    assert_eq!(render(&text, &json!({})).as_deref(), Ok("1"));
}
