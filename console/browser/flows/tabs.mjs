import { equal } from "../world.mjs";

/** Seven tabs share one stream and stay live. */
export async function flow(world) {
  const first = await world.page();
  const pages = [first];
  for (let count = 1; count < 7; count += 1) {
    const page = await first.context().newPage();
    world.watch(page);
    pages.push(page);
  }
  for (const page of pages) {
    await page.goto(`${world.base}/runs`);
    await page.getByText("live", { exact: true }).waitFor();
  }
  const id = await world.submit("--name", "for-all", "--", "true");
  for (const page of pages) {
    await page
      .getByRole("button", { name: /new run/ })
      .or(page.getByRole("link", { name: "for-all" }))
      .first()
      .waitFor();
  }
  equal(pages.length, 7, "tabs");
  await first.goto(`${world.base}/runs/${id}`);
  await first.locator(".ms-head").getByText("Success").waitFor();
}
