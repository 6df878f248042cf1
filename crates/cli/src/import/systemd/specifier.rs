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
                Some('p' | 'P') => found.push_str(self.prefix()),
                Some('i') => found.push_str(self.instance().unwrap_or_default()),
                // Unescaped: `/` stands as `-`.
                Some('I') => found.push_str(&self.instance().unwrap_or_default().replace('-', "/")),
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
        assert!(UnitName::new("a@.timer").is_template() && !UnitName::new("a.timer").is_template());
    }
}
