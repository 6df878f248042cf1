import { equal } from "../world.mjs";

/** What waits, by reason, pool and job, with what would unblock it; a click leads to the runs. */
export async function flow(world) {
  const page = await world.page();
  await page.goto(`${world.base}/queue`);
  await page.getByText("Nothing waits.").waitFor();
  await world.job("huge", "name: huge\nscript: echo x\nresources: { memory: 90000Gi }\n");
  await world.job("far", "name: far\nscript: echo x\nplacement: { pool: gpu }\n");
  await world.job("one", "name: one\nscript: sleep 600\nconcurrency: { limit: 1 }\n");
  const id = await world.run("huge");
  await world.run("huge");
  await world.run("far");
  await world.run("one");
  await world.run("one");

  // It is seen without a reload.
  await page.getByText("4 runs wait").waitFor();
  const group = page.getByRole("region", { name: "No node" });
  await group
    .getByText(/needs .* memory/i)
    .first()
    .waitFor();
  await group.getByRole("link", { name: "huge" }).waitFor();
  equal(await page.getByRole("region", { name: "Concurrency limit" }).count(), 1, "groups of other reasons");
  await page.getByRole("button", { name: /^No node/ }).click();
  await page.waitForURL(/reason=no_node/);
  equal(await page.getByRole("region", { name: "Concurrency limit" }).count(), 0, "groups of other reasons");
  await page.getByRole("button", { name: /^No node/ }).click();
  await page.getByText("Pool", { exact: true }).first().click();
  await page.waitForURL(/by=pool/);
  await page.getByRole("region", { name: "gpu" }).getByRole("link", { name: "far" }).waitFor();
  await page.goto(`${world.base}/queue?by=job`);
  const job = page.getByRole("region", { name: "default/huge" });
  await job.getByRole("link", { name: "2", exact: true }).click();
  await page.waitForURL(/\/runs\?q=/);
  await page.getByRole("table", { name: "Runs" }).getByRole("row").nth(2).waitFor();
  equal(await page.getByRole("table", { name: "Runs" }).getByRole("row").count(), 3, "runs of the item");

  // By keys, and gone when it is over.
  await page.keyboard.press("g");
  await page.keyboard.press("q");
  await page.getByRole("heading", { name: "Queue" }).waitFor();
  await world.cli("cancel", id);
  await page.getByText("3 runs wait").waitFor();
}
