//! One body for each verb of the contract, over any [`crate::session::Backend`].

pub(crate) mod clock;
pub(crate) mod commit;
pub(crate) mod counters;
pub(crate) mod ends;
pub(crate) mod explain;
pub(crate) mod jobs;
pub(crate) mod leases;
pub(crate) mod lookup;
pub(crate) mod members;
pub(crate) mod newest;
pub(crate) mod nodes;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod records;
pub(crate) mod replay;
pub(crate) mod retain;
pub(crate) mod runs;
pub(crate) mod statement;
