import { equal } from "../world.mjs";

/** All that a query finds is counted first, then cancelled. */
export async function flow(world) {
  await world.job("pile", "name: pile\nscript: sleep 600\nconcurrency: 1\n");
  await Promise.all(Array.from({ length: 12 }, () => world.run("pile")));
  const count = async (state) => {
    const found = JSON.parse(await world.cli("runs", "-Q", `job:pile state:${state}`, "-o", "json"));
    return (found.items ?? found).length;
  };
  await world.until(async () => (await count("running")) === 1, "one of the runs has started");
  const page = await world.page();
  await page.goto(`${world.base}/runs?q=job:pile%20state:waiting`);
  await page.getByRole("table", { name: "Runs" }).getByRole("checkbox").nth(1).check();
  await page.getByRole("button", { name: "Cancel runs", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Cancel 11 runs" }).click();
  await dialog.getByText("11 of 11 runs done.").waitFor();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  equal(await count("active"), 1, "runs that are left");

  // A selection: only what the action fits is counted.
  await page.goto(`${world.base}/runs?q=job:pile`);
  await page.getByRole("checkbox", { name: "Select all loaded runs" }).check();
  await page.getByRole("button", { name: "Cancel 1 run" }).click();
  await dialog.getByRole("button", { name: "Cancel 1 run" }).click();
  await dialog.getByText("1 of 1 run done.").waitFor();
}
