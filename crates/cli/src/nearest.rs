//! The nearest known word to one that is not known.

/// The nearest of `known`, if one is near: within a third of the word's letters.
pub(crate) fn nearest(word: &str, known: impl IntoIterator<Item = String>) -> Option<String> {
    let most = (word.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(word, &candidate), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
