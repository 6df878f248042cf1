import { equal } from "../world.mjs";

/** All that a query finds is counted first, then cancelled. */
export async function flow(world) {
  await world.job("pile", "name: pile\nscript: sleep 600\nconcurrency: 1\n");
  const many = { runs: Array.from({ length: 501 }, () => ({ job: "pile" })) };
  const made = await fetch(`${world.base}/v1/runs/batch`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.token}`, "content-type": "application/json" },
    body: JSON.stringify(many),
  });
  equal(made.status, 200, "the answer to a batch");
  const count = async (state) => {
    const found = await fetch(
      `${world.base}/v1/runs/counts?q=${encodeURIComponent(`job:pile state:${state}`)}`,
      {
        headers: { authorization: `Bearer ${world.token}` },
      },
    );
    return (await found.json()).matched;
  };
  await world.until(async () => (await count("running")) === 1, "one of the runs has started");
  const page = await world.page();
  await page.goto(`${world.base}/runs?q=job:pile%20state:waiting`);
  await page.getByRole("table", { name: "Runs" }).getByRole("checkbox").nth(1).check();
  await page.getByRole("button", { name: "Cancel runs", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("list", { name: "By state" }).getByText("Waiting").waitFor();
  await dialog.getByRole("textbox").fill("500");
  await dialog.getByRole("button", { name: "Cancel 500 runs" }).click();
  // It is an operation of the servers: a page that is opened anew shows how far it is.
  await page.waitForURL(/operation=blk_/);
  await page.reload();
  await dialog.getByText("500 of 500 runs done.").waitFor();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  equal(await count("active"), 1, "runs that are left");

  // A selection: only what the action fits is counted.
  const found = async (q) => {
    const answer = await fetch(`${world.base}/v1/runs?limit=2&q=${encodeURIComponent(q)}`, {
      headers: { authorization: `Bearer ${world.token}` },
    });
    return (await answer.json()).items.map((run) => run.id);
  };
  const ids = [...(await found("job:pile state:running")), ...(await found("job:pile state:cancelled"))];
  await page.goto(`${world.base}/runs?q=id:${ids.join(",")}`);
  await page.getByRole("checkbox", { name: "Select all loaded runs" }).check();
  await page.getByRole("button", { name: "Cancel 1 run" }).click();
  await dialog.getByRole("button", { name: "Cancel 1 run" }).click();
  await dialog.getByText("1 of 1 run done.").waitFor();

  // What waits can be made more important.
  const [first, second] = [await world.run("pile"), await world.run("pile")];
  await world.until(async () => (await count("running")) === 1, "one of them has started");
  const waiting = (await count("waiting")) === 1 ? second : first;
  await page.goto(`${world.base}/runs/${waiting}`);
  await page.getByRole("button", { name: "Priority", exact: true }).click();
  await dialog.getByLabel("Level").fill("99");
  await dialog.getByRole("button", { name: "Change priority" }).click();
  await dialog.waitFor({ state: "hidden" });
  const told = JSON.parse(await world.cli("describe", waiting, "-o", "json"));
  equal((told.run ?? told).priority, 2 * 256 + 99, "its priority");
}
