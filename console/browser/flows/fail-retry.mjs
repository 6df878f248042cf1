const job = (command, extra = "") => `name: sync\nscript: |\n  ${command}\n${extra}`;

/** A run fails: why, retry now, and at last the card that compares it with the last success. */
export async function flow(world) {
  await world.job("sync", job("echo fine", "parameters: { day: { type: string, default: a } }\n"));
  const good = await world.run("sync");
  await world.cli("wait", good);
  await world.job(
    "sync",
    job(
      "echo broken >&2; exit 7",
      "parameters: { day: { type: string, default: b } }\nretry: { max: 1, backoff: { kind: fixed, base: 10m, jitter: 0 } }\n",
    ),
  );
  const bad = await world.run("sync");

  const page = await world.page();
  await page.goto(`${world.base}/runs/${bad}`);
  await page.locator(".ms-head").getByText("Will retry").waitFor();
  await page.getByText("Attempt 1 failed: exit code 7.").waitFor();
  await page.getByText(/Attempt 2 of 2 starts in/).waitFor();
  await page.getByRole("button", { name: "Retry now" }).click();
  await page.locator(".ms-head").getByText("Failed", { exact: true }).waitFor();
  await page.getByText("Its retries are used up.").waitFor();

  const card = page.getByRole("region", { name: "Failure" });
  await card.getByText("broken").waitFor();
  await card.getByRole("row", { name: /Version v1 v2/ }).waitFor();
  await card.getByRole("row", { name: /day a b/ }).waitFor();

  // The same again with another parameter.
  await page.getByRole("button", { name: "More ways to rerun" }).click();
  await page.getByRole("menuitem", { name: "Rerun with other parameters" }).click();
  await page.getByRole("dialog").getByLabel("day").fill("c");
  await page.getByRole("dialog").getByRole("button", { name: "Rerun", exact: true }).click();
  await page.waitForURL((url) => url.pathname.startsWith("/runs/") && !url.pathname.endsWith(bad));
  await page.getByRole("tab", { name: "Parameters and result" }).click();
  await page.getByText('"day": "c"').waitFor();
}
