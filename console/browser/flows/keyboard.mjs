/** From sign-in to a cancelled run without a pointer. */
export async function flow(world) {
  const id = await world.submit("--name", "sleeper", "--", "sleep", "600");
  const page = await world.page({ token: null });
  page.mayFail = /401/;
  await page.goto(`${world.base}/`);
  await page.getByLabel("Token", { exact: true }).waitFor();
  await page.keyboard.press("Tab");
  await page.getByLabel("Token", { exact: true }).focus();
  await page.keyboard.type(world.token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  const table = page.getByRole("table", { name: "Runs" });
  await table.getByRole("link", { name: "sleeper" }).waitFor();
  // A letter alone goes nowhere, also in the first moments of a page.
  await page.evaluate(() => {
    const early = new KeyboardEvent("keydown", { key: "j", bubbles: true });
    Object.defineProperty(early, "timeStamp", { value: 1 });
    document.body.dispatchEvent(early);
  });
  await page.keyboard.press("/");
  await page.keyboard.type("state:running");
  await page.keyboard.press("Enter");
  await page.waitForURL(/q=state:running/);
  await page.keyboard.press("Escape");
  await table.focus();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/runs/${id}*`);
  await page.locator(".ms-head").getByText("Running").waitFor();
  await page.getByRole("button", { name: "Cancel run" }).waitFor();
  await page.keyboard.press("c");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel run" }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".ms-head").getByText("Cancelled").waitFor();
}
