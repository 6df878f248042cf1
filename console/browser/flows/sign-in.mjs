import { equal, holds } from "../world.mjs";

/** The link signs in, also after a reload; a used link and no session ask for a token; sign-out ends it. */
export async function flow(world) {
  const page = await world.page({ token: null });
  await page.goto(world.link);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  equal(new URL(page.url()).hash, "", "the code is gone from the address");
  await page.reload();
  await page.getByRole("heading", { name: "Overview" }).waitFor();

  await page.getByRole("button", { name: "You and your preferences" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByLabel("Token", { exact: true }).waitFor();

  page.mayFail = /401/;
  await page.goto(`${world.base}/runs#login=msl_usedup`);
  await page.reload();
  await page.getByText("The link is used up or too old").or(page.getByText("Open the link")).waitFor();
  await page.getByLabel("Token", { exact: true }).fill("ms_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This token is unknown, revoked or expired.").waitFor();
  await page.getByLabel("Token", { exact: true }).fill(world.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  holds(page.url().startsWith(`${world.base}/runs`), "sign-in stays on the page that was asked for");
}
