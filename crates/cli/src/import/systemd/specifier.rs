//! Specifiers: `%i` and its like, as far as the name of a unit decides them.

/// A unit's name in parts: `backup@eu.service` is prefix `backup`, instance `eu`.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnitName<'a> {
    whole: &'a str,
}

impl<'a> UnitName<'a> {
    pub(super) fn new(whole: &'a str) -> Self {
        Self { whole }
    }

    /// Without the kind.
    pub(super) fn stem(self) -> &'a str {
        self.whole.rsplit_once('.').map_or(self.whole, |(stem, _)| stem)
    }

    fn prefix(self) -> &'a str {
        self.stem().split_once('@').map_or(self.stem(), |(prefix, _)| prefix)
    }

    fn instance(self) -> Option<&'a str> {
        self.stem().split_once('@').map(|(_, instance)| instance)
    }

    /// Whether it is a pattern for others.
    pub(super) fn is_template(self) -> bool {
        self.instance() == Some("")
    }

    /// The template that it is made from.
    pub(super) fn template(self) -> Option<String> {
        let kind = self.whole.rsplit_once('.').map_or("", |(_, kind)| kind);
        self.instance().map(|_| format!("{}@.{kind}", self.prefix()))
    }

    /// The text with its specifiers filled in, and those that only a machine could tell.
    pub(super) fn expand(self, text: &str) -> (String, Vec<String>) {
        let (mut found, mut unknown) = (String::new(), Vec::new());
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                found.push(c);
                continue;
            }
            match chars.next() {
                Some('%') => found.push('%'),
                Some('n') => found.push_str(self.whole),
                Some('N') => found.push_str(self.stem()),
                Some('p') => found.push_str(self.prefix()),
                Some('P') => found.push_str(&unescape(self.prefix())),
                Some('i') => found.push_str(self.instance().unwrap_or_default()),
                Some('I') => found.push_str(&unescape(self.instance().unwrap_or_default())),
                other => {
                    let specifier: String = std::iter::once('%').chain(other).collect();
                    found.push_str(&specifier);
                    unknown.push(specifier);
                }
            }
        }
        (found, unknown)
    }
}

/// The name that was escaped to be part of a unit's: `-` stands for `/`, `\x2d` for a byte.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let code = rest.strip_prefix("\\x").and_then(|digits| u8::from_str_radix(digits.get(..2)?, 16).ok());
        rest = match (code, c) {
            (Some(byte), _) => {
                bytes.push(byte);
                &rest[4..]
            }
            (None, '-') => {
                bytes.push(b'/');
                &rest[1..]
            }
            (None, c) => {
                bytes.extend_from_slice(&rest.as_bytes()[..c.len_utf8()]);
                &rest[c.len_utf8()..]
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides() {
        let name = UnitName::new("backup@srv-data.service");
        assert_eq!(name.template().as_deref(), Some("backup@.service"));
        let (text, unknown) = name.expand("%p %i %I %n %N 5%% %h %");
        assert_eq!(text, "backup srv-data srv/data backup@srv-data.service backup@srv-data 5% %h %");
        assert_eq!(unknown, ["%h", "%"]);
        let escaped = UnitName::new(r"a-b@my\x2ddir-\xc3\xa4\x.service");
        assert_eq!(escaped.expand("%P %I").0, r"a/b my-dir/ä\x");
        assert!(UnitName::new("a@.timer").is_template() && !UnitName::new("a.timer").is_template());
    }
}
