//! The cases, one file for each theme.

use crate::case::Case;

mod all_or_nothing;
mod attempts;
mod batches;
mod clock;
mod counters;
mod ends;
mod events;
mod fence;
mod insert_run;
mod job_removal;
mod jobs;
mod keys;
mod leases;
mod members;
mod migrations;
mod names;
mod nodes;
mod pages;
mod pause;
mod payloads;
mod races;
mod races_of_owners;
mod record_pages;
mod records;
mod refusals;
mod reopening;
mod replay;
mod replay_after_others;
mod resending;
mod retention;
mod shelf_pages;
mod shelves;
mod times;
mod update_run;

/// Every case, theme by theme.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    THEMES.iter().copied().flatten()
}

const THEMES: &[&[Case]] = &[
    insert_run::CASES,
    update_run::CASES,
    keys::CASES,
    attempts::CASES,
    events::CASES,
    jobs::CASES,
    names::CASES,
    job_removal::CASES,
    nodes::CASES,
    counters::CASES,
    pause::CASES,
    records::CASES,
    record_pages::CASES,
    batches::CASES,
    all_or_nothing::CASES,
    refusals::CASES,
    fence::CASES,
    replay::CASES,
    replay_after_others::CASES,
    leases::CASES,
    members::CASES,
    shelves::CASES,
    shelf_pages::CASES,
    pages::CASES,
    ends::CASES,
    retention::CASES,
    times::CASES,
    payloads::CASES,
    races::CASES,
    races_of_owners::CASES,
    clock::CASES,
    migrations::CASES,
    reopening::CASES,
    resending::CASES,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn there_are_enough_and_no_two_share_a_name() {
        let names: Vec<&str> = super::cases().map(|case| case.name).collect();
        assert!(names.len() >= 400, "{} cases", names.len());
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
}
