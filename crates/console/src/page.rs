//! The page's template: the base of its links and the nonce of its styles are filled in for each answer.

const BASE: &str = "<base href=\"/\"";
const NONCE: &str = "nonce=\"\"";

/// Fills the template. The caller vouches that neither value needs escaping.
pub(crate) fn fill(template: &str, prefix: &str, nonce: &str) -> String {
    template.replacen(BASE, &format!("<base href=\"{prefix}/\""), 1).replacen(
        NONCE,
        &format!("nonce=\"{nonce}\""),
        1,
    )
}
