//! Versions of jobs, of which a damaged one keeps nobody from the others (I20).

use mainspring_model::{JobId, JobVersion};

use crate::contract::Store;
use crate::error::{Error, Result};

/// Versions that were asked for.
#[derive(Debug, Default)]
pub struct Versions {
    /// Those that can be read.
    pub readable: Vec<JobVersion>,
    /// Those that cannot, and why.
    pub damaged: Vec<((JobId, u32), Error)>,
}

impl Versions {
    /// Reads them together and, when one of them is damaged, one by one.
    pub async fn read(store: &dyn Store, keys: &[(JobId, u32)]) -> Result<Self> {
        match store.job_versions(keys).await {
            Ok(readable) => return Ok(Self { readable, damaged: Vec::new() }),
            Err(error) if error.is_transient() => return Err(error),
            Err(_) => {}
        }
        let mut versions = Self::default();
        for key in keys {
            match store.job_versions(&[*key]).await {
                Ok(version) => versions.readable.extend(version),
                Err(error) if error.is_transient() => return Err(error),
                Err(error) => versions.damaged.push((*key, error)),
            }
        }
        Ok(versions)
    }
}
