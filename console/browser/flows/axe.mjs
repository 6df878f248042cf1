import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { equal, settled } from "../world.mjs";

const AXE = readFileSync(
  fileURLToPath(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url)),
  "utf8",
);

/** Every page in both themes: nothing serious or critical. */
export async function flow(world) {
  await world.job(
    "etl",
    "name: etl\nlabels: { team: data }\nscript: echo fine; exit 3\nretry: { max: 3, backoff: { kind: fixed, base: 10m, jitter: 0 } }\ntriggers:\n  - { name: nightly, cron: '0 2 * * *' }\n",
  );
  const id = await world.run("etl");
  await world.job("etl", "name: etl\nscript: echo other\n");
  await world.job("clock", "name: clock\nscript: exit 0\ntriggers:\n  - { name: tick, every: 1h }\n");
  await world.cli(
    "calendar",
    "set",
    "holidays",
    "--weekend",
    "sat,sun",
    "--off",
    "12-25",
    "--blackout",
    "22:00-06:00",
  );
  await world.cli("trigger", "cursor", "clock", "tick", new Date(Date.now() - 9e6).toISOString());
  await world.submit("--name", "sleeper", "--", "sleep", "600");
  const paths = [
    "/",
    "/runs",
    `/runs/${id}`,
    `/runs/${id}?tab=params`,
    `/runs/${id}?tab=attempts`,
    `/runs/${id}?tab=events`,
    "/jobs",
    "/jobs/etl?ns=default",
    "/jobs/etl?ns=default&tab=triggers",
    "/jobs/etl?ns=default&tab=versions",
    "/jobs/etl?ns=default&do=run",
    "/jobs/clock?ns=default&tab=cadence",
    "/calendars",
    "/calendars?ns=default&do=new",
    "/calendars/holidays?ns=default",
    "/jobs/clock/triggers/tick?ns=default",
    "/jobs/clock/triggers/tick?ns=default&do=backfill",
    "/nodes",
  ];
  const found = [];
  for (const theme of ["light", "dark"]) {
    // Axe is put into the page by the test; the page's own policy is tested by all other flows.
    const page = await world.page({ theme, bypassCSP: true });
    for (const path of paths) {
      await page.goto(world.base + path);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await settled(page);
      await check(page, `${path} ${theme}`, found);
    }
    await page.context().close();
    const out = await world.page({ theme, bypassCSP: true, token: null });
    out.mayFail = /401/;
    await out.goto(`${world.base}/`);
    await out.getByLabel("Token", { exact: true }).waitFor();
    await check(out, `sign-in ${theme}`, found);
    await out.context().close();
  }
  equal(found, [], "what is hard to use");
}

async function check(page, where, found) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { resultTypes: ["violations"] }),
  );
  const grave = violations.filter((each) => ["serious", "critical"].includes(each.impact));
  for (const each of grave) {
    const nodes = each.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`);
    found.push(`${where}: ${each.id}: ${nodes.join(" | ")}`);
  }
}
