//! Triggers: where they stand, what they plan, what became of it.

use mainspring_wire::api::{
    CursorRequest, HookToken, HookTokenRequest, LoadReport, LoadRequest, NoteRequest, Occurrence, Preview,
    PreviewRequest, Submitted, Time, Trigger,
};

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;
use crate::pages::Pages;

impl Client {
    /// Triggers in a namespace and all below it, or all that the caller may see.
    pub fn triggers(&self, namespace: Option<&str>) -> Pages<Trigger> {
        Pages::new(self, Call::get(&["v1", "triggers"]).maybe("namespace", namespace))
    }

    /// The triggers of a job.
    pub fn job_triggers(&self, namespace: Option<&str>, job: &str) -> Pages<Trigger> {
        Pages::new(self, Call::get(&["v1", "jobs", job, "triggers"]).maybe("namespace", namespace))
    }

    /// A trigger.
    pub async fn trigger(&self, namespace: Option<&str>, job: &str, name: &str) -> Result<Trigger, Error> {
        self.ask(Call::get(&["v1", "jobs", job, "triggers", name]).maybe("namespace", namespace)).await
    }

    /// When a trigger would fire.
    pub async fn preview_trigger(&self, request: &PreviewRequest) -> Result<Preview, Error> {
        let PreviewRequest { trigger, namespace, job, after, count } = request;
        let call = Call::get(&["v1", "triggers", "preview"]).query("trigger", trigger);
        let call = call.maybe("namespace", namespace.as_ref()).maybe("job", job.as_ref());
        self.ask(call.maybe("after", after.as_ref()).maybe("count", count.as_ref())).await
    }

    /// What is planned, by hour and pool.
    pub async fn trigger_load(&self, request: &LoadRequest) -> Result<LoadReport, Error> {
        let LoadRequest { namespace, days, from } = request;
        let call = Call::get(&["v1", "triggers", "load"]).maybe("namespace", namespace.as_ref());
        self.ask(call.maybe("days", days.as_ref()).maybe("from", from.as_ref())).await
    }

    /// What became of the planned moments of a trigger, the newest first.
    pub fn trigger_history(&self, namespace: Option<&str>, job: &str, name: &str) -> Pages<Occurrence> {
        let call = Call::get(&["v1", "jobs", job, "triggers", name, "history"]);
        Pages::new(self, call.maybe("namespace", namespace))
    }

    /// Lets a trigger fire no more.
    pub async fn pause_trigger(
        &self,
        namespace: Option<&str>,
        job: &str,
        name: &str,
        note: &str,
    ) -> Result<Trigger, Error> {
        let call = Call::post_repeatable(&["v1", "jobs", job, "triggers", name, "pause"]);
        self.ask(call.maybe("namespace", namespace).json(&NoteRequest { note: note.to_owned() })?).await
    }

    /// Lets a paused trigger go on.
    pub async fn resume_trigger(
        &self,
        namespace: Option<&str>,
        job: &str,
        name: &str,
        note: &str,
    ) -> Result<Trigger, Error> {
        let call = Call::post_repeatable(&["v1", "jobs", job, "triggers", name, "resume"]);
        self.ask(call.maybe("namespace", namespace).json(&NoteRequest { note: note.to_owned() })?).await
    }

    /// Has a trigger go on from another moment.
    pub async fn move_trigger(
        &self,
        namespace: Option<&str>,
        job: &str,
        name: &str,
        cursor: Time,
    ) -> Result<Trigger, Error> {
        let call = Call::put(&["v1", "jobs", job, "triggers", name, "cursor"]).maybe("namespace", namespace);
        self.ask(call.json(&CursorRequest { cursor })?).await
    }

    /// Fires a trigger now. Not sent again when its answer is lost: that would fire twice.
    pub async fn fire_trigger(
        &self,
        namespace: Option<&str>,
        job: &str,
        name: &str,
    ) -> Result<Submitted, Error> {
        let call = Call::post(&["v1", "jobs", job, "triggers", name, "fire"]);
        self.ask(call.maybe("namespace", namespace)).await
    }

    /// Makes the token of a webhook; the one before is void. With `secret`, callers sign with that.
    pub async fn create_hook_token(
        &self,
        namespace: Option<&str>,
        job: &str,
        name: &str,
        secret: Option<String>,
    ) -> Result<HookToken, Error> {
        let call = Call::post(&["v1", "jobs", job, "triggers", name, "token"]);
        self.ask(call.maybe("namespace", namespace).json(&HookTokenRequest { secret })?).await
    }

    /// Revokes the token of a webhook.
    pub async fn revoke_hook_token(
        &self,
        namespace: Option<&str>,
        job: &str,
        name: &str,
    ) -> Result<(), Error> {
        let call = Call::delete(&["v1", "jobs", job, "triggers", name, "token"]);
        self.tell(call.maybe("namespace", namespace)).await
    }
}
