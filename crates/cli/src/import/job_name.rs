//! The name of a job, from what it runs.

use std::collections::BTreeSet;

/// The longest name that is made up; a number may follow.
const LENGTH_MAX: usize = 60;
/// Words that start another program, and those of their options that take a value.
const WRAPPERS: &[(&str, &[&str])] = &[
    ("sudo", &["-u", "-g"]),
    ("nice", &["-n"]),
    ("ionice", &["-c", "-n"]),
    ("chrt", &[]),
    ("env", &["-u"]),
    ("exec", &[]),
    ("nohup", &[]),
    ("setsid", &[]),
    ("time", &[]),
    ("chronic", &[]),
    ("command", &[]),
];
/// Wrappers with one more word before the program: how long, or which lock.
const WRAPPERS_WITH_WORD: &[(&str, &[&str])] =
    &[("timeout", &["-k", "-s"]), ("flock", &["-w", "-E"]), ("setlock", &[])];
/// Programs that run a file.
const INTERPRETERS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "python",
    "python2",
    "python3",
    "perl",
    "ruby",
    "php",
    "node",
    "Rscript",
    "run-parts",
];
/// Commands that only prepare the one that matters.
const PREPARATIONS: &[&str] =
    &["cd", "test", "[", "export", "umask", "set", "ulimit", ".", "source", "sleep"];

/// Gives each job a name of its own.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// The name for a wish: itself, or with a number.
    pub(super) fn take(&mut self, wish: &str) -> String {
        let base = valid(wish);
        let numbered = (2..).map(|number| format!("{base}-{number}"));
        let free = std::iter::once(base.clone()).chain(numbered).find(|name| !self.taken.contains(name));
        let name = free.unwrap_or(base);
        self.taken.insert(name.clone());
        name
    }
}

/// The word that says best what a shell command does.
pub(super) fn of_command(command: &str) -> String {
    let words = words(command);
    let parts = words.split(|word| matches!(word.as_str(), "&&" | "||" | ";" | "|" | "&"));
    let mut programs = parts.filter_map(program);
    let first = programs.next();
    let is_preparation = |word: &String| PREPARATIONS.contains(&word.as_str());
    let found = match first.as_ref() {
        Some(word) if is_preparation(word) => programs.find(|word| !is_preparation(word)).or(first),
        _ => first,
    };
    stem(&found.unwrap_or_default()).to_owned()
}

/// The program of a simple command, past assignments, wrappers and interpreters.
fn program(words: &[String]) -> Option<String> {
    let mut words = words
        .iter()
        .map(String::as_str)
        .filter(|word| !matches!(*word, "(" | ")" | "{" | "}" | "!"))
        .peekable();
    while let Some(word) = words.next() {
        let name = base(word);
        let known = |table: &[(&'static str, &'static [&'static str])]| {
            table.iter().find(|(wrapper, _)| *wrapper == name).map(|(_, options)| *options)
        };
        let (options, skip) = match (known(WRAPPERS), known(WRAPPERS_WITH_WORD)) {
            (Some(options), _) => (options, 0),
            (None, Some(options)) => (options, 1),
            (None, None) if is_assignment(word) => continue,
            (None, None) if INTERPRETERS.contains(&name) => {
                let file = words.find(|word| !word.starts_with('-'));
                return Some(file.filter(|file| !file.contains(' ')).unwrap_or(word).to_owned());
            }
            (None, None) => return Some(word.to_owned()),
        };
        while let Some(option) = words.next_if(|word| word.starts_with('-')) {
            if options.contains(&option) {
                words.next();
            }
        }
        words.by_ref().take(skip).for_each(drop);
    }
    None
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Words as a shell sees them, near enough for a name.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => word.push(c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '\\') => word.extend(chars.next()),
            (None, ';' | '&' | '|' | '(' | ')') => {
                words.push(std::mem::take(&mut word));
                let twice = c != '(' && c != ')' && chars.next_if_eq(&c).is_some();
                words.push(if twice { format!("{c}{c}") } else { c.to_string() });
            }
            (None, _) if c.is_whitespace() => words.push(std::mem::take(&mut word)),
            (None, _) => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn base(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// The last part of a path without the ending of a kind of file.
fn stem(path: &str) -> &str {
    let name = base(path);
    let is_ending = |ending: &str| {
        (1..=4).contains(&ending.len())
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
    };
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && is_ending(ending) => stem,
        _ => name,
    }
}

/// The nearest name that the rules for names allow.
fn valid(wish: &str) -> String {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    let mut name = String::new();
    for c in wish.to_lowercase().chars() {
        let c = if allowed(c) { c } else { '-' };
        if !(c == '-' && name.ends_with('-')) {
            name.push(c);
        }
    }
    name.truncate(LENGTH_MAX);
    let name = name.trim_matches(['-', '_', '.']);
    if name.is_empty() { "job".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_called_by_what_it_runs() {
        for (command, name) in [
            ("/usr/local/bin/backup.sh --full", "backup"),
            ("cd /srv/shop && ./bin/close_day.py >> /var/log/x 2>&1", "close_day"),
            ("LANG=C PATH=/x:/y nice -n 10 ionice -c 3 /opt/Report.PL", "report"),
            ("sudo -u www-data php /srv/artisan schedule:run", "artisan"),
            ("flock -n /run/x.lock /usr/bin/rsync -a a b", "rsync"),
            ("/usr/bin/env bash /opt/x/sync.sh", "sync"),
            ("timeout -k 5 60 curl -fsS https://x.example/ping", "curl"),
            ("bash -c 'a && b'", "bash"),
            ("[ -x /usr/sbin/anacron ] || ( cd / && run-parts --report /etc/cron.daily )", "cron.daily"),
            ("test -d /x && /y/clean.sh", "clean"),
            ("cd /tmp", "cd"),
            ("python3.11", "python3.11"),
            ("'/opt/my tool/Do It.sh' x", "do-it"),
            (". /etc/profile; /opt/überlauf", "berlauf"),
            ("___", "job"),
        ] {
            assert_eq!(Names::default().take(&of_command(command)), name, "{command}");
        }
    }

    #[test]
    fn each_has_a_name_of_its_own() {
        let mut names = Names::default();
        let taken: Vec<String> =
            ["backup", "backup-2", "backup", "backup", "Backup!"].map(|wish| names.take(wish)).into();
        assert_eq!(taken, ["backup", "backup-2", "backup-3", "backup-4", "backup-5"]);
        let long = names.take(&"x.".repeat(100));
        assert!(long.len() <= LENGTH_MAX && long.parse::<mainspring_model::Name>().is_ok(), "{long}");
    }
}
