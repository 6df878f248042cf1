import { equal } from "../world.mjs";

/** Jobs as a tree with their newest ends; found by a label; who depends on one. */
export async function flow(world) {
  await world.job("etl", "name: etl\nscript: exit 3\nlabels: { team: data }\n");
  await world.job(
    "web",
    "name: web\nscript: echo x\ntriggers:\n  - { name: nightly, cron: '0 2 * * *', needs: [etl] }\n",
  );
  const failed = await world.run("etl");
  await world.cli("wait", failed).catch(() => {});
  await world.cli("wait", await world.run("web"));
  const page = await world.page();
  await page.goto(`${world.base}/jobs`);
  const row = (name) => page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
  await row("etl")
    .getByRole("img", { name: /1 ends: 0 succeeded, 1 failed/ })
    .waitFor();
  await row("web").getByText("100 %").waitFor();
  equal(
    await row("web")
      .getByText(/in \d+ h/)
      .count(),
    1,
    "the next firing",
  );
  const branch = page.getByRole("button", { name: "default", exact: true });
  await branch.click();
  equal(await row("etl").count(), 0, "jobs of a folded branch");
  await page.getByRole("row").filter({ has: branch }).getByText("Failed").waitFor();
  await branch.click();
  await row("etl").waitFor();
  await page.getByLabel("Filter by labels").fill("team=data");
  await row("web").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "team=data" }).waitFor();
  equal(new URL(page.url()).searchParams.get("label"), "team=data", "the label in the URL");
  await page.goto(`${world.base}/jobs/etl?ns=default&tab=dependents`);
  await page.getByText("nightly waits until it has succeeded").waitFor();
  await page.goto(`${world.base}/jobs/web?ns=default&tab=stats`);
  await page.getByRole("img", { name: /1 run ended/ }).waitFor();
  await page.getByText("Show the numbers").click();
  equal(await page.getByRole("table").getByRole("row").count(), 2, "a row for the step in which a run ended");
  // A problem is marked at its line, as the server tells it.
  await page.goto(`${world.base}/jobs/web/edit?ns=default`);
  await page.getByText("None. The server accepts this text.").waitFor();
  await page.getByLabel("The job as YAML").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("timeout: { run: soon }\n");
  await page.getByText("Line 5:").waitFor();
  equal(await page.locator(".ms-problem-line").count(), 1, "marked lines");
}
