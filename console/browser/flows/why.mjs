/** What keeps runs waiting is told in words, with the button that helps. */
export async function flow(world) {
  await world.job("huge", "name: huge\nscript: echo x\nresources: { memory: 90000Gi }\n");
  await world.job("held", "name: held\nscript: echo x\n");
  const huge = await world.run("huge");
  await world.cli("pause", "held", "-m", "until monday");
  const held = await world.run("held");

  const page = await world.page();
  await page.goto(`${world.base}/runs/${huge}`);
  await page
    .getByText(/needs .* of memory/)
    .first()
    .waitFor();
  await page.getByText("no_node").waitFor();
  await page.getByText("Is too small").waitFor();
  await page.getByRole("link", { name: "Edit resources" }).waitFor();
  await page.getByRole("link", { name: "Add a node" }).waitFor();

  await page.goto(`${world.base}/runs/${held}`);
  await page
    .getByText(/until monday/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Resume the job" }).click();
  await page.locator(".ms-head").getByText("Success").waitFor();
}
