import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { equal } from "../world.mjs";

/** The server is killed with -9 and comes back: pages say so, heal by themselves, and lose nothing that was typed. */
export async function flow(world) {
  // The run goes on while the server is away, and ends only after it came back.
  const gate = join(world.folder, "gate");
  const id = await world.submit(
    "--name",
    "ticker",
    "--",
    "sh",
    "-c",
    `for i in $(seq 1 100); do echo tick $i; sleep 0.1; done; until [ -e ${gate} ]; do sleep 0.1; done; for i in $(seq 101 150); do echo tick $i; done`,
  );
  const page = await world.page();
  page.mayFail = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE|ERR_EMPTY|Failed to load resource|net::/;
  await page.goto(`${world.base}/runs/${id}`);
  const log = page.getByRole("log", { name: "Log", exact: true });
  await log
    .getByText(/^tick \d+$/)
    .first()
    .waitFor();
  const typing = await page.context().newPage();
  world.watch(typing);
  typing.mayFail = page.mayFail;
  await typing.goto(`${world.base}/runs`);
  await typing.getByLabel("Query", { exact: true }).fill("state:run");

  await world.kill();
  await page.getByText(/Not live since \d\d:\d\d:\d\d/).waitFor();
  await typing.getByText(/Not live since/).waitFor();
  await world.up();
  await page.getByText("live", { exact: true }).waitFor();
  equal(await typing.getByLabel("Query", { exact: true }).inputValue(), "state:run", "what was typed");
  await typing.close();
  // It goes on to the end of the run, without a hole and without a line twice.
  await page.getByRole("button", { name: "Follow" }).waitFor();
  await page.keyboard.press("f");
  writeFileSync(gate, "");
  await log.getByText("tick 150", { exact: true }).waitFor();
  await page.getByText("150 lines").waitFor();
  await page.locator(".ms-head").getByText("Success").waitFor();
}
