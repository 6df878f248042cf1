import { equal } from "../world.mjs";

/** A viewer sees everything and no button that would be refused. */
export async function flow(world) {
  await world.job("etl", "name: etl\nscript: echo x\ntriggers:\n  - { name: nightly, cron: '0 2 * * *' }\n");
  const id = await world.run("etl");
  await world.cli("wait", id);
  await world.cli("member", "set", "vera", "viewer");
  const made = JSON.parse(await world.cli("token", "create", "vera", "--subject", "vera", "-o", "json"));
  const page = await world.page({ token: made.secret });

  const allowed = new Set([
    "Columns",
    "Export",
    "Copy as",
    "Clear the selection",
    "You and your preferences",
  ]);
  const actions = async (scope = ".ms-head") =>
    (await page.locator(scope).getByRole("button").allInnerTexts())
      .map((text) => text.trim())
      .filter((text) => text && !allowed.has(text));

  await page.goto(`${world.base}/runs`);
  await page.getByRole("checkbox", { name: id }).check();
  await page.getByText("1 selected").waitFor();
  equal(await actions(".ms-bulk"), [], "actions of the selection");
  await page.goto(`${world.base}/runs/${id}`);
  await page.locator(".ms-head").getByText("Success").waitFor();
  equal(await actions(), [], "actions of the run");
  await page.keyboard.press("r");
  equal(await page.getByRole("dialog").count(), 0, "dialogs by key");
  await page.goto(`${world.base}/jobs/etl?ns=default`);
  await page.getByRole("heading", { name: "etl" }).waitFor();
  equal(await actions(), [], "actions of the job");
  await page.goto(`${world.base}/jobs/etl/triggers/nightly?ns=default`);
  await page.getByRole("heading", { name: "nightly" }).waitFor();
  equal(await actions(), [], "actions of the trigger");
  await page.goto(`${world.base}/jobs/etl/triggers/nightly?ns=default&do=backfill`);
  await page.getByRole("heading", { name: "nightly" }).waitFor();
  equal(await page.getByRole("dialog").count(), 0, "dialogs by address");
  await world.cli("calendar", "set", "holidays", "--weekend", "sun");
  await page.goto(`${world.base}/calendars?ns=default&do=new`);
  await page.getByRole("link", { name: "holidays" }).waitFor();
  equal(await page.getByRole("link", { name: "New calendar" }).count(), 0, "a new calendar");
  await page.goto(`${world.base}/calendars/holidays?ns=default`);
  await page.getByRole("heading", { name: "holidays" }).waitFor();
  equal(await actions(), [], "actions of the calendar");
  equal(await page.getByLabel("Description").isEditable(), false, "a calendar to read");
  await page.goto(`${world.base}/nodes`);
  await page.getByRole("table", { name: "Nodes" }).waitFor();
  equal(await page.getByRole("button", { name: /Invite|Actions for/ }).count(), 0, "actions of nodes");

  await world.cli("artifact", "push", "--name", "model.bin", `${world.folder}/etl.yaml`);
  await page.goto(`${world.base}/artifacts`);
  await page.getByRole("link", { name: "model.bin", exact: true }).waitFor();
  equal(await page.getByRole("button", { name: /Upload|Delete/ }).count(), 0, "actions of artifacts");

  for (const [path, name] of [
    ["namespaces", "Namespaces"],
    ["cluster", "Cells"],
  ]) {
    await page.goto(`${world.base}/admin/${path}`);
    await page.getByRole("table", { name }).waitFor();
    equal(
      await page
        .locator("main")
        .getByRole("button", { name: /New|Actions|Pause/ })
        .count(),
      0,
      path,
    );
  }
  for (const name of ["Members", "Audit", "Doctor"]) {
    equal(await page.locator(".ms-nav").getByRole("link", { name }).count(), 0, `the page ${name}`);
  }

  // Who has a role in one namespace alone sees nodes without what only those need who look after them.
  await world.cli("member", "set", "nina", "viewer", "-n", "default");
  const nina = JSON.parse(await world.cli("token", "create", "nina", "--subject", "nina", "-o", "json"));
  const other = await world.page({ token: nina.secret });
  await other.goto(`${world.base}/`);
  await other.getByRole("heading", { name: "Overview" }).waitFor();
  await other.getByRole("link", { name: "Nodes" }).first().click();
  await other.locator(".ms-resource-bar").first().waitFor();
  equal(await other.getByRole("columnheader", { name: "Labels" }).count(), 0, "labels of nodes");
  equal(await other.getByRole("button", { name: "Invite" }).count(), 0, "the invitation of nodes");
}
