//! `mainspring simulate`: what triggers plan, hour by hour, and where they crowd.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use mainspring_client::api::{Crowd, CrowdTrigger, LoadReport, LoadRequest, PoolLoad, Time};
use mainspring_model::{Namespace, Timestamp};

use crate::context::Context;
use crate::failure::Failure;
use crate::import::offset_of;
use crate::output::{BOLD, DIM, GOOD, HeatRow, Paint, Shade, WARN, clock, heat_map, span};

/// What `simulate` takes.
#[derive(Debug, Args)]
#[command(after_help = "Nothing is started. Paused triggers and triggers of paused jobs plan nothing.\n\n\
                        Examples:\n  mainspring simulate --days 14 -A\n  mainspring simulate --zone Europe/Berlin")]
pub(crate) struct Simulate {
    /// How many days, up to 31
    #[arg(long, default_value_t = 7, value_name = "COUNT")]
    days: u16,
    /// In every namespace, whatever the settings say
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// Whose days and hours are shown
    #[arg(long, default_value = "UTC")]
    zone: String,
}

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MICROS: i64 = 1_000_000;
const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

/// What a wall clock is ahead of UTC at a second, in seconds.
type Offset<'a> = &'a dyn Fn(i64) -> i64;

impl Simulate {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let Some(offset) = offset_of(&self.zone) else {
            return Err(Failure::usage(format!("`{}` is not a zone", self.zone))
                .hint("name one such as Europe/Berlin, Asia/Shanghai or UTC"));
        };
        let namespace = context.namespace().filter(|_| !self.all_namespaces);
        let namespace = namespace.map(str::parse::<Namespace>).transpose();
        let request = LoadRequest {
            namespace: namespace.map_err(|wrong| Failure::usage(format!("--namespace: {wrong}")))?,
            days: Some(self.days),
            from: begin(&offset, clock()),
        };
        let report = context.client.trigger_load(&request).await?;
        context.output.one(&report, || text(&report, &self.zone, &offset, Shade::of_stdout()))?;
        if report.following > 0 {
            context.output.say(format!(
                "{} triggers follow the ends of runs, or calls; when they fire is not known before",
                report.following
            ));
        }
        if report.truncated {
            context.output.say(format!(
                "there is more than is counted at once: this is until {}; ask for fewer days or one namespace",
                moment(report.until, &offset)
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Where the first hour begins, if hours do not begin there when they do in UTC.
fn begin(offset: Offset<'_>, now: Timestamp) -> Option<Time> {
    let now = now.as_micros().div_euclid(MICROS);
    let ahead = offset(now);
    let begin = (now + ahead).div_euclid(HOUR) * HOUR - ahead;
    (ahead % HOUR != 0).then(|| Timestamp::from_micros(begin * MICROS).into())
}

fn text(report: &LoadReport, zone: &str, offset: Offset<'_>, shade: Shade) -> String {
    if report.pools.is_empty() {
        return "nothing is planned; a job file has its triggers under `triggers`".to_owned();
    }
    let mut parts: Vec<String> =
        report.pools.iter().map(|pool| pool_text(pool, report.from, offset, shade)).collect();
    if !report.crowds.is_empty() {
        parts.push(format!("{} ({zone})", "Crowded moments".paint(BOLD)));
        parts.extend(report.crowds.iter().map(|crowd| crowd_text(crowd, offset)));
        parts.push("Spread these: write what stands behind the arrow into the trigger.".to_owned());
    }
    parts.join("\n\n")
}

fn pool_text(pool: &PoolLoad, from: Time, offset: Offset<'_>, shade: Shade) -> String {
    let most = pool.firings.iter().max().copied().unwrap_or(0);
    let busy = Duration::from_millis(pool.busy_ms.iter().sum());
    let busy = match busy.is_zero() {
        true => String::new(),
        false => format!(", about {} of work", span(busy)),
    };
    let total: u64 = pool.firings.iter().sum();
    let heading = format!("{}: {total} firings, at most {most} in an hour{busy}", (&pool.pool).paint(BOLD));
    format!("{heading}\n{}", heat_map(&days(&pool.firings, from, offset), shade))
}

/// The hours by the days of the wall clock. An hour that comes twice has both.
fn days(firings: &[u64], from: Time, offset: Offset<'_>) -> Vec<HeatRow> {
    let mut days: BTreeMap<i64, [Option<u64>; 24]> = BTreeMap::new();
    let first = from.0.as_micros().div_euclid(MICROS);
    for (hour, count) in (0..).zip(firings) {
        let second = first + hour * HOUR;
        let local = second + offset(second);
        let hours = days.entry(local.div_euclid(DAY)).or_default();
        let cell = &mut hours[(local.rem_euclid(DAY) / HOUR) as usize];
        *cell = Some(cell.unwrap_or(0) + count);
    }
    days.into_iter().map(|(day, hours)| HeatRow { label: day_name(day), hours }).collect()
}

/// The days since 1970, which began on a Thursday.
fn day_name(day: i64) -> String {
    let date = Timestamp::from_micros(day * DAY * MICROS).to_string();
    let weekday = WEEKDAYS[(day + 3).rem_euclid(7) as usize];
    format!("{weekday} {}", date.get(..10).unwrap_or(&date))
}

fn moment(at: Time, offset: Offset<'_>) -> String {
    let second = at.0.as_micros().div_euclid(MICROS);
    let local = second + offset(second);
    let text = Timestamp::from_micros(local * MICROS).to_string();
    format!("{} {}", day_name(local.div_euclid(DAY)), text.get(11..19).unwrap_or_default())
}

fn crowd_text(crowd: &Crowd, offset: Offset<'_>) -> String {
    let often = match crowd.times {
        0 | 1 => String::new(),
        times => format!("; several come together {times} times at this time of day"),
    };
    let heading = format!("{}  {} triggers{often}", moment(crowd.at, offset).paint(WARN), crowd.count);
    let name =
        |trigger: &CrowdTrigger| format!("{}/{} {}", trigger.namespace, trigger.job_name, trigger.name);
    let widest = |width: &dyn Fn(&CrowdTrigger) -> usize| crowd.triggers.iter().map(width).max().unwrap_or(0);
    let name_width = widest(&|trigger| name(trigger).chars().count());
    let when_width = widest(&|trigger| trigger.when.chars().count());
    let lines = crowd.triggers.iter().map(|trigger| {
        let instead = match &trigger.spread {
            Some(spread) if spread.field == "cron" => format!("cron: \"{}\"", spread.value).paint(GOOD),
            Some(spread) => format!("{}: {}", spread.field, spread.value).paint(GOOD),
            None => "its minute is drawn already".to_owned().paint(DIM),
        };
        format!("\n  {:name_width$}  {:when_width$}  →  {instead}", name(trigger), trigger.when)
    });
    let more = match crowd.count.saturating_sub(crowd.triggers.len() as u64) {
        0 => String::new(),
        more => format!("\n  and {more} more"),
    };
    format!("{heading}{}{more}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        text.parse().unwrap()
    }

    #[test]
    fn days_follow_the_wall_clock() {
        let shanghai = offset_of("Asia/Shanghai").unwrap();
        let firings: Vec<u64> = (0..24).collect();
        let rows = days(&firings, at("2027-01-04T12:00:00Z"), &shanghai);
        let labels: Vec<&str> = rows.iter().map(|row| row.label.as_str()).collect();
        assert_eq!(labels, ["Mon 2027-01-04", "Tue 2027-01-05"]);
        assert_eq!(rows[0].hours[19..], [None, Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!((rows[1].hours[0], rows[1].hours[19], rows[1].hours[20]), (Some(4), Some(23), None));
    }

    #[test]
    fn an_hour_that_comes_twice_has_both_and_one_that_does_not_come_has_none() {
        let berlin = offset_of("Europe/Berlin").unwrap();
        let autumn = days(&[1; 25], at("2026-10-24T22:00:00Z"), &berlin);
        assert_eq!((autumn.len(), autumn[0].hours[2], autumn[0].hours[3]), (1, Some(2), Some(1)));
        let spring = days(&[1; 23], at("2027-03-27T23:00:00Z"), &berlin);
        assert_eq!((spring.len(), spring[0].hours[2], spring[0].hours[3]), (1, None, Some(1)));
    }

    #[test]
    fn hours_begin_where_the_zone_has_them() {
        let now = at("2027-01-04T12:10:00Z").0;
        assert_eq!(begin(&offset_of("UTC").unwrap(), now), None);
        let kolkata = offset_of("Asia/Kolkata").unwrap();
        assert_eq!(begin(&kolkata, now), Some(at("2027-01-04T11:30:00Z")));
        assert!(offset_of("Mars/Olympus").is_none());
    }
}
