//! `%` in a command: the first ends it, the others are ends of lines of its input, and `\%` is itself.

/// The command and its input.
pub(super) fn split(text: &str) -> (String, Option<String>) {
    let (mut command, mut input) = (String::new(), None::<String>);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let c = match c {
            '\\' if chars.next_if_eq(&'%').is_some() => '%',
            '%' => match &input {
                Some(_) => '\n',
                None => {
                    input = Some(String::new());
                    continue;
                }
            },
            other => other,
        };
        input.as_mut().unwrap_or(&mut command).push(c);
    }
    // cron ends the last line.
    let input = input.map(|input| if input.ends_with('\n') { input } else { input + "\n" });
    (command, input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_are_lines_of_input() {
        let check = |text: &str, command: &str, input: Option<&str>| {
            assert_eq!(split(text), (command.to_owned(), input.map(str::to_owned)), "{text}");
        };
        check("date +\\%F", "date +%F", None);
        check("cat%a%b", "cat", Some("a\nb\n"));
        check("cat%", "cat", Some("\n"));
        check("cat%a%", "cat", Some("a\n"));
        check("mail x%50\\% off%", "mail x", Some("50% off\n"));
        check("echo a\\b", "echo a\\b", None);
    }
}
