//! The zone of this machine, as its own cron and systemd see it.

use std::fs;
use std::path::Path;

use crate::failure::Failure;
use crate::import::is_zone;

/// Its name: where `/etc/localtime` points, or what `/etc/timezone` says; UTC without either.
pub(crate) fn find() -> Result<String, Failure> {
    let clock = Path::new("/etc/localtime");
    let linked = fs::read_link(clock).ok().and_then(|target| of_link(&target));
    let written = || fs::read_to_string("/etc/timezone").ok().map(|text| text.trim().to_owned());
    if let Some(name) = linked.or_else(written).filter(|name| is_zone(name)) {
        return Ok(name);
    }
    if clock.exists() {
        return Err(
            Failure::usage("the zone of this machine has no name").hint("name one: --zone Europe/Berlin")
        );
    }
    Ok("UTC".to_owned())
}

fn of_link(target: &Path) -> Option<String> {
    let (_, name) = target.to_str()?.split_once("zoneinfo/")?;
    let name = name.strip_prefix("posix/").or_else(|| name.strip_prefix("right/")).unwrap_or(name);
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_names_the_zone() {
        let name = |target: &str| of_link(Path::new(target));
        assert_eq!(name("/usr/share/zoneinfo/Europe/Berlin").as_deref(), Some("Europe/Berlin"));
        assert_eq!(name("../usr/share/zoneinfo/posix/UTC").as_deref(), Some("UTC"));
        assert_eq!(name("/etc/clock"), None);
    }
}
