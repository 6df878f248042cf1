//! Text that must stay as it is, in a field that is a template.

/// The template that renders to this text.
pub(crate) fn literal(text: &str) -> String {
    if !["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)) {
        return text.to_owned();
    }
    // A template loses the newline at its end.
    let (text, end) = match text.strip_suffix('\n') {
        Some(text) => (text, "{{ \"\\n\" }}"),
        None => (text, ""),
    };
    let mut found = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        found.push_str(before);
        let mark = ["{{", "{%", "{#"].into_iter().find(|mark| from.starts_with(mark));
        match mark {
            Some(mark) => found.push_str(&format!("{{{{ '{mark}' }}}}")),
            None => found.push('{'),
        }
        rest = &from[mark.map_or(1, str::len)..];
    }
    found + rest + end
}

#[cfg(test)]
mod tests {
    use mainspring_model::spec::Template;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_rendered_is_what_was_written() {
        for text in
            ["plain {x}", "{{ a }}", "{{{%-#}", "{# no #}\n", "x{{\n\n", "{%", "a{{{{b", "'{{'", "{{-"]
        {
            let template = Template::from(literal(text));
            assert_eq!(
                template.render(&json!({}), &mut mainspring_model::spec::Budget::default()).unwrap(),
                text,
                "{template}"
            );
        }
        assert_eq!(literal("${HOME}"), "${HOME}");
    }
}
