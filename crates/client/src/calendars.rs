//! Calendars: days and times at which triggers do not fire.

use mainspring_model::CalendarSpec;
use mainspring_wire::api::Calendar;

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;
use crate::pages::Pages;

impl Client {
    /// Calendars in a namespace and all below it, or all that the caller may see.
    pub fn calendars(&self, namespace: Option<&str>) -> Pages<Calendar> {
        Pages::new(self, Call::get(&["v1", "calendars"]).maybe("namespace", namespace))
    }

    /// A calendar.
    pub async fn calendar(&self, namespace: Option<&str>, name: &str) -> Result<Calendar, Error> {
        self.ask(Call::get(&["v1", "calendars", name]).maybe("namespace", namespace)).await
    }

    /// Makes a calendar or replaces it.
    pub async fn put_calendar(
        &self,
        namespace: Option<&str>,
        name: &str,
        spec: &CalendarSpec,
    ) -> Result<Calendar, Error> {
        self.ask(Call::put(&["v1", "calendars", name]).maybe("namespace", namespace).json(spec)?).await
    }

    /// Removes a calendar that no trigger heeds.
    pub async fn delete_calendar(&self, namespace: Option<&str>, name: &str) -> Result<(), Error> {
        self.tell(Call::delete(&["v1", "calendars", name]).maybe("namespace", namespace)).await
    }
}
