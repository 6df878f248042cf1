import { check, checkPages } from "../axe.mjs";
import { equal } from "../world.mjs";

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
  await world.job("far", "name: far\nscript: echo x\nplacement: { pool: gpu }\n");
  await world.run("far");
  await world.submit("--name", "sleeper", "--", "sleep", "600");
  const paths = [
    "/",
    "/runs",
    `/runs/${id}`,
    `/runs/${id}?tab=params`,
    `/runs/${id}?tab=attempts`,
    `/runs/${id}?tab=events`,
    "/jobs",
    "/jobs?view=flat",
    "/jobs/etl?ns=default",
    "/jobs/etl?ns=default&tab=triggers",
    "/jobs/etl?ns=default&tab=versions",
    "/jobs/etl?ns=default&tab=dependents",
    "/jobs/etl?ns=default&tab=stats",
    "/jobs/etl?ns=default&do=run",
    "/jobs/clock?ns=default&tab=cadence",
    "/queue",
    "/queue?by=job",
    "/backfills",
    "/calendar",
    "/calendars",
    "/calendars?ns=default&do=new",
    "/calendars/holidays?ns=default",
    "/jobs/clock/triggers/tick?ns=default",
    "/jobs/clock/triggers/tick?ns=default&do=backfill",
    "/nodes",
  ];
  const found = [];
  await checkPages(world, paths, found);
  for (const theme of ["light", "dark"]) {
    const out = await world.page({ theme, bypassCSP: true, token: null });
    out.mayFail = /401/;
    await out.goto(`${world.base}/`);
    await out.getByLabel("Token", { exact: true }).waitFor();
    await check(out, `sign-in ${theme}`, found);
    await out.context().close();
  }
  equal(found, [], "what is hard to use");
}
