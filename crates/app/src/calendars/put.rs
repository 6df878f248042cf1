//! Writing calendars. What tells the owners of the triggers that heed one is written with it.

use mainspring_engine::{calendar_news, calendar_news_key};
use mainspring_model::{CalendarSpec, CellId, ErrorCode, Name, Namespace};
use mainspring_store::{Record, Write};
use mainspring_wire::api;

use super::{Document, key, missing, view};
use crate::app::App;
use crate::audit::Entry;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::ports::Command;
use crate::precondition::Precondition;
use crate::principal::Caller;
use crate::record;

/// Jobs named where a calendar cannot be removed.
const NAMED_MAX: usize = 3;

impl App {
    /// Makes a calendar or replaces it. Tells whether there was none.
    pub async fn put_calendar(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        name: &str,
        spec: CalendarSpec,
        condition: Precondition,
    ) -> Result<(api::Calendar, bool)> {
        self.allow(caller, Operation::CalendarPut, Some(namespace)).await?;
        let entry = Entry {
            target: Some(name.into()),
            ..caller.entry(self.now(), Operation::CalendarPut, Some(namespace))
        };
        let checked = async {
            let name: Name = name.parse().map_err(|error: mainspring_model::name::NameError| {
                Error::field(ErrorCode::InvalidSpec, "calendar", error.to_string())
            })?;
            if let Err(problems) = spec.read() {
                return Err(Error::problems(ErrorCode::InvalidSpec, "", problems));
            }
            let found = self.store.record(record::CALENDAR, &key(namespace, name.as_str())).await?;
            condition.check(found.as_ref().map(|row| row.revision))?;
            Ok((name, found))
        };
        let (name, found) = match checked.await {
            Ok(checked) => checked,
            Err(error) => return self.refused(entry, error).await,
        };
        let now = self.now();
        let before: Option<Document> = found.as_ref().map(record::decode).transpose()?;
        let document = Document {
            namespace: namespace.clone(),
            name: name.clone(),
            created_at: before.map_or(now, |before| before.created_at),
            updated_at: now,
            updated_by: caller.subject().into(),
            spec,
        };
        let row = Record {
            kind: record::CALENDAR,
            key: key(namespace, name.as_str()),
            revision: found.as_ref().map_or(1, |row| row.revision + 1),
            expires_at: None,
            value: record::encode(&document).into(),
        };
        let seen = view(document, row.revision);
        let (kind, news) = calendar_news_key(namespace, name.as_str());
        let standing = self.store.record(kind, &news).await?.map(|news| news.revision);
        let news = calendar_news(namespace, name.as_str(), standing, now);
        self.journal.write(vec![Write::PutRecord(Box::new(row)), news], entry).await?;
        // Owners elsewhere find out by themselves.
        for cell in (0..self.cells.count()).map(CellId) {
            let _ = self.cells.command(cell, Command::CalendarsChanged, Vec::new()).await;
        }
        Ok((seen, found.is_none()))
    }

    /// Removes a calendar that no trigger heeds.
    pub async fn delete_calendar(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        name: &str,
        condition: Precondition,
    ) -> Result<()> {
        self.allow(caller, Operation::CalendarDelete, Some(namespace)).await?;
        let entry = Entry {
            target: Some(name.into()),
            ..caller.entry(self.now(), Operation::CalendarDelete, Some(namespace))
        };
        let checked = async {
            let found = self.store.record(record::CALENDAR, &key(namespace, name)).await?;
            let found = found.ok_or_else(|| missing(namespace, name))?;
            condition.check(Some(found.revision))?;
            let heeding = self.heeding(namespace, name).await?;
            if heeding.is_empty() {
                return Ok(found);
            }
            let jobs: Vec<&str> = heeding.iter().take(NAMED_MAX).map(|spec| spec.name.as_str()).collect();
            let more = if heeding.len() > NAMED_MAX { ", …" } else { "" };
            let heed = if heeding.len() == 1 {
                "1 job heeds it".into()
            } else {
                format!("{} jobs heed it", heeding.len())
            };
            let message = format!("{heed}: {}{more}", jobs.join(", "));
            Err(Error::new(ErrorCode::IllegalState, message))
        };
        match checked.await {
            Ok(row) => {
                let removal = Write::RemoveRecord { kind: row.kind, key: row.key, expected: row.revision };
                self.journal.write(vec![removal], entry).await
            }
            Err(error) => self.refused(entry, error).await,
        }
    }
}
