import { equal } from "../world.mjs";

/** A cell is paused with a note and goes on; findings lead to their place; other sessions are signed out. */
export async function flow(world) {
  const page = await world.page();
  await page.goto(`${world.base}/admin/cluster`);
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Pause cell 0", exact: true }).click();
  await dialog.getByLabel("Note").fill("store upgrade");
  await dialog.getByRole("button", { name: "Pause cell 0" }).click();
  await page.getByText("admin: store upgrade").waitFor();
  await page.getByRole("button", { name: "Resume cell 0", exact: true }).click();
  await dialog.getByRole("button", { name: "Resume cell 0" }).click();
  await page.getByText("admin: store upgrade").waitFor({ state: "detached" });

  await world.job("lonely", "name: lonely\nscript: 'true'\nplacement: { pool: nowhere }\n");
  const id = await world.run("lonely");
  await page.goto(`${world.base}/admin/doctor`);
  await page.getByText(/1 run waits/).waitFor();
  await page.getByRole("link", { name: "Open run" }).click();
  await page.waitForURL(`**/runs/${id}*`);

  const other = await world.page();
  await other.goto(`${world.base}/runs`);
  await other.getByRole("heading", { name: "Runs" }).waitFor();
  other.mayFail = /401/;
  await page.goto(`${world.base}/me`);
  await page.getByRole("button", { name: "Sign out 1 other session" }).click();
  await dialog.getByRole("button", { name: "Sign out 1 other session" }).click();
  await dialog.waitFor({ state: "detached" });
  equal(await page.getByText("this browser", { exact: true }).count(), 1, "sessions that are left");
  await other.goto(`${world.base}/jobs`);
  await other.getByLabel("Token", { exact: true }).waitFor();
}
