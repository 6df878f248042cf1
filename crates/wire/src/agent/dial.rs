//! How a node looks for the owner of its cell: the same for agents and for processes of users.

use std::time::Duration;

/// The first and the longest wait before the next dial.
const WAIT_MIN: Duration = Duration::from_millis(100);
const WAIT_MAX: Duration = Duration::from_secs(10);
/// The longest at first, and how often: whoever takes over must be found before the node stops its tasks.
const EAGER_WAIT_MAX: Duration = Duration::from_millis(800);
const EAGER_DIALS: u32 = 20;

/// How long to wait after so many failures in a row: half of a wait that doubles, and chance for the other half, so that
/// nodes that lost the same scheduler come back one by one.
pub fn wait_before_dial(failures: u32, chance: u64) -> Duration {
    let most = if failures <= EAGER_DIALS { EAGER_WAIT_MAX } else { WAIT_MAX };
    let full = (WAIT_MIN * 2u32.saturating_pow(failures.saturating_sub(1).min(10))).min(most);
    full / 2 + Duration::from_micros(chance % (full.as_micros() as u64 / 2 + 1))
}

/// Whether a redirection may be followed: a credential that was shown behind TLS is not shown in the clear because somebody
/// says so.
pub fn may_redirect(from: &str, to: &str) -> bool {
    let may = to.starts_with("https:") || !from.starts_with("https:");
    if !may {
        tracing::warn!(
            to,
            from,
            "a redirection out of TLS is not followed; give the schedulers `https:` URLs"
        );
    }
    may
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_redirection_leads_out_of_tls() {
        assert!(may_redirect("http://a:1", "http://b:1") && may_redirect("http://a:1", "https://b:1"));
        assert!(may_redirect("https://a:1", "https://b:1") && !may_redirect("https://a:1", "http://b:1"));
    }

    #[test]
    fn waits_grow_to_a_bound_and_have_chance_in_them() {
        assert!(wait_before_dial(1, 0) >= WAIT_MIN / 2 && wait_before_dial(1, u64::MAX) <= WAIT_MIN);
        assert!(wait_before_dial(EAGER_DIALS, 0) >= EAGER_WAIT_MAX / 2);
        assert!(wait_before_dial(EAGER_DIALS, u64::MAX) <= EAGER_WAIT_MAX);
        for chance in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
            let wait = wait_before_dial(1_000, chance);
            assert!(wait >= WAIT_MAX / 2 && wait <= WAIT_MAX, "{wait:?}");
        }
    }
}
