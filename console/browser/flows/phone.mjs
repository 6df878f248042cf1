import { equal, overflow, settled } from "../world.mjs";

/** No page scrolls sideways on a phone, in either language, and what is touched is large enough. */
export async function flow(world) {
  const long = `a${"very-long-name-".repeat(6)}z`.slice(0, 60);
  await world.job(
    "long",
    `name: ${long}\nscript: echo ${"x".repeat(400)}; exit 3\nretry: 0\ntriggers:\n  - { name: tick, cron: '0 * * * *', zone: America/Argentina/ComodRivadavia }\n`,
  );
  await world.cli(
    "calendar",
    "set",
    long,
    "--weekend",
    "sat,sun",
    "--blackout",
    "22:00-06:00",
    "--description",
    "x".repeat(400),
  );
  const id = await world.run(long);
  await world.cli("wait", id).catch(() => {});
  for (const language of ["en", "zh"]) {
    const page = await world.page({ width: 390, height: 844, language, hasTouch: true, isMobile: true });
    for (const path of [
      "/",
      "/runs",
      `/runs/${id}`,
      `/runs/${id}?tab=events`,
      `/runs/${id}?tab=attempts`,
      "/jobs",
      `/jobs/${long}?ns=default`,
      `/jobs/${long}?ns=default&tab=versions`,
      `/jobs/${long}?ns=default&tab=cadence`,
      `/jobs/${long}/triggers/tick?ns=default`,
      `/jobs/${long}/triggers/tick?ns=default&do=backfill`,
      "/queue",
      "/queue?by=pool",
      "/backfills",
      "/calendar",
      "/calendars",
      "/calendars?ns=default&do=new",
      `/calendars/${long}?ns=default`,
      "/nodes",
      "/artifacts",
      "/admin/namespaces",
      "/admin/members",
      "/admin/tokens",
      "/admin/audit",
      "/admin/cluster",
      "/admin/doctor",
      "/me",
    ]) {
      await page.goto(world.base + path);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await settled(page);
      equal(Math.max(0, await overflow(page)), 0, `sideways scroll of ${path} in ${language}`);
      const small = await page.evaluate(() =>
        [
          ...document.querySelectorAll(
            ".ms-head button, .ms-head a.mantine-Button-root, .ms-nav a, .ms-top button, .ms-views button",
          ),
        ]
          .filter(
            (each) => each.getBoundingClientRect().height > 0 && each.getBoundingClientRect().height < 43.5,
          )
          .map((each) => `${each.textContent || each.ariaLabel} ${each.getBoundingClientRect().height}`),
      );
      equal(small, [], `small targets of ${path} in ${language}`);
    }
    await page.context().close();
  }
}
