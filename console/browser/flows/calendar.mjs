import { equal, holds } from "../world.mjs";

/** What is planned by hour and day, narrowed to a pool; an hour leads to its triggers, a crowd says how to spread it. */
export async function flow(world) {
  const page = await world.page({ timezoneId: "Europe/Berlin" });
  await page.goto(`${world.base}/calendar`);
  await page.getByText("Nothing is planned.").waitFor();
  const cron = (name, pool) =>
    world.job(
      name,
      `name: ${name}\nscript: echo x\nplacement: { pool: ${pool} }\ntriggers:\n  - { name: daily, cron: '0 3 * * *' }\n`,
    );
  await cron("one", "default");
  await cron("two", "default");
  await cron("far", "gpu");
  await page.reload();
  const map = page.getByRole("table", { name: "Planned firings by day and hour" });
  // 03:00 UTC is 04:00 in Berlin, or 05:00 in summer.
  const cells = map.getByRole("button", { name: /0[45]:00 · 3 firings planned/ });
  await cells.first().waitFor();
  equal(await cells.count(), 7, "hours with firings");
  await cells.nth(1).click();
  await page.waitForURL(/at=/);
  await page.reload();
  const hour = page.getByRole("region", { name: "What fires in this hour" });
  await hour.getByText("2 firings planned").waitFor();
  const crowd = page.getByRole("region", { name: "Crowded seconds" });
  await crowd.getByText("3 triggers at once").click();
  await crowd.getByText("cron: H 3 * * *").first().waitFor();

  // The arrow keys go from hour to hour.
  const chosen = map.locator('[aria-pressed="true"]');
  await chosen.focus();
  await page.keyboard.press("ArrowRight");
  holds(await chosen.evaluate((cell) => document.activeElement !== cell), "another hour has the focus");
  await page.keyboard.press("Enter");
  await hour.getByText(/No trigger has its very next firing/).waitFor();

  await page.getByRole("region", { name: "Pools" }).getByRole("link", { name: "gpu" }).click();
  await page.waitForURL(/pool=gpu/);
  await map
    .getByRole("button", { name: /0[45]:00 · 1 firing planned/ })
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Show all" }).click();
  await cells.first().waitFor();

  // The other pages of the section, and by keys back.
  await page.getByRole("link", { name: "Backfills" }).click();
  await page.getByText("No backfills yet.").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await page.getByRole("heading", { name: "Calendar" }).waitFor();
}
