import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { holds } from "../world.mjs";

/** A run that is submitted elsewhere waits behind the pill, and its log comes live until it ends. */
export async function flow(world) {
  await world.submit("--", "true");
  const page = await world.page();
  await page.goto(`${world.base}/runs`);
  await page.getByRole("table", { name: "Runs" }).getByRole("link", { name: "true" }).waitFor();

  // The second half waits for a file: the log is watched before its end on any machine.
  const gate = join(world.folder, "gate");
  const id = await world.submit(
    "--name",
    "counter",
    "--",
    "sh",
    "-c",
    `for i in 1 2 3 4; do echo line $i; done; until [ -e ${gate} ]; do sleep 0.1; done; for i in 5 6 7 8; do echo line $i; done`,
  );
  await page.getByRole("button", { name: "1 new run, show" }).click();
  await page.getByRole("link", { name: "counter" }).click();
  await page.waitForURL(`**/runs/${id}`);
  const log = page.getByRole("log", { name: "Log", exact: true });
  await log.getByText("line 2", { exact: true }).waitFor();
  holds((await log.getByText("line 8", { exact: true }).count()) === 0, "the log is watched before its end");
  writeFileSync(gate, "");
  await log.getByText("line 8", { exact: true }).waitFor();
  await page.locator(".ms-head").getByText("Success").waitFor();
  await page.getByText("Complete.").waitFor();

  // Search, and a link to a line.
  await page.getByLabel("Find in the log").fill("line [67]");
  await page.getByRole("button", { name: "Regular expression" }).click();
  await page.getByText("2 matches").waitFor();
  await page.getByRole("button", { name: "Next match" }).click();
  await page.getByText("1 of 2").waitFor();
  await page.getByRole("button", { name: "Link to line 3", exact: true }).click();
  await page.waitForURL(/line=/);
}
