import { equal, holds, settled } from "../world.mjs";

const HTML = '<img src=x onerror="alert(1)"><script>alert(2)</script>';

/** Whatever a task or a tenant wrote is text: no dialog, no CSP violation, no request to elsewhere. */
export async function flow(world) {
  const text = JSON.stringify(HTML);
  await world.job(
    "hostile",
    `name: hostile\ndescription: ${text}\nlabels: { note: evil }\nparameters: { text: { type: string, default: ${text} } }\nretry: 0\ntriggers: [{ name: tick, every: 1h }]\nscript:\n  interpreter: python3\n  text: |\n    import sys\n    print(${text})\n    print("\\x1b]8;;javascript:alert(3)\\x1b\\\\link\\x1b]8;;\\x1b\\\\")\n    print("right\\u202eleft")\n    print("http://127.0.0.1:1/x javascript:alert(4)")\n    print("y" * 1000000)\n    sys.exit(4)\n`,
  );
  const id = await world.run("hostile", "-p", `text=${HTML}`);
  await world.cli("wait", id).catch(() => {});
  await world.cli("pause", "hostile", "-m", HTML);
  await world.run("hostile", "-p", `text=${HTML}`);
  await world.cli("trigger", "pause", "hostile", "tick", "-m", HTML);
  await world.cli("calendar", "set", "evil", "--weekend", "sun", "--description", HTML);
  await world.cli("artifact", "push", "--name", HTML, `${world.folder}/hostile.yaml`);
  await world.cli("token", "create", HTML);
  const page = await world.page();
  for (const path of [
    "/",
    "/runs",
    "/jobs",
    "/artifacts",
    "/admin/tokens",
    "/admin/audit",
    "/jobs/hostile?ns=default",
    "/jobs/hostile?ns=default&tab=spec",
    "/jobs/hostile?ns=default&tab=cadence",
    "/jobs/hostile/triggers/tick?ns=default",
    "/queue",
    "/queue?by=job",
    "/backfills",
    "/calendar",
    "/calendars",
    "/calendars/evil?ns=default",
    `/runs/${id}?tab=params`,
    `/runs/${id}?tab=events`,
  ]) {
    await page.goto(world.base + path);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await settled(page);
    equal(await page.locator("main img[src=x], main script").count(), 0, `elements out of text on ${path}`);
  }
  await page.goto(`${world.base}/runs/${id}`);
  const log = page.getByRole("log", { name: "Log", exact: true });
  await page.keyboard.press("Escape");
  await log.focus();
  await page.keyboard.press("Home");
  await log.getByText(HTML).waitFor();
  await log.getByText("right<U+202E>left").waitFor();
  equal(await log.getByRole("link").allInnerTexts(), ["http://127.0.0.1:1/x"], "links");
  await log.getByRole("button", { name: /^show / }).waitFor();
  equal(await page.locator("a[href^='javascript']").count(), 0, "script links");

  // The query bar: a query that is wrong is told, not run.
  page.mayFail = /422|400/;
  await page.goto(`${world.base}/runs?q=${encodeURIComponent(HTML)}`);
  await page.locator(".ms-query [id$=-error], .ms-query .mantine-InputWrapper-error").waitFor();
  holds((await page.locator("main script").count()) === 0, "no script of the query");
}
