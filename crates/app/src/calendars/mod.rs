//! Calendars: days and times at which triggers do not fire. They live in a namespace and hold for all below it; of several
//! with the same name the nearest is heeded.

mod heed;
mod put;

use mainspring_model::{CalendarSpec, Name, Namespace, Timestamp};
use mainspring_store::{Record, RecordKey};
use mainspring_wire::api::{self, Page};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::paging::{PageRequest, visible};
use crate::principal::Caller;
use crate::record;

pub use heed::CalendarShelf;

/// What a record of a calendar says.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Document {
    namespace: Namespace,
    name: Name,
    created_at: Timestamp,
    updated_at: Timestamp,
    updated_by: Box<str>,
    spec: CalendarSpec,
}

impl App {
    /// Calendars of a namespace and all below; without one, all that the caller may see.
    pub async fn list_calendars(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        request: &PageRequest,
    ) -> Result<Page<api::Calendar>> {
        self.places(caller, Operation::CalendarList, namespace).await?;
        let query = request.records(record::CALENDAR, &[])?;
        let see = |row: &Record| {
            let document: Document = record::decode(row)?;
            let may = caller.principal.may(Operation::CalendarList, Some(&document.namespace));
            let is_here = namespace.is_none_or(|namespace| document.namespace.is_within(namespace));
            Ok((may && is_here).then(|| view(document, row.revision)))
        };
        visible(&*self.store, query, see).await
    }

    /// A calendar of this namespace.
    pub async fn calendar(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        name: &str,
    ) -> Result<api::Calendar> {
        self.allow(caller, Operation::CalendarGet, Some(namespace)).await?;
        match self.store.record(record::CALENDAR, &key(namespace, name)).await? {
            Some(row) => Ok(view(record::decode(&row)?, row.revision)),
            None => Err(missing(namespace, name)),
        }
    }
}

fn key(namespace: &Namespace, name: &str) -> RecordKey {
    [namespace.as_str().as_bytes(), &[0], name.as_bytes()].concat().into()
}

fn missing(namespace: &Namespace, name: &str) -> Error {
    Error::not_found(format!("calendar `{name}` of `{namespace}`"))
}

fn view(document: Document, revision: u64) -> api::Calendar {
    let Document { namespace, name, created_at, updated_at, updated_by, spec } = document;
    api::Calendar {
        namespace,
        name: name.to_string(),
        revision,
        created_at: created_at.into(),
        updated_at: updated_at.into(),
        updated_by: updated_by.into(),
        spec,
    }
}
