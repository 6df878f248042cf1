import { equal } from "../world.mjs";

/** Backfills of all triggers, by state, live, with Stop; and where one begins. */
export async function flow(world) {
  const page = await world.page();
  await page.goto(`${world.base}/backfills`);
  await page.getByText("No backfills yet.").waitFor();
  await world.job(
    "etl",
    "name: etl\nscript: sleep 60\ntriggers:\n  - { name: hourly, cron: '0 * * * *', misfire: { policy: skip } }\n",
  );
  const hours = (count) => new Date(Date.now() - count * 3_600_000).toISOString();
  await world.cli("trigger", "cursor", "etl", "hourly", hours(9));
  await world.until(
    async () => (await world.cli("trigger", "history", "etl", "hourly", "-o", "json")).includes("missed"),
    "moments are missed",
  );
  await world.cli("backfill", "start", "etl", "hourly", "--from", hours(6), "--until", hours(1));
  await page.reload();
  const item = page.getByRole("article", { name: /^Backfill bf_/ });
  await item.getByText("1 active").waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await page.waitForURL(/state=done/);
  await page.getByText("No backfill is in the state Done.").waitFor();
  await page.getByRole("button", { name: "Show all backfills" }).click();
  await item.getByRole("button", { name: "Stop backfill" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop backfill" }).click();
  await item.getByText(/stopped by/).waitFor();
  equal(await item.getByRole("button", { name: "Stop backfill" }).count(), 0, "a second Stop");
  await item.getByRole("link", { name: "etl / hourly" }).click();
  await page.getByRole("heading", { name: /hourly/ }).waitFor();
}
