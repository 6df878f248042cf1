//! Backfills: planned moments of the past that are made up for.

use mainspring_model::{BackfillId, BackfillOrder, Reprocess};
use mainspring_wire::api::{Backfill, BackfillPlan, BackfillPlanRequest, BackfillRequest};

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;
use crate::pages::Pages;

impl Client {
    /// What a backfill would do, without doing it.
    pub async fn plan_backfill(
        &self,
        job: &str,
        trigger: &str,
        request: &BackfillPlanRequest,
    ) -> Result<BackfillPlan, Error> {
        let BackfillPlanRequest { namespace, from, until, order, reprocess } = request;
        let call = Call::get(&["v1", "jobs", job, "triggers", trigger, "backfills", "plan"]);
        let call = call.maybe("namespace", namespace.as_ref()).query("from", from);
        let call = call.maybe("until", until.as_ref());
        let call = call.maybe("order", order.map(BackfillOrder::name).as_ref());
        self.ask(call.maybe("reprocess", reprocess.map(Reprocess::name).as_ref())).await
    }

    /// Begins to make up for moments of the past. A request without an id gets one, so that it can be sent again when its
    /// answer is lost.
    pub async fn start_backfill(
        &self,
        namespace: Option<&str>,
        job: &str,
        trigger: &str,
        request: &BackfillRequest,
    ) -> Result<Backfill, Error> {
        let id = request.id.unwrap_or_else(|| BackfillId::from_bytes(uuid::Uuid::now_v7().into_bytes()));
        let request = BackfillRequest { id: Some(id), ..request.clone() };
        let call = Call::post_repeatable(&["v1", "jobs", job, "triggers", trigger, "backfills"]);
        self.ask(call.maybe("namespace", namespace).json(&request)?).await
    }

    /// The backfills of a trigger, the newest first.
    pub fn backfills(&self, namespace: Option<&str>, job: &str, trigger: &str) -> Pages<Backfill> {
        let call = Call::get(&["v1", "jobs", job, "triggers", trigger, "backfills"]);
        Pages::new(self, call.maybe("namespace", namespace))
    }

    /// A backfill makes no more runs; those that are active go on.
    pub async fn stop_backfill(
        &self,
        namespace: Option<&str>,
        job: &str,
        trigger: &str,
        id: BackfillId,
    ) -> Result<Backfill, Error> {
        let id = id.to_string();
        let call = Call::post_repeatable(&["v1", "jobs", job, "triggers", trigger, "backfills", &id, "stop"]);
        self.ask(call.maybe("namespace", namespace)).await
    }
}
