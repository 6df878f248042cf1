/** What changes elsewhere shows by itself: pages do not poll for it. */
export async function flow(world) {
  await world.job("first", "name: first\nscript: echo x\n");
  const soon = { timeout: 8000 };
  const page = await world.page();
  await page.goto(`${world.base}/jobs`);
  await page.getByText("first").first().waitFor();
  await page.getByText("live", { exact: false }).first().waitFor();
  await world.job("second", "name: second\nscript: echo x\n");
  await page.getByText("second").first().waitFor(soon);

  await page.goto(`${world.base}/jobs/second?ns=default`);
  await page.getByRole("heading", { name: "second" }).waitFor();
  await world.cli("pause", "second", "-m", "for a look");
  await page.getByText("for a look").first().waitFor(soon);

  // Why a run waits, told while somebody looks.
  const held = await world.run("second");
  await page.goto(`${world.base}/runs/${held}`);
  await page.getByText("for a look").first().waitFor();
  await world.cli("resume", "second");
  await page.locator(".ms-head").getByText("Success").waitFor();

  // Nodes say what is reserved and used on one scale.
  await page.goto(`${world.base}/nodes`);
  await page.locator(".ms-resource-bar i").first().waitFor(soon);
}
