import { equal, holds } from "../world.mjs";

const hoursAgo = (hours) =>
  new Date(Math.floor(Date.now() / 3_600_000 - hours) * 3_600_000 + 60_000).toISOString();

/** The ledger as a picture; pause with a note; a backfill of a chosen range after its dry run, and Stop. */
export async function flow(world) {
  await world.job(
    "etl",
    "name: etl\nscript: sleep 60\ntriggers:\n  - { name: hourly, cron: '0 * * * *', zone: Asia/Shanghai, misfire: { policy: skip } }\n",
  );
  // Moments of a past that nobody waited for: they are missed.
  await world.cli("trigger", "cursor", "etl", "hourly", hoursAgo(12));
  const page = await world.page({ timezoneId: "Europe/Berlin" });
  await page.goto(`${world.base}/jobs/etl?ns=default&tab=triggers`);
  await page.getByRole("link", { name: "hourly" }).click();
  await page.getByRole("heading", { name: "hourly Active" }).waitFor();
  const chart = page.getByRole("slider", { name: /Planned moments of hourly/ });
  await chart.waitFor();
  const table = page.getByRole("table", { name: "Ledger" });
  await table.getByText("Missed").waitFor();

  // The first mark stands for all that were missed in a row; with the keyboard it is opened, its address is in the URL.
  await chart.focus();
  await page.keyboard.press("Home");
  await page.waitForURL(/at=/);
  const moment = page.getByRole("region", { name: "Planned moment" });
  await moment.getByText("12 moments").waitFor();
  await page.reload();
  await moment.getByText("12 moments").waitFor();
  await page.getByRole("button", { name: /^Planned 5/ }).click();
  await table.getByText("Planned", { exact: true }).first().waitFor();
  equal(await table.getByText("Missed").count(), 0, "rows of another outcome");
  await page.getByRole("button", { name: /^Planned 5/ }).click();

  // A brushed range is made up for: the dry run counts first.
  const box = await chart.boundingBox();
  await page.mouse.move(box.x + 52, box.y + 80);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.35, box.y + 90, { steps: 5 });
  await page.mouse.up();
  await page.getByRole("button", { name: "Backfill this range" }).click();
  const dialog = page.getByRole("dialog", { name: "Backfill hourly" });
  const begin = dialog.getByRole("button", { name: /^Backfill \d+ moments$/ });
  await begin.waitFor();
  const count = Number(/\d+/.exec(await begin.textContent())[0]);
  equal(
    await dialog.getByRole("region", { name: "Dry run" }).getByRole("row").count(),
    count + 1,
    "rows of the plan",
  );
  holds(count >= 3 && count < 12, `a part of the moments is chosen: ${count}`);
  await begin.click();
  await dialog.waitFor({ state: "hidden" });
  const backfill = page.getByRole("article", { name: /^Backfill bf_/ });
  await backfill.getByText("1 active").waitFor();
  await backfill.getByRole("button", { name: "Stop backfill" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop backfill" }).click();
  await backfill.getByText(/stopped by/).waitFor();
  equal(await backfill.getByRole("button", { name: "Stop backfill" }).count(), 0, "a second Stop");

  // Pause with a note, and resume.
  await page.getByRole("button", { name: "Pause trigger" }).click();
  await page.getByLabel("Note for others").fill("until the audit is over");
  await page.keyboard.press("Enter");
  await page.getByText("until the audit is over").waitFor();
  await page.getByRole("button", { name: "Resume trigger" }).click();
  await page.getByRole("heading", { name: "hourly Active" }).waitFor();

  // Fire now leads to the run; the cursor moves only with the revision that was seen.
  await page.getByRole("button", { name: "Fire now" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Fire now" }).click();
  await page.getByRole("dialog").getByText("It made the run").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("button", { name: "Move cursor" }).click();
  await page.getByRole("dialog").getByText("The moments that follow:").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Move cursor" }).click();
  await page.getByRole("dialog").waitFor({ state: "hidden" });

  // All triggers of the job, planned against actual; a mark leads to its moment.
  await page.goto(`${world.base}/jobs/etl?ns=default&tab=cadence`);
  await page.getByRole("slider", { name: /hourly/ }).focus();
  await page.keyboard.press("Home");
  await page.waitForURL(/triggers\/hourly.*at=/);
  await moment.getByText("Missed").waitFor();
}
