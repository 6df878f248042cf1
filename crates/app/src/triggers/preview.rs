//! What a trigger would do: the next moments on its wall clock and in UTC, and when it fires in words.

use mainspring_cron::describe::{self, Language};
use mainspring_model::spec::{self, On, Trigger, When};
use mainspring_model::{Calendars, ErrorCode, Timestamp, duration_text};
use mainspring_wire::api::{Description, Planned, Preview, PreviewRequest};
use serde_json::json;

use crate::app::App;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::principal::Caller;

/// Moments told when nobody says how many.
const COUNT_DEFAULT: u16 = 10;
const COUNT_MAX: u16 = 1_000;

impl App {
    /// What a trigger would do, whether a job has it or not.
    pub async fn preview_trigger(&self, caller: &Caller, request: PreviewRequest) -> Result<Preview> {
        self.allow(caller, Operation::TriggerPreview, None).await?;
        let PreviewRequest { trigger, namespace, job, after, count } = request;
        let count = count.unwrap_or(COUNT_DEFAULT);
        if !(1..=COUNT_MAX).contains(&count) {
            let message = format!("1 to {COUNT_MAX} moments are told");
            return Err(Error::field(ErrorCode::InvalidRequest, "count", message));
        }
        let trigger = read(&trigger)?;
        let namespace = namespace.unwrap_or_default();
        let calendars = match trigger.calendar.is_empty() {
            true => Calendars::default(),
            false => {
                self.allow(caller, Operation::CalendarGet, Some(&namespace)).await?;
                self.calendars_named(&namespace, &trigger).await?
            }
        };
        let seed = Trigger::seed(&namespace, job.as_deref().unwrap_or_default());
        let after = after.map_or_else(|| self.now(), |after| after.0);
        let zone = trigger.zone();
        let mut offset = zone.offset(after.as_micros().div_euclid(1_000_000));
        let mut moments = Vec::new();
        if let Some(schedule) = trigger.schedule(seed, &calendars) {
            let mut last = after.as_micros();
            while let Some(next) = schedule.next(last).filter(|_| moments.len() < usize::from(count)) {
                let second = next.div_euclid(1_000_000);
                let turned = zone.offset(second) - std::mem::replace(&mut offset, zone.offset(second));
                let at = Timestamp::from_micros(next);
                moments.push(Planned {
                    at: at.into(),
                    local: zone.wall_clock(second),
                    fires_at: Some(trigger.fires_at(seed, at))
                        .filter(|fires_at| *fires_at > at)
                        .map(Into::into),
                    note: turn_of_the_clock(turned),
                });
                last = next;
            }
        }
        Ok(Preview { description: description(&trigger, seed), zone: zone.name().to_owned(), moments })
    }
}

/// A trigger is read as a job file's is.
fn read(text: &str) -> Result<Trigger> {
    let mut trigger: serde_json::Value = serde_json::from_str(text)
        .map_err(|error| Error::field(ErrorCode::InvalidSpec, "trigger", format!("is not JSON: {error}")))?;
    // What it gives to parameters is not asked here, because there are none.
    if let Some(fields) = trigger.as_object_mut() {
        fields.remove("parameters");
    }
    let file = json!({"name": "preview", "script": "true", "triggers": [trigger]});
    let mut spec = spec::from_value(&file).map_err(|errors| {
        let problems = errors.problems().iter().cloned().map(|mut problem| {
            problem.path = problem.path.replacen("triggers[0]", "trigger", 1);
            problem
        });
        Error::problems(ErrorCode::InvalidSpec, "", problems)
    })?;
    spec.triggers.pop().ok_or_else(|| Error::field(ErrorCode::InvalidSpec, "trigger", "is missing"))
}

fn turn_of_the_clock(seconds: i64) -> String {
    let span = duration_text::format(std::time::Duration::from_secs(seconds.unsigned_abs()));
    match seconds {
        0 => String::new(),
        1.. => format!("clocks are turned forward by {span} before this"),
        _ => format!("clocks are turned back by {span} before this"),
    }
}

/// When it fires, in words.
pub(super) fn description(trigger: &Trigger, seed: u64) -> Description {
    let mut said = without_calendars(trigger, seed);
    let names: Vec<&str> = trigger.calendar.iter().map(|name| name.as_str()).collect();
    if !names.is_empty() {
        said.en += &format!(", unless {} says otherwise", names.join(" or "));
        said.zh += &format!("，日历 {} 排除的时间除外", names.join("、"));
    }
    let needs: Vec<&str> = trigger.needs.iter().map(|need| need.job.as_str()).collect();
    if !needs.is_empty() {
        said.en += &format!(", once {} succeeded", needs.join(" and "));
        said.zh += &format!("，等待 {} 成功", needs.join("、"));
    }
    said
}

fn without_calendars(trigger: &Trigger, seed: u64) -> Description {
    match (&trigger.when, trigger.schedule(seed, Calendars::NONE)) {
        (_, Some(schedule)) => Description {
            en: describe::schedule(&schedule, Language::English),
            zh: describe::schedule(&schedule, Language::Chinese),
        },
        (When::Delay { delay }, _) => {
            let delay = duration_text::format(*delay);
            Description {
                en: format!("{delay} after the end of its last run"),
                zh: format!("上次运行结束后 {delay}"),
            }
        }
        (When::After { after }, _) => {
            let (en, zh) = match after.on {
                On::Success => ("succeeds", "成功后"),
                On::Failure => ("fails for good", "最终失败后"),
                On::Any => ("ends", "结束后"),
            };
            let job = after.job.as_str();
            Description { en: format!("when {job} {en}"), zh: format!("{job} {zh}") }
        }
        (When::Webhook { webhook }, _) => match &webhook.signature {
            Some(signature) => Description {
                en: format!("when it is called, signed in {}", signature.header),
                zh: format!("被调用时（{} 中带签名）", signature.header),
            },
            None => Description { en: "when it is called".into(), zh: "被调用时".into() },
        },
        // A file with another kind was refused when it was read.
        (When::Cron { .. } | When::Every { .. } | When::At { .. }, None) => {
            Description { en: String::new(), zh: String::new() }
        }
    }
}
