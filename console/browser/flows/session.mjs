import { equal } from "../world.mjs";

/** A session that ends while a page is open is renewed in place. */
export async function flow(world) {
  await world.submit("--", "true");
  const page = await world.page();
  page.mayFail = /401/;
  await page.goto(`${world.base}/runs`);
  await page.getByRole("link", { name: "true" }).waitFor();
  await page.getByLabel("Query", { exact: true }).fill("job:nothing");
  await page.context().clearCookies();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Your session is over" });
  await dialog.waitFor();
  await dialog.getByLabel("Token", { exact: true }).fill(world.token);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "detached" });
  equal(await page.getByLabel("Query", { exact: true }).inputValue(), "job:nothing", "what was typed");
}
